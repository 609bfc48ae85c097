// Several rows of a product at once, where they use nearly the same rows of B: meshes and block structures. A column of
// B is read once for all of them, and their sums of that column lie side by side.
#pragma once

#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>

#include "spgemm/flag_scan.hpp"
#include "spgemm/problem.hpp"

namespace quintet::spgemm {

/// Columns that a group of rows covers at most: its sums stay in the second-level cache.
constexpr std::int64_t group_columns = 8192;

template <class Semiring, class Value, class Index>
class row_group {
 public:
  enum { rows = 8 };

  row_group(const problem<Value, Index>& p, memory_source& memory)
      : p_(p), width_((std::min(p.b.cols, group_columns) + 63) / 64 * 64 + 64), memory_(&memory) {}

  /// Sums up the rows [first, first + count), or does nothing: false when they have too little in common, or too many
  /// columns, or when a row of A is not in order.
  bool accumulate(std::int64_t first, int count) {
    if (p_.b.rows > std::numeric_limits<Index>::max() || !unite(first, count)) return false;
    if (sums_.empty()) allocate();
    const Value* a[rows];
    for (int r = 0; r < rows; ++r) a[r] = p_.a.values + p_.a.row_pointers[first + std::min(r, count - 1)];
    for (int s = 0; s < steps_; ++s) {
      lanes factor;
      mask wanted;
      for (int r = 0; r < rows; ++r) {
        const bool taken = step_[s].rows >> r & 1;
        factor[r] = taken ? *a[r] : Value(0);
        wanted[r] = -integer(taken);
        a[r] += taken;
      }
      scatter(factor, wanted, step_[s]);
    }
    find_columns(count);
    return true;
  }

  /// Row r of the group: its sorted entries, and how many there are.
  std::int64_t extract(int r, Index* columns, Value* values) const {
    std::int64_t entries = 0;
    for (std::int64_t block = 0; block < blocks_; ++block) {
      const Value* const sums = aligned_ + 64 * rows * block + r;
      const Index base = Index(low_ + 64 * block);
      for (std::uint64_t mask = found_[rows * block + r]; mask != 0; mask &= mask - 1) {
        const int c = std::countr_zero(mask);
        columns[entries] = Index(base + c);
        values[entries++] = sums[rows * c];
      }
    }
    return entries;
  }

  /// After the last row.
  void clear() {
    for (std::int64_t block = 0; block < blocks_; ++block) {
      std::uint64_t any = 0;
      for (int r = 0; r < rows; ++r) any |= found_[rows * block + r];
      for (; any != 0; any &= any - 1)
        std::fill_n(aligned_ + rows * (64 * block + std::countr_zero(any)), int(rows), identity());
    }
    std::fill_n(flags_.data(), 64 * blocks_, std::uint8_t(0));
  }

 private:
  /// A value of each row, and what selects among them.
  using integer = std::conditional_t<sizeof(Value) == 8, std::int64_t, std::int32_t>;
  typedef Value lanes __attribute__((vector_size(rows * sizeof(Value))));
  typedef integer mask __attribute__((vector_size(rows * sizeof(Value))));

  enum { most_steps = 1024, judged_steps = 16 };
  /// A row of B, and a bit for every row of the group that uses it.
  struct step {
    std::int64_t begin, end;
    std::uint8_t rows;
  };

  static constexpr Value identity() { return Semiring::template identity<Value>(); }

  void allocate() {
    sums_ = array<Value>(width_ * rows + rows, *memory_);
    constexpr std::uintptr_t line = rows * sizeof(Value);  // of no column the sums lie in two cache lines
    aligned_ = reinterpret_cast<Value*>((reinterpret_cast<std::uintptr_t>(sums_.data()) + line - 1) / line * line);
    flags_ = array<std::uint8_t>(width_, *memory_);
    found_ = array<std::uint64_t>(width_ / 64 * rows, *memory_);
    std::fill(sums_.begin(), sums_.end(), identity());
    std::fill(flags_.begin(), flags_.end(), std::uint8_t(0));
  }

  /// The rows of B that the group uses, in order; false when it is no use.
  bool unite(std::int64_t first, int count) {
    constexpr Index none = std::numeric_limits<Index>::max();
    std::int64_t at[rows], last[rows];
    Index head[rows];
    for (int r = 0; r < rows; ++r) {
      const bool real = r < count;
      at[r] = real ? p_.a.row_pointers[first + r] : 0;
      last[r] = real ? p_.a.row_pointers[first + r + 1] - 1 : 0;
      head[r] = real ? p_.a.columns[at[r]] : none;
    }
    std::int64_t low = p_.b.cols, high = 0, shared = 0, alone = 0;
    bool sorted = true;
    for (steps_ = 0;; ++steps_) {
      Index j = head[0];
      for (int r = 1; r < rows; ++r) j = std::min(j, head[r]);
      if (j == none) break;
      if (steps_ == most_steps) return false;
      unsigned taken = 0;
      for (int r = 0; r < rows; ++r) {
        const bool hit = head[r] == j;
        taken |= unsigned(hit) << r;
        at[r] += hit;
        const Index next = p_.a.columns[std::min(at[r], last[r])];
        sorted &= !hit | (at[r] > last[r]) | (next > j);
        head[r] = !hit ? head[r] : at[r] > last[r] ? none : next;
      }
      const step now{p_.b.row_pointers[j], p_.b.row_pointers[j + 1], std::uint8_t(taken)};
      step_[steps_] = now;
      shared += now.end - now.begin;
      alone += (now.end - now.begin) * std::popcount(taken);
      if (now.begin < now.end) {
        low = std::min(low, std::int64_t(p_.b.columns[now.begin]));
        high = std::max(high, std::int64_t(p_.b.columns[now.end - 1]) + 1);
      }
      if (steps_ == judged_steps && alone < 2 * shared) return false;
    }
    low_ = low / 64 * 64;
    blocks_ = (high - low_ + 63) / 64;
    return sorted && low < high && 64 * blocks_ <= width_ && alone >= 2 * shared;
  }

  /// One row of B into the sums of the rows that use it.
  void scatter(const lanes& factor, const mask& wanted, const step& s) {
    Value* const sums = aligned_;
    std::uint8_t* const flags = flags_.data();
    const std::int64_t low = low_;
    const Index* const columns = p_.b.columns;
    const Value* const values = p_.b.values;
    const std::uint8_t taken = s.rows;
    const std::int64_t end = s.end;
    for (std::int64_t q = s.begin; q < end; ++q) {
      const std::int64_t c = std::int64_t(columns[q]) - low;
      const Value b = values[q];
      flags[c] |= taken;
      lanes sum, product, total;
      __builtin_memcpy(&sum, sums + rows * c, sizeof(lanes));
      for (int r = 0; r < rows; ++r) product[r] = product_of<Semiring>(Value(factor[r]), b);
#if !defined(__clang__)
      // g++ loses the barriers inside product_of() where it makes one vector operation of the loop.
      product = __builtin_assoc_barrier(product);
#endif
      for (int r = 0; r < rows; ++r) total[r] = Semiring::template add<Value>(sum[r], product[r]);
      sum = wanted ? total : sum;
      __builtin_memcpy(sums + rows * c, &sum, sizeof(lanes));
    }
  }

  /// A bit for every entry, by blocks of 64 columns and rows.
  void find_columns(int count) {
    for (std::int64_t block = 0; block < blocks_; ++block)
      for (int r = 0; r < rows; ++r)
        found_[rows * block + r] = r < count ? mask_of_bit(flags_.data() + 64 * block, r) : 0;
  }

  problem<Value, Index> p_;
  std::int64_t width_;
  Value* aligned_ = nullptr;
  memory_source* memory_;
  array<Value> sums_;          // rows sums for each column
  array<std::uint8_t> flags_;  // a bit for each row that has the column
  array<std::uint64_t> found_;
  std::int64_t low_ = 0, blocks_ = 0;
  int steps_ = 0;
  step step_[most_steps];
};

}  // namespace quintet::spgemm
