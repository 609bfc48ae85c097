// Tiles by their bounds, the smallest first, without a list of all of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "pairwise/edge_bounds.hpp"

namespace quintet::hdbscan {

/// Numbers in waves: those with the smallest values first, in every wave in the order (value, number). A histogram over
/// the upper bits of the values tells what is of one wave, so no wave needs memory for more than `max` entries.
template <class Real>
class tile_waves {
 public:
  /// Infinite values are of no use, and in no wave. The values must outlive this.
  tile_waves(const Real* value, std::int64_t count, std::int64_t max) : value_(value), count_(count), max_(max) {
    // All in one wave need no histogram, which is larger than small problems are.
    if (count_ <= max_) return;
    in_bucket_.assign(buckets, 0);
    for (std::int64_t i = 0; i < count_; ++i)
      if (value_[i] < std::numeric_limits<Real>::infinity()) ++in_bucket_[bucket_of(value_[i])];
  }

  /// The next ones; none if all were given.
  std::vector<std::int64_t> next() {
    if (in_bucket_.empty()) return all();
    while (first_ < buckets && in_bucket_[first_] == 0) ++first_;
    if (first_ == buckets) return {};
    // Whole buckets, or a part of one that is too large by itself, by numbers.
    int end = first_ + 1;
    std::int64_t target = in_bucket_[first_];
    while (from_ == 0 && end < buckets && target + in_bucket_[end] <= max_) target += in_bucket_[end++];
    const bool is_part = target > max_;
    if (is_part) target = max_;
    std::vector<std::pair<Real, std::int64_t>> tiles;
    tiles.reserve(target);
    std::int64_t i = from_;
    for (; i < count_ && std::int64_t(tiles.size()) < target; ++i) {
      if (!(value_[i] < std::numeric_limits<Real>::infinity())) continue;
      const int bucket = bucket_of(value_[i]);
      if (bucket >= first_ && bucket < end) tiles.emplace_back(value_[i], i);
    }
    if (is_part || from_ > 0) in_bucket_[first_] -= std::int64_t(tiles.size());
    if (is_part) {
      from_ = i;
    } else {
      first_ = end;
      from_ = 0;
    }
    return numbers_of(std::move(tiles));
  }

 private:
  std::vector<std::int64_t> all() {
    std::vector<std::pair<Real, std::int64_t>> tiles;
    for (; from_ < count_; ++from_)
      if (value_[from_] < std::numeric_limits<Real>::infinity()) tiles.emplace_back(value_[from_], from_);
    return numbers_of(std::move(tiles));
  }

  static std::vector<std::int64_t> numbers_of(std::vector<std::pair<Real, std::int64_t>> tiles) {
    std::sort(tiles.begin(), tiles.end());
    std::vector<std::int64_t> numbers(tiles.size());
    for (std::size_t e = 0; e < tiles.size(); ++e) numbers[e] = tiles[e].second;
    return numbers;
  }

  static constexpr int buckets = 1 << 15;  // the sign of values that are not negative says nothing

  static int bucket_of(Real value) { return int(pairwise::key_of(value) >> (8 * sizeof(Real) - 16)); }

  const Real* value_;
  std::int64_t count_, max_;
  std::vector<std::int64_t> in_bucket_;  ///< empty: all that is left is one wave
  int first_ = 0;                        ///< the first bucket that is not yet given
  std::int64_t from_ = 0;                ///< numbers below are given of it
};

}  // namespace quintet::hdbscan
