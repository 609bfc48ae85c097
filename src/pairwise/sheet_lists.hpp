// Lists of nearest points of the hyperboloid by a filter: distances in float find candidates, whose distances are then
// measured as all pairs are.
//
// A point of two words lies within e = 2^-24 of its first word as a float (in units of the ball's radius). With V and F
// the reduced distances in double and in float and f the factors, V = f_x f_y |x - y|^2, so that
//
//   sqrt(V) >= (1 - n) sqrt(F) - 2 e sqrt(f_x f_y)
//
// where n are the roundings of F. What a list of F dropped has F no smaller than its last entry and a factor no larger
// than that of all points. Where this bound of V is above the k-th V of the list, the k nearest are in the list; other
// rows are searched again in double. The result has the bits of the pass over all pairs.
#pragma once

#include "pairwise/neighbours.hpp"
#include "pairwise/scanned_points.hpp"

namespace quintet::pairwise {

/// Whether the k nearest of points of this metric, dimension and number are found faster so.
template <class Storage>
bool sheet_filter_pays(const scanned_points<Storage>& queries, const scanned_points<Storage>& points, int k);

/// The k nearest points of every query, as nearest_points_on_device() has them: of points of the hyperboloid, where
/// sheet_filter_pays().
device_neighbours<double> nearest_on_sheet(const scanned_points<double>& queries, const scanned_points<double>& points,
                                           int k);

}  // namespace quintet::pairwise
