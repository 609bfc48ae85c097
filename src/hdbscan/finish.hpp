// From a spanning tree to a clustering: what all kinds of input share.
#pragma once

#include <cstdint>

#include "quintet/hdbscan/hdbscan.hpp"

namespace quintet::hdbscan {

/// The options of the spanning tree that `options` ask for; checks the options that are not the tree's.
spanning_tree_options spanning_tree_part(const cluster_options& options);

/// The tree stage on `tree` of n points, rows that are invalid put back.
cluster_result finish_clustering(spanning_tree_result tree, std::int64_t n, const cluster_options& options);

}  // namespace quintet::hdbscan
