#include "quintet/hdbscan/cluster_tree.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/require_element.hpp"
#include "hdbscan/tree_rules.hpp"
#include "quintet/core/poll.hpp"
#include "quintet/hdbscan/persistence_trace.hpp"
#include "quintet/hdbscan/tree_stages.hpp"

namespace quintet::hdbscan {
namespace {

void check_kept(std::span<const std::int64_t> kept_rows, std::size_t labels, std::int64_t n) {
  require_argument(n >= 0, "n", n, ">= 0");
  require_argument(kept_rows.size() == labels, "kept.size()", kept_rows.size(), text("the number of labels, ", labels));
  for (std::size_t i = 0; i < kept_rows.size(); ++i) {
    const std::int64_t above = i == 0 ? -1 : kept_rows[i - 1];
    if (kept_rows[i] > above && kept_rows[i] < n) continue;
    require_argument(false, text("kept[", i, "]"), kept_rows[i], text("in (", above, ", n=", n, ")"));
  }
}

/// All that is renumbered has to be of the points that have labels.
void check_result(const clustering& result) {
  const auto n = static_cast<std::int64_t>(result.labels.size());
  require_argument(result.probabilities.size() == result.labels.size(), "result.probabilities.size()",
                   result.probabilities.size(), text("the number of labels, ", n));
  require_argument(result.outlier_scores.size() == result.labels.size(), "result.outlier_scores.size()",
                   result.outlier_scores.size(), text("the number of labels, ", n));
  require_argument(result.single_linkage.points == n, "result.single_linkage.points", result.single_linkage.points,
                   text("the number of labels, ", n));
  require_argument(result.condensed.points == n, "result.condensed.points", result.condensed.points,
                   text("the number of labels, ", n));
  if (n > 0 || !result.single_linkage.rows.empty()) check_linkage(result.single_linkage);
  summarise(result.condensed);  // throws for an invalid tree
  for (std::size_t k = 0; k < result.selected.size(); ++k)
    require_element(result.selected[k] >= n && result.selected[k] < n + result.condensed.clusters, "result.selected",
                    std::int64_t(k), result.selected[k], "a cluster of the condensed tree");
  check_groups(result.exemplars, result.clusters(), n);
}

std::vector<std::int64_t> rows_left_out(std::span<const std::int64_t> kept_rows, std::int64_t n) {
  std::vector<std::int64_t> left_out;
  for (std::int64_t row = 0, next = 0; row < n; ++row) {
    const bool is_kept = next < static_cast<std::int64_t>(kept_rows.size()) && kept_rows[next] == row;
    is_kept ? void(++next) : left_out.push_back(row);
  }
  return left_out;
}

// values[i] moves to position kept[i]; the gaps get `fill`.
template <class T>
void spread(std::vector<T>& values, std::span<const std::int64_t> kept_rows, std::int64_t n, T fill) {
  std::vector<T> spread_out(n, fill);
  for (std::size_t i = 0; i < kept_rows.size(); ++i) spread_out[kept_rows[i]] = values[i];
  values = std::move(spread_out);
}

// Ids of points are replaced by their rows, ids of nodes and clusters move up behind the last row.
std::int64_t renumber(std::int64_t id, std::span<const std::int64_t> kept_rows, std::int64_t n) {
  const auto points = static_cast<std::int64_t>(kept_rows.size());
  return id < points ? kept_rows[id] : id - points + n;
}

void reinsert(single_linkage_tree& tree, std::span<const std::int64_t> kept_rows,
              std::span<const std::int64_t> left_out, std::int64_t n) {
  for (linkage_row& row : tree.rows) {
    row.left = renumber(row.left, kept_rows, n);
    row.right = renumber(row.right, kept_rows, n);
  }
  tree.points = n;
  if (!tree.weights.empty()) {
    spread(tree.weights, kept_rows, n, 0.0);
    spread(tree.heights, kept_rows, n, std::numeric_limits<double>::infinity());
  }
  tree.rows.reserve(n);
  std::int64_t size = static_cast<std::int64_t>(kept_rows.size());
  std::int64_t top = tree.rows.empty() ? (size == 1 ? kept_rows[0] : -1) : n + size - 2;
  for (const std::int64_t point : left_out) {
    ++size;
    if (top >= 0) tree.rows.push_back({top, point, std::numeric_limits<double>::infinity(), size});
    top = top < 0 ? point : n + static_cast<std::int64_t>(tree.rows.size()) - 1;
  }
}

void reinsert(condensed_tree& tree, std::span<const std::int64_t> kept_rows, std::span<const std::int64_t> left_out,
              std::int64_t n) {
  std::vector<condensed_row> rows;
  rows.reserve(tree.rows.size() + left_out.size());
  for (const std::int64_t point : left_out) rows.push_back({n, point, 0.0, 1});
  // A lone point of weight 1 has no row of its own: it parts from the others when they part from it.
  if (kept_rows.size() == 1 && tree.rows.empty()) rows.push_back({n, kept_rows[0], 0.0, 1});
  for (const condensed_row& row : tree.rows)
    rows.push_back({renumber(row.parent, kept_rows, n), renumber(row.child, kept_rows, n), row.lambda, row.size});
  const auto is_first = [&](const condensed_row& row) { return row.parent == n && row.lambda == 0; };
  std::sort(rows.begin(), std::find_if_not(rows.begin(), rows.end(), is_first),
            [](const auto& a, const auto& b) { return a.child < b.child; });
  if (!tree.weights.empty()) spread(tree.weights, kept_rows, n, 0.0);
  tree.points = n;
  tree.clusters = std::max<std::int64_t>(tree.clusters, 1);
  tree.rows = std::move(rows);
}

}  // namespace

clustering cluster_tree(std::span<const edge> edges, std::int64_t n, const tree_options& options) {
  if (options.min_cluster_size != automatic_size) check_options(options);
  return cluster_tree(single_linkage(edges, n), options);
}

clustering cluster_tree(single_linkage_tree tree, const tree_options& requested) {
  const tree_options options = sized_options(tree, requested);
  clustering result;
  result.condensed = condense(tree, options);
  poll();
  result.components = connected_components(tree);
  result.single_linkage = std::move(tree);
  poll();
  const tree_summary summary = summarise(result.condensed);
  result.selected = select_clusters(summary, options);
  poll();
  point_labels points = label_points(summary, result.selected, options);
  result.labels = std::move(points.labels);
  result.probabilities = std::move(points.probabilities);
  poll();
  result.outlier_scores = outlier_scores(summary);
  poll();
  result.persistence = persistence(summary, result.selected, result.labels);
  poll();
  result.exemplars = exemplars(summary, result.selected, result.labels);
  for (std::int64_t& cluster : result.selected) cluster += result.condensed.points;
  return result;
}

clustering reinsert_rows(clustering result, std::span<const std::int64_t> kept_rows, std::int64_t n) {
  check_kept(kept_rows, result.labels.size(), n);
  const std::vector<std::int64_t> left_out = rows_left_out(kept_rows, n);
  if (left_out.empty()) return result;
  check_result(result);
  spread<std::int64_t>(result.labels, kept_rows, n, -1);
  spread(result.probabilities, kept_rows, n, 0.0);
  spread(result.outlier_scores, kept_rows, n, 1.0);
  for (std::int64_t& cluster : result.selected) cluster = renumber(cluster, kept_rows, n);
  for (std::int64_t& point : result.exemplars.points) point = kept_rows[point];
  reinsert(result.single_linkage, kept_rows, left_out, n);
  reinsert(result.condensed, kept_rows, left_out, n);
  return result;
}

}  // namespace quintet::hdbscan
