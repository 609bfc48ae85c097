// Random points of the Poincare ball.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "support/points.hpp"

namespace quintet::test {

/// n points of a direction drawn at random whose sqrt(c) |x| lies between `min` and `max`.
template <class Real>
point_set<Real> ball_points(std::int64_t n, std::int64_t dim, double min, double max, double c, std::uint64_t seed,
                            std::int64_t padding = 0) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> norm(min, max);
  point_set<Real> points(n, dim, padding);
  for (std::int64_t i = 0; i < n; ++i) {
    std::vector<double> row(dim);
    double square = 0;
    for (double& x : row) {
      x = normal(random);
      square += x * x;
    }
    const double length = norm(random) / std::sqrt(c * square);
    for (std::int64_t k = 0; k < dim; ++k) points(i, k) = Real(row[k] * length);
    double rounded = 0;  // rounding must not leave the ball
    for (std::int64_t k = 0; k < dim; ++k) rounded += double(points(i, k)) * double(points(i, k));
    if (c * rounded >= 1)
      for (std::int64_t k = 0; k < dim; ++k) points(i, k) *= Real(1 - 4 * std::numeric_limits<Real>::epsilon());
  }
  return points;
}

template <class Real>
std::span<const Real> row_of(const point_set<Real>& points, std::int64_t i) {
  return {points.data.data() + i * points.stride, std::size_t(points.dim)};
}

}  // namespace quintet::test
