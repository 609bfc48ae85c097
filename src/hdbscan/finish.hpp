// From a spanning tree to a clustering: what all kinds of input share.
#pragma once

#include <cstdint>
#include <vector>

#include "quintet/hdbscan/hdbscan.hpp"

namespace quintet::hdbscan {

/// The dendrogram of valid points, which it numbers 0, 1, ...; of no points, none.
struct valid_dendrogram {
  std::vector<std::int64_t> rows;  ///< the caller's numbers
  single_linkage_tree tree;
};
valid_dendrogram dendrogram_of(const spanning_tree_result& tree, std::int64_t n);

/// The tree stage on `tree` of n points, with its tie_tolerance where `options` have none, rows that are invalid put
/// back.
cluster_result finish_clustering(spanning_tree_result tree, std::int64_t n, cluster_options options);

}  // namespace quintet::hdbscan
