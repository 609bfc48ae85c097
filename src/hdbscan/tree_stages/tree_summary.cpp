#include "quintet/hdbscan/tree_stages.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "core/polled.hpp"
#include "quintet/core/error.hpp"

namespace quintet::hdbscan {
namespace {

tree_summary empty_summary(std::int64_t points, std::int64_t clusters) {
  tree_summary s;
  s.parent.assign(clusters, -1);
  s.size.assign(clusters, points);
  s.first_child.assign(clusters, 0);
  s.children.assign(clusters, 0);
  for (auto* column : {&s.birth, &s.death, &s.deepest, &s.stability}) column->assign(clusters, 0.0);
  s.point_cluster.assign(points, 0);
  s.point_lambda.assign(points, 0.0);
  return s;
}

void check_tree(const condensed_tree& tree) {
  const std::int64_t n = tree.points;
  require_argument(n >= 0, "points", n, ">= 0");
  require_argument(tree.clusters >= (n > 0 ? 1 : 0), "clusters", tree.clusters, n > 0 ? ">= 1" : ">= 0");
  for (std::size_t r = 0; r < tree.rows.size(); ++r) {
    const condensed_row& row = tree.rows[r];
    const bool is_tree = row.parent >= n && row.parent - n < tree.clusters && row.child >= 0 &&
                         row.child - n < tree.clusters && row.child != n && (row.child < n || row.parent < row.child) &&
                         row.lambda >= 0 && row.size >= 1;
    if (!is_tree)
      throw InvalidArgument(text("rows[", r, "] must be one that condense() makes of ", n, " points and ",
                                 tree.clusters, " clusters (parent=", row.parent, ", child=", row.child,
                                 ", lambda=", row.lambda, ", size=", row.size, ")"));
  }
}

void enter_row(tree_summary& s, const condensed_row& row, std::int64_t points) {
  const std::int64_t parent = row.parent - points;
  s.death[parent] = std::max(s.death[parent], row.lambda);
  if (row.child < points) {
    s.point_cluster[row.child] = parent;
    s.point_lambda[row.child] = row.lambda;
    return;
  }
  const std::int64_t child = row.child - points;
  if (s.children[parent]++ == 0) s.first_child[parent] = child;
  s.parent[child] = parent;
  s.size[child] = row.size;
  s.birth[child] = row.lambda;
}

// Rows of one parent and lambda are one term: sizes add exactly, in any order.
void add_stabilities(tree_summary& s, std::span<const condensed_row> rows, std::int64_t points) {
  for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    const condensed_row& row = rows[begin];
    std::int64_t size = 0;
    for (; end < rows.size() && rows[end].parent == row.parent && rows[end].lambda == row.lambda; ++end)
      size += rows[end].size;
    const std::int64_t c = row.parent - points;
    if (row.lambda > s.birth[c])
      s.stability[c] = std::fma(row.lambda - s.birth[c], static_cast<double>(size), s.stability[c]);
  }
}

}  // namespace

tree_summary summarise(const condensed_tree& tree) {
  check_tree(tree);
  tree_summary s = empty_summary(tree.points, tree.clusters);
  for (std::size_t r = 0; r < tree.rows.size(); ++r) {
    quintet::detail::poll_sometimes(std::int64_t(r));
    enter_row(s, tree.rows[r], tree.points);
  }
  add_stabilities(s, tree.rows, tree.points);
  s.deepest = s.death;
  for (std::int64_t c = tree.clusters - 1; c > 0; --c)
    s.deepest[s.parent[c]] = std::max(s.deepest[s.parent[c]], s.deepest[c]);
  return s;
}

}  // namespace quintet::hdbscan
