// Distances of rows i of two matrices, and of rows from the origin.
#pragma once

#include <limits>

#include "pairwise/ball.hpp"
#include "pairwise/stored_rows.hpp"
#include "quintet/poincare/ball.hpp"

namespace quintet::poincare {

using pairwise::get_lane;
using pairwise::norm_sums;
using pairwise::set_lane;
using pairwise::stored_rows;
using pairwise::widened;

/// The status of a point with 1 - c |x|^2 = gap; not_finite is a sum of x - x.
inline point_status status_of(double gap, double not_finite) {
  if (!(not_finite == 0)) return point_status::not_finite;
  return gap > 0 ? point_status::inside : point_status::outside;
}

/// Row i of x against row i of y, W pairs side by side. Same operations in the same order as packing, tile and sink, so
/// the same bits. Nickel, Kiela 2017, with 2 asinh(sqrt(t)) for arcosh(1 + 2 t).
template <class Storage, class Shape>
struct pairs_kernel {
  using Real = accumulator_t<Storage>;
  using shape = Shape;
  struct scratch {};
  enum {
    threads = 64,
    emulated_threads = 4,
    pairs_per_tile = 64,
    width = Shape::on_device ? 1 : device::host_lanes<Real>()
  };
  stored_rows<Storage> x, y;
  pairwise::ball_constants ball;
  pairwise::reduced_metric<Real> measure;
  Real* out;
  point_status *x_status, *y_status;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    for (int p = team.rank() * width; p < pairs_per_tile; p += team.size() * width) {
      const std::int64_t first = tile * pairs_per_tile + p;
      if (first < x.count) distances(first);
    }
  }

 private:
  typedef device::pack<Real, width> value;

  void distances(std::int64_t first) const {
    norm_sums<Storage, width> x_sums, y_sums;
    value squared{};
    std::int64_t row[width];
    for (int lane = 0; lane < width; ++lane) row[lane] = first + lane < x.count ? first + lane : x.count - 1;
    for (std::int64_t k = 0; k < x.dim; ++k) {
      value a{}, b{};
#pragma GCC unroll 16
      for (int lane = 0; lane < width; ++lane) {
        set_lane<width>(a, lane, x.at(row[lane], k));
        set_lane<width>(b, lane, y.at(row[lane], k));
      }
      x_sums.add(widened<width>(a));
      y_sums.add(widened<width>(b));
      const value scaled_a = a * Real(ball.scale);
      const value scaled_b = b * Real(ball.scale);
      const value difference = scaled_b - scaled_a;
      squared = device::fma(difference, difference, squared);
    }
    const device::pack<double, width> x_gap = x_sums.square.one_minus(ball.c), y_gap = y_sums.square.one_minus(ball.c);
    value both = value{} + Real(1);
    bool usable[width];
    for (int lane = 0; lane < width; ++lane) {
      const double of_x = get_lane<width>(x_gap, lane), of_y = get_lane<width>(y_gap, lane);
      const point_status x_is = status_of(of_x, get_lane<width>(x_sums.not_finite, lane));
      const point_status y_is = status_of(of_y, get_lane<width>(y_sums.not_finite, lane));
      usable[lane] = x_is == point_status::inside && y_is == point_status::inside;
      if (!ball.flat())
        set_lane<width>(both, lane, ball.template factor<Real>(of_x) * ball.template factor<Real>(of_y));
      if (first + lane >= x.count) continue;
      x_status[first + lane] = x_is;
      y_status[first + lane] = y_is;
    }
    const value distance = measure.template distances<width>(value(squared * both));
    for (int lane = 0; lane < width; ++lane) {
      if (first + lane >= x.count) continue;
      const Real measured = get_lane<width>(distance, lane);
      if (!usable[lane])
        out[first + lane] = std::numeric_limits<Real>::quiet_NaN();
      else if (!ball.lost(measured))
        out[first + lane] = measured;
      else
        out[first + lane] =
            remeasured(first + lane, measured, get_lane<width>(x_gap, lane), get_lane<width>(y_gap, lane));
    }
  }

  Real remeasured(std::int64_t row, Real lost_distance, double x_gap, double y_gap) const {
    const double rescale = ball.again_scale(lost_distance);
    double squared = 0;
    for (std::int64_t k = 0; k < x.dim; ++k) {
      const double difference =
          (double(y.at(row, k) * Real(ball.scale)) - double(x.at(row, k) * Real(ball.scale))) * rescale;
      squared = device::fma(difference, difference, squared);
    }
    const double of_x = ball.template factor<Real>(x_gap), of_y = ball.template factor<Real>(y_gap);
    return Real(ball.measured_again(squared, ball.flat() ? 1 : of_x * of_y, rescale));
  }
};

/// d(0, x) = log1p(2 z (1 + z) / (1 - z^2)) / sqrt(c), z = sqrt(c) |x|: 2 artanh(z) without a cancellation. One row a
/// thread. Ganea, Becigneul, Hofmann 2018: d(0, x) = 2 / sqrt(c) artanh(sqrt(c) |x|).
template <class Storage, class Shape>
struct origin_kernel {
  using Real = accumulator_t<Storage>;
  using shape = Shape;
  struct scratch {};
  enum { threads = 64, emulated_threads = 4, rows_per_tile = 64 };
  stored_rows<Storage> x;
  double c, root_c;
  Real* out;
  point_status* status;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    for (int r = team.rank(); r < rows_per_tile; r += team.size())
      if (tile * rows_per_tile + r < x.count) distance(tile * rows_per_tile + r);
  }

 private:
  void distance(std::int64_t row) const {
    double max = 0;
    norm_sums<Storage, 1> sums;
    for (std::int64_t k = 0; k < x.dim; ++k) {
      const double a = x.at(row, k);
      sums.add(a);
      max = std::fabs(a) > max ? std::fabs(a) : max;
    }
    const double gap = sums.square.one_minus(c);
    status[row] = status_of(gap, sums.not_finite);
    const double z = root_c * norm(row, max, sums.square.total());
    const double w = 2 * z * (1 + z) / gap;
    const double distance = c == 0 ? 2 * norm(row, max, sums.square.total()) : device::log1p<double, 1>(w) / root_c;
    out[row] = status[row] == point_status::inside ? Real(distance) : std::numeric_limits<Real>::quiet_NaN();
  }

  /// |x|, also where its square is not in the range of double.
  double norm(std::int64_t row, double max, double square) const {
    if (max > 1e-140 && max < 1e140) return std::sqrt(square);
    if (!(max > 0)) return 0;
    double sum = 0;
    for (std::int64_t k = 0; k < x.dim; ++k) {
      const double a = double(x.at(row, k)) / max;
      sum = device::fma(a, a, sum);
    }
    return max * std::sqrt(sum);
  }
};

}  // namespace quintet::poincare
