// The constants of a ball of one curvature.
#pragma once

#include "pairwise/ball.hpp"
#include "quintet/poincare/distances.hpp"

namespace quintet::poincare {

struct ball : pairwise::ball_constants {
  explicit ball(double curvature) : ball_constants(checked_curvature(curvature)) {}

  template <class Real>
  pairwise::reduced_metric<Real> measure(formula expression) const {
    return ball_constants::measure<Real>(expression == formula::geodesic ? pairwise::distance_curve::hyperbolic
                                                                         : pairwise::distance_curve::clamped_artanh);
  }
};

}  // namespace quintet::poincare
