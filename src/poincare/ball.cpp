#include "quintet/poincare/ball.hpp"

#include <algorithm>

#include "quintet/core/error.hpp"

namespace quintet::poincare {

std::int64_t first_invalid(const std::vector<point_status>& status) {
  const auto failed =
      std::find_if(status.begin(), status.end(), [](point_status s) { return s != point_status::inside; });
  return failed == status.end() ? -1 : failed - status.begin();
}

double checked_curvature(double curvature) {
  const double c = -curvature;
  require_argument(c == 0 || (c >= 1e-30 && c <= 1e30), "curvature", curvature,
                   "0 (Euclidean) or negative: -c for the ball of points with c |x|^2 < 1, 1e-30 <= c <= 1e30");
  return c == 0 ? 0 : c;
}

}  // namespace quintet::poincare
