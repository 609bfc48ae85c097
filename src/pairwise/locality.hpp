// An order of the points in which neighbours in space are mostly neighbours in memory.
#pragma once

#include <cstdint>
#include <vector>

#include "pairwise/scanned_points.hpp"

namespace quintet::pairwise {

/// Of points: the pivot nearest to each, by its place on the walk through all pivots, and the reduced distance to it.
template <class Real>
struct pivot_choice {
  std::vector<std::int32_t> pivot;
  std::vector<Real> distance;
};

///@{
/// The steps of locality_order(). Of n valid points, numbers 0 to n - 1 in the caller's order: those that are pivots,
/// none for so few points that no order helps them.
std::vector<std::int32_t> chosen_pivots(std::int64_t n);
/// The position of every pivot on the walk.
template <class Real>
std::vector<std::int32_t> pivot_places(const panels<Real>& pivots, const reduced_metric<Real>& measure);
/// For rows `rows` of the points.
template <class Storage>
pivot_choice<accumulator_t<Storage>> choose_pivots(const scanned_points<Storage>& points,
                                                   const std::vector<std::int32_t>& rows,
                                                   const panels<accumulator_t<Storage>>& pivots,
                                                   const std::vector<std::int32_t>& places);
/// The rows in their order.
template <class Real>
std::vector<std::int32_t> order_by_pivot(const pivot_choice<Real>& chosen, const std::vector<std::int32_t>& rows);
///@}

/// The valid points, ordered: each goes to the nearest of some pivots, pivots follow one another along a spanning tree
/// of theirs, and points follow by their distance to the pivot. Exact algorithms run faster on it (tiles then hold
/// points that are close, or far, together) and give the same result on every order.
///
/// Deterministic. Cost: N x pivots distances, pivots about N / 96 and at most 2048: some 2 % of all pairs. Workspace: a
/// few MB.
template <class Storage>
std::vector<std::int32_t> locality_order(const scanned_points<Storage>& points);

}  // namespace quintet::pairwise
