// An array of sums over a range of columns, with a byte flag per column (cheap to set, found by a scan of all) or with
// bits in two levels (found without a scan): the sparse accumulator of Gilbert, Moler and Schreiber 1992. Several
// ranges of one row are its column blocks (Patwary et al. 2015).
#pragma once

#include <bit>
#include <cstring>
#include <utility>

#include "device/atomic.hpp"
#include "device/lane_moves.hpp"
#include "spgemm/accumulators/emit.hpp"

namespace quintet::spgemm {

/// Arrays elsewhere, for one thread, which leaves them clean: sums of the identity, all else zero.
template <class Value>
struct dense_arrays {
  enum { kept_clean = 1 };
  Value* sums;
  std::uint8_t* flags;
  std::uint64_t *bits, *groups;  ///< a bit per column, a bit per word of those
};
/// Arrays over `Columns` columns in team memory.
template <class Value, int Columns>
struct dense_memory {
  enum { kept_clean = 0, columns = Columns };
  Value sums[columns];
  std::uint8_t flags[columns];
  std::uint64_t bits[columns / 64], groups[(columns + 4095) / 4096];
};

/// Columns for each product of a row up to which flags are scanned, not bits.
constexpr std::int64_t flagged_columns = 16;

/// Entries of a block of 64 columns from which on all its sums are moved, not only those of entries: measured.
constexpr int min_moved_sums = 12;

namespace detail {

/// Where the arrays are.
template <class Memory>
inline auto arrays_of(Memory& m) {
  return dense_arrays<std::remove_reference_t<decltype(*m.sums)>>{&m.sums[0], &m.flags[0], &m.bits[0], &m.groups[0]};
}

/// One row of B, times a, into the sums.
template <bool Bits, class Product, class Team, class Memory, class Value, class Index>
QUINTET_INLINE inline void scatter(const Team& team, const Memory& m, Value a, const Index* columns,
                                   const Value* values, std::int64_t begin, std::int64_t end, std::int64_t first_col) {
  Value* const sums = m.sums;
  std::uint8_t* const flags = m.flags;
  std::uint64_t *const bits = m.bits, *const groups = m.groups;
  for (std::int64_t q = begin + team.rank(); q < end; q += team.size()) {
    const auto c = std::uint64_t(std::int64_t(columns[q]) - first_col);
    sums[c] = Product::add(sums[c], Product::multiply(a, values[q]));
    if constexpr (Bits) {
      device::team_or(team, &bits[c / 64], std::uint64_t{1} << (c % 64));
      device::team_or(team, &groups[c / 4096], std::uint64_t{1} << (c / 64 % 64));
    } else {
      flags[c] = 1;
    }
  }
}

/// Takes the mask's columns out again; the sums of those that had one are clean.
template <bool Bits, class Product, class Team, class Memory>
inline void take_out(const Team& team, const Product& r, Memory& m, const chunk& c, std::int64_t i) {
  const auto& mask = r.filter;
  if (!mask.active()) return;
  const std::int64_t last = mask.row_pointers[i + 1];
  const std::int64_t begin = lower_bound(mask.columns, mask.row_pointers[i], last, c.first_col);
  const std::int64_t end = lower_bound(mask.columns, begin, last, c.last_col);
  for (std::int64_t k = begin + team.rank(); k < end; k += team.size()) {
    const auto column = std::uint64_t(std::int64_t(mask.columns[k]) - c.first_col);
    if constexpr (Bits)
      device::team_and(team, &m.bits[column / 64], ~(std::uint64_t{1} << (column % 64)));
    else
      m.flags[column] = 0;
    m.sums[column] = Product::identity();
  }
  team.barrier();
}

/// The sums of the columns of `mask` in a block of 64, to columns[count] and values[count] on; they are clean
/// afterwards. Returns where the next go. Beyond: a little may be written behind them.
template <class Product, bool Beyond, class Value, class Index>
inline std::int64_t take_sums(std::uint64_t mask, Value* sums, Index base, std::int64_t count, Index* columns,
                              Value* values) {
  if (mask == ~std::uint64_t{0}) {
    for (int c = 0; c < 64; ++c) {
      columns[count + c] = Index(base + c);
      values[count + c] = sums[c];
      sums[c] = Product::identity();
    }
    return count + 64;
  }
  if constexpr (Beyond && device::has_lane_moves)
    if (std::popcount(mask) >= min_moved_sums) {
      constexpr int lanes = sizeof(Value) > 0 ? 8 : 0;  // dependent: where lanes cannot be moved this is not looked at
      using pack = device::pack<std::int32_t, lanes>;
      using value_pack = device::pack<Value, lanes>;
      const value_pack clean = device::broadcast_pack<value_pack>(Product::identity());
      const pack lane = {0, 1, 2, 3, 4, 5, 6, 7};
      for (int c = 0; c < 64; c += 8, mask >>= 8) {
        const pack places = device::gathered(std::uint32_t(mask & 0xff), lane);
        const value_pack sum = device::gathered(std::uint32_t(mask & 0xff), device::load_pack<value_pack>(sums + c));
        for (int e = 0; e < 8; ++e) columns[count + e] = Index(base + c + places[e]);
        __builtin_memcpy(values + count, &sum, sizeof sum);
        __builtin_memcpy(sums + c, &clean, sizeof clean);
        count += std::popcount(mask & 0xff);
      }
      return count;
    }
  for (; mask != 0; mask &= mask - 1) {
    const int c = std::countr_zero(mask);
    columns[count] = Index(base + c);
    values[count++] = sums[c];
    sums[c] = Product::identity();
  }
  return count;
}

/// f(block, mask) for the blocks of 64 columns with entries among the touched columns [low, high), in order.
/// With flags every thread has a range of the blocks, with bits a range of the groups; `Clear` cleans them up.
template <bool Bits, bool Clear, class Team, class Memory, class Function>
inline void each_block(const Team& team, Memory& m, std::int64_t low, std::int64_t high, Function f) {
  if constexpr (Bits) {
    const std::int64_t first = low / 4096;
    const team_share share(team, (high - 1) / 4096 + 1 - first);
    for (std::int64_t group = first + share.begin; group < first + share.end; ++group) {
      std::uint64_t words = m.groups[group];
      if constexpr (Clear) m.groups[group] = 0;
      for (; words != 0; words &= words - 1) {
        const std::int64_t block = 64 * group + std::countr_zero(words);
        const std::uint64_t mask = m.bits[block];
        if constexpr (Clear) m.bits[block] = 0;
        f(block, mask);
      }
    }
  } else {
    const std::int64_t first = low / 64;
    const team_share share(team, (high - 1) / 64 + 1 - first);
    for (std::int64_t block = first + share.begin; block < first + share.end; ++block) {
      const std::uint64_t mask = device::bytes_with(m.flags + 64 * block, 1);
      if (mask == 0) continue;
      if constexpr (Clear) std::memset(m.flags + 64 * block, 0, 64);
      f(block, mask);
    }
  }
}

template <bool Bits, class Team, class Product, class Memory, class Out>
inline std::int64_t dense(const Team& team, const Product& r, const chunk& c, std::int64_t i, Memory& m,
                          std::int32_t* scan, Out& out) {
  using Value = typename Product::value_type;
  using Index = typename Product::index_type;
  std::int64_t low = c.last_col, high = c.first_col;  // columns [low, high) are touched
  const Index* const b_columns = r.p.b.columns;
  const Value* const b_values = r.p.b.values;
  if constexpr (!Memory::kept_clean) {
    const std::int64_t width = (c.last_col - c.first_col + 63) / 64 * 64;
    for (std::int64_t e = team.rank(); e < width; e += team.size()) {
      m.sums[e] = Product::identity();
      m.flags[e] = 0;
      if (e < width / 64) m.bits[e] = 0;
      if (e <= width / 4096) m.groups[e] = 0;
    }
    team.barrier();
  }
  const Value* const a_values = r.p.a.values;
  const std::int64_t first_col = c.first_col;
  const auto arrays = arrays_of(m);
  r.each_row_of_b(c, i, [&](std::int64_t k, std::int64_t begin, std::int64_t end) QUINTET_INLINE {
    if (begin == end) return;
    low = std::min(low, std::int64_t(b_columns[begin]));
    high = std::max(high, std::int64_t(b_columns[end - 1]) + 1);
    scatter<Bits, Product>(team, arrays, a_values[k], b_columns, b_values, begin, end, first_col);
    team.barrier();
  });
  if (low >= high) return out.room(team, 0) ? 0 : std::int64_t(no_room);
  low -= c.first_col;
  high -= c.first_col;
  take_out<Bits>(team, r, m, c, i);
  std::int64_t place = out.used;
  std::int32_t entries = 0;
  if constexpr (Out::exact) {
    std::int32_t count = 0;
    each_block<Bits, false>(team, m, low, high,
                            [&](std::int64_t, std::uint64_t mask) { count += std::popcount(mask); });
    place += exclusive_scan(team, count, scan, &entries);
    if (!out.room(team, entries)) return no_room;
  }
  Index* const columns = out.columns;
  Value* const values = out.values;
  each_block<Bits, true>(team, m, low, high, [&](std::int64_t block, std::uint64_t mask) {
    place = take_sums<Product, !Out::exact>(mask, &m.sums[64 * block], Index(c.first_col + 64 * block), place, columns,
                                            values);
  });
  return Out::exact ? std::int64_t(entries) : place - out.used;
}

}  // namespace detail

/// Row i, or a range of its columns, with so many products.
template <class Team, class Product, class Memory, class Out>
inline std::int64_t accumulate_dense(const Team& team, const Product& r, const chunk& c, std::int64_t i,
                                     std::int64_t products, Memory& m, std::int32_t* scan, Out& out) {
  return c.last_col - c.first_col <= flagged_columns * products ? detail::dense<false>(team, r, c, i, m, scan, out)
                                                                : detail::dense<true>(team, r, c, i, m, scan, out);
}

}  // namespace quintet::spgemm
