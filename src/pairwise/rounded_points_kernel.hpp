// How points are rounded, and what that loses; the numbers are derived in docs/design/numerics.md.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "device/dot_tile.hpp"
#include "device/pack.hpp"
#include "device/team.hpp"
#include "pairwise/stored_rows.hpp"
#include "pairwise/tile_kernel.hpp"

namespace quintet::pairwise {

/// What is lost of points of n coordinates; u = 2^-24, and n u <= 2^-7.
struct dot_error {
  static constexpr double unit = 0x1p-24;
  static constexpr double square_part = 16 * unit, square_rest = 0x1p-120;  ///< of squared lengths
  static constexpr double change_part = 4 * unit;                           ///< of distances: a part of the lengths
  static constexpr double min_scale = 0x1p-60;  ///< products of two scales are normal numbers
  double longest;                               ///< length of a point in integers, before rounding
  double length_part, absolute;                 ///< of distances: relative, and a rest

  explicit dot_error(std::int64_t n)
      : longest((device::max_int16_length - std::sqrt(double(n)) / 2 - 1) * (1 - (double(n) + 16) * unit)),
        length_part((double(n) + 16) * unit),
        absolute(std::sqrt(double(n)) * 0x1p-61) {}

  /// What is kept of a distance, so that no sum of n rounded squares is below it.
  static double keep(std::int64_t n) { return 1 - (1.1 * double(n) + 24) * unit; }
};

/// The mean of points of some panels in every coordinate, without those that are far from it: near enough to the
/// centre, and a few points that are far away do not move it.
template <class Real>
struct centre_of_sample {
  const Real* panels;
  std::int64_t dim, panel_count, panel_step;
  double* centre;

  void operator()(std::int64_t k) const {
    const auto every = [](double) { return true; };
    const double first = mean(k, every, [](double x) { return x; });
    const double spread = mean(k, every, [&](double x) { return std::fabs(x - first); });
    centre[k] =
        double(Real(mean(k, [&](double x) { return std::fabs(x - first) <= 8 * spread; }, [](double x) { return x; })));
  }

 private:
  template <class Chosen, class Value>
  double mean(std::int64_t k, const Chosen& chosen, const Value& of) const {
    double sum = 0;
    std::int64_t used = 0;
    for (std::int64_t p = 0; p < panel_count; p += panel_step)
      for (int lane = 0; lane < panel_points<Real>; ++lane) {
        const double x = double(panels[(p * dim + k) * panel_points<Real> + lane]);
        if (!(x == x) || !chosen(x)) continue;
        sum += of(x);
        ++used;
      }
    return used > 0 ? sum / double(used) : 0;
  }
};

/// Tile = one panel of words. Errors after Higham 2002.
template <class Real, class Shape>
struct round_kernel {
  using shape = Shape;
  struct scratch {};
  enum {
    threads = 64,
    emulated_threads = 4,
    points = panel_points<float>,
    lanes = Shape::on_device ? 1 : device::host_lanes<Real>()
  };
  const Real* panels;
  std::int64_t dim, pairs;
  const double* centre;
  dot_error lost;
  float *words, *scale, *square, *error;

  template <class Team>
  void operator()(const Team& team, std::int64_t panel, scratch&) const {
    for (int first = team.rank() * lanes; first < points; first += team.size() * lanes) round(panel, first);
  }

 private:
  typedef device::pack<Real, lanes> value;
  typedef device::pack<float, lanes> narrow;
  typedef device::pack<std::int32_t, lanes> integer;

  void round(std::int64_t panel, int first) const {
    const std::int64_t point = panel * points + first;
    const Real* x = detail::coordinates(panels, dim, point);
    const auto moved = [&](std::int64_t k) QUINTET_INLINE {
      return device::load_pack<value>(x + k * panel_points<Real>) - Real(centre[k]);
    };
    value of_moved{}, max{};
    for (std::int64_t k = 0; k < dim; ++k) {
      const value v = moved(k), magnitude = v < value{} ? -v : v;
      of_moved = device::fma(v, v, of_moved);
      max = magnitude > max ? magnitude : max;
    }
    value scales{}, inverse{};
    for (int lane = 0; lane < lanes; ++lane) {
      const float of_point =
          scale_of(std::sqrt(double(get_lane<lanes>(of_moved, lane))), double(get_lane<lanes>(max, lane)));
      scale[point + lane] = of_point;
      set_lane<lanes>(scales, lane, Real(of_point));
      set_lane<lanes>(inverse, lane, Real(1 / double(of_point)));
    }
    value of_change{};
    integer of_rounded{};
    const auto rounded = [&](std::int64_t k) QUINTET_INLINE {
      if (k >= dim) return narrow{};
      const value v = moved(k);
      const narrow whole = device::to_whole(device::detail::converted<narrow>(value(v * inverse)));
      const integer number = device::detail::converted<integer>(whole);
      const value change = device::fma(value(-device::detail::converted<value>(whole)), scales, v);
      of_rounded += number * number;
      of_change = device::fma(change, change, of_change);
      return whole;
    };
    for (std::int64_t k = 0; k < pairs; ++k) {
      const narrow low = rounded(2 * k), high = rounded(2 * k + 1);
      device::store_pack(words + (panel * pairs + k) * points + first, device::pair_int16(low, high));
    }
    for (int lane = 0; lane < lanes; ++lane)
      finish(point + lane, double(get_lane<lanes>(of_rounded, lane)), double(get_lane<lanes>(of_moved, lane)),
             double(get_lane<lanes>(of_change, lane)));
  }

  /// Integers are within their range, and as long vectors as products allow; NaN for a point that is missing.
  float scale_of(double length, double max) const {
    double min_scale = length / lost.longest;
    if (max > min_scale * (device::max_int16 - 1)) min_scale = max / (device::max_int16 - 1);
    if (min_scale < dot_error::min_scale) min_scale = dot_error::min_scale;
    return float(min_scale * (1 + 4 * dot_error::unit));
  }

  /// Numbers are NaN for a point that is missing.
  void finish(std::int64_t point, double of_rounded, double of_moved, double of_change) const {
    const double s = double(scale[point]), squared = s * s * of_rounded;
    square[point] = float(squared - dot_error::square_part * squared - dot_error::square_rest);
    error[point] = float(std::sqrt(of_change) * (1 + lost.length_part) +
                         (std::sqrt(of_moved) + std::sqrt(squared)) * dot_error::change_part + lost.absolute);
  }
};

}  // namespace quintet::pairwise
