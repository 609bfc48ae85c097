#include "reference/pairwise_reference.hpp"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>

namespace quintet::reference {

namespace {

using rows = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::Map<const rows> mapped(const matrix& a) { return {a.data(), a.rows(), a.cols()}; }
Eigen::Map<rows> mapped(matrix& a) { return {a.data(), a.rows(), a.cols()}; }

/// A point that has distances: all coordinates finite and, for cosine, not all zero; for the ball, inside it.
bool is_valid(const auto& point, const point_metric& distance) {
  return point.allFinite() && (distance.kind != metric::cosine || !(point.array() == 0).all()) &&
         (distance.kind != metric::poincare || -distance.curvature * point.squaredNorm() < 1);
}

/// 2 / sqrt(c) asinh(sqrt(c |x - y|^2 / ((1 - c |x|^2)(1 - c |y|^2)))).
long double ball_distance(const auto& x, const auto& y, long double c) {
  const long double gaps = (1 - c * x.squaredNorm()) * (1 - c * y.squaredNorm());
  return 2 / std::sqrt(c) * std::asinh(std::sqrt(c * (x - y).squaredNorm() / gaps));
}

/// (sum |x|^p)^(1/p); Eigen's lpNorm takes an integer at compile time.
long double power_norm(const auto& x, long double p) {
  if (std::isinf(p)) return x.template lpNorm<Eigen::Infinity>();
  return std::pow(x.array().abs().pow(p).sum(), 1 / p);
}

}  // namespace

matrix distances(const matrix& points, const point_metric& measure) {
  const std::int64_t n = points.rows();
  // The squares of finite doubles do not leave the range of long double.
  rows vectors = mapped(points);
  if (measure.kind == metric::cosine) vectors.rowwise().normalize();
  const auto distance = [&](std::int64_t i, std::int64_t j) {
    if (measure.kind == metric::poincare) return ball_distance(vectors.row(i), vectors.row(j), -measure.curvature);
    const auto difference = vectors.row(i) - vectors.row(j);
    if (measure.kind == metric::manhattan) return difference.template lpNorm<1>();
    if (measure.kind == metric::chebyshev) return difference.template lpNorm<Eigen::Infinity>();
    if (measure.kind == metric::minkowski) return power_norm(difference, measure.p);
    const long double square = (vectors.row(i) - vectors.row(j)).squaredNorm();
    return measure.kind == metric::cosine ? square / 2 : std::sqrt(square);
  };
  std::vector<bool> valid;
  for (std::int64_t i = 0; i < n; ++i) valid.push_back(is_valid(mapped(points).row(i), measure));
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
  const Eigen::Map<const Eigen::Array<long double, 1, Eigen::Dynamic>> cores(core.data(), Eigen::Index(core.size()));
  for (std::int64_t i = 0; i < result.rows(); ++i) {
    const auto scaled = mapped(distances).row(i).array() / alpha;
    // A distance of NaN stays what it is.
    mapped(result).row(i) = scaled.isNaN().select(scaled, scaled.max(cores.max(core[i])));
    result(i, i) = distances(i, i);
  }
  return result;
}

}  // namespace quintet::reference
