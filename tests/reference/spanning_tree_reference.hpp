// The minimum spanning tree of a complete graph by Prim's algorithm (1957), one vertex after another.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "quintet/hdbscan/edge.hpp"

namespace quintet::reference {

/// The tree of `vertices` (at least one, any order) under the order of edges (weight, u, v), which makes it unique;
/// sorted by it. weight(i, j) is asked for vertices i != j.
std::vector<hdbscan::edge> spanning_tree(const std::vector<std::int64_t>& vertices,
                                         const std::function<double(std::int64_t, std::int64_t)>& weight);

}  // namespace quintet::reference
