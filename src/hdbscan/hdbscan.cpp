#include "quintet/hdbscan/hdbscan.hpp"

#include "hdbscan/finish.hpp"
#include "hdbscan/weights.hpp"
#include "quintet/core/error.hpp"
#include "quintet/core/profile.hpp"
#include "quintet/hdbscan/persistence_trace.hpp"

namespace quintet::hdbscan {

namespace {

/// Edges between points become edges between valid points, numbered 0, 1, ...
std::vector<edge> renumbered(const std::vector<edge>& edges, const std::vector<std::int64_t>& kept_rows,
                             std::int64_t n) {
  std::vector<std::int64_t> number(n, -1);
  for (std::size_t i = 0; i < kept_rows.size(); ++i) number[kept_rows[i]] = std::int64_t(i);
  std::vector<edge> result(edges);
  for (edge& e : result) e = {number[e.u], number[e.v], e.weight};
  return result;
}

std::vector<std::int64_t> rows_without(const std::vector<std::int64_t>& left_out, std::int64_t n) {
  std::vector<std::int64_t> kept_rows;
  auto next = left_out.begin();
  for (std::int64_t i = 0; i < n; ++i)
    if (next != left_out.end() && *next == i)
      ++next;
    else
      kept_rows.push_back(i);
  return kept_rows;
}

/// Options that check_options() can look at.
cluster_options with_some_size(cluster_options options) {
  if (options.min_cluster_size != automatic_size) return options;
  options.min_cluster_size = default_size;
  if (options.min_samples == 0) options.min_samples = default_size;
  return options;
}

/// What the spanning tree depends on has to be that of the model; min_samples 0 is.
void check_same_tree(const cluster_options& options, const cluster_options& model) {
  const auto expect = [](bool is_same, const char* name, const auto& value, const auto& of_model) {
    require_argument(is_same, name, value, text(of_model, ", that of the model: sweep() has all of one pass"));
  };
  const std::int64_t min_samples = spanning_tree_part(model).min_samples;
  expect(options.min_samples == 0 || options.min_samples == min_samples, "min_samples", options.min_samples,
         min_samples);
  expect(options.count_self == model.count_self, "count_self", options.count_self, model.count_self);
  expect(options.alpha == model.alpha, "alpha", options.alpha, model.alpha);
  expect(options.distance == model.distance, "distance", to_string(options.distance), to_string(model.distance));
}

}  // namespace

double cluster_result::spanning_tree_weight() const {
  double sum = 0;
  for (const edge& e : spanning_tree) sum += e.weight;
  return sum;
}

spanning_tree_options spanning_tree_part(const cluster_options& options) {
  const cluster_options sized = with_some_size(options);
  check_options(sized);
  require_argument(options.min_samples >= 0, "min_samples", options.min_samples, ">= 0");
  const std::int64_t min_samples = sized.min_samples > 0 ? sized.min_samples : sized.min_cluster_size;
  return {min_samples, options.count_self, options.distance, options.alpha};
}

valid_dendrogram dendrogram_of(const spanning_tree_result& tree, std::int64_t n) {
  const std::vector<std::int64_t> left_out = rows_of_both(tree.invalid_rows, tree.excluded_rows);
  valid_dendrogram result{rows_without(left_out, n), {}};
  if (result.rows.empty()) return result;
  result.tree = single_linkage(left_out.empty() ? tree.edges : renumbered(tree.edges, result.rows, n),
                               std::int64_t(result.rows.size()));
  for (std::size_t i = 0; !tree.weights.empty() && i < result.rows.size(); ++i) {
    result.tree.weights.push_back(tree.weights[result.rows[i]]);
    result.tree.heights.push_back(tree.core_distances[result.rows[i]]);
  }
  return result;
}

cluster_result finish_clustering(spanning_tree_result tree, std::int64_t n, cluster_options options) {
  double seconds = 0;
  stage_region stage("tree_stage", &seconds);
  valid_dendrogram valid = dendrogram_of(tree, n);
  cluster_result result;
  options.tie_tolerance = options.tie_tolerance.value_or(tree.tie_tolerance);
  result.options = valid.rows.empty() ? with_some_size(options) : sized_options(valid.tree, options);
  check_options(result.options);
  if (!valid.rows.empty()) static_cast<clustering&>(result) = cluster_tree(std::move(valid.tree), result.options);
  if (std::int64_t(valid.rows.size()) < n)
    static_cast<clustering&>(result) = reinsert_rows(std::move(static_cast<clustering&>(result)), valid.rows, n);
  result.weights = std::move(tree.weights);
  if (n > 0) result.condensed.weights = result.single_linkage.weights = result.weights;
  result.excluded_rows = std::move(tree.excluded_rows);
  result.core_distances = std::move(tree.core_distances);
  result.spanning_tree = std::move(tree.edges);
  result.neighbours = tree.neighbours;
  result.clamped = tree.clamped;
  result.invalid_rows = std::move(tree.invalid_rows);
  result.counters = tree.counters;
  result.ran_on = tree.ran_on;
  result.neighbours_seconds = tree.neighbours_seconds;
  result.spanning_tree_seconds = tree.spanning_tree_seconds;
  stage.end();
  result.tree_stage_seconds = seconds;
  return result;
}

cluster_result cluster(any_matrix points, const cluster_options& options, const Device& device,
                       const progress_callback& report, std::span<const double> weights) {
  check_ties(used_weights(weights, points.rows), options.tie_mode);
  return finish_clustering(spanning_tree(points, spanning_tree_part(options), device, report, weights), points.rows,
                           options);
}

cluster_result refit(const cluster_result& model, const cluster_options& options) {
  check_same_tree(options, model.options);
  cluster_options same_tree = options;
  same_tree.min_samples = spanning_tree_part(model.options).min_samples;
  spanning_tree_result tree;
  tree.edges = model.spanning_tree;
  tree.core_distances = model.core_distances;
  tree.neighbours = model.neighbours;
  tree.clamped = model.clamped;
  tree.invalid_rows = model.invalid_rows;
  tree.weights = model.weights;
  tree.excluded_rows = model.excluded_rows;
  tree.counters = model.counters;
  tree.ran_on = model.ran_on;
  tree.tie_tolerance = model.options.tie_tolerance.value_or(default_tie_tolerance());
  return finish_clustering(std::move(tree), std::int64_t(model.labels.size()), same_tree);
}

cluster_result flat(const cluster_result& model, std::int64_t clusters) {
  return refit(model, options_for_clusters(summarise(model.condensed), clusters, model.options));
}

}  // namespace quintet::hdbscan
