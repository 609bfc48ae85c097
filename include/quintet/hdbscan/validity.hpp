// Validity of a clustering by density: DBCV (Moulavi, Jaskowiak, Campello, Zimek, Sander: Density-Based Clustering
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

/// The paper leaves two choices open: the distance, and the minimum spanning tree of a cluster. m has many ties,
/// because it is the core distance of one point for many others.
enum class validity_convention {
  indexed,       ///< d; edges in the order (m before its root is rounded, u, v) of the numbers of their points
  positional,    ///< d; edges in the order (m, d, positions): of equal m the shorter, see below
  moulavi_2014,  ///< the square of d; the tree that Prim's algorithm grows from the first point of the cluster
};

/// Options of validity_index().
struct validity_options {
  point_metric distance = metric::euclidean;  ///< d of points
  /// The D of the core distances, finite, > 0; 0: that of the points, which rows of bits do not have.
  double dimension = 0;
  validity_convention convention = validity_convention::indexed;  ///< distances and trees
  std::int64_t budget_bytes = 64 << 20;                           ///< >= 0: for distances in memory at a time
};

/// Validity of a clustering, and of each of its K clusters.
struct validity_result {
  double index = 0;                      ///< DBCV, in [-1, 1]: sum over clusters of size / N * validity
  std::vector<double> cluster_validity;  ///< K, in [-1, 1]
  std::vector<double> sparseness;        ///< K: DSC, a distance; 0 for clusters that do not count
  std::vector<double> separation;        ///< K: the minimum DSPC to another cluster; +infinity without another one
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
/// Distances 0 are left out of the sum (core = 0 where all are). If no edge is internal, the largest of all edges
/// counts. Clusters of one point count as noise; fewer than two other clusters give index 0. A cluster of two points
/// has no internal point: both count. Rows with NaN or infinity count as noise; N counts all rows. Powers are taken
/// relative to the smallest distance, so that no dimension overflows or vanishes.
///
/// T is not unique. Core distances and the weights of the edges of T are the same for every T. The internal points and
/// edges are not, and all values that depend on them. options.convention chooses T:
///
/// - indexed, the default: the numbering of points matters, as in other programs (iris: 0.563 in its order, 0.553 in
///   another). Agrees with scikit-learn-contrib/hdbscan 0.8.43 to 1e-12 (relative) on reference data of 4 and 384
///   dimensions; that program stops or returns NaN for one cluster, and for clusters of one or two points. It is the
///   default because most published values are of that program, and because it needs no pass by single rows.
/// - positional: the order of the points does not matter. Equal edges are ordered by their points, these by their
///   coordinates, the first coordinate first. Only equal points are ordered by number, and they can replace each other.
/// - moulavi_2014: as the program of the paper's authors. Its values differ, because distances, sparseness and
///   separation are squared. Of equally near points Prim's tree takes the one with the smallest number, and of equal
///   edges to a point the earliest. Agrees with the published values for their four sets of 885 to 1863 points (0.8576,
///   0.8103, 0.6319, 0.8688) in all digits.
///
/// `weights`: N whole numbers >= 0, how often each row counts; empty: once. Rows are repeated for that, so cost and
/// memory are those of as many rows.
///
/// Points are float, double, half or bfloat16. Throws InvalidArgument for shapes, labels, weights or options out of
/// range; OutOfMemory, DeviceError, Cancelled.
///
/// Cost: 1 1/2 passes over the pairs within clusters with a power for each of their distances that matters, and on
/// clustered data a fraction of a pass over the pairs of internal points. Conventions other than indexed grow T point
/// by point: a further pass over all pairs of a cluster, in as many launches as it has points. Memory: two copies of
/// the points, the budget, and the memory of spanning_tree() for the largest cluster. Nothing n x n is stored.
validity_result validity_index(any_matrix points, std::span<const std::int64_t> labels,
                               const validity_options& options = {}, const Device& device = Device::best(),
                               const progress_callback& report = {}, std::span<const double> weights = {});

/// DBCV with everything taken from the spanning tree of mutual reachability (the relative_validity of
/// scikit-learn-contrib/hdbscan). The sparseness of a cluster is its longest edge, its separation the shortest edge to
/// another cluster. If no edge joins a cluster to another one, its separation is twice the longest edge of the tree. A
/// single cluster gets twice the shortest edge to noise, or twice the longest of all without noise. Use it to compare
/// parameters on one data set; it is no estimate of DBCV.
///
/// `tree` holds the edges of a clustering of N points, `labels` their N labels. The result is in [-1, 1], and 0 without
/// clusters. If sparseness and separation are equal, both 0 or both infinite, the validity of the cluster is 0. Throws
/// InvalidArgument for an end point outside [0, N), a weight that is negative or NaN, or a label outside [-1, N). Cost:
/// O(N) time, O(K) memory.
///
/// `weights` of points, N values >= 0 (empty: 1 each), with the core distances of the tree, which join copies: for
/// whole weights the result is that of repeated points.
double relative_validity(std::span<const edge> tree, std::span<const std::int64_t> labels,
                         std::span<const double> weights = {}, std::span<const double> core_distances = {});

}  // namespace quintet::hdbscan
