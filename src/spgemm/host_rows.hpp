// The rows of a product on one thread of the host: the accumulators and how a row chooses among them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "quintet/spgemm/options.hpp"
#include "spgemm/flag_scan.hpp"
#include "spgemm/host_chunks.hpp"
#include "spgemm/row_group.hpp"
#include "spgemm/tiny_rows.hpp"

namespace quintet::spgemm {

/// Accumulators wider than this leave the second-level cache; small rows use a hash table instead.
constexpr std::int64_t cached_columns = std::int64_t{1} << 18;

struct strategy_counts {
  std::int64_t rows[strategies] = {}, products[strategies] = {};
  void add(strategy s, std::int64_t count, std::int64_t products_of_rows) {
    rows[int(s)] += count;
    products[int(s)] += products_of_rows;
  }
};

template <class Semiring, class Value, class Index>
class host_rows {
 public:
  /// Rows of p.b.cols columns, or ranges of at most `width` of them.
  host_rows(const problem<Value, Index>& p, std::int64_t width, std::int64_t table_cap, memory_source& memory)
      : p_(p),
        sums_(width, memory),
        flags_(width + 128, memory),
        bits_(width / 64 + 2, memory),
        groups_(width / 4096 + 2, memory),
        keys_(p.b.cols > cached_columns ? table_slots : 0, memory),
        table_(keys_.size(), memory),
        slots_(std::bit_floor(std::uint64_t(std::min(table_cap, std::int64_t(table_slots))))),
        tiny_(p),
        group_(p, memory) {
    std::fill(sums_.begin(), sums_.end(), identity());
    std::fill(flags_.begin(), flags_.end(), 0);
    std::fill(bits_.begin(), bits_.end(), 0);
    std::fill(groups_.begin(), groups_.end(), 0);
    std::fill(keys_.begin(), keys_.end(), Index(-1));
  }

  /// Asks for the rows of B that A's entries from k on use, a little ahead of their use: the rows of a graph lie
  /// anywhere in memory. `end`: where A's entries end that are soon used.
  void ask_ahead(std::int64_t k, std::int64_t end) {
    asked_ = std::max(asked_, k);
    for (const std::int64_t stop = std::min(end, k + entries_ahead); asked_ < stop; ++asked_) ask(asked_, end);
  }

  /// Row i, all columns: sorted entries from columns[0] and values[0] on, and how many there are.
  std::int64_t row(std::int64_t i, std::int64_t products, Index* columns, Value* values) {
    const std::int64_t first = p_.a.row_pointers[i], last = p_.a.row_pointers[i + 1];
    if (products == 0) return counted(strategy::empty, products), 0;
    if (last - first == 1) return counted(strategy::streaming, products), stream(first, columns, values);
    if (p_.b.cols > cached_columns && products <= small_row_products) {
      const std::int64_t entries = hash(first, last, products, columns, values);
      if (entries >= 0) return counted(strategy::hash, products), entries;
      return counted(strategy::segmented, products), segment(first, last, products, columns, values);
    }
    return counted(strategy::dense, products), dense(first, last, 0, p_.b.cols, products, columns, values);
  }
  /// Columns [first_col, last_col) of row i.
  std::int64_t range(std::int64_t i, const chunk& c, Index* columns, Value* values) {
    if (c.first_col == 0) counted(strategy::windows, 0);
    counts.products[int(strategy::windows)] += c.products;
    return dense(p_.a.row_pointers[i], p_.a.row_pointers[i + 1], c.first_col, c.last_col, c.products, columns, values);
  }

  /// How many rows from i on, before `end`, are put in order by ranks; 0: row() is better.
  int tiny_size(std::int64_t i, std::int64_t end, const std::int64_t* products) const {
    if (p_.b.cols > INT32_MAX) return 0;
    const std::int64_t most = p_.b.cols <= narrow_columns ? tiny_products_narrow : tiny_products;
    int count = 0;
    while (count < tiny::most_rows && i + count < end && products[i + count] <= most) ++count;
    // Rows of one entry are copied, and empty ones need nothing.
    const std::int64_t *row = p_.a.row_pointers + i, first_entries = row[count > 0] - row[0];
    return first_entries > 1 || row[count] - row[0] > count ? count : 0;
  }
  /// Computes the products of so many rows from i on.
  void begin_tiny(std::int64_t i, int count, std::int64_t end, const std::int64_t* products) {
    std::int64_t rows[3] = {}, sum[3] = {};  // without a product, of one entry, of more
    for (std::int64_t r = i; r < i + count; ++r) {
      const std::int64_t entries = p_.a.row_pointers[r + 1] - p_.a.row_pointers[r];
      const bool some = products[r] > 0, copied = some && entries == 1;
      rows[0] += !some;
      rows[1] += copied;
      rows[2] += some && !copied;
      sum[1] += copied ? products[r] : 0;
      sum[2] += copied ? 0 : products[r];
    }
    counts.add(strategy::empty, rows[0], 0);
    counts.add(strategy::streaming, rows[1], sum[1]);
    counts.add(strategy::tiny, rows[2], sum[2]);
    const std::int64_t first_entry = p_.a.row_pointers[i], last_entry = p_.a.row_pointers[i + count];
    const std::int64_t entries_end = p_.a.row_pointers[end];
    ask_ahead(first_entry, entries_end);
    tiny_.expand(i, count, products, [=, this](std::int64_t k) {
      if (k + entries_ahead < entries_end) ask(k + entries_ahead, entries_end);
    });
    asked_ = std::max(asked_, std::min(entries_end, last_entry + entries_ahead));
  }
  /// Row r of them: sorted entries, and how many there are. Up to tiny_products behind them are written, too.
  std::int64_t tiny_row(int r, Index* columns, Value* values) const { return tiny_.row(r, columns, values); }

  /// How many rows from i on, before `end`, might be summed up together; 0: none.
  int group_size(std::int64_t i, std::int64_t end, const std::int64_t* products) const {
    int count = 0;
    for (; count < row_group<Semiring, Value, Index>::rows && i + count < end; ++count) {
      const std::int64_t entries = p_.a.row_pointers[i + count + 1] - p_.a.row_pointers[i + count];
      if (entries < 2 || products[i + count] < grouped_products * entries || products[i + count] <= tiny_products)
        break;
    }
    return count < 2 ? 0 : count;
  }
  /// Sums up so many rows from i on; false: they are better taken one by one.
  bool begin_group(std::int64_t i, int count) { return group_.accumulate(i, count); }
  /// Row r of the group, with so many products: sorted entries, and how many there are.
  std::int64_t group_row(int r, std::int64_t products, Index* columns, Value* values) {
    counted(strategy::dense, products);
    return group_.extract(r, columns, values);
  }
  /// After the last row of a group.
  void end_group() { group_.clear(); }

  const std::int64_t* a_pointers() const { return p_.a.row_pointers; }

  strategy_counts counts;

 private:
  enum {
    table_slots = 2 * small_row_products,
    expanded = 4,
    entries_ahead = 24,
    rows_ahead = 48,
    grouped_products = 6
  };

  using tiny = tiny_rows<Semiring, Value, Index>;

  static constexpr Value identity() { return Semiring::template identity<Value>(); }
  static Value add(Value sum, Value product) { return Semiring::template add<Value>(sum, product); }
  void ask(std::int64_t k, std::int64_t end) const {
    if (k + rows_ahead < end) __builtin_prefetch(p_.b.row_pointers + p_.a.columns[k + rows_ahead]);
    const std::int64_t q = p_.b.row_pointers[p_.a.columns[k]];
    __builtin_prefetch(p_.b.columns + q);
    __builtin_prefetch(p_.b.values + q);
  }
  void counted(strategy s, std::int64_t products) { counts.add(s, 1, products); }

  std::int64_t stream(std::int64_t k, Index* columns, Value* values) const {
    const std::int64_t j = p_.a.columns[k], begin = p_.b.row_pointers[j], count = p_.b.row_pointers[j + 1] - begin;
    const Value a = p_.a.values[k];
    std::memcpy(columns, p_.b.columns + begin, std::size_t(count) * sizeof(Index));
    for (std::int64_t e = 0; e < count; ++e)
      values[e] = add(identity(), product_of<Semiring>(a, p_.b.values[begin + e]));
    return count;
  }

  // Entries, or -1 when the table is too full; it is empty again in any case.
  std::int64_t hash(std::int64_t first, std::int64_t last, std::int64_t products, Index* columns, Value* values) {
    const std::int64_t slots = std::min<std::int64_t>(slots_, std::int64_t(std::bit_ceil(2 * std::uint64_t(products))));
    const int shift = 64 - std::countr_zero(std::uint64_t(slots));
    const std::int64_t most = slots - slots / 8;
    std::int64_t count = 0;
    for (std::int64_t k = first; k < last; ++k) {
      const std::int64_t j = p_.a.columns[k], end = p_.b.row_pointers[j + 1];
      for (std::int64_t q = p_.b.row_pointers[j]; q < end; ++q) {
        const Index column = p_.b.columns[q];
        const Value product = product_of<Semiring>(p_.a.values[k], p_.b.values[q]);
        std::int64_t slot = std::int64_t((std::uint64_t(column) * 0x9E3779B97F4A7C15u) >> shift);
        while (keys_[slot] != column && keys_[slot] != Index(-1)) slot = (slot + 1) & (slots - 1);
        if (keys_[slot] == column) {
          table_[slot] = add(table_[slot], product);
          continue;
        }
        if (count == most) {
          std::fill(keys_.begin(), keys_.begin() + slots, Index(-1));
          return -1;
        }
        keys_[slot] = column;
        table_[slot] = add(identity(), product);
        columns[count++] = column;
      }
    }
    std::sort(columns, columns + count);
    for (std::int64_t e = 0; e < count; ++e) {
      std::int64_t slot = std::int64_t((std::uint64_t(columns[e]) * 0x9E3779B97F4A7C15u) >> shift);
      while (keys_[slot] != columns[e]) slot = (slot + 1) & (slots - 1);
      values[e] = table_[slot];
    }
    std::fill(keys_.begin(), keys_.begin() + slots, Index(-1));
    return count;
  }

  // Expands into what the table has room for: at most small_row_products.
  std::int64_t segment(std::int64_t first, std::int64_t last, std::int64_t products, Index* columns, Value* values) {
    std::int64_t count = 0;
    for (std::int64_t k = first; k < last; ++k) {
      const std::int64_t j = p_.a.columns[k], end = p_.b.row_pointers[j + 1];
      for (std::int64_t q = p_.b.row_pointers[j]; q < end; ++q, ++count) {
        keys_[count] = p_.b.columns[q];
        table_[count] = product_of<Semiring>(p_.a.values[k], p_.b.values[q]);
      }
    }
    std::int32_t order[small_row_products];
    for (std::int64_t e = 0; e < count; ++e) order[e] = std::int32_t(e);
    std::sort(order, order + count, [&](auto x, auto y) { return keys_[x] != keys_[y] ? keys_[x] < keys_[y] : x < y; });
    std::int64_t entries = 0;
    for (std::int64_t e = 0; e < count; ++e) {
      const Index column = keys_[order[e]];
      if (entries == 0 || columns[entries - 1] != column) {
        columns[entries] = column;
        values[entries++] = identity();
      }
      values[entries - 1] = add(values[entries - 1], table_[order[e]]);
    }
    std::fill(keys_.begin(), keys_.begin() + products, Index(-1));
    return entries;
  }

  std::int64_t dense(std::int64_t first, std::int64_t last, std::int64_t first_col, std::int64_t last_col,
                     std::int64_t products, Index* columns, Value* values) {
    const bool all = first_col == 0 && last_col == p_.b.cols;
    std::int64_t low = last_col, high = first_col;  // columns [low, high) are touched
    const bool close = last_col - first_col <= 16 * products;
    for (std::int64_t k = first; k < last; ++k) {
      const std::int64_t j = p_.a.columns[k];
      std::int64_t begin = p_.b.row_pointers[j], end = p_.b.row_pointers[j + 1];
      if (!all) {
        begin = lower_bound(p_.b.columns, begin, end, first_col);
        end = lower_bound(p_.b.columns, begin, end, last_col);
      }
      if (begin == end) continue;
      low = std::min(low, std::int64_t(p_.b.columns[begin]));
      high = std::max(high, std::int64_t(p_.b.columns[end - 1]) + 1);
      if (close)
        scatter<false>(p_.a.values[k], begin, end, first_col);
      else
        scatter<true>(p_.a.values[k], begin, end, first_col);
    }
    if (low >= high) return 0;
    low -= first_col;
    high -= first_col;
    return close ? gather_flags(low, high, first_col, columns, values)
                 : gather_bits(low, high, first_col, columns, values);
  }

  // One row of B, times a, into the sums, with a flag per column (cheap to set, found by a scan of all) or with bits in
  // two levels (found without a scan).
  template <bool Bits>
  void scatter(Value a, std::int64_t begin, std::int64_t end, std::int64_t first_col) {
    Value* const sums = sums_.data();
    std::uint8_t* const flags = flags_.data();
    std::uint64_t *const bits = bits_.data(), *const groups = groups_.data();
    const Index* const columns = p_.b.columns;
    const Value* const values = p_.b.values;
    for (std::int64_t q = begin; q < end; ++q) {
      const auto c = std::uint64_t(std::int64_t(columns[q]) - first_col);
      sums[c] = add(sums[c], product_of<Semiring>(a, values[q]));
      if constexpr (Bits) {
        bits[c / 64] |= std::uint64_t{1} << (c % 64);
        groups[c / 4096] |= std::uint64_t{1} << (c / 64 % 64);
      } else {
        flags[c] = 1;
      }
    }
  }

  // The sums of the columns of `mask` in a block of 64, to `count` on; they are clean afterwards.
  std::int64_t take(std::uint64_t mask, std::int64_t block, std::int64_t first_col, std::int64_t count, Index* columns,
                    Value* values) {
    Value* const sums = &sums_[64 * block];
    const Index base = Index(first_col + 64 * block);
    if (mask == ~std::uint64_t{0}) {
      for (int c = 0; c < 64; ++c) {
        columns[count + c] = Index(base + c);
        values[count + c] = sums[c];
        sums[c] = identity();
      }
      return count + 64;
    }
    for (; mask != 0; mask &= mask - 1) {
      const int c = std::countr_zero(mask);
      columns[count] = Index(base + c);
      values[count++] = sums[c];
      sums[c] = identity();
    }
    return count;
  }

  std::int64_t gather_flags(std::int64_t low, std::int64_t high, std::int64_t first_col, Index* columns,
                            Value* values) {
    std::int64_t count = 0;
    for (std::int64_t block = low / 64; block <= (high - 1) / 64; ++block) {
      const std::uint64_t mask = mask_of_flags(&flags_[64 * block]);
      if (mask == 0) continue;
      std::memset(&flags_[64 * block], 0, 64);
      count = take(mask, block, first_col, count, columns, values);
    }
    return count;
  }

  std::int64_t gather_bits(std::int64_t low, std::int64_t high, std::int64_t first_col, Index* columns, Value* values) {
    std::int64_t count = 0;
    for (std::int64_t group = low / 4096; group <= (high - 1) / 4096; ++group)
      for (std::uint64_t words = std::exchange(groups_[group], 0); words != 0; words &= words - 1) {
        const std::int64_t block = 64 * group + std::countr_zero(words);
        count = take(std::exchange(bits_[block], 0), block, first_col, count, columns, values);
      }
    return count;
  }

  problem<Value, Index> p_;
  std::int64_t asked_ = 0;
  array<Value> sums_;
  array<std::uint8_t> flags_;
  array<std::uint64_t> bits_, groups_;  // a bit per column, a bit per word of those
  array<Index> keys_;
  array<Value> table_;
  std::int64_t slots_;
  tiny tiny_;
  row_group<Semiring, Value, Index> group_;
};

}  // namespace quintet::spgemm
