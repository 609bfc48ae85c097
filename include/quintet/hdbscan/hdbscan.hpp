// HDBSCAN*: hierarchical density-based clustering (Campello, Moulavi, Sander 2013, 2015; McInnes, Healy 2017), exact,
// of points in any dimension.
//
//   #include <quintet/hdbscan/hdbscan.hpp>
//   quintet::matrix_view<const float> points(data, n, dim);
//   auto result = quintet::hdbscan::cluster(points, {.min_cluster_size = 10, .min_samples = 5});
//   result.labels[i], result.probabilities[i]
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "quintet/core/any_view.hpp"
#include "quintet/core/progress.hpp"
#include "quintet/hdbscan/cluster_tree.hpp"
#include "quintet/hdbscan/spanning_tree.hpp"
#include "quintet/hdbscan/tree_stages.hpp"

namespace quintet::hdbscan {

/// A clustering with its inputs and work. Rows with NaN or infinity have label -1, probability 0 and score 1.
struct cluster_result : clustering {
  /// As given, with the tie_tolerance that was used, and the sizes of sized_options().
  cluster_options options;
  std::vector<double> core_distances;       ///< N; NaN for invalid and excluded rows
  std::vector<double> weights;              ///< N, as given; empty: all are 1
  std::vector<edge> spanning_tree;          ///< of the valid rows, sorted by (weight, u, v)
  std::int64_t neighbours = 0;              ///< the k that was used
  bool clamped = false;                     ///< min_samples was larger than the points allow and was lowered
  std::vector<std::int64_t> invalid_rows;   ///< rows left out, increasing (see core_result)
  std::vector<std::int64_t> excluded_rows;  ///< rows of weight 0, left out as if absent; none of invalid_rows
  spanning_tree_counters counters;          ///< work of the spanning tree
  stage_devices ran_on;                     ///< where the stages ran
  ///@{
  /// Wall-clock seconds of the stages: neighbours and core distances, rounds of the spanning tree, everything after it.
  double neighbours_seconds = 0, spanning_tree_seconds = 0, tree_stage_seconds = 0;
  ///@}

  /// Sum of the weights of spanning_tree, in its order. Cost: O(N).
  double spanning_tree_weight() const;
};

/// The options of the spanning tree that cluster() makes with `options`. spanning_tree() with them, then cluster_tree()
/// on its edges, is cluster() in two steps; where options.tie_tolerance is empty, the second takes that of the spanning
/// tree. Throws InvalidArgument for options out of range.
spanning_tree_options spanning_tree_part(const cluster_options& options);

/// Clusters the rows of `points` [N x D], N >= 0, D >= 1, any row stride; points are float, double, half or bfloat16.
///
/// One valid row is noise. Same bits on every run, for any number of threads and on every device; with ties::canonical
/// (the default) independent of the order of the points.
///
/// `weights`, N values >= 0, say how often each point counts; empty: once. Whole weights give what repeated points
/// give, each copy's result being its point's. So sizes, min_cluster_size and stability are sums of weights, and a
/// single point may be a cluster. Results have one entry per point, and sizes of rows in trees count points. Rows of
/// weight 0 have label -1, probability 0 and score 1.
///
/// Throws as spanning_tree() and check_options() do: InvalidArgument (also for weights with ties::binary), OutOfMemory,
/// DeviceError, Cancelled. Cost and memory: those of spanning_tree() and cluster_tree(). The matrix N x N is never
/// stored.
cluster_result cluster(any_matrix points, const cluster_options& options = {}, const Device& device = Device::best(),
                       const progress_callback& report = {}, std::span<const double> weights = {});

/// What cluster() returns with other options of the tree (those up to allow_single_cluster, see cluster_options): from
/// the spanning tree of `model`, no distance is computed. options.min_samples may be 0 and options.tie_tolerance empty,
/// which means those of the model.
///
/// Throws InvalidArgument for options out of range, and for a min_samples, count_self, alpha or distance that differs
/// from the model's: sweep() answers for many of them. Cost: that of cluster_tree().
cluster_result refit(const cluster_result& model, const cluster_options& options);

/// The model with `clusters` clusters: refit() with options_for_clusters(), which the result names. clusters() of the
/// result is another number where that one is out of reach. Throws InvalidArgument for clusters < 1. Cost: that of
/// cluster_tree().
cluster_result flat(const cluster_result& model, std::int64_t clusters);

}  // namespace quintet::hdbscan
