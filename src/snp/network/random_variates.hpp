// Numbers from the densities of the priors, made of a random_stream.
#pragma once

#include <cmath>

#include "quintet/core/philox.hpp"

namespace quintet::snp {

/// Uniform in (0, 1), both ends excluded.
inline double draw_open_unit(random_stream& random) {
  for (;;) {
    const double x = random.uniform_positive<double>();
    if (x < 1) return x;
  }
}

/// Exponential with this mean, > 0.
inline double draw_exponential(double mean, random_stream& random) { return -mean * std::log(draw_open_unit(random)); }

/// Gamma with this shape and rate 1: Marsaglia and Tsang (2000); shapes below 1 by a power of a uniform number.
inline double draw_gamma(double shape, random_stream& random) {
  if (shape < 1) return draw_gamma(shape + 1, random) * std::pow(draw_open_unit(random), 1 / shape);
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = random.normals<double>().first, cube = 1 + c * x;
    if (cube <= 0) continue;
    const double v = cube * cube * cube;
    if (std::log(draw_open_unit(random)) < 0.5 * x * x + d - d * v + d * std::log(v)) return d * v;
  }
}

/// Beta in (0, 1), both ends excluded.
inline double draw_beta(double a, double b, random_stream& random) {
  if (a == 1 && b == 1) return draw_open_unit(random);
  for (;;) {
    const double x = draw_gamma(a, random), y = draw_gamma(b, random), share = x / (x + y);
    if (share > 0 && share < 1) return share;
  }
}

}  // namespace quintet::snp
