// Points for tests: owned rows with any stride.
#pragma once

#include <cstdint>
#include <iterator>
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

/// Latitudes and longitudes in degrees: groups at a pole, across the date line and elsewhere, duplicates, antipodes,
/// and rows that are out of range.
template <class Real>
point_set<Real> sphere_points(std::int64_t n, std::uint64_t seed) {
  const double centres[][2] = {{89.9, 0}, {-0.3, 179.9}, {48.2, 16.4}, {-33.9, 151.2}, {0, -90}};
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  point_set<Real> points(n, 2);
  for (std::int64_t i = 0; i < n; ++i) {
    const auto& centre = centres[random() % std::size(centres)];
    const double spread = i % 7 == 0 ? 20 : i % 3 == 0 ? 0.5 : 1e-3;
    double latitude = centre[0] + normal(random) * spread, longitude = centre[1] + normal(random) * spread;
    if (latitude > 90) latitude = 180 - latitude, longitude = longitude > 0 ? longitude - 180 : longitude + 180;
    points(i, 0) = Real(latitude), points(i, 1) = Real(longitude);
    if (i % 11 == 5) points(i, 0) = points(i - 1, 0), points(i, 1) = points(i - 1, 1);
    if (i % 31 == 20) points(i, 0) = -points(i - 1, 0), points(i, 1) = points(i - 1, 1) - Real(180);
    if (i % 50 == 30) points(i, 0) = 90;
    if (i % 97 == 40) points(i, 0) = Real(90.5);
    if (i % 97 == 60) points(i, 1) = std::numeric_limits<Real>::infinity();
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
