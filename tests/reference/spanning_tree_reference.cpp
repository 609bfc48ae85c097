#include "reference/spanning_tree_reference.hpp"

#include <algorithm>
#include <limits>

namespace quintet::reference {

std::vector<hdbscan::edge> spanning_tree(const std::vector<std::int64_t>& vertices,
                                         const std::function<double(std::int64_t, std::int64_t)>& weight) {
  std::vector<std::int64_t> outside(vertices.begin() + 1, vertices.end());
  std::vector<hdbscan::edge> best(outside.size(), {0, 0, std::numeric_limits<double>::infinity()}), tree;
  for (std::int64_t latest = vertices.front(); !outside.empty();) {
    for (std::size_t e = 0; e < outside.size(); ++e) {
      const hdbscan::edge other{std::min(latest, outside[e]), std::max(latest, outside[e]), weight(latest, outside[e])};
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
