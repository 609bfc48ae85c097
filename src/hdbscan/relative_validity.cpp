#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "hdbscan/members.hpp"
#include "hdbscan/weights.hpp"
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
  tree_lengths lengths{std::vector<double>(clusters, 0), std::vector<double>(clusters, infinity)};
  for (const edge& e : tree) {
    const std::int64_t a = labels[e.u], b = labels[e.v];
    lengths.longest = std::max(lengths.longest, e.weight);
    if (a < 0 && b < 0) continue;
    if (a < 0 || b < 0) {
      lengths.shortest_to_noise = std::min(lengths.shortest_to_noise, e.weight);
    } else if (a == b) {
      lengths.longest_within[a] = std::max(lengths.longest_within[a], e.weight);
    } else {
      for (const std::int64_t k : {a, b}) lengths.shortest_across[k] = std::min(lengths.shortest_across[k], e.weight);
    }
  }
  return lengths;
}

/// A point that counts more than once joins its copies at its core distance.
void measure_copies(tree_lengths& lengths, std::span<const std::int64_t> labels, std::span<const double> weights,
                    std::span<const double> core_distances) {
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] > 1) || !(core_distances[i] >= 0)) continue;  // a row that is left out has no core distance
    lengths.longest = std::max(lengths.longest, core_distances[i]);
    if (labels[i] < 0) continue;
    double& longest = lengths.longest_within[labels[i]];
    longest = std::max(longest, core_distances[i]);
  }
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

double relative_validity(std::span<const edge> tree, std::span<const std::int64_t> labels,
                         std::span<const double> weights, std::span<const double> core_distances) {
  const auto n = std::int64_t(labels.size());
  const std::int64_t clusters = count_labels(labels, n);
  check_edges(tree, n);
  tree_lengths lengths = measure(tree, labels, clusters);
  double all = double(n);
  if (!weights.empty()) {
    check_weights(weights, n, "weights");
    require_argument(core_distances.size() == labels.size(), "core_distances.size()", core_distances.size(),
                     text("the number of labels, ", n));
    measure_copies(lengths, labels, weights, core_distances);
    all = mass_without(weights, {});
  }
  const std::vector<double> mass = label_masses(labels, weights, std::size_t(clusters));
  const bool is_alone = clusters == 1 && lengths.shortest_to_noise < infinity;
  const double instead = 2 * (is_alone ? lengths.shortest_to_noise : lengths.longest);
  double index = 0;
  for (std::int64_t k = 0; k < clusters; ++k) {
    const double across = lengths.shortest_across[k];
    index = std::fma(all > 0 ? mass[k] / all : 0,
                     contrast(across < infinity ? across : instead, lengths.longest_within[k]), index);
  }
  return index;
}

}  // namespace quintet::hdbscan
