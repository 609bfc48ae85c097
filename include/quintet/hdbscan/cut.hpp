// Other labels from the same trees: of a DBSCAN-style clustering, the dendrogram cut at one height, and for noise.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "quintet/hdbscan/edge.hpp"
#include "quintet/hdbscan/tree_stages.hpp"

namespace quintet::hdbscan {

/// Labels of the components that merges of height < `height` (strictly) make, numbered by increasing smallest point;
/// -1 in components of fewer than min_cluster_size points. On mutual reachability this is DBSCAN* with radius `height`
/// (Campello, Moulavi, Sander 2013).
///
/// Throws InvalidArgument if `tree` is not a valid dendrogram, height < 0 or NaN, min_cluster_size < 1. Cost: O(N).
std::vector<std::int64_t> cut(const single_linkage_tree& tree, double height, std::int64_t min_cluster_size);

/// `labels` with a label for every point of noise too: that of the cluster that it reaches first along `tree`, the
/// edges of a spanning tree of mutual reachability. Edges join points in the order (weight, u, v). If an edge joins
/// points without a label to a labelled point, they take its label. So the largest edge on the way to the cluster is
/// the smallest possible. Points that no edge joins to a cluster stay -1: rows that were left out, other components,
/// and all points if there is no cluster.
///
/// Throws InvalidArgument for an end point outside [0, N), a weight that is negative or NaN, and a label outside
/// [-1, N). Cost: O(N log N) time, O(N) memory.
std::vector<std::int64_t> assign_noise(std::span<const edge> tree, std::span<const std::int64_t> labels);

}  // namespace quintet::hdbscan
