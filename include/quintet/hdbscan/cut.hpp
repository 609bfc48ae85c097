// A DBSCAN-style clustering: the dendrogram cut at one height.
#pragma once

#include <cstdint>
#include <vector>

#include "quintet/hdbscan/tree_stages.hpp"

namespace quintet::hdbscan {

/// Labels of the components that merges of height < `height` (strictly) make, numbered by increasing smallest point;
/// -1 in components of fewer than min_cluster_size points. On mutual reachability this is DBSCAN* with radius `height`
/// (Campello, Moulavi, Sander 2013).
///
/// Throws InvalidArgument for a tree that is none, height < 0 or NaN, min_cluster_size < 1. Cost: O(N).
std::vector<std::int64_t> cut(const single_linkage_tree& tree, double height, std::int64_t min_cluster_size);

}  // namespace quintet::hdbscan
