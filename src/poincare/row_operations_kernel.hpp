// Operations on rows: one row a thread. An operation is a type with a function apply(arguments, row) -> status.
#pragma once

#include <limits>

#include "device/pack.hpp"
#include "pairwise/stored_rows.hpp"
#include "poincare/row_math.hpp"

namespace quintet::poincare {

using pairwise::stored_rows;

struct host_operation_shape {
  enum { on_device = 0 };
};
struct device_operation_shape {
  enum { on_device = 1 };
};

template <class Storage>
struct row_arguments {
  using Real = accumulator_t<Storage>;
  stored_rows<Storage> x = {}, y = {}, v = {};
  const Real* scalar = nullptr;
  std::int64_t scalar_step = 0;  ///< 0: one for all rows
  Real *out = nullptr, *second = nullptr;
  Real* number = nullptr;  ///< one more result of every row
  std::int64_t out_stride = 0, second_stride = 0;
  point_status* status = nullptr;
  std::int64_t dim = 0;  ///< of `out`
  double c = 1, root_c = 1, parameter = 0, rate = 0;

  double scalar_of(std::int64_t i) const { return scalar[i * scalar_step]; }
  auto row(const stored_rows<Storage>& from, std::int64_t i) const {
    return [data = from.data + i * from.stride](std::int64_t k) { return double(data[k]); };
  }
  /// Row i of `out` is a point with 1 - c |.|^2 = gap.
  void keep_inside(std::int64_t i, double gap) const { poincare::keep_inside(dim, c, gap, out + i * out_stride); }
  auto writer(std::int64_t i) const {
    return [to = out + i * out_stride](std::int64_t k, double value) { to[k] = Real(value); };
  }
};

/// An operation of Ganea, Becigneul, Hofmann 2018 or Ungar 2008 on every row: its type says which formula.
template <class Storage, class Operation, class Shape>
struct row_kernel {
  using Real = accumulator_t<Storage>;
  using shape = Shape;
  struct scratch {};
  enum { threads = 64, emulated_threads = 4, rows_per_tile = 64 };
  row_arguments<Storage> a;
  std::int64_t count;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    for (int r = team.rank(); r < rows_per_tile; r += team.size()) {
      const std::int64_t row = tile * rows_per_tile + r;
      if (row >= count) continue;
      const point_status status = Operation::apply(a, row);
      a.status[row] = status;
      if (status != point_status::inside && Operation::fails_with_nan) spoil(row);
    }
  }

 private:
  void spoil(std::int64_t row) const {
    constexpr Real nan = std::numeric_limits<Real>::quiet_NaN();
    for (std::int64_t k = 0; k < a.dim; ++k) a.out[row * a.out_stride + k] = nan;
    if (a.second != nullptr)
      for (std::int64_t k = 0; k < a.dim; ++k) a.second[row * a.second_stride + k] = nan;
    if (a.number != nullptr) a.number[row] = nan;
  }
};

/// The status of a pair: that of the first that is not inside.
inline point_status status_of(const gap_and_status& x, const gap_and_status& y) {
  return x.usable() ? y.status : x.status;
}

struct operation {
  enum { fails_with_nan = 1 };
};

struct mobius_add_row : operation {
  template <class Storage>
  static point_status apply(const row_arguments<Storage>& a, std::int64_t i) {
    const auto x = a.row(a.x, i), y = a.row(a.y, i);
    const auto of_x = examine_point(a.dim, a.c, x), of_y = examine_point(a.dim, a.c, y);
    const point_status status = status_of(of_x, of_y);
    if (status != point_status::inside) return status;
    a.keep_inside(i, write_mobius_sum(a.dim, a.c, of_x.gap, x, of_y.gap, y, a.writer(i)));
    return status;
  }
};

struct scalar_mul_row : operation {
  template <class Storage>
  static point_status apply(const row_arguments<Storage>& a, std::int64_t i) {
    const auto x = a.row(a.x, i);
    const auto of_x = examine_point(a.dim, a.c, x);
    if (!of_x.usable()) return of_x.status;
    const double z = curved(a.root_c, std::sqrt(squared_norm(a.dim, x))), r = a.scalar_of(i);
    const double ratio = artanh_ratio(z, of_x.gap), scale = tanh_ratio(r * ratio * z) * r * ratio;
    for (std::int64_t k = 0; k < a.dim; ++k) a.writer(i)(k, scale * x(k));
    a.keep_inside(i, sech_squared(r * ratio * z));
    return point_status::inside;
  }
};

struct exp_map_row : operation {
  template <class Storage>
  static point_status apply(const row_arguments<Storage>& a, std::int64_t i) {
    const auto x = a.row(a.x, i);
    const auto of_x = examine_point(a.dim, a.c, x);
    if (of_x.usable()) a.keep_inside(i, write_exponential(a.dim, a.c, of_x.gap, x, a.row(a.v, i), a.writer(i)));
    return of_x.status;
  }
};

struct log_map_row : operation {
  template <class Storage>
  static point_status apply(const row_arguments<Storage>& a, std::int64_t i) {
    const auto x = a.row(a.x, i), y = a.row(a.y, i);
    const auto of_x = examine_point(a.dim, a.c, x), of_y = examine_point(a.dim, a.c, y);
    const point_status status = status_of(of_x, of_y);
    if (status != point_status::inside) return status;
    const auto frame = difference_frame::of(a.dim, a.c, of_x.gap, x, of_y.gap, y);
    const double scale = frame.log_scale(of_y.gap);
    for (std::int64_t k = 0; k < a.dim; ++k) a.writer(i)(k, scale * frame.direction(a.c, of_x.gap, x(k), y(k)));
    return status;
  }
};

struct exp_map_origin_row : operation {
  template <class Storage>
  static point_status apply(const row_arguments<Storage>& a, std::int64_t i) {
    const auto v = a.row(a.v, i);
    const double z = curved(a.root_c, norm(a.dim, v)), scale = tanh_ratio(z);
    for (std::int64_t k = 0; k < a.dim; ++k) a.writer(i)(k, scale * v(k));
    a.keep_inside(i, sech_squared(z));
    return point_status::inside;
  }
};

struct log_map_origin_row : operation {
  template <class Storage>
  static point_status apply(const row_arguments<Storage>& a, std::int64_t i) {
    const auto y = a.row(a.x, i);
    const auto of_y = examine_point(a.dim, a.c, y);
    if (!of_y.usable()) return of_y.status;
    const double scale = artanh_ratio(curved(a.root_c, std::sqrt(squared_norm(a.dim, y))), of_y.gap);
    for (std::int64_t k = 0; k < a.dim; ++k) a.writer(i)(k, scale * y(k));
    return point_status::inside;
  }
};

struct geodesic_row : operation {
  template <class Storage>
  static point_status apply(const row_arguments<Storage>& a, std::int64_t i) {
    const auto x = a.row(a.x, i), y = a.row(a.y, i);
    const auto of_x = examine_point(a.dim, a.c, x), of_y = examine_point(a.dim, a.c, y);
    const point_status status = status_of(of_x, of_y);
    if (status != point_status::inside) return status;
    const auto frame = difference_frame::of(a.dim, a.c, of_x.gap, x, of_y.gap, y);
    // t (x) ((-x) (+) y) = scale * direction, with tanh(t asinh(s)) as its length times sqrt(c).
    const double t = a.scalar_of(i), length = t * asinh_root(frame.t);
    const double scale = tanh_ratio(length) * t * asinh_ratio(frame.t) / (of_x.gap * of_y.gap * std::sqrt(1 + frame.t));
    const auto step = [&](std::int64_t k) { return scale * frame.direction(a.c, of_x.gap, x(k), y(k)); };
    a.keep_inside(i, write_mobius_sum(a.dim, a.c, of_x.gap, x, sech_squared(length), step, a.writer(i)));
    return status;
  }
};

struct parallel_transport_row : operation {
  /// With e = y - x, p = <x, v>, q = <e, v> and a = 1 - c|.|^2, gyr[y, -x] v (Ungar 2008) becomes
  ///   v + 2 c ((a_x q - c|e|^2 p) x - (c|x|^2 q + (a_y + c|e|^2) p) e) / (a_x a_y + c|e|^2).
  template <class Storage>
  static point_status apply(const row_arguments<Storage>& a, std::int64_t i) {
    const auto x = a.row(a.x, i), y = a.row(a.y, i), v = a.row(a.v, i);
    const auto of_x = examine_point(a.dim, a.c, x), of_y = examine_point(a.dim, a.c, y);
    const point_status status = status_of(of_x, of_y);
    if (status != point_status::inside) return status;
    if (a.c == 0) {
      for (std::int64_t k = 0; k < a.dim; ++k) a.writer(i)(k, v(k));
      return status;
    }
    double p = 0, q = 0, difference = 0;
    for (std::int64_t k = 0; k < a.dim; ++k) {
      const double e = y(k) - x(k);
      p = device::fma(x(k), v(k), p);
      q = device::fma(e, v(k), q);
      difference = device::fma(a.c * e, e, difference);
    }
    const double scale = 2 * a.c / device::fma(of_x.gap, of_y.gap, difference);
    const double along_x = scale * device::fma(of_x.gap, q, -(difference * p));
    const double along_e = -scale * device::fma(1 - of_x.gap, q, (of_y.gap + difference) * p);
    const double ratio = of_y.gap / of_x.gap;
    for (std::int64_t k = 0; k < a.dim; ++k)
      a.writer(i)(k, ratio * device::fma(along_e, y(k) - x(k), device::fma(along_x, x(k), v(k))));
    return status;
  }
};

/// Pulls row i of `out` to sqrt(c) |x| <= 1 - parameter, and writes the factor that did it (1: none) to `second`.
template <class Storage>
inline void pull_inside(const row_arguments<Storage>& a, std::int64_t i) {
  using Real = accumulator_t<Storage>;
  Real* to = a.out + i * a.out_stride;
  double max = 0;
  for (std::int64_t k = 0; k < a.dim; ++k) max = std::fabs(double(to[k])) > max ? std::fabs(double(to[k])) : max;
  double factor = 1;
  if (a.c > 0 && max > 0) {
    // Divided by the largest first: the norm of a point far outside does not overflow.
    const double norm = std::sqrt(squared_norm(a.dim, [=](std::int64_t k) { return double(to[k]) / max; }));
    const double limit = (1 - a.parameter) / a.root_c / max;
    if (norm > limit) {
      // Rounded towards the origin by a little, so that the result is not over the limit again.
      factor = limit / norm * (1 - double(std::numeric_limits<Real>::epsilon()));
      for (std::int64_t k = 0; k < a.dim; ++k) to[k] = Real(double(to[k]) * factor);
    }
  }
  a.second[i] = Real(factor);
}

struct project_row {
  enum { fails_with_nan = 0 };
  template <class Storage>
  static point_status apply(const row_arguments<Storage>& a, std::int64_t i) {
    const auto x = a.row(a.x, i);
    const point_status status = examine_point(a.dim, a.c, x).status;
    const double nothing = status == point_status::not_finite ? std::numeric_limits<double>::quiet_NaN() : 0;
    for (std::int64_t k = 0; k < a.dim; ++k) a.writer(i)(k, x(k) + nothing);
    a.second[i] = 1;
    if (status != point_status::not_finite) pull_inside(a, i);
    return status;
  }
};

struct conformal_factor_row : operation {
  template <class Storage>
  static point_status apply(const row_arguments<Storage>& a, std::int64_t i) {
    const auto of_x = examine_point(a.x.dim, a.c, a.row(a.x, i));
    a.writer(i)(0, 2 / of_x.gap);
    return of_x.status;
  }
};

struct to_hyperboloid_row : operation {
  template <class Storage>
  static point_status apply(const row_arguments<Storage>& a, std::int64_t i) {
    const auto x = a.row(a.x, i);
    const auto of_x = examine_point(a.x.dim, a.c, x);
    if (!of_x.usable()) return of_x.status;
    for (std::int64_t k = a.x.dim; k > 0; --k) a.writer(i)(k, 2 * x(k - 1) / of_x.gap);
    a.writer(i)(0, (2 - of_x.gap) / (of_x.gap * a.root_c));
    return of_x.status;
  }
};

struct from_hyperboloid_row : operation {
  template <class Storage>
  static point_status apply(const row_arguments<Storage>& a, std::int64_t i) {
    const auto h = a.row(a.x, i);
    double not_finite = 0;
    for (std::int64_t k = 0; k < a.x.dim; ++k) not_finite += h(k) - h(k);
    if (!(not_finite == 0)) return point_status::not_finite;
    if (!(h(0) > 0)) return point_status::outside;
    const double below = device::fma(a.root_c, h(0), 1);
    for (std::int64_t k = 0; k < a.dim; ++k) a.writer(i)(k, h(k + 1) / below);
    a.keep_inside(i, 2 / below);
    return point_status::inside;
  }
};

struct distance_gradients_row : operation {
  template <class Storage>
  static point_status apply(const row_arguments<Storage>& a, std::int64_t i) {
    const auto x = a.row(a.x, i), y = a.row(a.y, i);
    const auto of_x = examine_point(a.dim, a.c, x), of_y = examine_point(a.dim, a.c, y);
    const point_status status = status_of(of_x, of_y);
    if (status != point_status::inside) return status;
    const auto frame = difference_frame::of(a.dim, a.c, of_x.gap, x, of_y.gap, y);
    const double spread = of_x.gap * of_y.gap * (1 + frame.t);
    const double below = frame.distance_square > 1e-280
                             ? std::sqrt(frame.distance_square * spread)
                             : norm(a.dim, [&](std::int64_t k) { return x(k) - y(k); }) * std::sqrt(spread);
    const double scale = below > 0 ? 2 / below : 0;
    const double x_pull = a.c * frame.distance_square / of_x.gap, y_pull = a.c * frame.distance_square / of_y.gap;
    auto* to_y = a.second + i * a.second_stride;
    for (std::int64_t k = 0; k < a.dim; ++k) {
      const double difference = x(k) - y(k), of_x_k = scale * device::fma(x_pull, x(k), difference);
      to_y[k] = accumulator_t<Storage>(scale * device::fma(y_pull, y(k), -difference));
      a.writer(i)(k, of_x_k);
    }
    return status;
  }
};

struct riemannian_gradient_row : operation {
  template <class Storage>
  static point_status apply(const row_arguments<Storage>& a, std::int64_t i) {
    const auto of_x = examine_point(a.dim, a.c, a.row(a.x, i));
    const auto gradient = a.row(a.v, i);
    for (std::int64_t k = 0; k < a.dim; ++k) a.writer(i)(k, gradient(k) * (of_x.gap * of_x.gap / 4));
    return of_x.status;
  }
};

struct rsgd_step_row {
  enum { fails_with_nan = 0 };
  template <class Storage>
  static point_status apply(const row_arguments<Storage>& a, std::int64_t i) {
    const auto x = a.row(a.x, i), gradient = a.row(a.v, i);
    const auto of_x = examine_point(a.dim, a.c, x);
    a.second[i] = 1;
    if (!of_x.usable()) {
      for (std::int64_t k = 0; k < a.dim; ++k) a.writer(i)(k, std::numeric_limits<double>::quiet_NaN());
      return of_x.status;
    }
    const double scale = -a.rate * (of_x.gap * of_x.gap / 4);
    write_exponential(a.dim, a.c, of_x.gap, x, [&](std::int64_t k) { return scale * gradient(k); }, a.writer(i));
    pull_inside(a, i);
    return of_x.status;
  }
};

}  // namespace quintet::poincare
