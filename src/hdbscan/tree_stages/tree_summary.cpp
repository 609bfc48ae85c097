#include "quintet/hdbscan/tree_stages.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "core/polled.hpp"
#include "core/require_element.hpp"
#include "hdbscan/tree_rules.hpp"
#include "hdbscan/weights.hpp"

namespace quintet::hdbscan {
namespace {

tree_summary empty_summary(std::int64_t points, std::int64_t clusters) {
  tree_summary s;
  s.parent.assign(clusters, -1);
  s.size.assign(clusters, points);
  s.first_child.assign(clusters, 0);
  s.children.assign(clusters, 0);
  for (auto* column : {&s.birth, &s.death, &s.deepest, &s.stability}) column->assign(clusters, 0.0);
  s.point_cluster.assign(points, -1);
  s.point_lambda.assign(points, 0.0);
  return s;
}

void require_row(const condensed_tree& tree, std::size_t r, bool is_right, const char* reason) {
  if (is_right) return;
  const condensed_row& row = tree.rows[r];
  throw InvalidArgument(text("rows[", r, "] must be one that condense() makes of ", tree.points, " points and ",
                             tree.clusters, " clusters: ", reason, " (parent=", row.parent, ", child=", row.child,
                             ", lambda=", row.lambda, ", size=", row.size, ")"));
}

/// One row for every point and every cluster but the root, before memory is taken for them. A single point need not
/// have one.
void check_counts(const condensed_tree& tree) {
  const auto rows = static_cast<std::int64_t>(tree.rows.size());
  const std::int64_t n = tree.points, min_clusters = n > 0 ? 1 : 0;
  require_argument(n >= 0 && n <= std::max<std::int64_t>(rows, 1), "points", n, text("in [0, rows.size()=", rows, "]"));
  require_argument(tree.clusters >= min_clusters && tree.clusters <= rows + 1, "clusters", tree.clusters,
                   text("in [", min_clusters, ", rows.size() + 1 = ", rows + 1, "]"));
  const std::int64_t needed = n + std::max<std::int64_t>(tree.clusters, 1) - 1;
  require_argument(rows == needed || (n == 1 && rows == 0), "rows.size()", rows,
                   text("points + clusters - 1 = ", needed));
}

void check_ids(const condensed_tree& tree, std::size_t r) {
  const condensed_row& row = tree.rows[r];
  const std::int64_t n = tree.points, end = n + tree.clusters;
  require_row(tree, r, row.parent >= n && row.parent < end, "the parent is no cluster");
  require_row(tree, r, row.child >= 0 && row.child < end && row.child != n, "the child is no point and no cluster");
  require_row(tree, r, row.child < n || row.parent < row.child, "the parent comes after its child");
  require_row(tree, r, row.lambda >= 0, "lambda must be >= 0 and not NaN");
  require_row(tree, r, row.child < n ? row.size == 1 : row.size >= 1 && row.size <= n,
              "a point has the size 1, a cluster one of at most all points");
}

void enter_row(tree_summary& s, const condensed_tree& tree, std::size_t r) {
  const condensed_row& row = tree.rows[r];
  const std::int64_t parent = row.parent - tree.points, child = row.child - tree.points;
  s.death[parent] = std::max(s.death[parent], row.lambda);
  if (child < 0) {
    require_row(tree, r, s.point_cluster[row.child] < 0, "the point has left before");
    s.point_cluster[row.child] = parent;
    s.point_lambda[row.child] = row.lambda;
    return;
  }
  if (s.children[parent]++ == 0) s.first_child[parent] = child;
  require_row(tree, r, s.parent[child] < 0, "the cluster was born before");
  require_row(tree, r, child == s.first_child[parent] + s.children[parent] - 1,
              "the children of a cluster follow one another");
  s.parent[child] = parent;
  s.size[child] = row.size;
  s.birth[child] = row.lambda;
}

/// What can be checked only when all rows are known.
void check_clusters(const tree_summary& s, const condensed_tree& tree) {
  std::vector<std::int64_t> left = s.size;
  for (std::size_t r = 0; r < tree.rows.size(); ++r) {
    const condensed_row& row = tree.rows[r];
    const std::int64_t parent = row.parent - tree.points;
    require_row(tree, r, row.lambda >= s.birth[parent], "the child leaves before its parent is born");
    left[parent] -= row.size;
    require_row(tree, r, left[parent] >= 0, "more points leave the parent than it has");
  }
}

/// The masses of clusters: those of their points and of their children.
void add_masses(tree_summary& s, const condensed_tree& tree) {
  if (tree.weights.empty()) return;
  s.point_weight = tree.weights;
  std::vector<mass_sum> sums(s.parent.size());
  for (std::size_t p = 0; p < s.point_cluster.size(); ++p) sums[s.point_cluster[p]].add(tree.weights[p]);
  for (std::size_t c = sums.size(); c-- > 1;) sums[s.parent[c]].add(sums[c]);
  for (const mass_sum& sum : sums) s.mass.push_back(sum.total());
}

// Rows of one parent and lambda are one term: sizes add exactly, in any order.
void add_stabilities(tree_summary& s, std::span<const condensed_row> rows, std::int64_t points) {
  const auto mass = [&](const condensed_row& row) {
    if (s.mass.empty()) return static_cast<double>(row.size);
    return row.child < points ? s.point_weight[row.child] : s.mass[row.child - points];
  };
  for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    const condensed_row& row = rows[begin];
    mass_sum sum;
    for (; end < rows.size() && rows[end].parent == row.parent && rows[end].lambda == row.lambda; ++end)
      sum.add(mass(rows[end]));
    const std::int64_t c = row.parent - points;
    if (row.lambda > s.birth[c]) s.stability[c] = std::fma(row.lambda - s.birth[c], sum.total(), s.stability[c]);
  }
}

}  // namespace

void check_summary(const tree_summary& s) {
  const std::size_t clusters = s.parent.size(), points = s.point_cluster.size();
  for (const std::size_t length : {s.size.size(), s.first_child.size(), s.children.size(), s.birth.size(),
                                   s.death.size(), s.deepest.size(), s.stability.size()})
    require_argument(length == clusters, "summary", length, text("columns of parent.size()=", clusters, " entries"));
  require_argument(s.point_lambda.size() == points, "summary.point_lambda.size()", s.point_lambda.size(),
                   text("point_cluster.size()=", points));
  if (!s.mass.empty() || !s.point_weight.empty()) {
    require_argument(s.mass.size() == clusters, "summary.mass.size()", s.mass.size(),
                     text("parent.size()=", clusters, ", as there are weights of points"));
    check_weights(s.point_weight, std::int64_t(points), "summary.point_weight");
  }
  const auto count = static_cast<std::int64_t>(clusters);
  for (std::int64_t c = 0; c < count; ++c) {
    const bool has_parent = c == 0 ? s.parent[c] == -1 : s.parent[c] >= 0 && s.parent[c] < c;
    require_element(has_parent, "summary.parent", c, s.parent[c], "a cluster before its child, -1 for the root");
    require_element(s.first_child[c] >= 0 && s.first_child[c] <= count, "summary.first_child", c, s.first_child[c],
                    "a cluster");
    require_element(s.children[c] >= 0 && s.children[c] <= count - s.first_child[c], "summary.children", c,
                    s.children[c], "a number of clusters from first_child on");
    require_element(s.stability[c] >= 0, "summary.stability", c, s.stability[c], ">= 0 and not NaN");
  }
  for (std::size_t p = 0; p < points; ++p)
    require_element(s.point_cluster[p] >= 0 && s.point_cluster[p] < count, "summary.point_cluster", std::int64_t(p),
                    s.point_cluster[p], "a cluster");
}

lambda_peaks find_peaks(const tree_summary& s) {
  const std::size_t clusters = s.parent.size();
  std::vector<double> own(clusters, 0);
  for (std::size_t p = 0; p < s.point_cluster.size(); ++p)
    if (std::isfinite(s.point_lambda[p]))
      own[s.point_cluster[p]] = std::max(own[s.point_cluster[p]], s.point_lambda[p]);
  for (std::size_t c = 1; c < clusters; ++c)
    if (std::isfinite(s.birth[c])) own[s.parent[c]] = std::max(own[s.parent[c]], s.birth[c]);
  lambda_peaks peaks{own, std::move(own)};
  for (std::size_t c = clusters; c-- > 1;)
    peaks.below[s.parent[c]] = std::max(peaks.below[s.parent[c]], peaks.below[c]);
  for (std::size_t c = 0; c < clusters; ++c) {
    if (peaks.own[c] == 0) peaks.own[c] = s.death[c];
    if (peaks.below[c] == 0) peaks.below[c] = s.deepest[c];
  }
  return peaks;
}

tree_summary summarise(const condensed_tree& tree) {
  check_counts(tree);
  if (!tree.weights.empty()) check_weights(tree.weights, tree.points, "weights");
  tree_summary s = empty_summary(tree.points, tree.clusters);
  for (std::size_t r = 0; r < tree.rows.size(); ++r) {
    quintet::detail::poll_sometimes(std::int64_t(r));
    check_ids(tree, r);
    enter_row(s, tree, r);
  }
  if (tree.rows.empty()) std::fill(s.point_cluster.begin(), s.point_cluster.end(), 0);  // a single point
  check_clusters(s, tree);
  add_masses(s, tree);
  add_stabilities(s, tree.rows, tree.points);
  s.deepest = s.death;
  for (std::int64_t c = tree.clusters - 1; c > 0; --c)
    s.deepest[s.parent[c]] = std::max(s.deepest[s.parent[c]], s.deepest[c]);
  return s;
}

}  // namespace quintet::hdbscan
