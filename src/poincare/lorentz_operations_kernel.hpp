// Operations of the Lorentz model on rows of space parts: one row a thread.
#pragma once

#include "poincare/lorentz_math.hpp"
#include "poincare/row_operations_kernel.hpp"

namespace quintet::lorentz {

using poincare::gap_and_status;
using poincare::operation;
using poincare::point_status;
using poincare::row_arguments;

/// sqrt(1 + c |x|^2).
inline double scaled_time(double root_c, double norm) { return hypotenuse(1, root_c * norm); }

/// A point with what its tangent vectors are taken apart by.
template <class Row>
struct sheet_point {
  Row x;
  std::int64_t dim;
  double norm, time;
  point_status status;

  sheet_point(std::int64_t dim, double root_c, Row x)
      : x(x), dim(dim), norm(poincare::norm(dim, x)), time(scaled_time(root_c, norm)) {
    double not_finite = 0;
    for (std::int64_t k = 0; k < dim; ++k) not_finite += x(k) - x(k);
    status = not_finite == 0 ? point_status::inside : point_status::not_finite;
  }

  /// Coordinate k of x / |x|; 0 at the origin, where every direction is across.
  double unit(std::int64_t k) const { return norm > 0 ? x(k) / norm : 0; }
  template <class V>
  double along(V v) const {
    double sum = 0;
    for (std::int64_t k = 0; k < dim; ++k) sum = device::fma(unit(k), v(k), sum);
    return sum;
  }
};

/// The way of exp_x(v) = cosh(z) x + sinh(z) / z v. With sqrt(c) x = sinh(r) u and v = along u + across, the coordinate
/// along u is sinh(r) cosh(z) + cosh(r) sinh(z) cos, cos = sqrt(c) along / (cosh(r) z); for a negative cosine it is
/// sinh(r - z) + (1 + cos) cosh(r) sinh(z), where nothing large cancels.
struct sheet_step {
  double along, radial, sideways, length, ratio;  ///< length z, ratio sinh(z) / z
  double norm, time;                              ///< sinh(r), cosh(r)

  template <class Point, class V>
  sheet_step(double root_c, const Point& p, V v) : along(p.along(v)), norm(root_c * p.norm), time(p.time) {
    const auto across = [&](std::int64_t k) { return device::fma(-along, p.unit(k), v(k)); };
    radial = root_c * along / p.time;
    sideways = root_c * poincare::norm(p.dim, across);
    length = hypotenuse(std::fabs(radial), sideways);
    ratio = length < 1e-5 ? 1 + length * length / 6 : std::sinh(length) / length;
  }

  /// The coordinate along u of the end, times sqrt(c).
  double forth() const {
    const double inwards = std::sinh(asinh_of(norm) - length) + time * ratio * turn();
    const double outwards = norm * std::cosh(length) + time * ratio * radial;
    return radial < 0 ? inwards : outwards;
  }
  /// That of the velocity there, v moved to the end, times sqrt(c). Across it is cosh(z) across.
  double speed() const {
    const double inwards = time * std::cosh(length) * turn() - length * std::cosh(asinh_of(norm) - length);
    const double outwards = norm * (length * std::sinh(length)) + time * std::cosh(length) * radial;
    return radial < 0 ? inwards : outwards;
  }

 private:
  /// z (1 + cos).
  double turn() const { return sideways * (sideways / (length - radial)); }
};

/// write(k, coordinate k of exp_x(v)).
template <class Point, class V, class Write>
inline void write_exponential(double root_c, const Point& p, V v, Write write) {
  const sheet_step step(root_c, p, v);
  const double forth = step.forth() / root_c;
  for (std::int64_t k = 0; k < p.dim; ++k)
    write(k, device::fma(forth, p.unit(k), step.ratio * device::fma(-step.along, p.unit(k), v(k))));
}

/// sqrt(c) d(x, y).
template <class Point, class Other>
inline double distance_of(double root_c, const Point& p, const Other& q) {
  const haversine<double> measure{p.dim, root_c};
  return root_c * measure.distance(p.x, radius{p.norm, p.time}, q.x, radius{q.norm, q.time});
}

/// k -> coordinate k of part log_x(y), log_x(y) = z / sinh(z) (y - cosh(z) x), cosh(z) - 1 = 2 sinh^2(z / 2).
template <class Point, class Other>
auto logarithm_of(double root_c, const Point& p, const Other& q, double part) {
  const double z = distance_of(root_c, p, q), half = std::sinh(z / 2), more = 2 * half * half;
  const double scale = part * (z < 1e-5 ? 1 - z * z / 6 : z / std::sinh(z));
  return [=, x = p.x, y = q.x](std::int64_t k) { return scale * device::fma(-more, x(k), y(k) - x(k)); };
}

template <class Storage>
auto point_of(const row_arguments<Storage>& a, const pairwise::stored_rows<Storage>& rows, std::int64_t i) {
  return sheet_point(rows.dim, a.root_c, a.row(rows, i));
}

struct exp_row : operation {
  template <class Storage>
  static point_status apply(const row_arguments<Storage>& a, std::int64_t i) {
    const auto p = point_of(a, a.x, i);
    if (p.status == point_status::inside) write_exponential(a.root_c, p, a.row(a.v, i), a.writer(i));
    return p.status;
  }
};

struct log_row : operation {
  template <class Storage>
  static point_status apply(const row_arguments<Storage>& a, std::int64_t i) {
    const auto p = point_of(a, a.x, i), q = point_of(a, a.y, i);
    if (p.status != point_status::inside) return p.status;
    if (q.status != point_status::inside) return q.status;
    const auto log = logarithm_of(a.root_c, p, q, 1);
    for (std::int64_t k = 0; k < a.dim; ++k) a.writer(i)(k, log(k));
    return point_status::inside;
  }
};

struct sheet_geodesic_row : operation {
  template <class Storage>
  static point_status apply(const row_arguments<Storage>& a, std::int64_t i) {
    const auto p = point_of(a, a.x, i), q = point_of(a, a.y, i);
    if (p.status != point_status::inside) return p.status;
    if (q.status != point_status::inside) return q.status;
    const auto step = logarithm_of(a.root_c, p, q, a.scalar_of(i));
    write_exponential(a.root_c, p, step, a.writer(i));
    return point_status::inside;
  }
};

/// v + c <y, v> / (1 + cosh(z)) (x + y), <y, v> = (y - x s_y / s_x) . v: that difference is of the points' difference.
struct transport_row : operation {
  template <class Storage>
  static point_status apply(const row_arguments<Storage>& a, std::int64_t i) {
    const auto p = point_of(a, a.x, i), q = point_of(a, a.y, i);
    if (p.status != point_status::inside) return p.status;
    if (q.status != point_status::inside) return q.status;
    const auto v = a.row(a.v, i);
    double later = 0, product = 0;
    for (std::int64_t k = 0; k < a.dim; ++k) later = device::fma(q.x(k) - p.x(k), q.x(k) + p.x(k), later);
    const double part = a.c * later / (p.time + q.time) / p.time;
    for (std::int64_t k = 0; k < a.dim; ++k)
      product = device::fma(device::fma(-part, p.x(k), q.x(k) - p.x(k)), v(k), product);
    const double scale = a.c * product / (1 + std::cosh(distance_of(a.root_c, p, q)));
    for (std::int64_t k = 0; k < a.dim; ++k) a.writer(i)(k, device::fma(scale, p.x(k) + q.x(k), v(k)));
    return point_status::inside;
  }
};

/// p = x / (1 + s) of the ball, k = x / s of Klein's.
template <int Add>
struct to_ball_row : operation {
  template <class Storage>
  static point_status apply(const row_arguments<Storage>& a, std::int64_t i) {
    const auto p = point_of(a, a.x, i);
    if (p.status != point_status::inside) return p.status;
    for (std::int64_t k = 0; k < a.dim; ++k) a.writer(i)(k, p.x(k) / (Add + p.time));
    a.keep_inside(i, Add == 1 ? 2 / (1 + p.time) : 1 / p.time / p.time);
    return point_status::inside;
  }
};

/// x = 2 p / (1 - c |p|^2), x = k / sqrt(1 - c |k|^2).
template <int Add>
struct from_ball_row : operation {
  template <class Storage>
  static point_status apply(const row_arguments<Storage>& a, std::int64_t i) {
    const auto p = a.row(a.x, i);
    const gap_and_status of_p = poincare::examine_point(a.dim, a.c, p);
    if (!of_p.usable()) return of_p.status;
    for (std::int64_t k = 0; k < a.dim; ++k)
      a.writer(i)(k, Add == 1 ? 2 * p(k) / of_p.gap : p(k) / std::sqrt(of_p.gap));
    return point_status::inside;
  }
};

/// h = 1 / (s - X_n), y_k = X_k h with X = sqrt(c) x: the height is the last coordinate. s - X_n = (1 + |X'|^2) /
/// (s + X_n) for X_n > 0, X' the other coordinates.
struct to_half_space_row : operation {
  template <class Storage>
  static point_status apply(const row_arguments<Storage>& a, std::int64_t i) {
    const auto p = point_of(a, a.x, i);
    if (p.status != point_status::inside) return p.status;
    const std::int64_t n = a.dim - 1;
    const double last = a.root_c * p.x(n), others = hypotenuse(1, a.root_c * poincare::norm(n, p.x));
    const double height = last > 0 ? (p.time + last) / others / others : 1 / (p.time - last);
    for (std::int64_t k = 0; k < n; ++k) a.writer(i)(k, a.root_c * p.x(k) * height);
    a.writer(i)(n, height);
    return point_status::inside;
  }
};

/// X_k = y_k / h, X_n = (|y|^2 + (h - 1)(h + 1)) / (2 h).
struct from_half_space_row : operation {
  template <class Storage>
  static point_status apply(const row_arguments<Storage>& a, std::int64_t i) {
    const auto y = a.row(a.x, i);
    const std::int64_t n = a.dim - 1;
    const double height = y(n);
    double not_finite = 0;
    pairwise::compensated_sum<1> sum;
    for (std::int64_t k = 0; k < n; ++k) sum.add_product(y(k), y(k));
    for (std::int64_t k = 0; k < a.dim; ++k) not_finite += y(k) - y(k);
    if (!(not_finite == 0)) return point_status::not_finite;
    if (!(height > 0)) return point_status::outside;
    sum.add_product(height, height);
    sum.add(-1);
    for (std::int64_t k = 0; k < n; ++k) a.writer(i)(k, y(k) / height / a.root_c);
    a.writer(i)(n, sum.total() / (2 * height) / a.root_c);
    return point_status::inside;
  }
};

/// A point beside the hyperplane across the geodesic from the origin along z, at distance a of it. With the unit vector
/// u of z, sqrt(c) x = q sinh(r) u + sqrt(c) across and s = q cosh(r): the signed distance is asinh(q sinh(r - sqrt(c)
/// a)) / sqrt(c), which is cosh(sqrt(c) a) sqrt(c) u.x - sinh(sqrt(c) a) s without large numbers that cancel.
template <class X, class Z>
struct plane_side {
  X x;
  Z z;
  std::int64_t dim;
  double root_c, normal, time;  ///< |z|, sqrt(1 / c + |x|^2)
  double along = 0, breadth;    ///< u.x, q / sqrt(c)
  double offset, radius, way;   ///< sqrt(c) a, r, sqrt(c) d

  plane_side(std::int64_t dim, double root_c, X x, Z z, double a)
      : x(x), z(z), dim(dim), root_c(root_c), normal(poincare::norm(dim, z)), offset(root_c * a) {
    for (std::int64_t k = 0; k < dim; ++k) along = device::fma(unit(k), x(k), along);
    breadth = hypotenuse(1 / root_c, poincare::norm(dim, [&](std::int64_t k) { return across(k); }));
    time = hypotenuse(1 / root_c, poincare::norm(dim, x));
    radius = std::copysign(asinh_of(std::fabs(along) / breadth), along);
    way = std::copysign(magnitude(std::fabs(radius - offset)), radius - offset);
  }

  double unit(std::int64_t k) const { return z(k) / normal; }
  double across(std::int64_t k) const { return device::fma(-along, unit(k), x(k)); }

  /// The derivative of d by x_k is forth unit(k) - sideways across(k), by z_k slope across(k), and by a by_offset.
  struct derivatives {
    double forth, sideways, slope, by_offset;
  };
  derivatives differentiate() const {
    const double forth = std::exp(turn() - std::fabs(radius) - std::fabs(way)) * 2 * cosine_part(turn()) /
                         (cosine_part(radius) * cosine_part(way));
    const double stretch = std::exp(std::fabs(offset) - std::fabs(way)) / cosine_part(way);
    return {forth, stretch * std::copysign(-std::expm1(-2 * std::fabs(offset)), offset) / time,
            stretch * cosine_part(offset) / normal,
            -(root_c * breadth) * (std::exp(turn() - std::fabs(way)) * cosine_part(turn()) / cosine_part(way))};
  }

 private:
  double turn() const { return std::fabs(radius - offset); }
  /// 2 cosh(w) / exp(|w|).
  static double cosine_part(double w) { return 1 + std::exp(-2 * std::fabs(w)); }
  /// asinh(q sinh(t)), t >= 0; from 20 on sinh(t) is exp(t) / 2, and so is that of the result.
  double magnitude(double t) const {
    return t < 20 ? asinh_of(root_c * breadth * std::sinh(t)) : t + (std::log(root_c) + std::log(breadth));
  }
};

/// Where the normal is 0 there is no hyperplane: 0.
template <class Storage, class Write>
point_status with_plane(const row_arguments<Storage>& a, std::int64_t i, Write write) {
  const std::int64_t dim = a.x.dim;
  const auto x = a.row(a.x, i), z = a.row(a.y, i);
  const double offset = a.scalar_of(i);
  double not_finite = offset - offset;
  for (std::int64_t k = 0; k < dim; ++k) not_finite += (x(k) - x(k)) + (z(k) - z(k));
  if (!(not_finite == 0)) return point_status::not_finite;
  const plane_side side(dim, a.root_c, x, z, offset);
  write(side, side.normal > 0);
  return point_status::inside;
}

struct plane_distance_row : operation {
  template <class Storage>
  static point_status apply(const row_arguments<Storage>& a, std::int64_t i) {
    return with_plane(a, i, [&](const auto& side, bool exists) { a.writer(i)(0, exists ? side.way / a.root_c : 0); });
  }
};

struct plane_gradients_row : operation {
  template <class Storage>
  static point_status apply(const row_arguments<Storage>& a, std::int64_t i) {
    using Real = accumulator_t<Storage>;
    return with_plane(a, i, [&](const auto& side, bool exists) {
      auto* const of_normal = a.second + i * a.second_stride;
      const auto slopes = side.differentiate();
      for (std::int64_t k = 0; k < a.dim; ++k) {
        const double across = side.across(k), forth = slopes.forth * side.unit(k);
        of_normal[k] = exists ? Real(slopes.slope * across) : Real(0);
        a.writer(i)(k, exists ? device::fma(-slopes.sideways, across, forth) : 0);
      }
      a.number[i] = exists ? Real(slopes.by_offset) : Real(0);
    });
  }
};

}  // namespace quintet::lorentz
