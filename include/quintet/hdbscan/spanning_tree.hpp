// The exact minimum spanning tree of mutual reachability, without the matrix.
//
// Boruvka's algorithm (1926) runs over tiles of distances. One pass over all pairs finds the K nearest neighbours of
// every point, the core distances with them, and the smallest distance in every tile of points. Each round then looks
// for a component's lightest outgoing edge in the lists first. An edge outside the lists of both its ends is no lighter
// than the longest entry of either list, and no lighter than the smallest distance of its tile. So a round computes
// only tiles that can still hold a better edge. Nothing is approximated. Points are visited in an order that puts
// neighbours into the same tile, which makes these bounds sharp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "quintet/core/any_view.hpp"
#include "quintet/core/progress.hpp"
#include "quintet/device/device.hpp"
#include "quintet/hdbscan/core_distances.hpp"
#include "quintet/hdbscan/edge.hpp"

namespace quintet::hdbscan {

/// Options of spanning_tree(): those of the core distances, and the scale of distances against them.
struct spanning_tree_options {
  std::int64_t min_samples = 5;               ///< k of the core distances, see core_options
  bool count_self = false;                    ///< k = min_samples - 1
  point_metric distance = metric::euclidean;  ///< d of points
  double alpha = 1;                           ///< > 0, finite: divides distances, not core distances

  /// Those of the core distances.
  operator core_options() const { return {min_samples, count_self, distance}; }  // NOLINT: implicit
};

/// Devices of the stages of a clustering.
struct stage_devices {
  Device neighbours;     ///< order, neighbours, core distances
  Device spanning_tree;  ///< rounds of the spanning tree
  Device tree_stage;     ///< everything after it: always the host
};

/// Counters of the work, which show the effect of pruning.
struct spanning_tree_counters {
  std::int64_t rounds = 0;           ///< of Boruvka
  std::int64_t tiles = 0;            ///< tiles of all pairs of points
  std::int64_t tiles_scanned = 0;    ///< tiles computed again in the rounds
  std::int64_t pairs_evaluated = 0;  ///< distances computed in all, but for the order of the points
  /// pairs_evaluated in passes over all N (N - 1) / 2 pairs.
  double passes = 0;
};

/// A minimum spanning tree of mutual reachability, with its core distances and counters.
struct spanning_tree_result {
  /// M - 1 edges of the M valid rows, u < v, sorted by (weight, u, v); weights have the bits of mutual_reachability().
  /// For alpha = 1 the tree is the one that Kruskal's algorithm finds in the order (square of the weight before the
  /// root is rounded, u, v), so it is unique. Squares distinguish some edges with equal weights.
  std::vector<edge> edges;
  std::vector<double> core_distances;       ///< N; NaN for invalid and excluded rows
  std::int64_t neighbours = 0;              ///< the k that was used
  bool clamped = false;                     ///< k was lowered to M - 1
  std::vector<double> weights;              ///< N, as given; empty: all are 1
  std::vector<std::int64_t> excluded_rows;  ///< rows of weight 0, increasing, none of invalid_rows
  double tie_tolerance = 0;                 ///< default_tie_tolerance() of the points; 0 of rows of bits
  std::vector<std::int64_t> invalid_rows;   ///< rows left out, increasing (see core_result)
  spanning_tree_counters counters;          ///< work that was done
  stage_devices ran_on;                     ///< where
  double neighbours_seconds = 0;            ///< ordering, packing, lists
  double spanning_tree_seconds = 0;         ///< rounds

  /// Sum of the weights of `edges`, in their order. Cost: O(N).
  double total_weight() const;
};

/// The tree of the rows of `points` [N x D], N >= 0, D >= 1, any row stride; invalid_rows lists rows with NaN or
/// infinity, which are left out. Points are float, double, half or bfloat16. Distances are those of core_distances(),
/// and heights are exact conversions to double. Same bits for any number of threads and on every device.
///
/// `weights` are those of core_distances(). Rows of weight 0 are left out, too; otherwise the tree is one of points,
/// and how often they count shows in core distances alone.
///
/// Throws InvalidArgument (N over 2^31 - 1025, D < 1, options out of range, an alpha that takes a core distance out of
/// the range of the type), OutOfMemory, DeviceError, and Cancelled when `report` asks for it.
///
/// Cost in few dimensions (D <= 32, N >= 2048), if a sample of the searches shows that a tree of blocks of points pays:
/// about N log N. Otherwise one pass over all pairs (N^2 D / 2 multiply-adds on the host, N^2 D on a device) and, on
/// clustered data, a few percent of it again; at worst log2 N passes. Of more than min_samples equal points one alone
/// is searched, where they are a sixteenth of all.
///
/// Memory: one copy of the points (two for a moment), 64 bytes per point, and lists. A list has k + 11 entries (k + 5
/// with a tree of blocks) of 8 bytes, in double of 12. In many dimensions the filter adds half a copy and twice as much
/// for neighbours. Without the tree of blocks also two tables of bounds, of 32 MiB or a quarter of the points' bytes
/// each, and 128 MiB (double: 256) at most.
spanning_tree_result spanning_tree(any_matrix points, const spanning_tree_options& options = {},
                                   const Device& device = Device::best(), const progress_callback& report = {},
                                   std::span<const double> weights = {});

}  // namespace quintet::hdbscan
