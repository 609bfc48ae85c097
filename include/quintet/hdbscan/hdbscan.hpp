// HDBSCAN*: hierarchical density-based clustering (Campello, Moulavi, Sander 2013, 2015; McInnes, Healy 2017), exact,
// of points in any dimension.
//
//   #include <quintet/hdbscan/hdbscan.hpp>
//   quintet::matrix_view<const float> points(data, n, dim);
//   auto result = quintet::hdbscan::cluster(points, {.min_cluster_size = 10, .min_samples = 5});
//   result.labels[i], result.probabilities[i]
#pragma once

#include <cstdint>
#include <vector>

#include "quintet/core/any_view.hpp"
#include "quintet/core/progress.hpp"
#include "quintet/hdbscan/cluster_tree.hpp"
#include "quintet/hdbscan/spanning_tree.hpp"
#include "quintet/hdbscan/tree_stages.hpp"

namespace quintet::hdbscan {

/// A clustering with its inputs and work. Rows with NaN or infinity have label -1, probability 0 and score 1.
struct cluster_result : clustering {
  cluster_options options;                 ///< as given
  std::vector<double> core_distances;      ///< N; NaN for invalid rows
  std::vector<edge> spanning_tree;         ///< of the valid rows, sorted by (weight, u, v)
  std::int64_t neighbours = 0;             ///< the k that was used
  bool clamped = false;                    ///< min_samples was larger than the points allow and was lowered
  std::vector<std::int64_t> invalid_rows;  ///< rows left out, increasing (see core_result)
  spanning_tree_counters counters;         ///< work of the spanning tree
  stage_devices ran_on;                    ///< where the stages ran
  ///@{
  /// Wall-clock seconds of the stages: neighbours and core distances, rounds of the spanning tree, everything after it.
  double neighbours_seconds = 0, spanning_tree_seconds = 0, tree_stage_seconds = 0;
  ///@}

  /// Sum of the weights of spanning_tree, in its order. Cost: O(N).
  double spanning_tree_weight() const;
};

/// The options of the spanning tree that cluster() makes with `options`. spanning_tree() with them, then cluster_tree()
/// on its edges, is cluster() in two steps. Throws InvalidArgument for options out of range.
spanning_tree_options spanning_tree_part(const cluster_options& options);

/// Clusters the rows of `points` [N x D], N >= 0, D >= 1, any row stride; points are float, double, half or bfloat16.
///
/// One valid row is noise. Same bits on every run, for any number of threads and on every device; with ties::canonical
/// (the default) independent of the order of the points.
///
/// Throws as spanning_tree() and check_options() do: InvalidArgument, OutOfMemory, DeviceError, Cancelled. Cost and
/// memory: those of spanning_tree() and cluster_tree(). The matrix N x N is never stored.
cluster_result cluster(any_matrix points, const cluster_options& options = {}, const Device& device = Device::best(),
                       const progress_callback& report = {});

}  // namespace quintet::hdbscan
