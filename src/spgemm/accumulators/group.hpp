// Several rows of a product at once, where they use nearly the same rows of B: meshes and block structures. A column of
// B is read once for all of them, and their sums of that column lie side by side (register
// blocking of rows, Im and Yelick 2001, without a fixed block).
#pragma once

#include <bit>
#include <limits>
#include <type_traits>

#include "device/atomic.hpp"
#include "device/lane_moves.hpp"
#include "device/pack.hpp"
#include "spgemm/accumulators/emit.hpp"

namespace quintet::spgemm {

/// Rows of a group at most.
constexpr int group_rows = 8;
/// A row of B, and a bit for every row of the group that uses it.
struct group_step {
  std::int64_t begin, end;
  std::uint8_t rows;
};

/// Arrays elsewhere, for one thread, which leaves them clean: sums of the identity, no flag.
template <class Value>
struct group_arrays {
  enum { kept_clean = 1, steps = 1024 };
  std::int64_t columns;  ///< that a group may span
  Value* sums;           ///< group_rows sums for each column, aligned so that they lie in one cache line
  std::uint8_t* flags;   ///< a bit for each row that has the column
  std::uint64_t* bits;   ///< for each block of 64 columns a word for each row
  group_step* step;
};
/// Arrays in team memory.
template <class Value, int Columns, int Steps>
struct group_memory {
  enum { kept_clean = 0, columns = Columns, steps = Steps };
  Value sums[columns * group_rows];
  std::uint8_t flags[columns];
  std::uint64_t bits[columns / 64 * group_rows];
  group_step step[steps];
};

namespace detail {

/// Blocks of 64 columns that a group touches, and the rows of B it uses; no steps: it is no use.
struct group_extent {
  std::int64_t low = 0, blocks = 0;
  int steps = 0;
};

/// The rows of B that the rows [first, first + count) use, in order. Every thread finds the same.
template <class Team, class Product, class Memory>
inline group_extent unite_rows(const Team& team, const Product& r, std::int64_t first, int count, Memory& m) {
  using Index = typename Product::index_type;
  constexpr Index none = std::numeric_limits<Index>::max();
  constexpr int judged_steps = 16;
  const auto& p = r.p;
  std::int64_t at[group_rows], last[group_rows];
  Index head[group_rows];
  for (int row = 0; row < group_rows; ++row) {
    const bool real = row < count;
    at[row] = real ? p.a.row_pointers[first + row] : 0;
    last[row] = real ? p.a.row_pointers[first + row + 1] - 1 : 0;
    head[row] = real && at[row] <= last[row] ? p.a.columns[at[row]] : none;
  }
  std::int64_t low = p.b.cols, high = 0, shared = 0, alone = 0;
  bool sorted = true;
  int steps = 0;
  for (;; ++steps) {
    Index j = head[0];
    for (int row = 1; row < group_rows; ++row) j = std::min(j, head[row]);
    if (j == none) break;
    if (steps == Memory::steps) return {};
    unsigned user_bits = 0;
    for (int row = 0; row < group_rows; ++row) {
      const bool hit = head[row] == j;
      user_bits |= unsigned(hit) << row;
      at[row] += hit;
      const Index next = p.a.columns[std::min(at[row], std::max(last[row], std::int64_t(0)))];
      sorted &= !hit | (at[row] > last[row]) | (next > j);
      head[row] = !hit ? head[row] : at[row] > last[row] ? none : next;
    }
    const group_step current{p.b.row_pointers[j], p.b_ends[j], std::uint8_t(user_bits)};
    if (team.rank() == 0) m.step[steps] = current;
    shared += current.end - current.begin;
    alone += (current.end - current.begin) * std::popcount(user_bits);
    if (current.begin < current.end) {
      low = std::min(low, std::int64_t(p.b.columns[current.begin]));
      high = std::max(high, std::int64_t(p.b.columns[current.end - 1]) + 1);
    }
    if (steps == judged_steps && alone < 2 * shared) return {};
  }
  const std::int64_t from = low / 64 * 64, blocks = (high - from + 63) / 64;
  if (!sorted || low >= high || 64 * blocks > m.columns || alone < 2 * shared) return {};
  return {from, blocks, steps};
}

/// One row of B into the sums of the rows that use it.
template <class Team, class Product, class Value, class Index>
inline void add_to_group(const Team& team, const Product&, const group_step& s, const Value* const* a,
                         const Index* columns, const Value* values, std::int64_t low, Value* sums,
                         std::uint8_t* flags) {
  using integer = std::conditional_t<sizeof(Value) == 8, std::int64_t, std::int32_t>;
  using lanes = device::pack<Value, group_rows>;
  using mask = device::pack<integer, group_rows>;
  lanes factor;
  mask keeps;
  for (int row = 0; row < group_rows; ++row) {
    const bool uses_row = s.rows >> row & 1;
    factor[row] = uses_row ? *a[row] : Value(0);
    keeps[row] = -integer(uses_row);
  }
  const std::uint8_t user_bits = s.rows;
  const std::int64_t end = s.end;
  for (std::int64_t q = s.begin + team.rank(); q < end; q += team.size()) {
    const std::int64_t c = std::int64_t(columns[q]) - low;
    const Value b = values[q];
    flags[c] |= user_bits;
    lanes sum, product, total;
    __builtin_memcpy(&sum, sums + group_rows * c, sizeof(lanes));
    for (int row = 0; row < group_rows; ++row) product[row] = Product::multiply(Value(factor[row]), b);
#if !defined(__clang__)
    // g++ loses the barriers inside multiply() where it makes one vector operation of the loop.
    product = __builtin_assoc_barrier(product);
#endif
    for (int row = 0; row < group_rows; ++row) total[row] = Product::add(sum[row], product[row]);
    sum = keeps ? total : sum;
    __builtin_memcpy(sums + group_rows * c, &sum, sizeof(lanes));
  }
}

}  // namespace detail

/// The rows [first, first + count); accumulator_full when they have too little in common, or too many columns, or when
/// a row of A is not in order. A has fewer than 2^31 or 2^63 columns.
template <class Team, class Product, class Memory, class Out>
inline std::int64_t accumulate_group(const Team& team, const Product& r, std::int64_t first, int count, Memory& m,
                                     std::int32_t* scan, Out& out) {
  using Value = typename Product::value_type;
  using Index = typename Product::index_type;
  if (r.p.b.rows > std::numeric_limits<Index>::max()) return accumulator_full;
  const detail::group_extent extent = detail::unite_rows(team, r, first, count, m);
  if (extent.steps == 0) return accumulator_full;
  if constexpr (!Memory::kept_clean) {
    for (std::int64_t e = team.rank(); e < 64 * extent.blocks * group_rows; e += team.size())
      m.sums[e] = Product::identity();
    for (std::int64_t e = team.rank(); e < 64 * extent.blocks; e += team.size()) m.flags[e] = 0;
  }
  team.barrier();
  const Value* a[group_rows];
  for (int row = 0; row < group_rows; ++row)
    a[row] = r.p.a.values + r.p.a.row_pointers[first + std::min(row, count - 1)];
  for (int s = 0; s < extent.steps; ++s) {
    const group_step current = m.step[s];
    detail::add_to_group(team, r, current, a, r.p.b.columns, r.p.b.values, extent.low, m.sums, m.flags);
    for (int row = 0; row < group_rows; ++row) a[row] += current.rows >> row & 1;
    team.barrier();
  }
  // A bit for every entry, by blocks of 64 columns and rows.
  for (std::int64_t w = team.rank(); w < group_rows * extent.blocks; w += team.size()) {
    const int row = int(w % group_rows);
    m.bits[w] = row < count ? device::bytes_with(m.flags + 64 * (w / group_rows), std::uint8_t(1u << row)) : 0;
  }
  team.barrier();
  if (r.filter.active()) {
    const auto& mask = r.filter;
    for (int row = 0; row < count; ++row) {
      const std::int64_t last = mask.row_pointers[first + row + 1];
      const std::int64_t begin = lower_bound(mask.columns, mask.row_pointers[first + row], last, extent.low);
      const std::int64_t end = lower_bound(mask.columns, begin, last, extent.low + 64 * extent.blocks);
      for (std::int64_t k = begin + team.rank(); k < end; k += team.size()) {
        const std::int64_t c = std::int64_t(mask.columns[k]) - extent.low;
        device::team_and(team, &m.bits[c / 64 * group_rows + row], ~(std::uint64_t{1} << (c % 64)));
      }
    }
    team.barrier();
  }
  std::int64_t entries = 0;
  if constexpr (Out::exact) {
    for (std::int64_t w = 0; w < group_rows * extent.blocks; ++w) entries += std::popcount(m.bits[w]);
    if (!out.room(team, entries)) return no_room;
  }
  const team_share share(team, extent.blocks);
  std::int64_t place = out.used;
  for (int row = 0; row < count; ++row) {
    std::int32_t in_row = 0;
    std::int64_t to = place;
    if constexpr (Out::exact) {
      std::int32_t in_share = 0;
      for (std::int64_t block = share.begin; block < share.end; ++block)
        in_share += std::popcount(m.bits[group_rows * block + row]);
      to += exclusive_scan(team, in_share, scan, &in_row);
    }
    Index* const columns = out.columns;
    Value* const values = out.values;
    for (std::int64_t block = share.begin; block < share.end; ++block) {
      const Value* const sums = m.sums + 64 * group_rows * block + row;
      const Index base = Index(extent.low + 64 * block);
      for (std::uint64_t bits = m.bits[group_rows * block + row]; bits != 0; bits &= bits - 1) {
        const int c = std::countr_zero(bits);
        columns[to] = Index(base + c);
        values[to++] = sums[group_rows * c];
      }
    }
    place = Out::exact ? place + in_row : to;
    if (team.rank() == 0) out.ends[first + row + 1] = place;
  }
  if constexpr (Memory::kept_clean) {
    for (std::int64_t block = 0; block < extent.blocks; ++block) {
      for (std::uint64_t bits = device::bytes_with(m.flags + 64 * block, 0xff); bits != 0; bits &= bits - 1)
        std::fill_n(m.sums + group_rows * (64 * block + std::countr_zero(bits)), int(group_rows), Product::identity());
      std::fill_n(m.flags + 64 * block, 64, std::uint8_t(0));
    }
  }
  return place - out.used;
}

}  // namespace quintet::spgemm
