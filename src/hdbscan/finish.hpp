// From a spanning tree to a clustering: what all kinds of input share.
#pragma once

#include <cstdint>

#include "quintet/hdbscan/hdbscan.hpp"

namespace quintet::hdbscan {

/// The tree stage on `tree` of n points, rows that are invalid put back.
cluster_result finish_clustering(spanning_tree_result tree, std::int64_t n, const cluster_options& options);

}  // namespace quintet::hdbscan
