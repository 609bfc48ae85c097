// The spanning trees of many min_samples from the distances of one.
//
// The minimum spanning tree of every k <= K lies within two sets of edges: the K nearest neighbours of all points, and
// the tree of K. This is CORE-SG (Araujo Neto, Naldi, Campello, Sander: Efficient Computation and Visualization of
// Multiple Density-Based Clustering Hierarchies, TKDE 2021). Ties do not break it here, because the trees of all k
// order equal edges by their points. So the distances of a single tree serve all min_samples, and a tree serves all
// sizes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "quintet/core/any_view.hpp"
#include "quintet/core/progress.hpp"
#include "quintet/hdbscan/spanning_tree.hpp"

namespace quintet::hdbscan {

/// The spanning trees of several min_samples, in their order; options.min_samples has no effect. Each is that of
/// spanning_tree(), bit for bit, but for counters and seconds: they are those of the largest, and nothing in the
/// others.
///
/// Throws as spanning_tree() does, and InvalidArgument if `min_samples` is empty or holds a value that is out of range.
/// Cost: spanning_tree() at the largest, and about 0.1 s per 100,000 points and value. Memory: that of the largest and
/// 32 bytes a point for each of its neighbours. With alpha > 1 lists are four times as long; where they do not suffice
/// every tree is computed by itself.
std::vector<spanning_tree_result> spanning_trees(any_matrix points, std::span<const std::int64_t> min_samples,
                                                 const spanning_tree_options& options = {},
                                                 const Device& device = Device::best(),
                                                 const progress_callback& report = {},
                                                 std::span<const double> weights = {});

}  // namespace quintet::hdbscan
