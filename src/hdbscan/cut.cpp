#include "quintet/hdbscan/cut.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/require_element.hpp"
#include "hdbscan/disjoint_sets.hpp"
#include "hdbscan/weights.hpp"

namespace quintet::hdbscan {
namespace {

// Per node of the dendrogram, points first: its topmost ancestor below the cut, or itself.
std::vector<std::int64_t> components_below(const single_linkage_tree& tree, double height) {
  std::vector<std::int64_t> top(2 * tree.points - 1);
  for (std::size_t node = 0; node < top.size(); ++node) top[node] = static_cast<std::int64_t>(node);
  for (std::size_t t = tree.rows.size(); t-- > 0;) {
    const linkage_row& row = tree.rows[t];
    if (row.height < height) top[row.left] = top[row.right] = top[tree.points + t];
  }
  return top;
}

}  // namespace

std::vector<std::int64_t> cut(const single_linkage_tree& tree, double height, std::int64_t min_cluster_size) {
  require_argument(height >= 0, "height", height, ">= 0 and not NaN");
  require_argument(min_cluster_size >= 1, "min_cluster_size", min_cluster_size, ">= 1");
  check_linkage(tree);
  const std::vector<double> mass = tree.weights.empty() ? std::vector<double>() : masses_of(tree);
  const auto size = [&](std::int64_t node) {
    const bool is_point = node < tree.points;
    if (mass.empty()) return is_point ? 1 : double(tree.rows[node - tree.points].size);
    return is_point && tree.heights[node] >= height ? std::min(mass[node], 1.0) : mass[node];
  };
  const std::vector<std::int64_t> top = components_below(tree, height);
  std::vector<std::int64_t> label_of(top.size(), -1), labels(tree.points, -1);
  std::int64_t clusters = 0;
  for (std::int64_t p = 0; p < tree.points; ++p) {
    if (size(top[p]) < double(min_cluster_size)) continue;
    if (label_of[top[p]] < 0) label_of[top[p]] = clusters++;
    labels[p] = label_of[top[p]];
  }
  return labels;
}

std::vector<std::int64_t> assign_noise(std::span<const edge> tree, std::span<const std::int64_t> labels) {
  const auto n = static_cast<std::int64_t>(labels.size());
  for (std::int64_t i = 0; i < n; ++i)
    require_element(labels[i] >= -1 && labels[i] < n, "labels", i, labels[i], "in [-1, N)");
  std::vector<edge> edges(tree.begin(), tree.end());
  for (const edge& e : edges)
    if (!(e.u >= 0 && e.u < n && e.v >= 0 && e.v < n && e.weight >= 0))
      throw InvalidArgument(text("tree must join points in [0, N=", n, ") by weights >= 0 (u=", e.u, ", v=", e.v,
                                 ", weight=", e.weight, ")"));
  std::sort(edges.begin(), edges.end());
  std::vector<std::int64_t> result(labels.begin(), labels.end());
  disjoint_sets sets(n);
  // Points of a set without a label are a ring, so that two of them become one in O(1).
  std::vector<std::int64_t> next(n);
  std::iota(next.begin(), next.end(), std::int64_t(0));
  const auto spread = [&](std::int64_t from, std::int64_t label) {
    for (std::int64_t p = from; result[p] < 0; p = next[p]) result[p] = label;
  };
  for (const edge& e : edges) {
    if (!sets.join(e.u, e.v)) continue;
    if (result[e.u] < 0 && result[e.v] < 0)
      std::swap(next[e.u], next[e.v]);
    else if (result[e.u] < 0)
      spread(e.u, result[e.v]);
    else
      spread(e.v, result[e.u]);
  }
  return result;
}

}  // namespace quintet::hdbscan
