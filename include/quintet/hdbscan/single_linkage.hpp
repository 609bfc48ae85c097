// Single linkage: the binary tree of merges that Kruskal's algorithm makes from weighted edges.
//
// Edges are taken in the total order (weight, u, v); each that joins two components makes one merge. The result is the
// dendrogram of the graph (Gower & Ross 1969), in the row format of SciPy and scikit-learn-contrib/hdbscan.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "quintet/hdbscan/edge.hpp"

namespace quintet::hdbscan {

/// One merge. Ids below N are points; id N + t is what row t made.
struct linkage_row {
  ///@{
  /// Ids of the two nodes that join.
  std::int64_t left = 0, right = 0;
  ///@}
  double height = 0;      ///< weight of the edge that joins them, >= 0, +infinity = no edge does
  std::int64_t size = 0;  ///< points below, >= 2

  /// Equal in everything.
  friend bool operator==(const linkage_row& a, const linkage_row& b) = default;
};

/// A dendrogram of `points` points: points - 1 rows, children before parents.
struct single_linkage_tree {
  std::int64_t points = 0;        ///< N
  std::vector<linkage_row> rows;  ///< N - 1 (none for N = 0), heights do not decrease from child to parent
};

/// The dendrogram of n points joined by `edges`, in any order and orientation.
///
/// Edges that close a cycle are ignored, so the edges of any graph will do: its minimum spanning forest decides. What
/// finite edges leave unconnected is joined at height +infinity, components by increasing smallest point; ask
/// connected_components() whether that happened. Row t has left = the node of the edge's smaller end point.
///
/// Throws InvalidArgument for n < 1, an end point outside [0, n), u = v, or a weight that is negative or NaN.
/// Cost: O(E log E) time (O(E) when the edges come in the total order), 24 bytes an edge and 56 per point.
single_linkage_tree single_linkage(std::span<const edge> edges, std::int64_t n);

/// Number of components that merges of finite height leave: 1 + rows of height +infinity (0 for a tree of no points).
/// `tree` is not checked. Cost: O(N).
std::int64_t connected_components(const single_linkage_tree& tree);

/// Throws InvalidArgument unless `tree` is a dendrogram: points - 1 rows, every node used once as a child and after it
/// was made, sizes that add up, heights >= 0 that are not NaN and do not decrease from child to parent. Cost: O(N)
/// time, 2 bytes per point.
void check_linkage(const single_linkage_tree& tree);

}  // namespace quintet::hdbscan
