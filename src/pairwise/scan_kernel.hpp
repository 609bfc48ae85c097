// One look at stored points, and their way into panels.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "device/atomic.hpp"
#include "device/pack.hpp"
#include "device/team.hpp"
#include "pairwise/ball.hpp"
#include "pairwise/shape.hpp"
#include "pairwise/stored_rows.hpp"
#include "pairwise/transposed_rows.hpp"

namespace quintet::pairwise {

/// One number for every row, >= 0 where it can be used:
///   euclidean  the largest magnitude of its coordinates
///   cosine     1 / length, a normal number
///   hyperbolic its factor in the ball
/// Otherwise NaN, or minus infinity for a finite point that is not inside the ball. Scaling by the largest magnitude
/// keeps squares in range (Blue 1978).
template <class Storage, class Shape>
struct scan_kernel {
  using shape = Shape;
  using Real = accumulator_t<Storage>;
  struct scratch {};
  enum {
    threads = 64,
    emulated_threads = 4,
    rows_per_tile = 64,
    lanes = Shape::on_device ? 1 : device::host_lanes<Real>()
  };
  stored_rows<Storage> points;
  metric kind;
  ball_constants ball;
  Real* out;
  int* lost;  ///< set to 1 where distances in the ball may have to be measured again, see ball_constants::lost()

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    const std::int64_t first = tile * rows_per_tile;
    const std::int64_t end = first + rows_per_tile < points.count ? first + rows_per_tile : points.count;
    if (kind == metric::poincare)
      for (std::int64_t i = first + team.rank() * lanes; i < end; i += team.size() * lanes) scan_ball(i, end);
    else
      for (std::int64_t i = first + team.rank(); i < end; i += team.size())
        out[i] = kind == metric::cosine ? inverse_length(points.row(i)) : largest_magnitude(points.row(i));
  }

 private:
  typedef device::pack<Real, lanes> value;
  typedef device::pack<double, lanes> wide;

  /// NaN for a row that is not finite.
  Real largest_magnitude(const Storage* row) const {
    // x - x is zero for finite x and NaN otherwise.
    value max{}, not_finite{};
    const auto accumulate = [&](const value& x) {
      const value magnitude = x < value{} ? -x : x;
      max = magnitude > max ? magnitude : max;
      not_finite += x - x;
    };
    std::int64_t k = 0;
    for (; k + lanes <= points.dim; k += lanes) accumulate(device::convert_pack<value, Real>(row + k));
    if (k < points.dim) {
      value rest{};
#pragma GCC unroll 1
      for (int lane = 0; lane < lanes && k + lane < points.dim; ++lane)
        set_lane<lanes>(rest, lane, Real(row[k + lane]));
      accumulate(rest);
    }
    return -device::least_lane<Real>(-max) + device::sum_lanes<Real>(not_finite);
  }

  Real inverse_length(const Storage* row) const {
    // Divided by the largest magnitude first: the norm neither overflows nor vanishes.
    const double max = largest_magnitude(row);
    double sum = 0;
    for (std::int64_t k = 0; k < points.dim; ++k) {
      const double x = double(Real(row[k])) / max;
      sum = std::fma(x, x, sum);
    }
    const auto inverse = Real(1 / (max * std::sqrt(sum)));
    const bool normal = inverse >= std::numeric_limits<Real>::min() && inverse <= std::numeric_limits<Real>::max();
    return normal ? inverse : std::numeric_limits<Real>::quiet_NaN();
  }

  /// Rows first, first + 1, ... side by side, those before `end`.
  void scan_ball(std::int64_t first, std::int64_t end) const {
    // Of the scaled coordinates, as they are packed: the scale is a power of two, so nothing is rounded twice.
    norm_sums<Storage, lanes> sums;
    const Storage* row[lanes];
    Real scale[lanes];
    for (int lane = 0; lane < lanes; ++lane) {
      row[lane] = points.row(first + lane < end ? first + lane : end - 1);
      scale[lane] = Real(ball.scale);
    }
    value least = device::broadcast_pack<value>(std::numeric_limits<Real>::max()), most{};
    for_each_coordinate<Real, lanes>(row, scale, points.dim, points.dim,
                                     [&](std::int64_t, const value& x) QUINTET_INLINE {
                                       sums.add(widened<lanes>(x));
                                       const value magnitude = x < value{} ? -x : x;
                                       const value other = magnitude > value{} ? magnitude : least;
                                       least = other < least ? other : least;
                                       most = magnitude > most ? magnitude : most;
                                     });
    if (device::least_lane<Real>(least) < ball.template small<Real>() ||
        -device::least_lane<Real>(-most) > ball.template large<Real>())
      device::atomic_set(lost);
    const wide gaps = sums.square.one_minus(ball.c / ball.scale / ball.scale);
    for (int lane = 0; lane < lanes && first + lane < end; ++lane) {
      const double gap = get_lane<lanes>(gaps, lane);
      if (get_lane<lanes>(sums.not_finite, lane) == 0 && gap > 0)
        out[first + lane] = ball.template factor<Real>(gap);
      else
        // The scale may have brought large coordinates of a point far outside to infinity.
        out[first + lane] = largest_magnitude(row[lane]) >= 0 ? -std::numeric_limits<Real>::infinity()
                                                              : std::numeric_limits<Real>::quiet_NaN();
    }
  }
};

/// Tile = one panel. Rows order[0], order[1], ... times `scale`, for cosine times their own number; NaN where the
/// number of a row, or the row, is missing. Packing as Goto, van de Geijn 2008 do it.
template <class Storage, class Shape>
struct pack_kernel {
  using shape = Shape;
  using Real = accumulator_t<Storage>;
  enum { threads = 64, emulated_threads = 4, lanes = panel_points<Real>, chunk = 8 };
  struct scratch {
    const Storage* row[lanes];
    Real factor[lanes];
  };
  stored_rows<Storage> points;
  std::int64_t count, padded_dim;
  const std::int32_t* order;  ///< null: the identity
  const Real* number;         ///< of every stored row, from scan_kernel
  metric kind;
  Real scale;
  Real* panels;
  Real* point_factor;  ///< of every packed point, see point_factors.hpp; null: none

  template <class Team>
  void operator()(const Team& team, std::int64_t panel, scratch& s) const {
    for (int lane = team.rank(); lane < lanes; lane += team.size()) choose_row(panel * lanes + lane, lane, s);
    team.barrier();
    Real* const to = panels + panel * padded_dim * lanes;
    if constexpr (!Team::on_device) {
      constexpr int width = device::host_lanes<Real>();
      for (int lane = 0; lane < lanes; lane += width)
        for_each_coordinate<Real, width>(s.row + lane, s.factor + lane, points.dim, padded_dim,
                                         [&](std::int64_t k, const device::pack<Real, width>& x)
                                             QUINTET_INLINE { device::store_pack(to + k * lanes + lane, x); });
      return;
    }
    const std::int64_t whole = points.dim / chunk * chunk;
    for (std::int64_t first = 0; first < whole; first += chunk)
      device::for_each_in_tile<chunk>(team, lanes, [&](int lane, int k) {
        to[(first + k) * lanes + lane] = Real(s.row[lane][first + k]) * s.factor[lane];
      });
    for (std::int64_t first = whole; first < padded_dim; first += chunk)
      device::for_each_in_tile<chunk>(team, lanes, [&](int lane, int k) {
        const Real x = first + k < points.dim ? Real(s.row[lane][first + k]) : Real(0);
        if (first + k < padded_dim) to[(first + k) * lanes + lane] = x * s.factor[lane];
      });
  }

 private:
  void choose_row(std::int64_t slot, int lane, scratch& s) const {
    const std::int64_t row = slot >= count ? -1 : order != nullptr ? order[slot] : slot;
    const bool usable = row >= 0 && number[row] >= 0;
    s.row[lane] = points.row(usable ? row : 0);
    s.factor[lane] = !usable ? std::numeric_limits<Real>::quiet_NaN() : kind == metric::cosine ? number[row] : scale;
    if (point_factor != nullptr) point_factor[slot] = usable ? number[row] : Real(1);
  }
};

}  // namespace quintet::pairwise
