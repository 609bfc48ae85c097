// How good a clustering is, by density: DBCV (Moulavi, Jaskowiak, Campello, Zimek, Sander: Density-Based Clustering
// Validation, SDM 2014), and a cheap relative of it.
//
//   auto model = quintet::hdbscan::cluster(points, options);
//   double good = quintet::hdbscan::validity_index(points, model.labels).index;             // exact
//   double fast = quintet::hdbscan::relative_validity(model.spanning_tree, model.labels);          // from the tree
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "quintet/core/any_view.hpp"
#include "quintet/core/progress.hpp"
#include "quintet/device/device.hpp"
#include "quintet/hdbscan/edge.hpp"
#include "quintet/pairwise/metric.hpp"

namespace quintet::hdbscan {

/// How validity_index() measures.
struct validity_options {
  point_metric distance = metric::euclidean;  ///< d of points
  double dimension = 0;                       ///< the D of the core distances, finite, > 0; 0: that of the points
  std::int64_t budget_bytes = 64 << 20;       ///< >= 0: for distances that are held at a time
};

/// Validity of a clustering, and of each of its K clusters.
struct validity_result {
  double index = 0;                      ///< DBCV, in [-1, 1]: sum over clusters of size / N * validity
  std::vector<double> cluster_validity;  ///< K, in [-1, 1]
  std::vector<double> sparseness;        ///< K: DSC, a distance; 0 for clusters that do not count
  std::vector<double> separation;        ///< K: the minimum DSPC to another cluster; +infinity if there is none
};

/// DBCV of `labels` (N in [-1, N), -1 for noise; any clustering) of the rows of `points` [N x D]. K is one more than
/// the largest label.
///
/// Within a cluster C of n points:
///   core(x) = ( sum over y in C, y != x, of (1 / d(x, y))^D / (n - 1) )^(-1/D)        ("all-points core distance")
///   m(x, y) = max(core(x), core(y), d(x, y)), and T the minimum spanning tree of C under m.
///   Internal points of T have degree > 1, internal edges join two of them.
///   sparseness  = largest internal edge of T
///   separation  = minimum m between an internal point of C and one of another cluster
///   validity(C) = (separation - sparseness) / max(separation, sparseness)
///
/// What the paper leaves open is done as its authors' program does: distances 0 are left out of the sum (core = 0 where
/// all are); the largest of all edges counts where no edge is internal; clusters of one point count as noise; fewer
/// than two other clusters give index 0. A cluster of two points has no internal point: both count. T is not unique, as
/// m has many ties, and the index depends on it: here edges are taken in the order (m before its root is rounded, u,
/// v), so the numbering of points matters, as it does in other programs (iris: 0.563 as given, 0.553 in another order).
/// Rows with NaN or infinity count as noise; N counts all rows.
///
/// Powers are taken relative to the smallest distance, so that no dimension overflows or vanishes. Agrees with
/// scikit-learn-contrib/hdbscan 0.8.43 to 1e-12 (relative) on reference data of 4 and 384 dimensions; that program
/// stops or returns NaN for one cluster, and for clusters of one or two points.
///
/// Points are float, double, half or bfloat16. Throws InvalidArgument for shapes, labels or options out of range;
/// OutOfMemory, DeviceError, Cancelled. Cost: 1 1/2 passes over
/// the pairs within clusters with a power for each of their distances that matters, and on clustered data a fraction of
/// a pass over the pairs of internal points. Memory: two copies of the points, the budget, and what spanning_tree()
/// takes for the largest cluster. Nothing n x n is held.
validity_result validity_index(any_matrix points, std::span<const std::int64_t> labels,
                               const validity_options& options = {}, const Device& device = Device::best(),
                               const progress_callback& report = {});

/// DBCV with everything taken from the spanning tree of mutual reachability (the relative_validity of
/// scikit-learn-contrib/hdbscan): the sparseness of a cluster is its longest edge, its separation the shortest edge to
/// another cluster. A cluster that no edge joins to another one gets twice the longest edge of the tree as separation,
/// or, if it is the only cluster, twice the shortest edge to noise (twice the longest of all without noise). To compare
/// parameters on one data set; it is no estimate of DBCV.
///
/// `tree` holds the edges of a clustering of N points, `labels` their N labels. In [-1, 1]; 0 without clusters; the
/// validity of a cluster whose sparseness and separation are equal, both 0 or both infinite, is 0. Throws
/// InvalidArgument for an end point outside [0, N), a weight that is negative or NaN, or a label outside [-1, N). Cost:
/// O(N) time, O(K) memory.
double relative_validity(std::span<const edge> tree, std::span<const std::int64_t> labels);

}  // namespace quintet::hdbscan
