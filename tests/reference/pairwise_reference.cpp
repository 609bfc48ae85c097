#include "reference/pairwise_reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace quintet::reference {

namespace {

long double square_of_row(const matrix& a, std::int64_t i) {
  long double square = 0;
  for (std::int64_t k = 0; k < a.cols(); ++k) square += a(i, k) * a(i, k);
  return square;
}

long double square_of_difference(const matrix& a, std::int64_t i, std::int64_t j) {
  long double square = 0;
  for (std::int64_t k = 0; k < a.cols(); ++k) square += (a(i, k) - a(j, k)) * (a(i, k) - a(j, k));
  return square;
}

/// A point that has distances: all coordinates finite and, for cosine, not all zero; for the ball, inside it.
bool is_valid(const matrix& points, std::int64_t i, const point_metric& distance) {
  bool finite = true, zero = true;
  for (std::int64_t k = 0; k < points.cols(); ++k) {
    finite = finite && std::isfinite(points(i, k));
    zero = zero && points(i, k) == 0;
  }
  return finite && (distance.kind != metric::cosine || !zero) &&
         (distance.kind != metric::poincare || -distance.curvature * square_of_row(points, i) < 1);
}

/// 2 / sqrt(c) asinh(sqrt(c |x - y|^2 / ((1 - c |x|^2)(1 - c |y|^2)))).
long double ball_distance(const matrix& points, std::int64_t i, std::int64_t j, long double c) {
  const long double gaps = (1 - c * square_of_row(points, i)) * (1 - c * square_of_row(points, j));
  return 2 / std::sqrt(c) * std::asinh(std::sqrt(c * square_of_difference(points, i, j) / gaps));
}

/// Rows divided by their lengths. The squares of finite doubles do not leave the range of long double.
matrix unit_rows(matrix a) {
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    const long double length = std::sqrt(square_of_row(a, i));
    for (std::int64_t k = 0; k < a.cols(); ++k) a(i, k) /= length;
  }
  return a;
}

}  // namespace

matrix distances(const matrix& points, const point_metric& measure) {
  const std::int64_t n = points.rows();
  const matrix vectors = measure.kind == metric::cosine ? unit_rows(points) : points;
  const auto distance = [&](std::int64_t i, std::int64_t j) {
    if (measure.kind == metric::poincare) return ball_distance(points, i, j, -measure.curvature);
    const long double square = square_of_difference(vectors, i, j);
    return measure.kind == metric::cosine ? square / 2 : std::sqrt(square);
  };
  std::vector<bool> valid;
  for (std::int64_t i = 0; i < n; ++i) valid.push_back(is_valid(points, i, measure));
  matrix result(n, n);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j <= i; ++j) {
      const bool both = valid[std::size_t(i)] && valid[std::size_t(j)];
      result(i, j) = both ? distance(i, j) : std::numeric_limits<long double>::quiet_NaN();
      result(j, i) = result(i, j);
    }
  return result;
}

std::vector<long double> core_distances(const matrix& distances, std::int64_t k) {
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

matrix mutual_reachability(const matrix& distances, const std::vector<long double>& core, long double alpha) {
  matrix result = distances;
  for (std::int64_t i = 0; i < result.rows(); ++i)
    for (std::int64_t j = 0; j < result.cols(); ++j)
      if (i != j && !std::isnan(distances(i, j))) result(i, j) = std::max({core[i], core[j], distances(i, j) / alpha});
  return result;
}

}  // namespace quintet::reference
