// The constants of a ball of one curvature.
#pragma once

#include <cmath>

#include "pairwise/metric.hpp"
#include "quintet/poincare/distances.hpp"

namespace quintet::poincare {

/// Coordinates are packed as scale * x, scale a power of two about 2^50 sqrt(c): then squares of differences down to
/// 2^-110 / sqrt(c) are normal floats, and sums of squares within the ball stay far from overflow.
struct ball {
  double c = 1, root_c = 1;
  double scale = 1;
  /// A point's factor is numerator / (1 - c |x|^2), so that the engine's surrogate is 2^asinh_scale_exponent t.
  double numerator = 0;

  explicit ball(double curvature) : c(checked_curvature(curvature)), root_c(std::sqrt(c)) {
    if (flat()) return;
    scale = std::ldexp(1.0, 50 + std::ilogb(root_c));
    numerator = std::ldexp(root_c, device::asinh_scale_exponent / 2) / scale;
  }
  bool flat() const { return c == 0; }

  template <class Real>
  pairwise::surrogate_metric<Real> surrogate(formula expression) const {
    pairwise::surrogate_metric<Real> metric;
    if (flat()) {
      metric.unscale = 2;  // lambda = 2: the limit of the distances is 2 |x - y|
      return metric;
    }
    metric.unscale = Real(1 / root_c);
    metric.curve = expression == formula::geodesic ? pairwise::surrogate_curve::hyperbolic
                                                   : pairwise::surrogate_curve::clamped_artanh;
    return metric;
  }
};

/// Factors up to 2^60: products of two of them are finite floats. Only points with 1 - c |x|^2 < 2^-89 are affected.
constexpr double largest_factor = 0x1p60;

}  // namespace quintet::poincare
