// A bit per column of a range: how many bits lie before a column is the place of its sum. Two passes over the products,
// and no array of sums but the result (rank of a bit vector: Jacobson 1989).
#pragma once

#include <bit>

#include "device/atomic.hpp"
#include "spgemm/accumulators/emit.hpp"

namespace quintet::spgemm {

/// Bits, and how many of them lie before each word.
struct bitmask_arrays {
  std::uint32_t* bits;
  std::int32_t* rank;
};
template <int Columns>
struct bitmask_memory {
  enum { columns = Columns };
  std::uint32_t bits[columns / 32];
  std::int32_t rank[columns / 32];
};

/// Row i, or a range of its columns.
template <class Team, class Product, class Memory, class Out>
inline std::int64_t accumulate_bitmask(const Team& team, const Product& r, const chunk& c, std::int64_t i, Memory& m,
                                       std::int32_t* scan, Out& out) {
  using Index = typename Product::index_type;
  const std::int32_t words = std::int32_t((c.last_col - c.first_col + 31) / 32);
  const auto bit_of = [&](Index column) { return std::uint32_t(std::int64_t(column) - c.first_col); };
  const auto mask_of = [](std::uint32_t bit) { return std::uint32_t{1} << (bit % 32); };
  for (std::int32_t w = team.rank(); w < words; w += team.size()) m.bits[w] = 0;
  team.barrier();
  const Index* const b_columns = r.p.b.columns;
  r.each_row_of_b(c, i, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
    for (std::int64_t q = begin + team.rank(); q < end; q += team.size()) {
      const std::uint32_t bit = bit_of(b_columns[q]);
      device::team_or(team, &m.bits[bit / 32], mask_of(bit));
    }
  });
  team.barrier();
  const bool filtered = r.filter.active();
  if (filtered) {
    const auto& mask = r.filter;
    const std::int64_t last = mask.row_pointers[i + 1];
    const std::int64_t begin = lower_bound(mask.columns, mask.row_pointers[i], last, c.first_col);
    const std::int64_t end = lower_bound(mask.columns, begin, last, c.last_col);
    for (std::int64_t k = begin + team.rank(); k < end; k += team.size()) {
      const std::uint32_t bit = bit_of(mask.columns[k]);
      device::team_and(team, &m.bits[bit / 32], ~mask_of(bit));
    }
    team.barrier();
  }
  const team_share share(team, words);
  std::int32_t count = 0, entries = 0;
  for (std::int64_t w = share.begin; w < share.end; ++w) count += std::popcount(m.bits[w]);
  std::int32_t rank = exclusive_scan(team, count, scan, &entries);
  for (std::int64_t w = share.begin; w < share.end; ++w) {
    m.rank[w] = rank;
    rank += std::popcount(m.bits[w]);
  }
  if (!out.room(team, entries)) return no_room;
  auto* const columns = out.columns + out.used;
  auto* const values = out.values + out.used;
  for (std::int32_t w = team.rank(); w < words; w += team.size()) {
    std::int32_t e = m.rank[w];
    for (std::uint32_t bits = m.bits[w]; bits != 0; bits &= bits - 1, ++e) {
      columns[e] = Index(c.first_col + 32 * w + std::countr_zero(bits));
      values[e] = Product::identity();
    }
  }
  team.barrier();
  const auto* const b_values = r.p.b.values;
  r.each_row_of_b(c, i, [&](std::int64_t k, std::int64_t begin, std::int64_t end) {
    const auto a = r.p.a.values[k];
    for (std::int64_t q = begin + team.rank(); q < end; q += team.size()) {
      const std::uint32_t bit = bit_of(b_columns[q]), word = m.bits[bit / 32];
      if (filtered && (word & mask_of(bit)) == 0) continue;
      auto& sum = values[m.rank[bit / 32] + std::popcount(word & (mask_of(bit) - 1))];
      sum = Product::add(sum, Product::multiply(a, b_values[q]));
    }
    team.barrier();
  });
  return entries;
}

}  // namespace quintet::spgemm
