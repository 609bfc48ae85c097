// Which clusters of the condensed tree become the flat clustering.
#pragma once

#include <cstdint>
#include <vector>

#include "quintet/hdbscan/tree_options.hpp"
#include "quintet/hdbscan/tree_summary.hpp"

namespace quintet::hdbscan {

/// Indices (id - N) of the selected clusters, increasing: the k-th is label k. None contains another.
///
/// `eom` goes from the leaves up: a cluster is taken unless the stabilities of what was best below its children sum to
/// more than its own, or it is larger than max_cluster_size, or born above epsilon_max (Campello, Moulavi, Sander
/// 2013). `leaf` takes the clusters without children. The root is taken by `eom` with allow_single_cluster only, and
/// never by `leaf`. Then, with epsilon > 0 and unless the root alone is selected, every cluster born at a height below
/// epsilon is replaced by its nearest ancestor born above epsilon (Malzer & Baum 2020), or, where only the root is
/// above, by the root's child on the way (the root itself with allow_single_cluster).
///
/// `summary` is one that summarise() made. Throws InvalidArgument for options out of range. Cost: O(C log C) time at
/// most and O(C) memory for C clusters.
std::vector<std::int64_t> select_clusters(const tree_summary& summary, const tree_options& options);

}  // namespace quintet::hdbscan
