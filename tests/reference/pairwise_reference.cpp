#include "reference/pairwise_reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "reference/curved_space_reference.hpp"
#include "reference/mapped_matrix.hpp"

namespace quintet::reference {

namespace {

constexpr long double pi = std::numbers::pi_v<long double>;

/// Half a turn in the unit of a metric.
long double half_turn(const point_metric& distance) { return distance.unit == angle_unit::degrees ? 180 : pi; }

/// A point that has distances: all coordinates finite and, for cosine, not all zero; for the ball, inside it; on a
/// sphere, in range, where pi is rounded up a little.
bool is_valid(const auto& point, const point_metric& distance) {
  if (distance.kind == metric::haversine) {
    const long double most = half_turn(distance) * (distance.unit == angle_unit::degrees ? 1 : 1 + 1e-7L);
    return std::fabs(point[0]) <= most / 2 && std::fabs(point[1]) <= 2 * most;
  }
  return point.allFinite() && (distance.kind != metric::cosine || !(point.array() == 0).all()) &&
         (distance.kind != metric::poincare || -distance.curvature * point.squaredNorm() < 1);
}

/// 2 / sqrt(c) asinh(sqrt(c |x - y|^2 / ((1 - c |x|^2)(1 - c |y|^2)))).
long double ball_distance(const auto& x, const auto& y, long double c) {
  const long double gaps = (1 - c * x.squaredNorm()) * (1 - c * y.squaredNorm());
  return 2 / std::sqrt(c) * std::asinh(std::sqrt(c * (x - y).squaredNorm() / gaps));
}

/// The law of haversines. Differences are those of latitude and longitude, so that near points keep their digits; far
/// ones keep them by way of the antipode.
long double sphere_distance(const auto& x, const auto& y, const point_metric& distance) {
  const long double turn = half_turn(distance), by = pi / turn;
  const auto square_of_sine = [&](long double angle) { return std::pow(std::sin(angle * by), 2.0L); };
  const auto haversine = [&](long double latitude, long double longitude) {
    const long double across = std::remainder(longitude - x[1], 2 * turn);
    return square_of_sine((latitude - x[0]) / 2) +
           std::cos(x[0] * by) * std::cos(latitude * by) * square_of_sine(across / 2);
  };
  const auto angle = [](long double h) { return 2 * std::asin(std::sqrt(h)); };
  const long double h = haversine(y[0], y[1]);
  const long double arc = h <= 0.5L ? angle(h) : pi - angle(haversine(-y[0], y[1] + turn));
  return arc * (long double)distance.sphere_radius;
}

/// The law of haversines (Todhunter 1886, 33) of the hyperbolic plane that holds both points and the origin.
long double sheet_distance(const auto& x, const auto& y, long double c) {
  const long double root = std::sqrt(c), a = root * x.norm(), b = root * y.norm();
  if (a == 0 || b == 0) return std::asinh(a + b) / root;
  const long double radial = std::sinh((std::asinh(a) - std::asinh(b)) / 2);
  const long double angular = (root * (x / a - y / b)).squaredNorm() * a * b / 4;
  return 2 * std::asinh(std::sqrt(radial * radial + angular)) / root;
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
  eigen_rows vectors = mapped(points);
  if (measure.kind == metric::cosine) vectors.rowwise().normalize();
  const auto distance = [&](std::int64_t i, std::int64_t j) {
    if (measure.kind == metric::poincare) return ball_distance(vectors.row(i), vectors.row(j), -measure.curvature);
    if (measure.kind == metric::haversine) return sphere_distance(vectors.row(i), vectors.row(j), measure);
    if (measure.kind == metric::lorentz) return sheet_distance(vectors.row(i), vectors.row(j), -measure.curvature);
    if (measure.kind == metric::product)
      return product_distance(measure.space.factors(), {&points(i, 0), &points(i, 0) + points.cols()},
                              {&points(j, 0), &points(j, 0) + points.cols()});
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
