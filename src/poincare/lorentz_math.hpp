// The law of haversines for one pair of points of the Lorentz model, and the same in doubled precision. A row is a
// function k -> space coordinate.
#pragma once

#include <type_traits>

#include "device/asinh.hpp"
#include "device/doubled.hpp"
#include "device/inline.hpp"
#include "pairwise/stored_rows.hpp"
#include "poincare/row_math.hpp"

namespace quintet::lorentz {

/// |x| and sqrt(1 + c |x|^2); time is NaN for a point that cannot be used.
struct radius {
  double norm, time;
};

using device::doubled;

/// sqrt(a^2 + b^2), also where the squares are out of range.
QUINTET_INLINE inline double hypotenuse(double a, double b) {
  const double large = a > b ? a : b, ratio = large > 0 ? (a > b ? b : a) / large : 0;
  return large * std::sqrt(device::fma(ratio, ratio, 1));
}

/// sinh(asinh(m) / 2) for m >= 0.
QUINTET_INLINE inline double half_sinh(double m) {
  return m > 1e20 ? std::sqrt(m / 2) : m / std::sqrt(2 * (1 + std::sqrt(device::fma(m, m, 1))));
}

/// asinh(z) for z >= 0.
QUINTET_INLINE inline double asinh_of(double z) {
  if (z < 1e-10) return z;
  return z < 1e100 ? poincare::asinh_root(z * z) : std::log(z) + 0.69314718055994530942;
}

template <class Row>
QUINTET_INLINE inline double largest_magnitude(std::int64_t dim, Row x) {
  double largest = 0;
  for (std::int64_t k = 0; k < dim; ++k) largest = std::fabs(x(k)) > largest ? std::fabs(x(k)) : largest;
  return largest;
}

/// asinh(root_c |x|) of a row, also where |x| overflows.
template <class Row>
QUINTET_INLINE inline double origin_asinh(std::int64_t dim, double root_c, Row x) {
  const double largest = largest_magnitude(dim, x);
  if (largest < 1e150) return asinh_of(root_c * poincare::norm(dim, x));
  const int exponent = std::ilogb(largest);
  const double norm =
      std::sqrt(poincare::squared_norm(dim, [=](std::int64_t k) { return std::ldexp(x(k), -exponent); }));
  return std::log(2 * root_c * norm) + exponent * 0.69314718055994530942;
}

/// A pair of points again, each scaled by a power of two to coordinates of size 1. |x| >= |y|.
template <class X, class Y>
class doubled_pair {
 public:
  QUINTET_INLINE doubled_pair(std::int64_t dim, double root_c, X x, Y y)
      : dim_(dim),
        root_c_(root_c),
        x_(x),
        y_(y),
        x_exponent_(std::ilogb(largest_magnitude(dim, x))),
        y_exponent_(std::ilogb(largest_magnitude(dim, y))) {}

  /// d sqrt(c) of points that are not 0.
  QUINTET_INLINE double distance() const {
    const int exponent = x_exponent_ + y_exponent_, odd = exponent & 1, half = (exponent - odd) / 2;
    // Both roots divided by 2^unit: that of the largest points and curvatures would overflow.
    const int unit = half > 900 ? 128 : 0;
    const double angular = root_c_ * std::ldexp(std::sqrt(angle_term() * (1 + odd)), half - unit);
    const double radial = std::ldexp(radial_root(), -unit);
    const double root = hypotenuse(radial, angular);
    return unit == 0 ? 2 * asinh_of(root) : 2 * (std::log(root) + (unit + 1) * 0.69314718055994530942);
  }

 private:
  QUINTET_INLINE double scaled_x(std::int64_t k) const { return std::ldexp(x_(k), -x_exponent_); }
  QUINTET_INLINE double scaled_y(std::int64_t k) const { return std::ldexp(y_(k), -y_exponent_); }

  /// |sqrt(b/a) x - sqrt(a/b) y|^2 / 4 = (a b - x.y) / 2 of the scaled points. For an acute angle it is
  /// (|w|^2 |y|^2 - (w.y)^2) / (2 y_p^2 (a b + x.y)), w_k = x_k y_p - x_p y_k, p the largest coordinate of y: w has no
  /// coordinate p, so that it loses at most a factor of the dimension, and each w_k is exact (Kahan's determinant).
  QUINTET_INLINE double angle_term() const {
    std::int64_t p = 0;
    for (std::int64_t k = 1; k < dim_; ++k) p = std::fabs(y_(k)) > std::fabs(y_(p)) ? k : p;
    const double x_p = scaled_x(p), y_p = scaled_y(p);
    doubled x_square, y_square, dot, w_square, w_dot;
    for (std::int64_t k = 0; k < dim_; ++k) {
      const double x = scaled_x(k), y = scaled_y(k);
      const doubled w = doubled::product(x, y_p) - doubled::product(x_p, y);
      x_square = x_square + doubled::product(x, x);
      y_square = y_square + doubled::product(y, y);
      dot = dot + doubled::product(x, y);
      w_square = w_square + w * w;
      w_dot = w_dot + w * doubled{y, 0};
    }
    const double norms = std::sqrt(x_square.value()) * std::sqrt(y_square.value());
    if (dot.high < 0) return (norms - dot.value()) / 2;
    const double across = (w_square * y_square - w_dot * w_dot).value();
    return (across > 0 ? across : 0) / (2 * (y_p * y_p) * (norms + dot.value()));
  }

  /// sinh(asinh(m) / 2), from points divided by one power of two. Their norms are of points of size 1: squares of the
  /// smaller one could vanish. m is divided by 2^shift where it could overflow.
  QUINTET_INLINE double radial_root() const {
    const int exponent = x_exponent_ > y_exponent_ ? x_exponent_ : y_exponent_, shift = exponent > 700 ? 256 : 0;
    doubled difference;
    double x_square = 0, y_square = 0;
    for (std::int64_t k = 0; k < dim_; ++k) {
      const double x = std::ldexp(x_(k), -exponent), y = std::ldexp(y_(k), -exponent);
      difference = difference + doubled::sum(x, -y) * doubled::sum(x, y);
      x_square = device::fma(scaled_x(k), scaled_x(k), x_square);
      y_square = device::fma(scaled_y(k), scaled_y(k), y_square);
    }
    const double a = std::ldexp(std::sqrt(x_square), x_exponent_ - exponent);
    const double b =
        std::ldexp(std::sqrt(y_square), y_exponent_ - exponent + shift);  // the smaller one, with the shift
    const double unit = std::ldexp(1 / root_c_, shift - exponent);
    const double below = device::fma(a, hypotenuse(unit, b), b * hypotenuse(std::ldexp(unit, -shift), a));
    const double m = std::fabs(difference.value() / below);
    return m > 1e20 && shift > 0 ? std::ldexp(std::sqrt(m / 2), shift / 2) : half_sinh(std::ldexp(m, shift));
  }

  std::int64_t dim_;
  double root_c_;
  X x_;
  Y y_;
  int x_exponent_, y_exponent_;
};

/// Sums over the coordinates of W pairs: of x with every y. The point of a pair with the larger norm is `longer`.
template <int W>
struct haversine_sums {
  typedef device::pack<double, W> value;
  pairwise::compensated_sum<W> products, across;
  value square{}, apart{};

  /// (x - y) . (x + y), |x - y|^2, and whether the points are the same.
  template <class X, class Y>
  void add_differences(std::int64_t dim, X x, Y y) {
    for (std::int64_t k = 0; k < dim; ++k) {
      const value difference = x(k) - y(k);
      products.add_product(difference, x(k) + y(k));
      square = device::fma(difference, difference, square);
      apart += difference < value{} ? -difference : difference;
    }
  }
  /// |b x - a y|^2, |x| = a >= b = |y|, or that of exchanged points: b x - a y = b (x - y) - (a - b) y.
  template <class X, class Y, class Mask>
  void add_crosses(std::int64_t dim, X x, Y y, const value& shorter_norm, const value& norms, const Mask& x_is_longer) {
    const value by = products.total() / norms;
    for (std::int64_t k = 0; k < dim; ++k) {
      const value of_x = device::broadcast_pack<value>(x(k)), of_y = y(k);
      const value shorter = x_is_longer ? of_y : of_x;
      const value v = device::fused_multiply_add(shorter_norm, value(of_x - of_y), value(-(by * shorter)));
      across.add_product(v, v);
    }
  }
};

/// By the first coordinates that differ: so that a pair has the same bits either way.
template <class X, class Y>
QUINTET_INLINE inline bool comes_first(std::int64_t dim, X x, Y y) {
  std::int64_t k = 0;
  while (k + 1 < dim && x(k) == y(k)) ++k;
  return x(k) > y(k);
}

/// What the distance of two points is where no bound allows another way: 0 of equal points, or doubled.
template <class X, class Y>
QUINTET_INLINE inline double measured_doubled(std::int64_t dim, double root_c, X x, const radius& of_x, Y y,
                                              const radius& of_y) {
  std::int64_t k = 0;
  while (k < dim && x(k) == y(k)) ++k;
  if (k == dim) return 0;
  const bool x_is_longer = of_x.norm > of_y.norm || (of_x.norm == of_y.norm && comes_first(dim, x, y));
  // One text of the pair where rows are of one type.
  if constexpr (std::is_same_v<X, Y>) {
    const X longer = x_is_longer ? x : y, shorter = x_is_longer ? y : x;
    return doubled_pair<X, X>(dim, root_c, longer, shorter).distance() / root_c;
  }
  if (x_is_longer) return doubled_pair<X, Y>(dim, root_c, x, y).distance() / root_c;
  return doubled_pair<Y, X>(dim, root_c, y, x).distance() / root_c;
}

/// The distance of two points in double, with a bound of its error.
template <class Real>
struct haversine {
  /// A part of the distance that the bound may reach.
  static constexpr double allowed = 12 * 0x1p-53;
  std::int64_t dim;
  double root_c;

  template <class X, class Y>
  QUINTET_INLINE Real distance(X x, const radius& of_x, Y y, const radius& of_y) const {
    if (!(of_x.time > 0 && of_y.time > 0)) return std::numeric_limits<Real>::quiet_NaN();
    if (of_x.norm == 0) return Real(origin_asinh(dim, root_c, y) / root_c);
    if (of_y.norm == 0) return Real(origin_asinh(dim, root_c, x) / root_c);
    const bool x_is_longer = of_x.norm > of_y.norm || (of_x.norm == of_y.norm && comes_first(dim, x, y));
    const radius &longer = x_is_longer ? of_x : of_y, &shorter = x_is_longer ? of_y : of_x;
    haversine_sums<1> sums;
    sums.add_differences(dim, x, y);
    if (sums.apart == 0) return 0;
    sums.add_crosses(dim, x, y, shorter.norm, longer.norm + shorter.norm, x_is_longer);
    const double measured = finish<1>(sums, longer.norm, longer.time, shorter.norm, shorter.time);
    return Real(measured == measured ? measured : measured_doubled(dim, root_c, x, of_x, y, of_y));
  }

  /// The same of x and W points y, whose coordinates y(k) has; NaN where distance() has to look again.
  template <int W, class X, class Y>
  device::pack<double, W> distances(X x, const radius& of_x, Y y, const device::pack<double, W>& y_norm,
                                    const device::pack<double, W>& y_time) const {
    typedef device::pack<double, W> value;
    const value x_norm = device::broadcast_pack<value>(of_x.norm), x_time = device::broadcast_pack<value>(of_x.time);
    const auto x_is_longer = x_norm > y_norm;
    const value longer = x_is_longer ? x_norm : y_norm, shorter = x_is_longer ? y_norm : x_norm;
    haversine_sums<W> sums;
    sums.add_differences(dim, x, y);
    sums.add_crosses(dim, x, y, shorter, value(x_norm + y_norm), x_is_longer);
    const value d =
        finish<W>(sums, longer, value(x_is_longer ? x_time : y_time), shorter, value(x_is_longer ? y_time : x_time));
    return longer > shorter ? d : device::broadcast_pack<value>(std::numeric_limits<double>::quiet_NaN());
  }

 private:
  /// NaN where the bound of the error is too large, or a number out of range, or a time is NaN.
  template <int W>
  device::pack<double, W> finish(const haversine_sums<W>& sums, const device::pack<double, W>& a,
                                 const device::pack<double, W>& a_time, const device::pack<double, W>& b,
                                 const device::pack<double, W>& b_time) const {
    typedef device::pack<double, W> value;
    const value below = device::fma(a, b_time, value(b * a_time)), m = root_c * sums.products.total() / below;
    const value m_time = device::root<double, W>(device::fma(m, m, 1.0)), radial = m * m / (2.0 * (1.0 + m_time));
    const value angular = root_c * root_c * sums.across.total() / (4.0 * a * b), sum = radial + angular;
    const value half = poincare::asinh_root<W>(sum);
    // The coordinates of v have the roundings of b (x - y), each of part of |x - y| (a + b); the distance loses its
    // logarithm's part of them.
    const value rounding = 3 * 0x1p-53 * root_c * device::root<double, W>(value(sums.square * b / a)) / 2.0;
    const value off = rounding * (device::root<double, W>(angular) + rounding / 2.0);
    const value error = off / (sum > 1.0 ? value(sum * half) : sum);
    const value nan = device::broadcast_pack<value>(std::numeric_limits<double>::quiet_NaN());
    value d = error <= allowed ? value(2.0 * half / root_c) : nan;
    d = sum > 1e-280 ? d : nan;
    d = a < 1e75 ? d : nan;
    d = b > 1e-75 ? d : nan;
    return sums.square > 1e-150 ? d : nan;
  }
};

/// For results of 4 bytes: from directions and radii in double, with u = x / |x| and the radii r,
///
///   sinh^2(d / 2) = sinh^2((r_x - r_y) / 2) + sinh(r_x) sinh(r_y) |u_x - u_y|^2 / 4
template <>
struct haversine<float> {
  /// A part of the distance that the bound may reach: it leaves float its last digit.
  static constexpr double allowed = 0x1p-28;
  std::int64_t dim;
  double root_c;

  /// A coordinate of a point's direction.
  static double direction(double x, double inverse_norm) { return x * inverse_norm; }

  template <class X, class Y>
  float distance(X x, const radius& of_x, Y y, const radius& of_y) const {
    if (!(of_x.time > 0 && of_y.time > 0)) return std::numeric_limits<float>::quiet_NaN();
    if (of_x.norm == 0) return float(origin_asinh(dim, root_c, y) / root_c);
    if (of_y.norm == 0) return float(origin_asinh(dim, root_c, x) / root_c);
    const double by_x = 1 / of_x.norm, by_y = 1 / of_y.norm;
    double square = 0;
    for (std::int64_t k = 0; k < dim; ++k) {
      const double difference = direction(x(k), by_x) - direction(y(k), by_y);
      square = device::fma(difference, difference, square);
    }
    const double measured = of_directions<1>(square, of_x.norm, of_x.time, of_y.norm, of_y.time);
    return float(measured == measured ? measured : measured_doubled(dim, root_c, x, of_x, y, of_y));
  }

  /// The distances of W pairs with |u_x - u_y|^2 = square; NaN where distance() has to look again.
  template <int W>
  device::pack<double, W> of_directions(const device::pack<double, W>& square, const device::pack<double, W>& x_norm,
                                        const device::pack<double, W>& x_time, const device::pack<double, W>& y_norm,
                                        const device::pack<double, W>& y_time) const {
    typedef device::pack<double, W> value;
    const auto x_is_longer = x_norm > y_norm;
    const value a = x_is_longer ? x_norm : y_norm, b = x_is_longer ? y_norm : x_norm;
    const value a_time = x_is_longer ? x_time : y_time, b_time = x_is_longer ? y_time : x_time;
    const value below = device::fma(a, b_time, value(b * a_time)), norms = a + b;
    const value m = (a - b) * norms / below * root_c, m_time = device::root<double, W>(device::fma(m, m, 1.0));
    const value size = a * b * (root_c * root_c / 4);
    const value sum = m * m / (2.0 * (1.0 + m_time)) + size * square;
    const value d = device::twice_asinh_root<double, W>(value(sum * double(1ll << device::asinh_scale_exponent)));
    // Norms have an error of 2 units of their last digit, coordinates of directions one of 4 units of 1.
    constexpr double unit = 0x1p-53, of_direction = 8 * unit;
    const value of_m = norms * norms / below * (4 * unit * root_c) + m * (8 * unit);
    const value off = size * of_direction * (2.0 * device::root<double, W>(square) + of_direction) +
                      of_m * (m / m_time + of_m) + sum * ((double(dim) + 8) * unit);
    const value error = off / (sum > 1.0 ? value(sum * d * 0.5) : sum);
    const value nan = device::broadcast_pack<value>(std::numeric_limits<double>::quiet_NaN());
    const value usable = error <= allowed ? d : nan, in_range = sum > 1e-280 ? usable : nan;
    return (a < 1e75 ? value(b > 1e-75 ? in_range : nan) : nan) / root_c;
  }
};

}  // namespace quintet::lorentz
