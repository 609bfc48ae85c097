// Kernels of the loss of negative sampling: rows of links, and then what every point gets from them.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "device/asinh.hpp"
#include "device/sinh.hpp"
#include "poincare/lorentz_math.hpp"
#include "poincare/row_operations_kernel.hpp"

namespace quintet::poincare {

/// Arguments of both kernels. A row of links has `width` numbers, the first of them u; of the pairs with the others
/// there are `pairs` in distance, weight and apart, padded to whole packs. What a pair keeps in `apart`, and how it
/// goes into the gradient, is up to a model.
template <class Storage>
struct training_arguments {
  using Real = accumulator_t<Storage>;
  stored_rows<Storage> points;
  int skip;  ///< numbers of time in front of a row
  double c, root_c;
  const std::int64_t* links;
  std::int64_t rows, width, link_stride, pairs;
  double* distance;  ///< [row][pairs]
  double* weight;    ///< [row][pairs]: of the pair in the gradient
  double* apart;     ///< [row][pairs]
  double* pull;      ///< [row][dim]: the gradient by u
  Real* loss;
  const std::int64_t* begin;    ///< [point]: its first number in `numbers`
  const std::int64_t* numbers;  ///< places row width + column in links, by point
  double* sum;                  ///< [point][dim]
  Real* gradient;
  std::int64_t gradient_stride;

  std::int64_t dim() const { return points.dim - skip; }
  std::int64_t point(std::int64_t row, std::int64_t column) const { return links[row * link_stride + column]; }
  auto space(std::int64_t i) const {
    return [data = points.row(i) + skip](std::int64_t k) { return double(Real(data[k])); };
  }
};

/// to += weight ((x - y) + along x) of points i and j.
template <class Arguments>
QUINTET_INLINE inline void add_difference(const Arguments& a, std::int64_t i, std::int64_t j, double along,
                                          double weight, double* to) {
  const auto x = a.space(i), y = a.space(j);
  for (std::int64_t k = 0; k < a.dim(); ++k) to[k] = device::fma(weight, device::fma(along, x(k), x(k) - y(k)), to[k]);
}

/// |x - y|^2 and (x - y) . (x + y).
struct pair_sums {
  double square = 0, products = 0;

  template <class X, class Y>
  pair_sums(std::int64_t dim, X x, Y y) {
    for (std::int64_t k = 0; k < dim; ++k) {
      const double difference = x(k) - y(k);
      square = device::fma(difference, difference, square);
      products = device::fma(difference, x(k) + y(k), products);
    }
  }
};

/// The ball: a pair keeps |x - y|^2. The gradient of d(x, y) by x has the direction (x - y) + c |x - y|^2 x / gap.
struct links_in_ball {
  const double* gap;  ///< 1 - c |x|^2 of every point; NaN if it is not inside

  /// Distances, slopes 2 / (|x - y| sqrt(a_x a_y (1 + t))) and |x - y|^2 of a row's pairs.
  template <int lanes, class Arguments>
  void measure(const Arguments& a, std::int64_t row, double* distance, double* slope, double* square) const {
    const std::int64_t u = a.point(row, 0), count = a.width - 1;
    for (std::int64_t j = 0; j < count; ++j) {
      const std::int64_t v = a.point(row, j + 1);
      square[j] = pair_sums(a.dim(), a.space(u), a.space(v)).square;
      slope[j] = gap[u] * gap[v];
      distance[j] = square[j] / (a.c == 0 ? 1 : slope[j] / a.c) + (gap[u] - gap[u]) + (gap[v] - gap[v]);
    }
    for (std::int64_t j = count; j < a.pairs; ++j) distance[j] = square[j] = slope[j] = 0;
    for (std::int64_t j = 0; j < a.pairs; j += lanes) finish<lanes>(a, distance + j, slope + j, square + j);
  }

  /// to += weight direction, of point i in a pair with point j.
  template <class Arguments>
  void add_gradient(const Arguments& a, std::int64_t i, std::int64_t j, double square, double weight,
                    double* to) const {
    add_difference(a, i, j, a.c * square / gap[i], weight, to);
  }
  static double reversed(double square) { return square; }

 private:
  /// Numbers t of distances.hpp become distances, in the flat ball squares do; products of gaps become slopes.
  template <int lanes, class Arguments>
  static void finish(const Arguments& a, double* distances, double* slopes, const double* squares) {
    typedef device::pack<double, lanes> value;
    constexpr double unit = double(std::int64_t(1) << device::asinh_scale_exponent);
    const value t = device::load_pack<value>(distances), square = device::load_pack<value>(squares);
    if (a.c == 0)
      device::store_pack(distances, value(device::root<double, lanes>(t) * 2.0));
    else
      device::store_pack(distances, value(device::twice_asinh_root<double, lanes>(value(t * unit)) * (1 / a.root_c)));
    const value below = device::root<double, lanes>(value(square * (device::load_pack<value>(slopes) + square * a.c)));
    device::store_pack(slopes, value(below > 0.0 ? value(2.0 / below) : value(below * 0.0)));
  }
};

/// The Lorentz model: a pair keeps s_y - s_x of the first point x, s = sqrt(1 + c |.|^2). The gradient of d(x, y) by x
/// has the direction (x - y) + x (s_y - s_x) / s_x. Of a point far out, where large numbers cancel in it, that is
///
///   (|y| / |x|) (x - y) - (|x| - |y|) / |x| y + x (|x|^2 - |y|^2) / (|x| s_x (|x| s_y + |y| s_x)).
struct links_on_sheet {
  const lorentz::radius* radii;

  /// Distances, slopes sqrt(c) / sinh(sqrt(c) d) and what pairs keep, of a row's pairs. Those less than 1e-300 or more
  /// than 700 / sqrt(c) apart, and of norms that leave the range of double, pull in no direction.
  template <int lanes, class Arguments>
  void measure(const Arguments& a, std::int64_t row, double* distance, double* slope, double* later) const {
    const std::int64_t u = a.point(row, 0), count = a.width - 1;
    for (std::int64_t j = 0; j < count; ++j) {
      const std::int64_t v = a.point(row, j + 1);
      const pair_sums sums(a.dim(), a.space(u), a.space(v));
      const double times = radii[u].time + radii[v].time;
      distance[j] = sums.square;
      later[j] = -a.c * sums.products / times;
      slope[j] = times + (radii[u].norm + radii[v].norm);
    }
    for (std::int64_t j = count; j < a.pairs; ++j) distance[j] = later[j] = slope[j] = 0;
    for (std::int64_t j = 0; j < count; j += lanes) finish<lanes>(a, row, j, distance + j, slope + j, later + j);
  }

  /// to += weight direction, of point i in a pair with point j. later = s_j - s_i.
  template <class Arguments>
  QUINTET_INLINE void add_gradient(const Arguments& a, std::int64_t i, std::int64_t j, double later, double weight,
                                   double* to) const {
    const double time = radii[i].time;
    if (time > far && later < 0) return add_far_gradient(a, i, j, later, weight, to);
    add_difference(a, i, j, later / time, weight, to);
  }
  static double reversed(double later) { return -later; }

 private:
  static constexpr double far = 1024;
  static constexpr double allowed = 0x1p-40;  ///< part of (sinh(sqrt(c) d / 2))^2 that its bound may reach

  template <class Arguments>
  void add_far_gradient(const Arguments& a, std::int64_t i, std::int64_t j, double later, double weight,
                        double* to) const {
    const lorentz::radius of_x = radii[i], of_y = radii[j];
    const auto x = a.space(i), y = a.space(j);
    const double ratio = of_y.norm / of_x.norm;
    const double part = -later / a.c * ((of_x.time + of_y.time) / (of_x.norm + of_y.norm)) / of_x.norm;
    const double along = part * (1 + ratio) / of_x.time / (of_y.time + ratio * of_x.time);
    for (std::int64_t k = 0; k < a.dim(); ++k) {
      const double across = device::fma(ratio, x(k) - y(k), -part * y(k));
      to[k] = device::fma(weight, device::fma(along, x(k), across), to[k]);
    }
  }

  /// |x - y|^2 become distances; sums of norms and times become slopes.
  template <int lanes, class Arguments>
  void finish(const Arguments& a, std::int64_t row, std::int64_t first, double* distances, double* slopes,
              double* later) const {
    typedef device::pack<double, lanes> value;
    const value sizes = device::load_pack<value>(slopes);
    device::store_pack(distances,
                       of_chords<lanes>(a, device::load_pack<value>(distances), device::load_pack<value>(later)));
    measure_again<lanes>(a, row, first, distances, later);
    const value d = device::load_pack<value>(distances), z = d * a.root_c, none = d - d;
    const value slope = z < 700.0 ? value(a.root_c / device::sinh<lanes>(z)) : none;
    device::store_pack(slopes, value(d > 1e-300 ? value(sizes < 1e308 ? slope : none) : none));
  }

  /// From c (2 / sqrt(c) sinh(sqrt(c) d / 2))^2 = c |x - y|^2 - (s_x - s_y)^2; NaN where too few digits are left.
  template <int lanes, class Arguments>
  static device::pack<double, lanes> of_chords(const Arguments& a, const device::pack<double, lanes>& square,
                                               const device::pack<double, lanes>& later) {
    typedef device::pack<double, lanes> value;
    const value across = a.c * square, chord = across - later * later;
    const value rounding = across * ((4 + 2 * double(a.dim())) * 0x1p-53);
    const value d = 2.0 * asinh_root<lanes>(value(chord / 4.0)) / a.root_c;
    const value nan = device::broadcast_pack<value>(std::numeric_limits<double>::quiet_NaN());
    const value in_range = chord > 1e-280 ? (chord < 1e280 ? d : nan) : nan;
    return rounding <= allowed * chord ? in_range : nan;
  }

  /// The distances that are NaN, and what such pairs keep where its products were out of range.
  template <int lanes, class Arguments>
  void measure_again(const Arguments& a, std::int64_t row, std::int64_t first, double* distances, double* later) const {
    const std::int64_t u = a.point(row, 0), left = a.width - 1 - first;
    const auto x = a.space(u);
    for (int lane = 0; lane < lanes && lane < left; ++lane) {
      if (distances[lane] == distances[lane]) continue;
      const std::int64_t v = a.point(row, 1 + first + lane);
      const auto y = a.space(v);
      const lorentz::radius of_x = radii[u], of_y = radii[v];
      distances[lane] = lorentz::haversine<double>{a.dim(), a.root_c}.distance(x, of_x, y, of_y);
      if (later[lane] - later[lane] == 0) continue;
      double sum = 0;
      for (std::int64_t k = 0; k < a.dim(); ++k)
        sum = device::fma(x(k) - y(k), (x(k) + y(k)) / (of_x.norm + of_y.norm), sum);
      later[lane] = -a.root_c * sum * (a.root_c * (of_x.norm + of_y.norm) / (of_x.time + of_y.time));
    }
  }
};

/// Distances, the loss and the gradient by u of every row. The softmax of Nickel, Kiela 2017, relative to its largest
/// term.
template <class Storage, class Model, class Shape>
struct link_kernel {
  using Real = accumulator_t<Storage>;
  using shape = Shape;
  struct scratch {};
  enum {
    threads = 64,
    emulated_threads = 4,
    rows_per_tile = Shape::on_device ? 64 : 8,
    lanes = Shape::on_device ? 1 : device::host_lanes<double>()
  };
  training_arguments<Storage> a;
  Model model;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    for (int r = team.rank(); r < rows_per_tile; r += team.size())
      if (tile * rows_per_tile + r < a.rows) measure(tile * rows_per_tile + r);
  }

 private:
  void measure(std::int64_t row) const {
    double* const distance = a.distance + row * a.pairs;
    double* const weight = a.weight + row * a.pairs;
    double* const apart = a.apart + row * a.pairs;
    model.template measure<lanes>(a, row, distance, weight, apart);
    const std::int64_t count = a.width - 1;
    const double nearest = least(distance, count), linked = distance[0];
    double sum = 0;
    for (std::int64_t j = 0; j < count; ++j) {
      distance[j] = std::exp(nearest - distance[j]);
      sum += distance[j];
    }
    a.loss[row] = Real(linked - nearest + std::log(sum));
    double* const pull = a.pull + row * a.dim();
    for (std::int64_t k = 0; k < a.dim(); ++k) pull[k] = 0;
    const std::int64_t u = a.point(row, 0);
    for (std::int64_t j = 0; j < count; ++j) {
      const double share = (j == 0 ? 1 : 0) - distance[j] / sum;
      weight[j] = share / double(a.rows) * weight[j];
      if (weight[j] != 0) model.add_gradient(a, u, a.point(row, j + 1), apart[j], weight[j], pull);
    }
  }

  static double least(const double* values, std::int64_t count) {
    double least = values[0];
    for (std::int64_t j = 1; j < count; ++j) least = values[j] < least ? values[j] : least;
    return least;
  }
};

/// The gradient by every point, from its places in the links in ascending order.
template <class Storage, class Model, class Shape>
struct gather_kernel {
  using Real = accumulator_t<Storage>;
  using shape = Shape;
  struct scratch {};
  enum { threads = 64, emulated_threads = 4, points_per_tile = Shape::on_device ? 64 : 32 };
  training_arguments<Storage> a;
  Model model;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    for (int r = team.rank(); r < points_per_tile; r += team.size())
      if (tile * points_per_tile + r < a.points.count) gather(tile * points_per_tile + r);
  }

 private:
  void gather(std::int64_t point) const {
    double* const sum = a.sum + point * a.dim();
    for (std::int64_t k = 0; k < a.dim(); ++k) sum[k] = 0;
    for (std::int64_t e = a.begin[point]; e < a.begin[point + 1]; ++e) {
      const std::int64_t row = a.numbers[e] / a.width, column = a.numbers[e] % a.width;
      if (column == 0) {
        for (std::int64_t k = 0; k < a.dim(); ++k) sum[k] += a.pull[row * a.dim() + k];
        continue;
      }
      const std::int64_t pair = row * a.pairs + column - 1;
      if (a.weight[pair] != 0)
        model.add_gradient(a, point, a.point(row, 0), Model::reversed(a.apart[pair]), a.weight[pair], sum);
    }
    Real* const to = a.gradient + point * a.gradient_stride;
    for (int k = 0; k < a.skip; ++k) to[k] = 0;
    for (std::int64_t k = 0; k < a.dim(); ++k) to[a.skip + k] = Real(sum[k]);
  }
};

}  // namespace quintet::poincare
