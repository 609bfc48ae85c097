// Points of the ball for the all-pairs functions of other families.
#pragma once

#include "pairwise/panels.hpp"

namespace quintet::poincare {

/// What pairwise::scan_rows() is for the other metrics. curvature < 0; throws InvalidArgument otherwise.
/// Cost: one pass over the data, each norm in about twice the precision of double.
template <class Storage>
pairwise::row_scan<accumulator_t<Storage>> scan_ball(matrix_view<const Storage> points, double curvature);

}  // namespace quintet::poincare
