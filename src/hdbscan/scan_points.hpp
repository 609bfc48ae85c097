// The look at the points that every function of the family begins with.
#pragma once

#include "pairwise/panels.hpp"
#include "poincare/scan_ball.hpp"

namespace quintet::hdbscan {

/// Throws InvalidArgument for a curvature that is not negative.
template <class Storage>
pairwise::row_scan<accumulator_t<Storage>> scan_points(matrix_view<const Storage> points,
                                                       const point_metric& distance) {
  return distance.kind == metric::poincare ? poincare::scan_ball(points, distance.curvature)
                                           : pairwise::scan_rows(points, distance.kind);
}

}  // namespace quintet::hdbscan
