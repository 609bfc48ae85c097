// Operations of the stereographic projection of a sphere on rows: one row a thread. Arguments have c = k > 0.
#pragma once

#include <cmath>

#include "device/arc.hpp"
#include "poincare/row_operations_kernel.hpp"

namespace quintet::stereographic {

using poincare::operation;
using poincare::point_status;
using poincare::row_arguments;

/// Largest sqrt(k) |x|: products of four norms are finite.
constexpr double largest_norm = 1e70;

/// Sine and cosine of an angle >= 0: the standard ones need a stack on a GPU.
struct turned_angle {
  double sine, cosine;

  explicit turned_angle(double angle) {
    // Copies: a device link does not find the templates where they are passed by reference.
    constexpr double quarter_turn = device::detail::half_pi<double>,
                     quarter_turn_rest = device::detail::half_pi_rest<double>;
    constexpr double eighth = quarter_turn / 2;
    const double none = angle - angle;  // 0, or NaN
    const double quarters = angle < 1e15 ? std::floor(angle / (2 * eighth) + 0.5) : 0;
    double rest = device::fused_multiply_add(-quarters, quarter_turn, angle);
    rest = device::fma(-quarters, quarter_turn_rest, rest);
    const double size = std::fabs(rest) < eighth ? std::fabs(rest) : eighth;
    const double s = std::copysign(device::detail::sine_to_eighth_turn<double>(size), rest) + none;
    const double half = device::detail::sine_to_eighth_turn<double>(size / 2),
                 c = device::fma(-2 * half, half, 1 + none);
    const int quarter = int(quarters - 4 * std::floor(quarters / 4));
    sine = quarter == 0 ? s : quarter == 1 ? c : quarter == 2 ? -s : -c;
    cosine = quarter == 0 ? c : quarter == 1 ? -s : quarter == 2 ? -c : s;
  }
};

/// A point with its norm times sqrt(k).
template <class Row>
struct sphere_point {
  Row x;
  std::int64_t dim;
  double root, norm;
  point_status status;

  sphere_point(std::int64_t dim, double root, Row x) : x(x), dim(dim), root(root), norm(root * poincare::norm(dim, x)) {
    double not_finite = 0;
    for (std::int64_t k = 0; k < dim; ++k) not_finite += x(k) - x(k);
    status = not_finite != 0           ? point_status::not_finite
             : !(norm <= largest_norm) ? point_status::outside
                                       : point_status::inside;
  }
  /// sqrt(k) x.
  double scaled(std::int64_t k) const { return root * x(k); }
  double one_plus_square() const { return device::fma(norm, norm, 1); }
};

/// x (+) sign y in pieces, of coordinates times sqrt(k): numerator(k) / (root_below root_below).
template <class Point>
struct sphere_sum {
  const Point &x, &y;
  double sign;
  double length;      ///< |x + sign y|
  double root_below;  ///< |x / |x| - sign |x| y| of the longer x, without a sum that cancels near the pole
  bool is_near;       ///< sign y is near -x
  double dot;

  sphere_sum(const Point& x, const Point& y, double sign) : x(x), y(y), sign(sign) {
    length = poincare::norm(x.dim, [&](std::int64_t k) { return sum(k); });
    const bool swapped = x.norm < y.norm;
    const Point &longer = swapped ? y : x, &other = swapped ? x : y;
    const double size = longer.norm;
    root_below = size == 0 ? 1 : poincare::norm(x.dim, [&](std::int64_t k) {
      return device::fma(-sign * size, other.scaled(k), longer.scaled(k) / size);
    });
    is_near = length <= (x.norm + y.norm) / 2;
    dot = 0;
    for (std::int64_t k = 0; k < x.dim; ++k) dot = device::fma(x.scaled(k), sign * y.scaled(k), dot);
  }
  double sum(std::int64_t k) const { return x.root * (x.x(k) + sign * y.x(k)); }
  /// (1 + |x|^2) (x + y) - |x + y|^2 x = (1 - 2 x.y - |y|^2) x + (1 + |x|^2) y.
  double numerator(std::int64_t k) const {
    const double a = x.one_plus_square();
    if (is_near) return device::fma(a, sum(k), -(length * length * x.scaled(k)));
    return device::fma(1 - 2 * dot - y.norm * y.norm, x.scaled(k), a * (sign * y.scaled(k)));
  }
};

template <class Storage>
auto point_of(const row_arguments<Storage>& a, const pairwise::stored_rows<Storage>& rows, std::int64_t i) {
  return sphere_point(rows.dim, a.root_c, a.row(rows, i));
}
template <class Point, class Other>
point_status status_of(const Point& x, const Other& y) {
  return x.status == point_status::inside ? y.status : x.status;
}

/// exp_x(v) = ((cos a - sin a x.u) x + (1 + |x|^2) sin(a) / 2 u) / |cos(a / 2) u - sin(a / 2) x|^2 of coordinates times
/// sqrt(k), v = |v| u and a = sqrt(k) lambda_x |v|: the sum x (+) tan(a / 2) u, with both sides times cos^2(a / 2), so
/// that nothing is infinite. Returns outside for the pole.
template <class Point, class V, class Write>
point_status write_exponential(const Point& p, V v, Write write) {
  const double length = poincare::norm(p.dim, v);
  if (length == 0) {
    for (std::int64_t k = 0; k < p.dim; ++k) write(k, p.x(k));
    return point_status::inside;
  }
  const double half = p.root * length / p.one_plus_square();
  const turned_angle once(half);
  const double sine = once.sine, cosine = once.cosine;
  const turned_angle twice(2 * half);
  double along = 0;
  for (std::int64_t k = 0; k < p.dim; ++k) along = device::fma(p.scaled(k), v(k) / length, along);
  const double below = poincare::squared_norm(
      p.dim, [&](std::int64_t k) { return device::fma(cosine, v(k) / length, -(sine * p.scaled(k))); });
  if (!(below > 0)) return point_status::outside;
  const double forth = (twice.cosine - twice.sine * along) / below;
  const double sideways = p.one_plus_square() * (twice.sine / (2 * p.root)) / below;
  for (std::int64_t k = 0; k < p.dim; ++k) write(k, device::fma(forth, p.x(k), sideways * (v(k) / length)));
  return point_status::inside;
}

/// k -> coordinate k of part log_x(y), of points that are not opposite: d is a sum of -x and y.
template <class Sum>
auto logarithm_of(const Sum& d, double part) {
  const double angle = std::atan2(d.length, d.root_below);
  const double ratio = d.length == 0 ? 1 : angle / d.length;
  const double scale = part * d.x.one_plus_square() * ratio / (d.root_below * d.x.root);
  return [scale, &d](std::int64_t k) { return 0 - scale * d.numerator(k); };  // no -0
}

struct sphere_add_row : operation {
  template <class Storage>
  static point_status apply(const row_arguments<Storage>& a, std::int64_t i) {
    const auto x = point_of(a, a.x, i), y = point_of(a, a.y, i);
    const point_status status = status_of(x, y);
    if (status != point_status::inside) return status;
    const sphere_sum sum(x, y, 1);
    const double below = sum.root_below * sum.root_below * a.root_c;
    if (!(below > 0)) return point_status::outside;
    for (std::int64_t k = 0; k < a.dim; ++k) a.writer(i)(k, sum.numerator(k) / below);
    return status;
  }
};

struct sphere_scalar_mul_row : operation {
  template <class Storage>
  static point_status apply(const row_arguments<Storage>& a, std::int64_t i) {
    const auto x = point_of(a, a.x, i);
    if (x.status != point_status::inside) return x.status;
    const double r = a.scalar_of(i);
    const turned_angle end(std::fabs(r) * std::atan(x.norm));
    const double scale = x.norm == 0 ? r : std::copysign(end.sine, r * end.sine) / (end.cosine * x.norm);
    for (std::int64_t k = 0; k < a.dim; ++k) a.writer(i)(k, scale * x.x(k));
    return point_status::inside;
  }
};

struct sphere_exp_row : operation {
  template <class Storage>
  static point_status apply(const row_arguments<Storage>& a, std::int64_t i) {
    const auto x = point_of(a, a.x, i);
    return x.status == point_status::inside ? write_exponential(x, a.row(a.v, i), a.writer(i)) : x.status;
  }
};

struct sphere_log_row : operation {
  template <class Storage>
  static point_status apply(const row_arguments<Storage>& a, std::int64_t i) {
    const auto x = point_of(a, a.x, i), y = point_of(a, a.y, i);
    const point_status status = status_of(x, y);
    if (status != point_status::inside) return status;
    const sphere_sum difference(x, y, -1);
    if (!(difference.root_below > 0)) return point_status::outside;
    const auto log = logarithm_of(difference, 1);
    for (std::int64_t k = 0; k < a.dim; ++k) a.writer(i)(k, log(k));
    return status;
  }
};

struct sphere_geodesic_row : operation {
  template <class Storage>
  static point_status apply(const row_arguments<Storage>& a, std::int64_t i) {
    const auto x = point_of(a, a.x, i), y = point_of(a, a.y, i);
    const point_status status = status_of(x, y);
    if (status != point_status::inside) return status;
    const sphere_sum difference(x, y, -1);
    if (!(difference.root_below > 0)) return point_status::outside;
    return write_exponential(x, logarithm_of(difference, a.scalar_of(i)), a.writer(i));
  }
};

}  // namespace quintet::stereographic
