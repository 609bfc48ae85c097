// Pieces of the operations on single rows, in double. A row is a function k -> coordinate.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "device/log1p.hpp"
#include "device/pack.hpp"
#include "pairwise/compensated.hpp"
#include "quintet/poincare/ball.hpp"

namespace quintet::poincare {

/// A point with 1 - c |x|^2.
struct gap_and_status {
  double gap;
  point_status status;
  bool usable() const { return status == point_status::inside; }
};

template <class Row>
inline gap_and_status examine_point(std::int64_t dim, double c, Row x) {
  pairwise::compensated_sum<1> square;
  double not_finite = 0;
  for (std::int64_t k = 0; k < dim; ++k) {
    const double a = x(k);
    square.add_product(a, a);
    not_finite += a - a;
  }
  if (!(not_finite == 0)) return {0, point_status::not_finite};
  const double gap = square.one_minus(c);
  return {gap, gap > 0 ? point_status::inside : point_status::outside};
}

/// c value, 0 in the flat ball for any value: a square there may be infinite.
inline double curved(double c, double value) { return c == 0 ? 0 : c * value; }

template <class Row>
inline double squared_norm(std::int64_t dim, Row x) {
  double sum = 0;
  for (std::int64_t k = 0; k < dim; ++k) {
    const double a = x(k);
    sum = device::fma(a, a, sum);
  }
  return sum;
}

/// |x|, also where its square is outside the range of double.
template <class Row>
inline double norm(std::int64_t dim, Row x) {
  const double square = squared_norm(dim, x);
  if (square > 1e-280 && square < 1e300) return std::sqrt(square);
  double largest = 0;
  for (std::int64_t k = 0; k < dim; ++k) largest = std::fabs(x(k)) > largest ? std::fabs(x(k)) : largest;
  return largest > 0 ? largest * std::sqrt(squared_norm(dim, [&](std::int64_t k) { return x(k) / largest; })) : square;
}

/// tanh(z) / z.
inline double tanh_ratio(double z) { return std::fabs(z) < 1e-5 ? 1 - z * z / 3 : std::tanh(z) / z; }

/// artanh(z) / z for z >= 0, given 1 - z^2.
inline double artanh_ratio(double z, double gap) {
  return z < 1e-5 ? 1 + z * z / 3 : device::log1p<double, 1>(2 * z * (1 + z) / gap) / (2 * z);
}

/// asinh(sqrt(t)).
template <int W>
inline device::pack<double, W> asinh_root(const device::pack<double, W>& t) {
  typedef device::pack<double, W> value;
  const value near = 2.0 * (t + device::root<double, W>(value(t * (1.0 + t))));
  return device::log1p<double, W>(value(t < 1e150 ? near : value(4.0 * t))) / 2.0;
}
inline double asinh_root(double t) { return asinh_root<1>(t); }
/// asinh(sqrt(t)) / sqrt(t).
inline double asinh_ratio(double t) { return t < 1e-10 ? 1 - t / 6 : asinh_root(t) / std::sqrt(t); }

/// 1 - tanh(z)^2.
inline double sech_squared(double z) {
  const double cosh = std::cosh(z);
  return 1 / (cosh * cosh);
}

/// write(k, coordinate k of x (+) y), where y is inside with 1 - c |y|^2 = y_gap, which is more accurate than its
/// coordinates. Returns 1 - c |x (+) y|^2.
template <class X, class Y, class Write>
inline double write_mobius_sum(std::int64_t dim, double c, double x_gap, X x, double y_gap, Y y, Write write) {
  const double sum = curved(c, squared_norm(dim, [&](std::int64_t k) { return x(k) + y(k); }));
  const double scale = 1 / device::fma(x_gap, y_gap, sum);
  for (std::int64_t k = 0; k < dim; ++k) {
    const double a = x(k);
    write(k, device::fma(x_gap, a + y(k), sum * a) * scale);
  }
  return x_gap * y_gap * scale;
}

/// exp_x(v) by its coordinates. Returns its 1 - c |.|^2.
template <class X, class V, class Write>
inline double write_exponential(std::int64_t dim, double c, double x_gap, X x, V v, Write write) {
  const double square = curved(c, squared_norm(dim, v));
  const double z = (square < 1e300 ? std::sqrt(square) : std::sqrt(c) * norm(dim, v)) / x_gap;
  const double scale = tanh_ratio(z) / x_gap;
  return write_mobius_sum(dim, c, x_gap, x, sech_squared(z), [&](std::int64_t k) { return scale * v(k); }, write);
}

/// Rounds a point with 1 - c |.|^2 = gap towards the origin where its coordinates are not inside.
template <class Real>
inline void keep_inside(std::int64_t dim, double c, double gap, Real* to) {
  constexpr double epsilon = std::numeric_limits<Real>::epsilon();
  if (gap > 64 * epsilon) return;
  const auto point = [=](std::int64_t k) { return double(to[k]); };
  for (double part = epsilon / 2; examine_point(dim, c, point).status == point_status::outside; part *= 2)
    for (std::int64_t k = 0; k < dim; ++k) to[k] = Real(double(to[k]) * (1 - part));
}

/// (-x) (+) y in pieces: its direction is x_gap (y - x) - c |y - x|^2 x.
struct difference_frame {
  double distance_square;  ///< |y - x|^2; 0 in the flat ball, where it may be out of range and curves nothing
  double t;

  template <class X, class Y>
  static difference_frame of(std::int64_t dim, double c, double x_gap, X x, double y_gap, Y y) {
    const double square = c == 0 ? 0 : squared_norm(dim, [&](std::int64_t k) { return y(k) - x(k); });
    return {square, c * square / (x_gap * y_gap)};
  }
  double direction(double c, double x_gap, double x, double y) const {
    return device::fma(x_gap, y - x, -(c * distance_square * x));
  }
  /// log_x(y) = scale * direction.
  double log_scale(double y_gap) const { return asinh_ratio(t) / (y_gap * std::sqrt(1 + t)); }
};

}  // namespace quintet::poincare
