// Kernels of the loss of negative sampling: rows of links, and then what every point gets from them.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "device/asinh.hpp"
#include "poincare/row_operations_kernel.hpp"

namespace quintet::poincare {

/// Arguments of both kernels. A row of links has `width` numbers, the first of them u; of the pairs with the others
/// there are `pairs` in weight and square, padded to whole packs.
template <class Storage>
struct training_arguments {
  using Real = accumulator_t<Storage>;
  stored_rows<Storage> points;
  const double* gap;  ///< 1 - c |x|^2 of every point; NaN if it is not inside
  double c, root_c;
  const std::int64_t* links;
  std::int64_t rows, width, link_stride, pairs;
  double* weight;  ///< [row][pairs]: of the differences x - y in the gradient
  double* square;  ///< [row][pairs]: |x - y|^2
  double* pull;    ///< [row][dim]: the gradient by u
  Real* loss;
  const std::int64_t* begin;    ///< [point]: its first number in `numbers`
  const std::int64_t* numbers;  ///< places row width + column in links, by point
  double* sum;                  ///< [point][dim]
  Real* gradient;
  std::int64_t gradient_stride;

  std::int64_t point(std::int64_t row, std::int64_t column) const { return links[row * link_stride + column]; }
  /// to += weight ((x - y) + c |x - y|^2 x / gap), the direction of d d(x, y) / d x.
  void add_gradient(const Storage* x, const Storage* y, double weight_of_pair, double square_of_pair, double x_gap,
                    double* to) const {
    const double along = c * square_of_pair / x_gap;
    for (std::int64_t k = 0; k < points.dim; ++k) {
      const double of_x = Real(x[k]), difference = of_x - double(Real(y[k]));
      to[k] = device::fma(weight_of_pair, device::fma(along, of_x, difference), to[k]);
    }
  }
};

/// Distances, the loss and the gradient by u of every row. The softmax of Nickel, Kiela 2017, relative to its largest
/// term.
template <class Storage, class Shape>
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

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    for (int r = team.rank(); r < rows_per_tile; r += team.size())
      if (tile * rows_per_tile + r < a.rows) measure(tile * rows_per_tile + r);
  }

 private:
  void measure(std::int64_t row) const {
    double* const weight = a.weight + row * a.pairs;
    double* const square = a.square + row * a.pairs;
    const std::int64_t u = a.point(row, 0);
    for (std::int64_t j = 0; j < a.width - 1; ++j) {
      const std::int64_t v = a.point(row, j + 1);
      square[j] = square_of(a.points.row(u), a.points.row(v));
      const double spread = a.c == 0 ? 1 : a.gap[u] * a.gap[v] / a.c;
      weight[j] = square[j] / spread + (a.gap[u] - a.gap[u]) + (a.gap[v] - a.gap[v]);
    }
    for (std::int64_t j = a.width - 1; j < a.pairs; ++j) weight[j] = square[j] = 0;
    take_distances(weight);
    const double nearest = least(weight), linked = weight[0];
    double sum = 0;
    for (std::int64_t j = 0; j < a.width - 1; ++j) {
      weight[j] = std::exp(nearest - weight[j]);
      sum += weight[j];
    }
    a.loss[row] = Real(linked - nearest + std::log(sum));
    double* const pull = a.pull + row * a.points.dim;
    for (std::int64_t k = 0; k < a.points.dim; ++k) pull[k] = 0;
    for (std::int64_t j = 0; j < a.width - 1; ++j) {
      const double share = (j == 0 ? 1 : 0) - weight[j] / sum;
      const std::int64_t v = a.point(row, j + 1);
      weight[j] = share / double(a.rows) * slope(square[j], a.gap[u] * a.gap[v]);
      a.add_gradient(a.points.row(u), a.points.row(v), weight[j], square[j], a.gap[u], pull);
    }
  }

  double square_of(const Storage* x, const Storage* y) const {
    double sum = 0;
    for (std::int64_t k = 0; k < a.points.dim; ++k) {
      const double difference = double(Real(x[k])) - double(Real(y[k]));
      sum = device::fma(difference, difference, sum);
    }
    return sum;
  }

  /// Numbers t of distances.hpp become distances, in the flat ball squares do.
  void take_distances(double* values) const {
    typedef device::pack<double, lanes> value;
    constexpr double unit = double(std::int64_t(1) << device::asinh_scale_exponent);
    for (std::int64_t j = 0; j < a.pairs; j += lanes) {
      const value t = device::load_pack<value>(values + j);
      if (a.c == 0)
        device::store_pack(values + j, value(device::root<double, lanes>(t) * 2.0));
      else
        device::store_pack(values + j,
                           value(device::twice_asinh_root<double, lanes>(value(t * unit)) * (1 / a.root_c)));
    }
  }

  double least(const double* values) const {
    double least = values[0];
    for (std::int64_t j = 1; j < a.width - 1; ++j) least = values[j] < least ? values[j] : least;
    return least;
  }

  /// 2 / (|x - y| sqrt(a_x a_y (1 + t))).
  double slope(double square, double gaps) const {
    const double below = std::sqrt(square * (gaps + a.c * square));
    return below > 0 ? 2 / below : below * 0;
  }
};

/// The gradient by every point, from its places in the links in ascending order.
template <class Storage, class Shape>
struct gather_kernel {
  using Real = accumulator_t<Storage>;
  using shape = Shape;
  struct scratch {};
  enum { threads = 64, emulated_threads = 4, points_per_tile = Shape::on_device ? 64 : 32 };
  training_arguments<Storage> a;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    for (int r = team.rank(); r < points_per_tile; r += team.size())
      if (tile * points_per_tile + r < a.points.count) gather(tile * points_per_tile + r);
  }

 private:
  void gather(std::int64_t point) const {
    double* const sum = a.sum + point * a.points.dim;
    for (std::int64_t k = 0; k < a.points.dim; ++k) sum[k] = 0;
    for (std::int64_t e = a.begin[point]; e < a.begin[point + 1]; ++e) {
      const std::int64_t row = a.numbers[e] / a.width, column = a.numbers[e] % a.width;
      if (column == 0) {
        for (std::int64_t k = 0; k < a.points.dim; ++k) sum[k] += a.pull[row * a.points.dim + k];
        continue;
      }
      const std::int64_t pair = row * a.pairs + column - 1;
      a.add_gradient(a.points.row(point), a.points.row(a.point(row, 0)), a.weight[pair], a.square[pair], a.gap[point],
                     sum);
    }
    for (std::int64_t k = 0; k < a.points.dim; ++k) a.gradient[point * a.gradient_stride + k] = Real(sum[k]);
  }
};

}  // namespace quintet::poincare
