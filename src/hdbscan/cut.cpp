#include "quintet/hdbscan/cut.hpp"

#include "quintet/core/error.hpp"

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
  const auto size = [&](std::int64_t node) { return node < tree.points ? 1 : tree.rows[node - tree.points].size; };
  const std::vector<std::int64_t> top = components_below(tree, height);
  std::vector<std::int64_t> label_of(top.size(), -1), labels(tree.points, -1);
  std::int64_t clusters = 0;
  for (std::int64_t p = 0; p < tree.points; ++p) {
    if (size(top[p]) < min_cluster_size) continue;
    if (label_of[top[p]] < 0) label_of[top[p]] = clusters++;
    labels[p] = label_of[top[p]];
  }
  return labels;
}

}  // namespace quintet::hdbscan
