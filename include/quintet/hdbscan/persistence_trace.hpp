// Which min_cluster_size to take: the persistence of the leaf clusters over all sizes (PLSCAN: Bot, Peeters,
// Liesenborgs, Aerts: Persistent Multiscale Density-based Clustering, 2025).
//
//   auto trace = quintet::hdbscan::trace_persistence(result.single_linkage, 5);
//   auto size = quintet::hdbscan::most_persistent_size(trace);   // a min_cluster_size
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "quintet/hdbscan/tree_stages.hpp"

namespace quintet::hdbscan {

/// Stands for the min_cluster_size that most_persistent_size() finds in the dendrogram. It is a value of the options of
/// cluster(), cluster_tree(), refit() and their relatives, and their results name the size. Without any split it is 5.
constexpr std::int64_t automatic_size = std::numeric_limits<std::int64_t>::min();
/// The min_samples of options with automatic_size that name none, and the size where nothing splits.
constexpr std::int64_t default_size = 5;

/// A leaf cluster: with a min_cluster_size in [first, last] it exists and does not split.
struct persistent_leaf {
  std::int64_t node = 0;   ///< of the dendrogram: a point, or N + row
  std::int64_t first = 0;  ///< smallest min_cluster_size
  std::int64_t last = 0;   ///< largest, its persistence is last - first + 1

  /// Equal in everything.
  friend bool operator==(const persistent_leaf&, const persistent_leaf&) = default;
};

/// The total persistence of the leaves that exist with a min_cluster_size, up to the size before the next step.
struct persistence_step {
  std::int64_t min_cluster_size = 0;  ///< the first
  double persistence = 0;             ///< sum over the leaves of the number of sizes with which they exist

  /// Equal in everything.
  friend bool operator==(const persistence_step&, const persistence_step&) = default;
};

/// The leaf clusters of every min_cluster_size above `min_samples`, the root aside, in the order of the dendrogram.
///
/// A split of a cluster makes a child of x points a cluster for sizes up to x, but the largest child only up to the
/// size of the second largest. It is a leaf for sizes larger than q, the largest such bound of the splits below it.
/// With ties::canonical a split has all components just below its height, ties as condense() takes them; `binary` takes
/// rows one by one. Nothing splits at height 0.
///
/// Throws InvalidArgument if `tree` is not a valid dendrogram, for min_samples < 0 and a tie_tolerance out of range.
/// Cost: O(N) time and memory, and O(s log s) for s children of one split.
std::vector<persistent_leaf> persistent_leaves(const single_linkage_tree& tree, std::int64_t min_samples,
                                               ties tie_mode = ties::canonical,
                                               std::optional<double> tie_tolerance = std::nullopt);

/// The steps of the persistence of persistent_leaves(), increasing in size; that of the last is 0. Empty where nothing
/// splits. Size t of PLSCAN is min_cluster_size t + 1 here, its smallest size min_samples. Errors and cost as above,
/// and O(s log s) for s leaves.
std::vector<persistence_step> trace_persistence(const single_linkage_tree& tree, std::int64_t min_samples,
                                                ties tie_mode = ties::canonical,
                                                std::optional<double> tie_tolerance = std::nullopt);

/// The smallest min_cluster_size of the largest persistence; nothing for an empty trace. O(steps).
std::optional<std::int64_t> most_persistent_size(std::span<const persistence_step> trace);

/// `options` with the most persistent size in place of automatic_size: that of the trace above options.min_samples, or
/// default_size where nothing splits. A min_samples of 0 becomes default_size. Options with any other size stay as they
/// are. Errors and cost as above.
tree_options sized_options(const single_linkage_tree& tree, const tree_options& options);

/// The peaks of a trace: steps above both their neighbours, by decreasing persistence (equal: by increasing size), at
/// most `max_layers`. Throws InvalidArgument for max_layers < 0. O(steps log steps).
std::vector<persistence_step> persistence_peaks(std::span<const persistence_step> trace, std::int64_t max_layers = 10);

/// The sizes at which the tree of clusters changes, increasing: 2, and those larger by 1 than the points of a child
/// that is not its split's largest. Between two of them the same clusters exist with the same splits; only the number
/// of points that leave with a split may differ. Errors and cost as for persistent_leaves().
std::vector<std::int64_t> changing_sizes(const single_linkage_tree& tree, ties tie_mode = ties::canonical,
                                         std::optional<double> tie_tolerance = std::nullopt);

}  // namespace quintet::hdbscan
