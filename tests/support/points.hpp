// Points for tests: owned rows with any stride.
#pragma once

#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "quintet/core/view.hpp"

namespace quintet::test {

/// n rows of dim coordinates, `stride` apart; what lies between the rows is NaN, so that reading it shows.
template <class Real>
struct point_set {
  std::int64_t n = 0, dim = 0, stride = 0;
  std::vector<Real> data;

  point_set(std::int64_t n, std::int64_t dim, std::int64_t padding = 0)
      : n(n), dim(dim), stride(dim + padding), data(n * (dim + padding), std::numeric_limits<Real>::quiet_NaN()) {}

  Real& operator()(std::int64_t i, std::int64_t k) { return data[i * stride + k]; }
  Real operator()(std::int64_t i, std::int64_t k) const { return data[i * stride + k]; }
  matrix_view<const Real> view() const { return {data.data(), n, dim, stride}; }
};

/// Row i of the result is row order[i] of `points`.
template <class Real>
point_set<Real> reordered(const point_set<Real>& points, const std::vector<std::int64_t>& order) {
  point_set<Real> result(std::int64_t(order.size()), points.dim, points.stride - points.dim);
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::int64_t k = 0; k < points.dim; ++k) result(std::int64_t(i), k) = points(order[i], k);
  return result;
}

/// All coordinates multiplied by `factor`.
template <class Real>
point_set<Real> scaled(point_set<Real> points, Real factor) {
  for (Real& x : points.data) x *= factor;
  return points;
}

/// Groups of points around random centres, a few duplicates among them; about a tenth lie anywhere.
template <class Real>
point_set<Real> clustered_points(std::int64_t n, std::int64_t dim, std::uint64_t seed, std::int64_t padding = 0) {
  constexpr std::int64_t groups = 5;
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> centre(groups * dim);
  for (double& x : centre) x = normal(random);
  point_set<Real> points(n, dim, padding);
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t group = std::int64_t(random() % groups);
    const bool anywhere = random() % 10 == 0, duplicate = i > 0 && random() % 20 == 0;
    for (std::int64_t k = 0; k < dim; ++k) {
      const double x = anywhere ? normal(random) : centre[group * dim + k] + normal(random) / 10;
      points(i, k) = duplicate ? points(i - 1, k) : Real(x);
    }
  }
  return points;
}

/// Integer coordinates in [0, values): equal distances everywhere, duplicates too.
template <class Real>
point_set<Real> grid_points(std::int64_t n, std::int64_t dim, std::int64_t values, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  point_set<Real> points(n, dim);
  for (Real& x : points.data) x = Real(random() % std::uint64_t(values));
  return points;
}

}  // namespace quintet::test
