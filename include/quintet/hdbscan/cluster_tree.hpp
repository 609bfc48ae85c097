// The tree stage of HDBSCAN in one call: from the edges of a spanning tree, or a dendrogram, to labels.
//
//   std::vector<quintet::hdbscan::edge> edges = ...;                        // N - 1 edges of a spanning tree
//   auto result = quintet::hdbscan::cluster_tree(edges, n, {.min_cluster_size = 10});
//   result.labels[i], result.probabilities[i], result.outlier_scores[i]     // i in [0, N)
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "quintet/hdbscan/edge.hpp"
#include "quintet/hdbscan/tree_stages.hpp"

namespace quintet::hdbscan {

/// The results of the tree stage for N points in K clusters.
struct clustering {
  std::vector<std::int64_t> labels;    ///< N: 0..K-1, or -1 for noise
  std::vector<double> probabilities;   ///< N: membership in [0, 1], 0 for noise
  std::vector<double> outlier_scores;  ///< N: GLOSH in [0, 1]
  std::vector<double> persistence;     ///< K, see persistence()
  std::vector<std::int64_t> selected;  ///< K: ids in `condensed` of the clusters with label 0..K-1
  point_groups exemplars;              ///< per label, see exemplars()
  single_linkage_tree single_linkage;  ///< N - 1 rows
  condensed_tree condensed;            ///< the clusters that `selected` is taken from
  std::int64_t components = 0;         ///< connected components of the edges; more than 1: merges at height +infinity

  /// K.
  std::int64_t clusters() const { return static_cast<std::int64_t>(selected.size()); }
};

/// HDBSCAN* of n points from the edges of a minimum spanning tree of their mutual reachability, or of any graph: see
/// single_linkage(). A single point is noise with score 0, whatever the options.
///
/// Throws InvalidArgument if an option is out of range, an edge is invalid, or n < 1. Cost: O(N log N) time, at most
/// about 250 bytes per point while it runs and 100 in the result.
clustering cluster_tree(std::span<const edge> edges, std::int64_t n, const tree_options& options = {});

/// The same from a dendrogram, for instance of another program; it is moved into the result. Throws InvalidArgument for
/// options out of range and as check_linkage() does. Cost: as above, without the sorting of edges.
clustering cluster_tree(single_linkage_tree tree, const tree_options& options = {});

/// Puts rows back that were left out before clustering, because they held NaN or infinity.
///
/// `result` is the clustering of the points kept[0] < kept[1] < ... among n. The others get label -1, probability 0,
/// score 1; they join the dendrogram last, at height +infinity, and leave the condensed root at lambda 0. Where points
/// have weights theirs are 0. `result` of
/// no points at all (a default clustering) is allowed. `components` stays that of the kept points.
///
/// Throws InvalidArgument if `kept` does not increase within [0, n) or does not have one entry per label, and for n <
/// 0. It also throws if rows are put back into a `result` with trees, clusters, exemplars or columns of another number
/// of points. Cost: O(n) time and memory, O(r log r) for r rows put back.
clustering reinsert_rows(clustering result, std::span<const std::int64_t> kept_rows, std::int64_t n);

}  // namespace quintet::hdbscan
