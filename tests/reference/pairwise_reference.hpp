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

/// A point that has distances: all coordinates finite and, for cosine, not all zero.
inline bool is_valid(const matrix& points, std::int64_t i, metric kind) {
  return points.row(i).allFinite() && (kind == metric::euclidean || (points.row(i).array() != 0).any());
}

/// All distances; NaN in the rows and columns of points that have none.
inline matrix distances(const matrix& points, metric kind) {
  const std::int64_t n = points.rows();
  matrix vectors = points;
  if (kind == metric::cosine)
    for (std::int64_t i = 0; i < n; ++i) vectors.row(i) /= points.row(i).stableNorm();
  matrix result(n, n);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j <= i; ++j) {
      const bool valid = is_valid(points, i, kind) && is_valid(points, j, kind);
      const long double square = (vectors.row(i) - vectors.row(j)).squaredNorm();
      result(i, j) = !valid                   ? std::numeric_limits<long double>::quiet_NaN()
                     : kind == metric::cosine ? square / 2
                                              : std::sqrt(square);
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
