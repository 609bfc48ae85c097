#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "hdbscan/members.hpp"
#include "quintet/hdbscan/validity.hpp"

namespace quintet::hdbscan {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct tree_lengths {
  std::vector<double> longest_within;   // per label; 0 without an edge
  std::vector<double> shortest_across;  // per label, to another label
  double longest = 0, shortest_to_noise = infinity;
};

tree_lengths measure(std::span<const edge> tree, std::span<const std::int64_t> labels, std::int64_t clusters) {
  tree_lengths found{std::vector<double>(clusters, 0), std::vector<double>(clusters, infinity)};
  for (const edge& e : tree) {
    const std::int64_t a = labels[e.u], b = labels[e.v];
    found.longest = std::max(found.longest, e.weight);
    if (a < 0 && b < 0) continue;
    if (a < 0 || b < 0) {
      found.shortest_to_noise = std::min(found.shortest_to_noise, e.weight);
    } else if (a == b) {
      found.longest_within[a] = std::max(found.longest_within[a], e.weight);
    } else {
      for (const std::int64_t k : {a, b}) found.shortest_across[k] = std::min(found.shortest_across[k], e.weight);
    }
  }
  return found;
}

void check_edges(std::span<const edge> tree, std::int64_t n) {
  for (std::size_t e = 0; e < tree.size(); ++e) {
    for (const std::int64_t end : {tree[e].u, tree[e].v})
      if (end < 0 || end >= n)
        throw InvalidArgument(text("tree[", e, "] must join points in [0, N=", n, ") (point=", end, ")"));
    if (!(tree[e].weight >= 0))
      throw InvalidArgument(text("tree[", e, "].weight must be >= 0 and not NaN (weight=", tree[e].weight, ")"));
  }
}

}  // namespace

double relative_validity(std::span<const edge> tree, std::span<const std::int64_t> labels) {
  const auto n = std::int64_t(labels.size());
  const std::int64_t clusters = count_labels(labels, n);
  check_edges(tree, n);
  const tree_lengths lengths = measure(tree, labels, clusters);
  std::vector<std::int64_t> size(clusters, 0);
  for (const std::int64_t label : labels)
    if (label >= 0) ++size[label];
  const bool is_alone = clusters == 1 && lengths.shortest_to_noise < infinity;
  const double instead = 2 * (is_alone ? lengths.shortest_to_noise : lengths.longest);
  double index = 0;
  for (std::int64_t k = 0; k < clusters; ++k) {
    const double across = lengths.shortest_across[k];
    index = std::fma(double(size[k]) / double(n),
                     contrast(across < infinity ? across : instead, lengths.longest_within[k]), index);
  }
  return index;
}

}  // namespace quintet::hdbscan
