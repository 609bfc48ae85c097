// Random spanning trees with many equal weights.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include "quintet/hdbscan/edge.hpp"

namespace quintet::test {

inline hdbscan::edge make_edge(std::int64_t a, std::int64_t b, double weight) {
  return {std::min(a, b), std::max(a, b), weight};
}

/// A random permutation of 0..n-1.
inline std::vector<std::int64_t> random_permutation(std::int64_t n, std::mt19937_64& random) {
  std::vector<std::int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

/// n points, weights drawn from 0..heights-1 (times a third, so that sums are not exact). Point i hangs on one of the
/// `reach` points before it: reach 1 is a chain, reach n a bush. Points are numbered at random, edges shuffled.
inline std::vector<hdbscan::edge> random_tree(std::int64_t n, std::int64_t heights, std::int64_t reach,
                                              std::mt19937_64& random) {
  const std::vector<std::int64_t> name = random_permutation(n, random);
  const auto below = [&](std::int64_t bound) { return static_cast<std::int64_t>(random() % bound); };
  std::vector<hdbscan::edge> edges;
  for (std::int64_t i = 1; i < n; ++i)
    edges.push_back(
        make_edge(name[i], name[i - 1 - below(std::min(reach, i))], static_cast<double>(below(heights)) / 3));
  std::shuffle(edges.begin(), edges.end(), random);
  return edges;
}

}  // namespace quintet::test
