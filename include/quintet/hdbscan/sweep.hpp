// HDBSCAN* for many parameters at once, from one pass over the distances.
//
//   #include <quintet/hdbscan/sweep.hpp>
//   auto result = quintet::hdbscan::sweep(points, {.min_samples = {2, 5, 10, 20}, .min_cluster_size = {5, 10, 50}});
//   const auto& best = result.settings[result.best];
//   auto model = quintet::hdbscan::clustering_at(result, result.best);   // what cluster() returns there
//
// The distances of a single spanning tree serve all min_samples (spanning_trees.hpp), and a tree serves all sizes.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "quintet/core/any_view.hpp"
#include "quintet/core/progress.hpp"
#include "quintet/hdbscan/hdbscan.hpp"
#include "quintet/hdbscan/persistence_trace.hpp"
#include "quintet/hdbscan/spanning_trees.hpp"

namespace quintet::hdbscan {

/// What makes a setting the best.
enum class score {
  persistence,        ///< that of the leaves, see trace_persistence()
  relative_validity,  ///< see relative_validity()
  dbcv                ///< validity_index() of the 16 settings of the largest relative validity
};

/// Options of sweep(): values to combine, and what all settings share; see cluster_options.
struct sweep_options {
  std::vector<std::int64_t> min_samples{};       ///< >= 1; not empty; repeated values count once
  std::vector<std::int64_t> min_cluster_size{};  ///< >= 2; empty: changing_sizes() of every tree
  std::vector<double> epsilon{0};                ///< >= 0; not empty
  ///@{
  /// As in cluster_options.
  ties tie_mode = ties::canonical;
  std::optional<double> tie_tolerance = std::nullopt;
  selection method = selection::eom;
  double epsilon_max = std::numeric_limits<double>::infinity();
  std::int64_t max_cluster_size = 0;
  bool allow_single_cluster = false;
  bool count_self = false;
  double alpha = 1;
  point_metric distance = metric::euclidean;
  ///@}
  score by = score::persistence;  ///< what decides which setting is the best
  bool dbcv_all = false;          ///< validity_index() of every setting, whatever `by` is
  bool labels = true;             ///< keep the labels of every setting; otherwise ask labels_at()
  std::int64_t layers = 10;       ///< >= 0: at most so many
};

/// A clustering in figures.
struct sweep_setting {
  std::int64_t min_samples = 0;       ///< as asked for
  std::int64_t min_cluster_size = 0;  ///< its size
  double epsilon = 0;                 ///< its epsilon
  std::int64_t tree = 0;              ///< which of the trees it is of
  std::int64_t clusters = 0;          ///< number of labels
  std::int64_t noise = 0;             ///< points without one; with weights the sum of theirs, rounded down
  double persistence = 0;             ///< of the leaves at min_cluster_size, see trace_persistence()
  double relative_validity = 0;       ///< see relative_validity()
  double dbcv = std::numeric_limits<double>::quiet_NaN();  ///< index of validity_index(); NaN: not computed
  double stability = 0;                                    ///< sum over the clusters, see tree_summary
};

/// A clustering at a peak of the persistence of the best setting's tree, by its leaves.
struct persistent_layer {
  std::int64_t min_cluster_size = 0;  ///< smallest size of the peak
  double persistence = 0;             ///< of its leaves
  std::vector<std::int32_t> labels;   ///< N
};

/// Clusterings of N points with many parameters.
struct sweep_result {
  sweep_options options;                ///< as given, values sorted
  std::int64_t points = 0;              ///< N
  std::vector<sweep_setting> settings;  ///< by (min_samples, min_cluster_size, epsilon)
  std::vector<std::int32_t> labels;     ///< [settings][N] if asked for
  /// The setting of the largest score among those of two clusters at least; of equal ones the first. -1 without any.
  std::int64_t best = -1;
  std::vector<persistent_layer> layers;     ///< peaks of the tree of the best, by decreasing persistence
  std::vector<spanning_tree_result> trees;  ///< by increasing k; settings of one k share a tree
};

/// Clusters the rows of `points` [N x D] with all combinations of the options. Labels and figures of each setting are
/// those of cluster() with its parameters, bit for bit.
///
/// Persistence is counted for sizes above min_samples alone (PLSCAN), so it is 0 in settings of smaller sizes. A
/// min_samples that the points do not allow is lowered as in cluster().
///
/// `weights` are those of cluster().
///
/// Reports the stages of spanning_tree(), then "trees" and "settings". Throws as cluster() does, and InvalidArgument
/// for values out of range, an empty list, and more than 10^6 settings. Cost: spanning_trees(), then O(N) per setting
/// (100,000 points: about 20 ms), validity_index() where it is asked for. Memory: 32 bytes a point and tree, 4 bytes a
/// point and setting with labels.
sweep_result sweep(any_matrix points, const sweep_options& options, const Device& device = Device::best(),
                   const progress_callback& report = {}, std::span<const double> weights = {});

/// The options of cluster() at a setting. Throws InvalidArgument if there is no such setting. O(1).
cluster_options options_at(const sweep_result& result, std::int64_t setting);

/// The result of cluster() at a setting, from its tree: no distance is computed. Throws InvalidArgument if there is no
/// such setting. Cost: that of cluster_tree().
cluster_result clustering_at(const sweep_result& result, std::int64_t setting);

/// The labels at a setting; from `labels` or from its tree. Throws InvalidArgument if there is no such setting. Cost:
/// at most that of cluster_tree().
std::vector<std::int32_t> labels_at(const sweep_result& result, std::int64_t setting);

}  // namespace quintet::hdbscan
