// Points that lie in one place: a spanning tree needs one of them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "quintet/core/storage16.hpp"
#include "quintet/core/view.hpp"
#include "quintet/hdbscan/spanning_tree.hpp"

namespace quintet::hdbscan {

/// Points without the copies in piles. A pile is more than k equal points: their core distances are 0, edges among them
/// weigh nothing, and those to another point all weigh the same. By (weight, u, v) the minimum spanning tree joins each
/// pile to its smallest number first, and has no other edge of the copies.
template <class Storage>
class merged_piles {
 public:
  /// Nothing where the rows `valid` (ascending) of `points`, in host memory, hold few piles. A sample shows it, so
  /// points without piles cost next to nothing; otherwise O(N D log N).
  /// Coordinates are numbers, or words of bits or integers.
  static std::optional<merged_piles> find(matrix_view<const Storage> points, const std::vector<std::int32_t>& valid,
                                          std::int64_t k, bool are_words);

  /// The points that are left, in their order, and how many each stands for, which is its weight.
  matrix_view<const Storage> points() const { return {values_.data(), std::int64_t(number_.size()), dim_}; }
  const std::vector<double>& copies() const { return copies_; }

  /// Takes the tree of points() for the tree of all into `whole`: edges and core distances. False, and nothing is done,
  /// if two places are at distance 0 by rounding.
  bool expand(spanning_tree_result tree, spanning_tree_result& whole) const;

 private:
  std::int64_t dim_ = 0;
  std::vector<Storage> values_;
  std::vector<std::int32_t> number_;            ///< per point that is left: its row
  std::vector<double> copies_;                  ///< and the number of points there
  std::vector<std::int32_t> row_, stands_for_;  ///< per copy that is left out: its row, and which of points() it is
};

}  // namespace quintet::hdbscan
