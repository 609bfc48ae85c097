// The Poincare ball: conventions of all functions of the family.
//
// Curvature is negative: curvature = -c means the ball { x : c |x|^2 < 1 } with the metric lambda_x^2 |dx|^2, lambda_x
// = 2 / (1 - c |x|^2). (geoopt and hyptorch call c the curvature.) curvature = 0 is the limit c -> 0, Euclidean space
// with distances 2 |x - y|, because lambda is 2 there. A positive curvature is an error.
//
// No function projects silently: a point on or outside the sphere c |x|^2 = 1 has the status `outside`, and NaN in
// every result that involves it. project() moves points into the ball.
#pragma once

#include <cstdint>
#include <vector>

#include "quintet/core/compiler.hpp"

namespace quintet::poincare {

/// Position of a point.
enum class point_status : std::uint8_t {
  inside = 0,     ///< c |x|^2 < 1; for curvature 0, every finite point
  outside = 1,    ///< c |x|^2 >= 1, decided with the squares and their sum in doubled precision
  not_finite = 2  ///< a coordinate is NaN or infinite
};

/// The first index with a status other than inside; -1 without such an index. O(N).
std::int64_t first_invalid(const std::vector<point_status>& status);

/// c = -curvature >= 0. The range keeps sqrt(c) and all products of the formulas normal numbers of float. Throws
/// InvalidArgument if curvature is positive, NaN, or neither 0 nor of a magnitude in [1e-30, 1e30].
double checked_curvature(double curvature);

}  // namespace quintet::poincare
