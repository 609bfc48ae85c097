#include "quintet/hdbscan/cluster_tree.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/require_element.hpp"
#include "hdbscan/tree_rules.hpp"
#include "quintet/core/poll.hpp"
#include "quintet/hdbscan/tree_stages.hpp"

namespace quintet::hdbscan {
namespace {

void check_kept(std::span<const std::int64_t> kept, std::size_t labels, std::int64_t n) {
  require_argument(n >= 0, "n", n, ">= 0");
  require_argument(kept.size() == labels, "kept.size()", kept.size(), text("the number of labels, ", labels));
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const std::int64_t above = i == 0 ? -1 : kept[i - 1];
    if (kept[i] > above && kept[i] < n) continue;
    require_argument(false, text("kept[", i, "]"), kept[i], text("in (", above, ", n=", n, ")"));
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

std::vector<std::int64_t> rows_left_out(std::span<const std::int64_t> kept, std::int64_t n) {
  std::vector<std::int64_t> left_out;
  for (std::int64_t row = 0, next = 0; row < n; ++row) {
    const bool is_kept = next < static_cast<std::int64_t>(kept.size()) && kept[next] == row;
    is_kept ? void(++next) : left_out.push_back(row);
  }
  return left_out;
}

// values[i] moves to position kept[i]; the gaps get `fill`.
template <class T>
void spread(std::vector<T>& values, std::span<const std::int64_t> kept, std::int64_t n, T fill) {
  std::vector<T> spread_out(n, fill);
  for (std::size_t i = 0; i < kept.size(); ++i) spread_out[kept[i]] = values[i];
  values = std::move(spread_out);
}

// Ids of points are replaced by their rows, ids of nodes and clusters move up behind the last row.
std::int64_t renumber(std::int64_t id, std::span<const std::int64_t> kept, std::int64_t n) {
  const auto points = static_cast<std::int64_t>(kept.size());
  return id < points ? kept[id] : id - points + n;
}

void reinsert(single_linkage_tree& tree, std::span<const std::int64_t> kept, std::span<const std::int64_t> left_out,
              std::int64_t n) {
  for (linkage_row& row : tree.rows) {
    row.left = renumber(row.left, kept, n);
    row.right = renumber(row.right, kept, n);
  }
  tree.points = n;
  tree.rows.reserve(n);
  std::int64_t size = static_cast<std::int64_t>(kept.size());
  std::int64_t top = tree.rows.empty() ? (size == 1 ? kept[0] : -1) : n + size - 2;
  for (const std::int64_t point : left_out) {
    ++size;
    if (top >= 0) tree.rows.push_back({top, point, std::numeric_limits<double>::infinity(), size});
    top = top < 0 ? point : n + static_cast<std::int64_t>(tree.rows.size()) - 1;
  }
}

void reinsert(condensed_tree& tree, std::span<const std::int64_t> kept, std::span<const std::int64_t> left_out,
              std::int64_t n) {
  std::vector<condensed_row> rows;
  rows.reserve(tree.rows.size() + left_out.size());
  for (const std::int64_t point : left_out) rows.push_back({n, point, 0.0, 1});
  // A lone point has no row of its own: it parts from the others when they part from it.
  if (kept.size() == 1) rows.push_back({n, kept[0], 0.0, 1});
  for (const condensed_row& row : tree.rows)
    rows.push_back({renumber(row.parent, kept, n), renumber(row.child, kept, n), row.lambda, row.size});
  const auto is_first = [&](const condensed_row& row) { return row.parent == n && row.lambda == 0; };
  std::sort(rows.begin(), std::find_if_not(rows.begin(), rows.end(), is_first),
            [](const auto& a, const auto& b) { return a.child < b.child; });
  tree = {n, std::max<std::int64_t>(tree.clusters, 1), std::move(rows)};
}

}  // namespace

clustering cluster_tree(std::span<const edge> edges, std::int64_t n, const tree_options& options) {
  check_options(options);
  return cluster_tree(single_linkage(edges, n), options);
}

clustering cluster_tree(single_linkage_tree tree, const tree_options& options) {
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

clustering reinsert_rows(clustering result, std::span<const std::int64_t> kept, std::int64_t n) {
  check_kept(kept, result.labels.size(), n);
  const std::vector<std::int64_t> left_out = rows_left_out(kept, n);
  if (left_out.empty()) return result;
  check_result(result);
  spread<std::int64_t>(result.labels, kept, n, -1);
  spread(result.probabilities, kept, n, 0.0);
  spread(result.outlier_scores, kept, n, 1.0);
  for (std::int64_t& cluster : result.selected) cluster = renumber(cluster, kept, n);
  for (std::int64_t& point : result.exemplars.points) point = kept[point];
  reinsert(result.single_linkage, kept, left_out, n);
  reinsert(result.condensed, kept, left_out, n);
  return result;
}

}  // namespace quintet::hdbscan
