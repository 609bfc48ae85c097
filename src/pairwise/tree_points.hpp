// Points in the order of a block tree, packed, with the tree.
#pragma once

#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "pairwise/scanned_points.hpp"
#include "pairwise/tree_search.hpp"

namespace quintet::pairwise {

// A tree of blocks pays for few dimensions, and not for a handful of blocks.
constexpr std::int64_t max_tree_dimensions = 32, min_tree_points = 2048;

/// The share of all ordered pairs that searches of the tree may compute, above which a pass over all pairs is faster.
constexpr double worthwhile_share = 0.25;

template <class Real>
struct tree_points {
  std::vector<std::int32_t> order;  ///< the caller's numbers of the valid points, as they are packed
  panels<Real> packed;
  block_tree<Real> tree;

  template <class Storage>
  explicit tree_points(const scanned_points<Storage>& points) : tree_points(points, points.valid_rows()) {}
  /// Of these rows alone, which are valid and not none.
  template <class Storage>
  tree_points(const scanned_points<Storage>& points, const std::vector<std::int32_t>& rows)
      : order(ordered(points, rows)), packed(points.pack(order, tree_layout())), tree(packed) {}
  /// Of rows that are in the order of a tree, packed for tiles of all pairs too: see all_pairs_layout().
  template <class Storage>
  tree_points(const scanned_points<Storage>& points, std::vector<std::int32_t> in_order, const panel_layout& layout)
      : order(std::move(in_order)), packed(packed_for_tiles(points, order, layout)), tree(packed) {}
  tree_points(const tree_points&) = delete;  // the tree refers to the panels

  template <class Storage>
  static std::vector<std::int32_t> ordered(const scanned_points<Storage>& points,
                                           const std::vector<std::int32_t>& rows) {
    std::vector<std::int32_t> order = tree_order(points.pack(rows, tree_layout()));
    for (std::int32_t& i : order) i = rows[i];
    return order;
  }

 private:
  template <class Storage>
  static panels<Real> packed_for_tiles(const scanned_points<Storage>& points, const std::vector<std::int32_t>& order,
                                       const panel_layout& layout) {
    panels<Real> packed = points.pack(order, layout);
    if (layout.dim_multiple > 1) packed.block_side = tile_layout<Real>(points.device()).block_side;
    return packed;
  }
};

/// Panels that a tree and tiles of all pairs read alike: whole leaves, whole tiles.
template <class Real>
panel_layout all_pairs_layout(const Device& device) {
  const panel_layout tiles = tile_layout<Real>(device);
  return {std::lcm(tiles.block_side, std::int64_t(leaf_points)), tiles.dim_multiple};
}

/// Whether boxes of points bound distances.
constexpr bool has_boxes(metric kind) { return kind != metric::product; }

/// Whether a tree of the valid points may pay.
template <class Storage>
bool may_have_tree(const scanned_points<Storage>& points) {
  return has_boxes(points.kind()) && points.rows().dim <= max_tree_dimensions &&
         points.valid_count() >= min_tree_points;
}

/// Leaves a tree of the valid points in `tree` if it pays for their own lists of length k.
template <class Storage>
void build_tree_if_faster(const scanned_points<Storage>& points, int k,
                          std::optional<tree_points<accumulator_t<Storage>>>& tree) {
  tree.reset();
  if (!may_have_tree(points)) return;
  tree.emplace(points);
  if (sampled_share(tree->tree, k) > worthwhile_share) tree.reset();
}

}  // namespace quintet::pairwise
