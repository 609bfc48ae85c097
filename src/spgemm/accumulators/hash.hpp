// A hash table with linear probing, for rows of few entries among many columns. The columns of one row of B differ, so
// the threads of a team meet over slots but never over sums (Nagasaka et al. 2018).
#pragma once

#include <bit>

#include "device/atomic.hpp"
#include "spgemm/accumulators/emit.hpp"

namespace quintet::spgemm {

template <class Value, class Index, int Slots, bool KeptClean>
struct hash_memory {
  static_assert(Slots <= 1 << 16);
  using key_type = std::make_unsigned_t<Index>;
  enum { capacity = Slots, kept_clean = KeptClean };
  Value value[capacity];
  key_type key[capacity];           ///< -1: free
  std::uint16_t claimed[capacity];  ///< slots in the order in which they were claimed
  std::int32_t used;
};

/// The slot of a column, claimed if need be; -1 when `max_entries` are in use.
template <class Product, class Team, class Memory, class Key>
inline std::int32_t find_slot(const Team& team, Memory& m, Key column, std::int32_t slots, std::int32_t max_entries) {
  const int shift = 64 - std::countr_zero(std::uint32_t(slots));
  std::int32_t slot = std::int32_t((std::uint64_t(column) * 0x9E3779B97F4A7C15u) >> shift);
  for (std::int32_t probes = 0; probes < slots; ++probes, slot = (slot + 1) & (slots - 1)) {
    Key stored_key = device::team_load(team, &m.key[slot]);
    if (stored_key == column) return slot;
    if (stored_key != Key(-1)) continue;
    if (device::team_exchange_if(team, &m.key[slot], stored_key, column)) {
      const std::int32_t number = device::team_add(team, &m.used, std::int32_t(1));
      if (number >= max_entries) return -1;
      m.claimed[number] = std::uint16_t(slot);
      m.value[slot] = Product::identity();
      return slot;
    }
    if (stored_key == column) return slot;
  }
  device::team_store(team, &m.used, max_entries + 1);
  return -1;
}

/// Row i through a table of `slots`, a power of two; accumulator_full when it has more entries than 7/8 of them.
template <class Team, class Product, class Memory, class Out>
inline std::int64_t accumulate_hash(const Team& team, const Product& r, std::int64_t i, std::int32_t slots, Memory& m,
                                    std::int32_t* scan, Out& out) {
  using key_type = typename Memory::key_type;
  using index = typename Product::index_type;
  const auto& p = r.p;
  const std::int32_t max_entries = slots - slots / 8;
  const auto clear = [&] {
    for (std::int32_t e = team.rank(); e < slots; e += team.size()) m.key[e] = key_type(-1);
  };
  if constexpr (!Memory::kept_clean) clear();
  if (team.rank() == 0) m.used = 0;
  team.barrier();
  for (std::int64_t k = p.a.row_pointers[i]; k < p.a.row_pointers[i + 1]; ++k) {
    const std::int64_t j = p.a.columns[k], end = p.b_ends[j];
    const auto a = p.a.values[k];
    for (std::int64_t q = p.b.row_pointers[j] + team.rank(); q < end; q += team.size()) {
      const std::int32_t slot = find_slot<Product>(team, m, key_type(p.b.columns[q]), slots, max_entries);
      if (slot < 0) break;
      m.value[slot] = Product::add(m.value[slot], Product::multiply(a, p.b.values[q]));
    }
    team.barrier();
    const bool full = m.used > max_entries;
    team.barrier();
    if (!full) continue;
    if constexpr (Memory::kept_clean) clear();
    return accumulator_full;
  }
  const std::int32_t entries = m.used;
  team_sort(team, m.claimed, entries, std::uint16_t(0xffff), [&](std::uint16_t x, std::uint16_t y) {
    // What stands behind the entries has no slot.
    if (x >= slots || y >= slots) return x < y;
    return m.key[x] < m.key[y];
  });
  const std::int64_t emitted = emit(
      team, out, r.filter, i, entries, scan, [&](std::int64_t e) { return index(m.key[m.claimed[e]]); },
      [&](std::int64_t e) { return m.value[m.claimed[e]]; });
  if constexpr (Memory::kept_clean)
    for (std::int32_t e = 0; e < entries; ++e) m.key[m.claimed[e]] = key_type(-1);
  return emitted;
}

}  // namespace quintet::spgemm
