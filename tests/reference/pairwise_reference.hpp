// Distances, core distances and mutual reachability, plain and slow: whole matrices in long double.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "quintet/core/view.hpp"
#include "quintet/pairwise/metric.hpp"

namespace quintet::reference {

using matrix = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class Real>
matrix widened(matrix_view<const Real> points) {
  matrix result(points.rows(), points.cols());
  for (std::int64_t i = 0; i < points.rows(); ++i)
    for (std::int64_t k = 0; k < points.cols(); ++k) result(i, k) = points(i, k);
  return result;
}

/// A point that has distances: all coordinates finite and, for cosine, not all zero; for the ball, inside it.
inline bool is_valid(const matrix& points, std::int64_t i, const point_metric& distance) {
  return points.row(i).allFinite() && (distance.kind != metric::cosine || (points.row(i).array() != 0).any()) &&
         (distance.kind != metric::poincare || -distance.curvature * points.row(i).squaredNorm() < 1);
}

/// 2 / sqrt(c) asinh(sqrt(c |x - y|^2 / ((1 - c |x|^2)(1 - c |y|^2)))).
inline long double ball_distance(const matrix& points, std::int64_t i, std::int64_t j, long double c) {
  const long double gaps = (1 - c * points.row(i).squaredNorm()) * (1 - c * points.row(j).squaredNorm());
  return 2 / std::sqrt(c) * std::asinh(std::sqrt(c * (points.row(i) - points.row(j)).squaredNorm() / gaps));
}

/// All distances; NaN in the rows and columns of points that have none.
inline matrix distances(const matrix& points, const point_metric& measure) {
  const std::int64_t n = points.rows();
  matrix vectors = points;
  if (measure.kind == metric::cosine)
    for (std::int64_t i = 0; i < n; ++i) vectors.row(i) /= points.row(i).stableNorm();
  const auto distance = [&](std::int64_t i, std::int64_t j) {
    if (measure.kind == metric::poincare) return ball_distance(points, i, j, -measure.curvature);
    const long double square = (vectors.row(i) - vectors.row(j)).squaredNorm();
    return measure.kind == metric::cosine ? square / 2 : std::sqrt(square);
  };
  matrix result(n, n);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j <= i; ++j) {
      const bool valid = is_valid(points, i, measure) && is_valid(points, j, measure);
      result(i, j) = valid ? distance(i, j) : std::numeric_limits<long double>::quiet_NaN();
      result(j, i) = result(i, j);
    }
  return result;
}

/// The k-th smallest distance of every point to another one; 0 for k = 0, NaN for a point without distances.
inline std::vector<long double> core_distances(const matrix& distances, std::int64_t k) {
  const std::int64_t n = distances.rows();
  std::vector<long double> core(n, 0);
  for (std::int64_t i = 0; i < n; ++i) {
    std::vector<long double> others;
    for (std::int64_t j = 0; j < n; ++j)
      if (j != i && !std::isnan(distances(i, j))) others.push_back(distances(i, j));
    std::sort(others.begin(), others.end());
    if (std::isnan(distances(i, i)))
      core[i] = distances(i, i);
    else if (k > 0)
      core[i] = others.at(k - 1);
  }
  return core;
}

/// max(core_i, core_j, distance / alpha), 0 on the diagonal of points that have distances.
inline matrix mutual_reachability(const matrix& distances, const std::vector<long double>& core, long double alpha) {
  matrix result = distances;
  for (std::int64_t i = 0; i < result.rows(); ++i)
    for (std::int64_t j = 0; j < result.cols(); ++j)
      if (i != j && !std::isnan(distances(i, j))) result(i, j) = std::max({core[i], core[j], distances(i, j) / alpha});
  return result;
}

}  // namespace quintet::reference
