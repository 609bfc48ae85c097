// One step of Riemannian Adam: a row a thread. A row is read before it is written, coordinate by coordinate, so that
// the new points may take the place of the old ones.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "poincare/lorentz_operations_kernel.hpp"
#include "poincare/row_operations_kernel.hpp"

namespace quintet::poincare {

template <class Storage>
struct adam_arguments {
  using Real = accumulator_t<Storage>;
  stored_rows<Storage> x, gradient;
  int skip;  ///< numbers of time in front of a row of x, gradient and out
  Real *first, *second, *out;
  std::int64_t first_stride, out_stride;
  point_status* status;
  std::int32_t* moved;  ///< of every row: whether it was pulled; null: none can be
  double c, root_c, margin;
  double beta1, beta2, epsilon, decay;
  double rate;         ///< over 1 - beta1^step
  double second_unit;  ///< 1 / (1 - beta2^step)

  std::int64_t dim() const { return x.dim - skip; }
  auto point(std::int64_t i) const {
    return [data = x.row(i) + skip](std::int64_t k) { return double(Real(data[k])); };
  }
  Real* first_row(std::int64_t i) const { return first + i * first_stride; }
  Real* out_row(std::int64_t i) const { return out + i * out_stride + skip; }

  /// first' := beta1 first + (1 - beta1) r.
  template <class Row>
  void take_gradient(std::int64_t i, Row r) const {
    Real* const to = first_row(i);
    for (std::int64_t k = 0; k < dim(); ++k) to[k] = Real(device::fma(beta1, double(to[k]), (1 - beta1) * r(k)));
  }
  /// Takes in |r|^2; returns what the first moment is multiplied by to be the step.
  double pace(std::int64_t i, double square) const {
    second[i] = Real(device::fma(beta2, double(second[i]), (1 - beta2) * square));
    return -rate / (std::sqrt(double(second[i]) * second_unit) + epsilon);
  }
};

/// In the ball. With m the first moment, the point exp_x(v m) is x (+) b m, and what it is apart from x, and m there,
/// are sums of multiples of x and m.
struct adam_in_ball {
  template <class Storage>
  static point_status apply(const adam_arguments<Storage>& a, std::int64_t i) {
    using Real = accumulator_t<Storage>;
    const std::int64_t dim = a.dim();
    const auto x = a.point(i);
    const gap_and_status of_x = examine_point(dim, a.c, x);
    if (!of_x.usable()) return of_x.status;
    const double gap = of_x.gap, inverse = gap * gap / 4;  // of the metric
    const auto slope = [&, from = a.gradient.row(i)](std::int64_t k) {
      return device::fma(a.decay, x(k), double(Real(from[k])));
    };
    a.take_gradient(i, [&](std::int64_t k) { return inverse * slope(k); });
    const double v = a.pace(i, inverse * squared_norm(dim, slope));
    Real* const to = a.out_row(i);
    Real* const first = a.first_row(i);
    const auto m = [=](std::int64_t k) { return double(first[k]); };
    const double z = a.root_c * std::fabs(v) * norm(dim, m) / gap, b = v * tanh_ratio(z) / gap;
    const double bend = z * tanh_ratio(z), turn = bend * bend, y_part = sech_squared(z);
    const auto direction = [=](std::int64_t k) { return device::fma(turn, x(k), b * m(k)); };
    const double sum = curved(a.c, squared_norm(dim, [=](std::int64_t k) { return device::fma(b, m(k), x(k)); }));
    const double scale = 1 / device::fma(gap, y_part, sum), y_gap = gap * y_part * scale, apart = scale * gap;
    double p = 0, q = 0;
    for (std::int64_t k = 0; k < dim; ++k) {
      p = device::fma(x(k), m(k), p);
      q = device::fma(apart * direction(k), m(k), q);
    }
    // As parallel_transport_row.
    const double difference = curved(a.c, apart * apart * squared_norm(dim, direction));
    const double turned = 2 * a.c / device::fma(gap, y_gap, difference);
    const double along_x = turned * device::fma(gap, q, -(difference * p));
    const double along_e = -turned * device::fma(1 - gap, q, (y_gap + difference) * p) * apart;
    const pulled of_y = pull<Real>(a, y_gap);
    if (a.moved != nullptr) a.moved[i] = of_y.factor < 1;
    const double ratio = of_y.gap / gap;
    for (std::int64_t k = 0; k < dim; ++k) {
      const double at = x(k), moment = m(k), e = direction(k);
      first[k] = Real(ratio * device::fma(along_e, e, device::fma(along_x, at, moment)));
      to[k] = Real(of_y.factor * scale * device::fma(gap, device::fma(b, moment, at), sum * at));
    }
    return of_x.status;
  }

 private:
  /// What a point is multiplied by to be within the margin, and its 1 - c |.|^2 then.
  struct pulled {
    double factor, gap;
  };
  template <class Real, class Arguments>
  static pulled pull(const Arguments& a, double gap) {
    const double reach = std::sqrt(1 - gap),
                 limit = (1 - a.margin) * (1 - double(std::numeric_limits<Real>::epsilon()));
    if (!(a.c > 0) || !(reach > 1 - a.margin)) return {1, gap};
    return {limit / reach, (1 - limit) * (1 + limit)};
  }
};

/// On the hyperboloid, of space parts. A tangent vector's length is that of its part across x and of the part along x
/// over s = sqrt(1 + c |x|^2).
struct adam_on_sheet {
  template <class Storage>
  static point_status apply(const adam_arguments<Storage>& a, std::int64_t i) {
    using Real = accumulator_t<Storage>;
    const lorentz::sheet_point p(a.dim(), a.root_c, a.point(i));
    if (p.status != point_status::inside) return p.status;
    const double time = p.time / a.root_c, of_time = a.skip > 0 ? double(Real(a.gradient.row(i)[0])) / time : 0;
    const auto slope = [&, from = a.gradient.row(i) + a.skip](std::int64_t k) {
      return device::fma(of_time + a.decay, p.x(k), double(Real(from[k])));
    };
    const double along = p.along(slope);
    const auto across = [&](std::int64_t k) { return device::fma(-along, p.unit(k), slope(k)); };
    a.take_gradient(i, [&](std::int64_t k) { return device::fma(along * p.time * p.time, p.unit(k), across(k)); });
    const double v = a.pace(i, device::fma(along * p.time, along * p.time, squared_norm(p.dim, across)));
    Real* const to = a.out_row(i);
    Real* const first = a.first_row(i);
    const auto step = [=](std::int64_t k) { return v * double(first[k]); };
    const lorentz::sheet_step end(a.root_c, p, step);
    const double forth = end.forth() / a.root_c, speed = v == 0 || end.length == 0 ? 0 : end.speed() / a.root_c / v;
    const double stretch = std::cosh(end.length), at_rest = speed == 0;
    double square = 0;
    for (std::int64_t k = 0; k < p.dim; ++k) {
      const double unit = p.unit(k), moment = double(first[k]), sideways = device::fma(-end.along, unit, v * moment);
      const double point = device::fma(forth, unit, end.ratio * sideways);
      const double moved = v == 0 ? moment : device::fma(speed, unit, stretch * (sideways / v));
      to[k] = Real(point);
      first[k] = Real(at_rest != 0 ? moment : moved);
      square = device::fma(double(to[k]), double(to[k]), square);
    }
    if (a.skip > 0) to[-1] = Real(lorentz::hypotenuse(1, a.root_c * std::sqrt(square)) / a.root_c);
    return p.status;
  }
};

template <class Storage, class Model, class Shape>
struct adam_kernel {
  using Real = accumulator_t<Storage>;
  using shape = Shape;
  struct scratch {};
  enum { threads = 64, emulated_threads = 4, rows_per_tile = 64 };
  adam_arguments<Storage> a;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    for (int r = team.rank(); r < rows_per_tile; r += team.size()) {
      const std::int64_t row = tile * rows_per_tile + r;
      if (row >= a.x.count) continue;
      a.status[row] = Model::apply(a, row);
      if (a.status[row] != point_status::inside) spoil(row);
    }
  }

 private:
  void spoil(std::int64_t row) const {
    constexpr Real nan = std::numeric_limits<Real>::quiet_NaN();
    for (std::int64_t k = 0; k < a.dim(); ++k) a.first_row(row)[k] = nan;
    for (std::int64_t k = -a.skip; k < a.dim(); ++k) a.out_row(row)[k] = nan;
    a.second[row] = nan;
    if (a.moved != nullptr) a.moved[row] = 0;
  }
};

}  // namespace quintet::poincare
