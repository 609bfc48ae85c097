// The first entries of a row by value, in the place of the row: entries that precede the last one so far are stored,
// and when twice as many are there as wanted, the first of them are selected. Most entries cost one comparison.
#pragma once

#include <bit>
#include <limits>
#include <type_traits>

#include "quintet/spgemm/top.hpp"
#include "spgemm/device_memory.hpp"
#include "spgemm/heap.hpp"

namespace quintet::spgemm {

/// top_selection as kernels use it.
template <class Value>
struct top_rule {
  std::int64_t count;
  Value sign;       ///< of the values: -1 where smaller ones rank first
  Value threshold;  ///< values times sign are not below it
  bool takes_nan, by_value;

  top_rule(const top_selection& selection, bool smaller_first)
      : count(selection.count),
        sign(smaller_first ? Value(-1) : Value(1)),
        threshold(selection.threshold ? sign * Value(*selection.threshold) : -std::numeric_limits<Value>::infinity()),
        takes_nan(!selection.threshold),
        by_value(selection.by_value) {}

  /// Whether x ranks before y; columns do not count.
  bool precedes(Value x, Value y) const { return sign * x > sign * y || (y != y && x == x); }
};

/// Numbers in the order of unsigned integers: the value of such an integer.
inline float ordered_value(std::uint32_t key) {
  return std::bit_cast<float>(key >> 31 != 0 ? key & 0x7fffffffu : ~key);
}
inline double ordered_value(std::uint64_t key) {
  return std::bit_cast<double>(key >> 63 != 0 ? key & 0x7fffffffffffffffu : ~key);
}

/// The first entries of a row while it is read: those that pass are stored in front, up to twice as many as wanted.
template <class Value, class Index>
class top_store {
 public:
  top_store(const top_rule<Value>& rule, Index* columns, Value* values)
      : rule_(rule), columns_(columns), values_(values), limit_(rule.threshold), takes_nan_(rule.takes_nan) {}

  /// Entries [next, count) in whole blocks; returns the first that is left. Rows of at most `room` entries are selected
  /// from once, longer ones whenever so many are stored. Ends where NaN no longer passes, if TakesNan.
  template <bool TakesNan>
  std::int64_t offer_blocks(std::int64_t next, std::int64_t count, std::int64_t room) {
    constexpr std::int64_t block = 16;
    for (; next + block <= count && takes_nan_ == TakesNan; next += block) {
      bool some = false;
      for (std::int64_t e = next; e < next + block; ++e) some |= passes<TakesNan>(values_[e]);
      if (!some) continue;
      for (std::int64_t e = next; e < next + block; ++e) store(e, passes<TakesNan>(values_[e]));
      if (size_ >= room) shrink();
    }
    return next;
  }
  /// Entry `next` of the row, not before size().
  void offer(std::int64_t next) {
    store(next, takes_nan_ ? passes<true>(values_[next]) : passes<false>(values_[next]));
  }
  std::int64_t size() const { return size_; }

  /// Keeps the first rule.count in their order, and lets pass only what may precede the last of them: columns ascend,
  /// so that an entry with its value ranks behind it.
  void shrink() {
    if (size_ <= rule_.count) return;
    constexpr Value least = -std::numeric_limits<Value>::infinity();
    const std::int64_t numbers = count_from(least);
    takes_nan_ = false;
    if (numbers < rule_.count) {  // NaN is the last one
      limit_ = least;
      return keep<true>(least, rule_.count - numbers);
    }
    // From `low` on there are at least as many as wanted, from `high` on fewer.
    key low = ~std::bit_cast<key>(least), high = (std::bit_cast<key>(-least) | sign_bit) + 1;
    std::int64_t entries = numbers, above_high = 0;
    while (entries > rule_.count && high - low > 1) {
      const key middle = low + (high - low) / 2;
      const std::int64_t above = count_from(ordered_value(middle));
      if (above < rule_.count) {
        high = middle;
        above_high = above;
      } else {
        low = middle;
        entries = above;
      }
    }
    const Value last = ordered_value(low);
    limit_ = ordered_value(last == 0 ? sign_bit + 1 : low + 1);  // NaN, which nothing reaches, after infinity
    keep<false>(last, entries > rule_.count ? rule_.count - above_high : rule_.count);
  }

 private:
  using key = std::conditional_t<sizeof(Value) == 4, std::uint32_t, std::uint64_t>;
  static constexpr key sign_bit = key(1) << (8 * sizeof(key) - 1);

  template <bool TakesNan>
  bool passes(Value x) const {
    return TakesNan ? !(rule_.sign * x < limit_) : rule_.sign * x >= limit_;
  }
  void store(std::int64_t next, bool is_kept) {
    columns_[size_] = columns_[next];
    values_[size_] = values_[next];
    size_ += is_kept;
  }
  std::int64_t count_from(Value limit) const {
    std::int64_t count = 0;
    for (std::int64_t e = 0; e < size_; ++e) count += rule_.sign * values_[e] >= limit;
    return count;
  }
  /// Values above `last`, and the first `ties` of those that equal it, or of NaN.
  template <bool LastIsNan>
  void keep(Value last, std::int64_t ties) {
    const std::int64_t count = size_;
    size_ = 0;
    for (std::int64_t e = 0; e < count; ++e) {
      const Value x = rule_.sign * values_[e];
      const bool is_tie = ties > 0 && (LastIsNan ? x != x : x == last);
      ties -= is_tie;
      store(e, (LastIsNan ? x >= last : x > last) || is_tie);
    }
  }

  const top_rule<Value> rule_;
  Index* const columns_;
  Value* const values_;
  Value limit_;
  bool takes_nan_;
  std::int64_t size_ = 0;
};

/// Puts the entries of a row, with ascending columns, in the order of rank.
template <class Value, class Index>
void sort_by_rank(const top_rule<Value>& rule, Index* columns, Value* values, std::int64_t count) {
  const auto swap = [=](std::int64_t i, std::int64_t j) {
    const Index column = columns[i];
    const Value value = values[i];
    columns[i] = columns[j];
    values[i] = values[j];
    columns[j] = column;
    values[j] = value;
  };
  const auto later = [=, &rule](std::int64_t i, std::int64_t j) {
    if (rule.precedes(values[j], values[i])) return true;
    return !rule.precedes(values[i], values[j]) && columns[i] > columns[j];
  };
  build_heap(count, later, swap);
  sort_heap(count, later, swap);
}

/// Keeps the first entries of a row, in its place; columns ascend. Returns their number.
template <class Value, class Index>
std::int64_t keep_top(const top_rule<Value>& rule, Index* columns, Value* values, std::int64_t count) {
  top_store<Value, Index> store(rule, columns, values);
  const std::int64_t room = rule.count >= count ? count + 1 : rule.count + (rule.count > 32 ? rule.count : 32);
  std::int64_t next = store.template offer_blocks<true>(0, count, room);
  next = store.template offer_blocks<false>(next, count, room);
  for (; next < count; ++next) store.offer(next);
  store.shrink();
  if (rule.by_value) sort_by_rank(rule, columns, values, store.size());
  return store.size();
}

/// Rows whose entries may be moved within them.
template <class Value, class Index>
struct row_entries {
  std::int64_t rows, cols;
  const std::int64_t* row_pointers;  ///< from 0
  Index* columns;
  Value* values;
};

/// The first entries of every row, closed up; `m`, which is on `device`, changes.
template <class Value, class Index>
device_matrix<Value, Index> top_entries(const row_entries<Value, Index>& m, const top_rule<Value>& rule,
                                        const Device& device, memory_source& memory);

}  // namespace quintet::spgemm
