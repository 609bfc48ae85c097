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

/// Columns of a range whose sums, half a megabyte of double, stay in the second-level cache: measured.
constexpr std::int64_t range_columns = 1 << 16;
/// Whether a row is computed range by range: where the sums of all its columns leave that cache, and it has much of a
/// row of B in each.
inline bool in_ranges(std::int64_t cols, std::int64_t entries, std::int64_t products) {
  return cols >= 4 * range_columns && products >= range_columns / 2 && products >= 8 * entries * (cols / range_columns);
}

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

/// The columns of `mask` to columns[count] on, and a little behind them; returns where the next go. Most blocks of a
/// sparse row have so few that no branch depends on their number.
template <class Index>
inline std::int64_t append_columns(std::uint64_t mask, Index base, std::int64_t count, Index* columns) {
  constexpr int step = 4;
  const std::int64_t end = count + std::popcount(mask);
  for (std::int64_t to = count; to < end; to += step)
    for (int e = 0; e < step; ++e, mask &= mask - 1) columns[to + e] = Index(base + std::countr_zero(mask));
  return end;
}

/// The sums of columns[begin, end), which are clean afterwards.
template <class Product, class Value, class Index>
inline void take_sums_of(const Index* columns, std::int64_t begin, std::int64_t end, std::int64_t first_col,
                         Value* sums, Value* values) {
  for (std::int64_t e = begin; e < end; ++e) {
    Value& sum = sums[std::int64_t(columns[e]) - first_col];
    values[e] = sum;
    sum = Product::identity();
  }
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

/// The sums of the columns [low, high), of those that have one, behind the entries of `out`; all is clean afterwards.
template <bool Bits, class Team, class Product, class Memory, class Out>
inline std::int64_t store_sums(const Team& team, const Product& r, const chunk& c, std::int64_t i, std::int64_t low,
                               std::int64_t high, Memory& m, std::int32_t* scan, Out& out) {
  using Value = typename Product::value_type;
  using Index = typename Product::index_type;
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
  [[maybe_unused]] std::int64_t next_sum = place;  // place of the first whose sum is not taken yet
  each_block<Bits, true>(team, m, low, high, [&](std::int64_t block, std::uint64_t mask) QUINTET_INLINE {
    const Index base = Index(c.first_col + 64 * block);
    if constexpr (!Out::exact) {
      if (std::popcount(mask) < min_moved_sums) {
        place = append_columns(mask, base, place, columns);
        return;
      }
      take_sums_of<Product>(columns, next_sum, place, c.first_col, &m.sums[0], values);
    }
    next_sum = place = take_sums<Product, !Out::exact>(mask, &m.sums[64 * block], base, place, columns, values);
  });
  if constexpr (!Out::exact) take_sums_of<Product>(columns, next_sum, place, c.first_col, &m.sums[0], values);
  return Out::exact ? std::int64_t(entries) : place - out.used;
}

/// Asks a host's memory for a row of B some entries of A ahead: as many cache lines as the rows of B have on average,
/// up to the number that makes the processor see where they lead.
template <class Value, class Index>
class ask_ahead {
 public:
  ask_ahead(const problem<Value, Index>& p, std::int64_t i, std::int64_t products)
      : a_columns_(p.a.columns),
        pointers_(p.b.row_pointers),
        columns_(p.b.columns),
        values_(p.b.values),
        end_(p.a.row_pointers[i + 1]),
        lines_(lines_of(end_ - p.a.row_pointers[i], products)) {}
  void ask(std::int64_t k) const {
    if (k + ahead >= end_) return;
    const std::int64_t q = pointers_[a_columns_[k + ahead]];
    for (std::int64_t line = 0; line < lines_; ++line) {
      const std::int64_t at = q + entries_of_line * line;
      __builtin_prefetch(columns_ + at);
      __builtin_prefetch(values_ + at);
      __builtin_prefetch(values_ + at + entries_of_line / 2);
    }
  }

 private:
  enum : std::int64_t { ahead = 16, entries_of_line = 16 };
  static std::int64_t lines_of(std::int64_t entries, std::int64_t products) {
    return entries <= ahead ? 0 : std::min<std::int64_t>(products / (entries * entries_of_line) + 1, 4);
  }
  const Index* a_columns_;
  const std::int64_t* pointers_;
  const Index* columns_;
  const Value* values_;
  std::int64_t end_, lines_;
};

template <bool Bits, class Team, class Product, class Memory, class Out>
inline std::int64_t dense(const Team& team, const Product& r, const chunk& c, std::int64_t i, std::int64_t products,
                          Memory& m, std::int32_t* scan, Out& out) {
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
  const ask_ahead rows(r.p, i, products);
  r.each_row_of_b(c, i, [&](std::int64_t k, std::int64_t begin, std::int64_t end) QUINTET_INLINE {
    if constexpr (!Team::on_device) rows.ask(k);
    if (begin == end) return;
    low = std::min(low, std::int64_t(b_columns[begin]));
    high = std::max(high, std::int64_t(b_columns[end - 1]) + 1);
    scatter<Bits, Product>(team, arrays, a_values[k], b_columns, b_values, begin, end, first_col);
    team.barrier();
  });
  return store_sums<Bits>(team, r, c, i, low, high, m, scan, out);
}

/// What is left of a row of B, times `factor`, where a row is computed range of columns by range.
template <class Value>
struct row_rest {
  std::int64_t next, end;
  Value factor;
};

/// The columns of a row of B up to `last_col` into the sums, which begin with first_col; returns where the row goes on.
template <class Product, class Value, class Index>
QUINTET_INLINE inline std::int64_t scatter_until(const dense_arrays<Value>& m, const row_rest<Value>& row,
                                                 const Index* columns, const Value* values, std::int64_t first_col,
                                                 std::int64_t last_col) {
  std::int64_t q = row.next;
  for (; q < row.end && std::int64_t(columns[q]) < last_col; ++q) {
    const auto c = std::uint64_t(std::int64_t(columns[q]) - first_col);
    m.sums[c] = Product::add(m.sums[c], Product::multiply(row.factor, values[q]));
    m.flags[c] = 1;
  }
  return q;
}

}  // namespace detail

/// Row i of a host's product in ranges of columns (Patwary et al. 2015). `rests`, for the entries of A's row, say where
/// the rows of B go on in the next range, so that nothing is searched.
template <class Team, class Product, class Memory, class Value, class Out>
inline std::int64_t accumulate_in_ranges(const Team& team, const Product& r, std::int64_t i, Memory& m,
                                         detail::row_rest<Value>* rests, std::int32_t* scan, const Out& out) {
  static_assert(!Out::exact && Memory::kept_clean, "teams of a device have narrower column blocks");
  constexpr std::int64_t ahead = 8;
  const auto p = r.p;
  std::int64_t count = 0;
  for (std::int64_t k = p.a.row_pointers[i]; k < p.a.row_pointers[i + 1]; ++k) {
    const std::int64_t j = p.a.columns[k], begin = p.b.row_pointers[j], end = p.b_ends[j];
    if (begin < end) rests[count++] = {begin, end, p.a.values[k]};
  }
  Out rest = out;
  for (std::int64_t first_col = 0; count > 0; first_col += range_columns) {
    const std::int64_t last_col = std::min<std::int64_t>(first_col + range_columns, p.b.cols);
    std::int64_t low = last_col, high = first_col, left = 0;
    for (std::int64_t k = 0; k < count; ++k) {
      if (k + ahead < count) {
        __builtin_prefetch(p.b.columns + rests[k + ahead].next);
        __builtin_prefetch(p.b.values + rests[k + ahead].next);
      }
      const detail::row_rest<Value> row = rests[k];
      const std::int64_t next = detail::scatter_until<Product>(m, row, p.b.columns, p.b.values, first_col, last_col);
      if (next > row.next) {
        low = std::min(low, std::int64_t(p.b.columns[row.next]));
        high = std::max(high, std::int64_t(p.b.columns[next - 1]) + 1);
      }
      rests[left] = {next, row.end, row.factor};
      left += next < row.end;
    }
    count = left;
    const chunk c{i, i + 1, first_col, last_col, 0, 0, true, false};
    rest.used += detail::store_sums<false>(team, r, c, i, low, high, m, scan, rest);
  }
  return rest.used - out.used;
}

/// Row i, or a range of its columns, with so many products.
template <class Team, class Product, class Memory, class Out>
inline std::int64_t accumulate_dense(const Team& team, const Product& r, const chunk& c, std::int64_t i,
                                     std::int64_t products, Memory& m, std::int32_t* scan, Out& out) {
  return c.last_col - c.first_col <= flagged_columns * products
             ? detail::dense<false>(team, r, c, i, products, m, scan, out)
             : detail::dense<true>(team, r, c, i, products, m, scan, out);
}

}  // namespace quintet::spgemm
