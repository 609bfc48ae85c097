// GLOSH: how much earlier a point leaves its cluster than the densest part of it dissolves.
#pragma once

#include <vector>

#include "quintet/hdbscan/tree_summary.hpp"

namespace quintet::hdbscan {

/// GLOSH outlier score of every point, selected clusters or not: (M - lambda) / M, in [0, 1], where the point leaves
/// cluster c at lambda and M is the largest lambda in c and all its descendants (Campello, Moulavi, Zimek, Sander
/// 2015). 0 where M = 0 or lambda is infinite; 1 where only M is infinite. `summary` is one that summarise() made;
/// throws nothing. Cost: O(N) time and memory.
std::vector<double> outlier_scores(const tree_summary& summary);

}  // namespace quintet::hdbscan
