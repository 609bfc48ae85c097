// Points of the ball on their way into the pairwise engine: panels of scaled coordinates, a factor and a status a
// point.
#pragma once

#include <cstdint>
#include <limits>

#include "device/pack.hpp"
#include "pairwise/shape.hpp"
#include "poincare/compensated.hpp"
#include "poincare/curvature.hpp"

namespace quintet::poincare {

/// Rows of points as they are stored, on the device.
template <class Storage>
struct stored_rows {
  const Storage* data;
  std::int64_t count, dim, stride;

  accumulator_t<Storage> at(std::int64_t i, std::int64_t k) const { return data[i * stride + k]; }
};

/// Lane `lane` of a pack := value.
template <int W, class Pack, class Real>
inline void set_lane(Pack& pack, int lane, Real value) {
  if constexpr (W == 1)
    pack = value;
  else
    pack[lane] = value;
}
template <int W, class Pack>
inline auto get_lane(const Pack& pack, int lane) {
  if constexpr (W == 1)
    return pack;
  else
    return pack[lane];
}

/// W doubles with the same values.
template <int W, class Pack>
inline device::pack<double, W> widened(const Pack& values) {
  if constexpr (W == 1)
    return double(values);
  else
    return __builtin_convertvector(values, device::pack<double, W>);
}

/// The status of a point with 1 - c |x|^2 = gap; not_finite is a sum of x - x.
inline point_status status_of(double gap, double not_finite) {
  if (!(not_finite == 0)) return point_status::not_finite;
  return gap > 0 ? point_status::inside : point_status::outside;
}

template <class Real>
inline Real factor_of(double numerator, double gap) {
  const double factor = numerator / gap;
  return Real(factor < largest_factor || sizeof(Real) == 8 ? factor : largest_factor);
}

/// What is summed over the coordinates of W points.
template <class Storage, int W>
struct norm_sums {
  compensated_sum<W> square;
  device::pack<double, W> not_finite{};

  void add(const device::pack<double, W>& x) {
    add_square<Storage, W>(square, x);
    not_finite += x - x;
  }
};

/// One block of points a tile.
template <class Storage, class Shape>
struct pack_ball_kernel {
  using Real = accumulator_t<Storage>;
  using shape = Shape;
  struct scratch {};
  enum {
    threads = Shape::side,
    emulated_threads = Shape::emulated_threads,
    panel = pairwise::panel_points<Real>,
    width = Shape::on_device ? 1 : panel
  };
  stored_rows<Storage> points;
  std::int64_t padded_dim;
  double c, scale, numerator;
  Real* panels;
  Real* factor;
  point_status* status;  ///< of every point of the padded count

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    for (int p = team.rank() * width; p < Shape::side; p += team.size() * width) pack_points(tile * Shape::side + p);
  }

 private:
  typedef device::pack<Real, width> value;

  void pack_points(std::int64_t first) const {
    Real* to = panels + first / panel * panel * padded_dim + first % panel;
    for (int lane = 0; lane < width; ++lane) {
      const std::int64_t row = first + lane < points.count ? first + lane : points.count - 1;
      for (std::int64_t k = 0; k < points.dim; ++k) to[k * panel + lane] = points.at(row, k) * Real(scale);
      for (std::int64_t k = points.dim; k < padded_dim; ++k) to[k * panel + lane] = 0;
    }
    // Of the scaled coordinates: the scale is a power of two, so nothing is rounded twice.
    norm_sums<Storage, width> sums;
    for (std::int64_t k = 0; k < points.dim; ++k) sums.add(widened<width>(device::load_pack<value>(to + k * panel)));
    const device::pack<double, width> gaps = sums.square.one_minus(c / scale / scale);
    for (int lane = 0; lane < width; ++lane)
      finish(first + lane, to + lane, get_lane<width>(gaps, lane), get_lane<width>(sums.not_finite, lane));
  }

  void finish(std::int64_t point, Real* to, double gap, double not_finite) const {
    const bool padding = point >= points.count;
    point_status is = status_of(gap, not_finite);
    if (factor != nullptr) factor[point] = factor_of<Real>(numerator, gap);
    if (!padding && is != point_status::inside) is = finite(point) ? point_status::outside : point_status::not_finite;
    if (!padding) status[point] = is;
    if (!padding && is == point_status::inside) return;
    for (std::int64_t k = 0; k < padded_dim; ++k) to[k * panel] = std::numeric_limits<Real>::quiet_NaN();
  }

  /// The scale may have brought large coordinates of a point far outside to infinity.
  bool finite(std::int64_t point) const {
    Real not_finite = 0;
    for (std::int64_t k = 0; k < points.dim; ++k) not_finite += points.at(point, k) - points.at(point, k);
    return not_finite == 0;
  }
};

}  // namespace quintet::poincare
