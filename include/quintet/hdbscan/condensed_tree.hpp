// The condensed tree: the dendrogram without the splits that only shed a few points.
//
// Walking down from the root, a split is real when at least two sides have min_cluster_size points; otherwise points
// just leave and the cluster lives on (Campello, Moulavi, Sander 2013; the row format of McInnes & Healy 2017).
#pragma once

#include <cstdint>
#include <vector>

#include "quintet/hdbscan/single_linkage.hpp"
#include "quintet/hdbscan/tree_options.hpp"

namespace quintet::hdbscan {

/// One departure: `child` leaves `parent` at density lambda = 1 / height. Child ids below N are points, of size 1;
/// others are clusters born at that lambda, of `size` points.
struct condensed_row {
  ///@{
  /// Ids; `parent` is a cluster.
  std::int64_t parent = 0, child = 0;
  ///@}
  double lambda = 0;      ///< >= 0; 0 at height +infinity, +infinity at height 0
  std::int64_t size = 0;  ///< points that leave, >= 1

  /// Equal in everything.
  friend bool operator==(const condensed_row& a, const condensed_row& b) = default;
};

/// The condensed tree of `points` points. Cluster ids: the root is `points`, the others follow without a gap, parents
/// before children, the children of one cluster one after another.
struct condensed_tree {
  std::int64_t points = 0;          ///< N
  std::int64_t clusters = 0;        ///< number of clusters, the root included
  std::vector<condensed_row> rows;  ///< increasing in (parent, lambda, child)
};

/// Condenses `tree` with options.min_cluster_size, tie_mode and tie_tolerance.
///
/// Breadth-first from the root, cluster P at a node of height h with children below it: when at least two children have
/// min_cluster_size points, each of these is a new cluster and the points of the others leave P; when one has, it
/// carries on as P; when none has, all points leave. `binary` has the two children of the row, left first. `canonical`
/// has all components just below h, so neither the order of points nor the choice among minimum spanning trees matters;
/// new clusters are numbered by increasing smallest point. No cluster is ever split at height 0, in either mode.
///
/// A single point gives a tree of no rows. Throws InvalidArgument for a tree that is none (check_linkage()) and for
/// options out of range. Cost: O(N log N) time at most, about 150 bytes per point besides the tree, no recursion.
condensed_tree condense(const single_linkage_tree& tree, const tree_options& options);

}  // namespace quintet::hdbscan
