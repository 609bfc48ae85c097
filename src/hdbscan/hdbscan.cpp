#include "quintet/hdbscan/hdbscan.hpp"

#include "hdbscan/finish.hpp"
#include "quintet/core/error.hpp"
#include "quintet/core/profile.hpp"

namespace quintet::hdbscan {

namespace {

/// Edges between points become edges between valid points, numbered 0, 1, ...
std::vector<edge> renumbered(const std::vector<edge>& edges, const std::vector<std::int64_t>& kept, std::int64_t n) {
  std::vector<std::int64_t> number(n, -1);
  for (std::size_t i = 0; i < kept.size(); ++i) number[kept[i]] = std::int64_t(i);
  std::vector<edge> result(edges);
  for (edge& e : result) e = {number[e.u], number[e.v], e.weight};
  return result;
}

std::vector<std::int64_t> rows_without(const std::vector<std::int64_t>& left_out, std::int64_t n) {
  std::vector<std::int64_t> kept;
  auto next = left_out.begin();
  for (std::int64_t i = 0; i < n; ++i)
    if (next != left_out.end() && *next == i)
      ++next;
    else
      kept.push_back(i);
  return kept;
}

}  // namespace

double cluster_result::spanning_tree_weight() const {
  double sum = 0;
  for (const edge& e : spanning_tree) sum += e.weight;
  return sum;
}

spanning_tree_options spanning_tree_part(const cluster_options& options) {
  check_options(options);
  require_argument(options.min_samples >= 0, "min_samples", options.min_samples, ">= 0");
  const std::int64_t min_samples = options.min_samples > 0 ? options.min_samples : options.min_cluster_size;
  return {min_samples, options.count_self, options.distance, options.alpha};
}

cluster_result finish_clustering(spanning_tree_result tree, std::int64_t n, const cluster_options& options) {
  double seconds = 0;
  stage_region stage("tree_stage", &seconds);
  const std::vector<std::int64_t> kept = rows_without(tree.invalid_rows, n);
  cluster_result result;
  result.options = options;
  if (!kept.empty())
    static_cast<clustering&>(result) = cluster_tree(
        tree.invalid_rows.empty() ? tree.edges : renumbered(tree.edges, kept, n), std::int64_t(kept.size()), options);
  if (!tree.invalid_rows.empty())
    static_cast<clustering&>(result) = reinsert_rows(std::move(static_cast<clustering&>(result)), kept, n);
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
                       const progress_callback& report) {
  return finish_clustering(spanning_tree(points, spanning_tree_part(options), device, report), points.rows, options);
}

}  // namespace quintet::hdbscan
