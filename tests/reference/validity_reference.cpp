#include "reference/validity_reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/spanning_tree_reference.hpp"

namespace quintet::reference {

/// (sum over the others of (1 / d)^dimension / (n - 1))^(-1 / dimension), distances 0 left out.
static long double all_points_core(const matrix& d, const std::vector<std::int64_t>& members, std::int64_t i,
                                   long double dimension) {
  std::vector<long double> exponents;
  for (const std::int64_t j : members)
    if (d(i, j) > 0) exponents.push_back(-dimension * std::log(d(i, j)));
  if (exponents.empty()) return 0;
  std::sort(exponents.begin(), exponents.end());
  long double sum = 0;
  for (const long double e : exponents) sum += std::exp(e - exponents.back());
  return std::exp(-(exponents.back() + std::log(sum / (members.size() - 1))) / dimension);
}

validity validity_index(const matrix& d, const std::vector<std::int64_t>& labels, long double dimension,
                        const tree_of& tree_of_members) {
  const auto n = std::int64_t(labels.size());
  const std::int64_t clusters = n == 0 ? 0 : *std::max_element(labels.begin(), labels.end()) + 1;
  const double infinity = std::numeric_limits<double>::infinity();
  validity result{0, std::vector<double>(clusters, 0), std::vector<double>(clusters, 0),
                  std::vector<double>(clusters, infinity)};
  std::vector<std::vector<std::int64_t>> members(clusters), internal(clusters);
  std::vector<long double> core(n, 0);
  const auto reach = [&](std::int64_t i, std::int64_t j) { return std::max({core[i], core[j], d(i, j)}); };
  for (std::int64_t i = 0; i < n; ++i)
    if (labels[i] >= 0 && !std::isnan(d(i, i))) members[labels[i]].push_back(i);
  std::int64_t counting = 0;
  for (std::int64_t k = 0; k < clusters; ++k) {
    if (members[k].size() < 2) continue;
    ++counting;
    for (const std::int64_t i : members[k]) core[i] = all_points_core(d, members[k], i, dimension);
    const auto tree = tree_of_members(members[k], reach);
    std::vector<int> degree(n, 0);
    for (const auto& e : tree) ++degree[e.u], ++degree[e.v];
    double longest = -1, longest_internal = -1;
    for (const auto& e : tree) {
      longest = std::max(longest, e.weight);
      if (degree[e.u] > 1 && degree[e.v] > 1) longest_internal = std::max(longest_internal, e.weight);
    }
    result.sparseness[k] = longest_internal >= 0 ? longest_internal : longest;
    for (const std::int64_t i : members[k])
      if (degree[i] > 1 || members[k].size() == 2) internal[k].push_back(i);
  }
  if (counting < 2) return result;
  for (std::int64_t k = 0; k < clusters; ++k) {
    if (internal[k].empty()) continue;
    for (std::int64_t other = 0; other < clusters; ++other)
      if (other != k)
        for (const std::int64_t i : internal[k])
          for (const std::int64_t j : internal[other])
            result.separation[k] = std::min(result.separation[k], double(reach(i, j)));
    const double max = std::max(result.separation[k], result.sparseness[k]);
    result.cluster_validity[k] = max > 0 ? (result.separation[k] - result.sparseness[k]) / max : 0;
    result.index += double(members[k].size()) / double(n) * result.cluster_validity[k];
  }
  return result;
}

std::vector<hdbscan::edge> tree_from_first(const std::vector<std::int64_t>& points,
                                           const std::function<double(std::int64_t, std::int64_t)>& weight) {
  std::vector<std::int64_t> outside(points.begin() + 1, points.end());
  std::vector<hdbscan::edge> tree, nearest;
  for (const std::int64_t p : outside) nearest.push_back({points[0], p, weight(points[0], p)});
  while (!outside.empty()) {
    const auto next = std::min_element(nearest.begin(), nearest.end(),
                                       [](const auto& a, const auto& b) { return a.weight < b.weight; });
    tree.push_back(*next);
    outside.erase(outside.begin() + (next - nearest.begin()));
    nearest.erase(next);
    for (hdbscan::edge& e : nearest)
      if (weight(tree.back().v, e.v) < e.weight) e = {tree.back().v, e.v, weight(tree.back().v, e.v)};
  }
  return tree;
}

}  // namespace quintet::reference
