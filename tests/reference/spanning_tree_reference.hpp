// The minimum spanning tree of a complete graph by Prim's algorithm (1957), one vertex after another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "quintet/hdbscan/edge.hpp"

namespace quintet::reference {

/// The tree of `vertices` (at least one, any order) under the order of edges (weight, u, v), which makes it unique;
/// sorted by it. weight(i, j) is asked for vertices i != j.
template <class Weight>
std::vector<hdbscan::edge> spanning_tree(const std::vector<std::int64_t>& vertices, Weight weight) {
  std::vector<std::int64_t> outside(vertices.begin() + 1, vertices.end());
  std::vector<hdbscan::edge> best(outside.size(), {0, 0, std::numeric_limits<double>::infinity()}), tree;
  for (std::int64_t latest = vertices.front(); !outside.empty();) {
    for (std::size_t e = 0; e < outside.size(); ++e) {
      const hdbscan::edge other{std::min(latest, outside[e]), std::max(latest, outside[e]),
                                double(weight(latest, outside[e]))};
      if (tree.empty() || other < best[e]) best[e] = other;
    }
    const std::ptrdiff_t next = std::min_element(best.begin(), best.end()) - best.begin();
    tree.push_back(best[next]);
    latest = outside[next];
    outside.erase(outside.begin() + next);
    best.erase(best.begin() + next);
  }
  std::sort(tree.begin(), tree.end());
  return tree;
}

}  // namespace quintet::reference
