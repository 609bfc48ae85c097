#include "quintet/hdbscan/persistence_trace.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/polled.hpp"
#include "hdbscan/dendrogram_splits.hpp"
#include "quintet/core/error.hpp"

namespace quintet::hdbscan {

std::vector<persistent_leaf> persistent_leaves(const single_linkage_tree& tree, std::int64_t min_samples, ties tie_mode,
                                               std::optional<double> tie_tolerance) {
  require_argument(min_samples >= 0, "min_samples", min_samples, ">= 0");
  std::vector<persistent_leaf> leaves;
  // Per row: the largest min_cluster_size with which anything below it splits.
  std::vector<std::int64_t> splits_up_to(tree.rows.size(), 0);
  for_each_split(tree, tie_mode, tie_tolerance,
                 [&](std::int64_t node, std::span<const split_child> children, bool is_split) {
                   std::int64_t& largest = splits_up_to[node - tree.points];
                   const std::int64_t second = is_split ? children[1].size : 0;
                   for (std::size_t i = 0; i < children.size(); ++i) {
                     const split_child& child = children[i];
                     if (child.size <= 1) break;  // the others are, too
                     const std::int64_t below = child.node < tree.points ? 0 : splits_up_to[child.node - tree.points];
                     largest = std::max(largest, below);
                     const std::int64_t first = std::max(below, std::max<std::int64_t>(min_samples, 1)) + 1;
                     const std::int64_t last = i == 0 ? second : child.size;
                     if (is_split && first <= last) leaves.push_back({child.node, first, last});
                   }
                   largest = std::max(largest, second);
                 });
  return leaves;
}

std::vector<persistence_step> trace_persistence(const single_linkage_tree& tree, std::int64_t min_samples,
                                                ties tie_mode, std::optional<double> tie_tolerance) {
  std::map<std::int64_t, std::int64_t> change;
  for (const persistent_leaf& leaf : persistent_leaves(tree, min_samples, tie_mode, tie_tolerance)) {
    const std::int64_t persistence = leaf.last - leaf.first + 1;
    change[leaf.first] += persistence;
    change[leaf.last + 1] -= persistence;
  }
  std::vector<persistence_step> trace;
  std::int64_t sum = 0;
  for (const auto& [size, by] : change) {
    if (by == 0) continue;
    sum += by;
    trace.push_back({size, double(sum)});
  }
  return trace;
}

std::optional<std::int64_t> most_persistent_size(std::span<const persistence_step> trace) {
  const auto best = std::max_element(trace.begin(), trace.end(),
                                     [](const auto& a, const auto& b) { return a.persistence < b.persistence; });
  return best == trace.end() ? std::nullopt : std::optional(best->min_cluster_size);
}

tree_options sized_options(const single_linkage_tree& tree, const tree_options& options) {
  tree_options sized = options;
  if (options.min_cluster_size != automatic_size) return sized;
  if (options.min_samples == 0) sized.min_samples = default_size;
  const auto trace = trace_persistence(tree, sized.min_samples, options.tie_mode, options.tie_tolerance);
  sized.min_cluster_size = most_persistent_size(trace).value_or(default_size);
  return sized;
}

std::vector<persistence_step> persistence_peaks(std::span<const persistence_step> trace, std::int64_t max_layers) {
  require_argument(max_layers >= 0, "max_layers", max_layers, ">= 0");
  const auto value = [&](std::size_t i) { return i < trace.size() ? trace[i].persistence : 0.0; };
  std::vector<persistence_step> peaks;
  for (std::size_t i = 0; i < trace.size(); ++i)
    if (value(i) > value(i - 1) && value(i) > value(i + 1)) peaks.push_back(trace[i]);
  std::sort(peaks.begin(), peaks.end(), [](const auto& a, const auto& b) {
    return a.persistence != b.persistence ? a.persistence > b.persistence : a.min_cluster_size < b.min_cluster_size;
  });
  if (std::int64_t(peaks.size()) > max_layers) peaks.resize(std::size_t(max_layers));
  return peaks;
}

std::vector<std::int64_t> changing_sizes(const single_linkage_tree& tree, ties tie_mode,
                                         std::optional<double> tie_tolerance) {
  std::vector<std::int64_t> sizes{2};
  for_each_split(tree, tie_mode, tie_tolerance,
                 [&](std::int64_t, std::span<const split_child> children, bool is_split) {
                   for (std::size_t i = 1; is_split && i < children.size() && children[i].size > 1; ++i)
                     sizes.push_back(children[i].size + 1);
                 });
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

}  // namespace quintet::hdbscan
