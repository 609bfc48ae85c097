// An order of the points in which neighbours in space are mostly neighbours in memory.
#pragma once

#include <cstdint>
#include <vector>

#include "pairwise/scanned_points.hpp"

namespace quintet::pairwise {

/// The valid points, ordered: each goes to the nearest of some pivots, pivots follow one another along a spanning tree
/// of theirs, and points follow by their distance to the pivot. Exact algorithms run faster on it (tiles then hold
/// points that are close, or far, together) and give the same result on every order.
///
/// Deterministic. Cost: N x pivots distances, pivots about N / 96 and at most 2048: some 2 % of all pairs. Workspace: a
/// few MB.
template <class Storage>
std::vector<std::int32_t> locality_order(const scanned_points<Storage>& points);

}  // namespace quintet::pairwise
