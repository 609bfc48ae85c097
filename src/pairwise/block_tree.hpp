// A tree over blocks of points: what all-pairs questions can pass over when points have few dimensions.
//
// Points are split at the median of the widest side of their bounding box (Bentley 1975) until leaf_points of them are
// left; packed in that order, the points of a leaf, and of every node, follow one another. Nodes are numbered in
// preorder, so that the children of a node follow from its number and its leaves, and nothing but boxes is stored.
#pragma once

#include <cstdint>
#include <vector>

#include "pairwise/panels.hpp"

namespace quintet::pairwise {

/// Points of a leaf, the rows and columns of a tile.
constexpr int leaf_points = 64;

/// A node of the tree: its number, and its leaves.
struct tree_node {
  std::int32_t number, first_leaf, leaves;

  bool is_leaf() const { return leaves == 1; }
  /// The larger half of the leaves, if they are odd in number.
  std::int32_t left_leaves() const { return (leaves + 1) / 2; }
  tree_node left() const { return {number + 1, first_leaf, left_leaves()}; }
  tree_node right() const { return {number + 2 * left_leaves(), first_leaf + left_leaves(), leaves - left_leaves()}; }
  bool has_leaf(std::int32_t leaf) const { return leaf >= first_leaf && leaf < first_leaf + leaves; }
};

/// Raw pointers to a tree in the memory of a device; a plain value that travels with kernels.
template <class Real>
struct tree_view {
  const Real* panels;
  const Real* factor;  ///< of every point, see point_factors.hpp; null: none
  const Real* low;     ///< [node][dim], corners of the boxes
  const Real* high;
  const Real* min_factor;  ///< [node]; null: none
  std::int64_t dim, count;
  std::int32_t leaves;
  coordinate_term<Real> term;

  tree_node root() const { return {0, 0, leaves}; }
  int points_in_leaf(std::int64_t leaf) const {
    const std::int64_t left = count - leaf * leaf_points;
    return int(left < leaf_points ? left : std::int64_t(leaf_points));
  }
};

/// The boxes over packed points, where the points are.
template <class Real>
class block_tree {
 public:
  /// `points` are packed in tree_order() by tree_layout(); they have to outlive the tree. Cost: O(points * dim).
  explicit block_tree(const panels<Real>& points);

  tree_view<Real> view() const;
  std::int32_t leaves() const { return leaves_; }
  std::int64_t nodes() const { return 2 * std::int64_t(leaves_) - 1; }
  /// Of the tree itself, without the points.
  std::int64_t bytes() const { return by_depth_.bytes() + low_.bytes() + high_.bytes() + min_factor_.bytes(); }
  const Device& device() const { return points_.device(); }
  /// Runs f(node) for every node on the device, children before their parents. f is trivially copyable.
  template <class Function>
  void for_each_node_upwards(const Function& f) const;

 private:
  const panels<Real>& points_;
  std::int32_t leaves_;
  std::vector<std::int64_t> depth_begin_;  ///< of every depth, in by_depth_
  Buffer<tree_node> by_depth_;             ///< the nodes, the root last, deeper ones first
  Buffer<Real> low_, high_, min_factor_;
};

/// How points are packed for a tree: no coordinate beyond the dimension, blocks of leaf_points.
panel_layout tree_layout();

/// An order of the points packed in `points` (by tree_layout(), in any order) in which the points of every node follow
/// one another. On the host; cost: O(N D log(N / leaf_points)).
template <class Real>
std::vector<std::int32_t> tree_order(const panels<Real>& points);

}  // namespace quintet::pairwise

#include "pairwise/block_tree_impl.hpp"
