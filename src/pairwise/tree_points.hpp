// Points in the order of a block tree, packed, with the tree.
#pragma once

#include <vector>

#include "pairwise/scanned_points.hpp"
#include "pairwise/tree_search.hpp"

namespace quintet::pairwise {

// A tree of blocks pays for few dimensions, and not for a handful of blocks.
constexpr std::int64_t most_tree_dimensions = 32, least_tree_points = 2048;

/// The share of all ordered pairs that searches of the tree may compute, above which a pass over all pairs is faster.
constexpr double worthwhile_share = 0.25;

template <class Real>
struct tree_points {
  std::vector<std::int32_t> order;  ///< the caller's numbers of the valid points, as they are packed
  panels<Real> packed;
  block_tree<Real> tree;

  template <class Storage>
  explicit tree_points(const scanned_points<Storage>& points)
      : order(ordered(points)), packed(points.pack(order, tree_layout())), tree(packed) {}
  tree_points(const tree_points&) = delete;  // the tree refers to the panels

 private:
  template <class Storage>
  static std::vector<std::int32_t> ordered(const scanned_points<Storage>& points) {
    const std::vector<std::int32_t> valid = points.valid_rows();
    std::vector<std::int32_t> order = tree_order(points.pack(valid, tree_layout()));
    for (std::int32_t& i : order) i = valid[i];
    return order;
  }
};

}  // namespace quintet::pairwise
