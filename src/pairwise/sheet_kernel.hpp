// Points of the hyperboloid as points of the ball, for the pairwise engine.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "device/doubled.hpp"
#include "pairwise/ball.hpp"
#include "pairwise/stored_rows.hpp"

namespace quintet::pairwise {

using device::doubled;

/// Largest sqrt(1 + c |x|^2) of a point x: radius 45.05 / sqrt(c).
constexpr double largest_time = 0x1p64;

/// With z = sqrt(c) x and s = sqrt(1 + |z|^2) (Cannon, Floyd, Kenyon, Parry 1997, 7: from the hyperboloid to the ball):
///
///   p = z / (1 + s),   sinh^2(sqrt(c) d / 2) = |p - q|^2 (1 + s_p) (1 + s_q) / 4
///
/// Near the boundary p needs more digits than double has, because neighbours differ in the last ones: a coordinate has
/// two parts, see split_term. The factor of a point comes from s, which is right to all digits where 1 - |p|^2 is not.
///
/// Writes `dim` coordinates of a point times `scale` to `to`, of two parts each, and returns its factor for the
/// numerator of ball_constants(1); not finite: NaN, with a larger s: minus infinity.
inline double write_sheet_point(const double* x, std::int64_t dim, double root_c, double scale, double numerator,
                                double* to) {
  double largest = 0, not_finite = 0;
  for (std::int64_t k = 0; k < dim; ++k) {
    not_finite += x[k] - x[k];
    largest = std::fabs(x[k]) > largest ? std::fabs(x[k]) : largest;
  }
  doubled one_plus_square{1, 0};
  const bool in_range = not_finite == 0 && root_c * largest <= largest_time;
  for (std::int64_t k = 0; in_range && k < dim; ++k) {
    const doubled z = doubled::product(root_c, x[k]);
    one_plus_square = one_plus_square + z * z;
  }
  const doubled time = root(one_plus_square), below = time + doubled{1, 0};
  const bool usable = in_range && time.high <= largest_time;
  for (std::int64_t k = 0; k < dim; ++k) {
    const doubled p = usable ? doubled::product(root_c, x[k]) / below : doubled{};
    to[2 * k] = p.high * scale;
    to[2 * k + 1] = p.low * scale;
  }
  return usable            ? numerator / 2 * below.value()
         : not_finite == 0 ? -std::numeric_limits<double>::infinity()
                           : std::numeric_limits<double>::quiet_NaN();
}

/// The parts and the factor of every row.
template <class Shape>
struct sheet_kernel {
  using shape = Shape;
  struct scratch {};
  enum { threads = 64, emulated_threads = 4, rows_per_tile = 64 };
  stored_rows<double> points;
  double root_c;
  double scale, numerator;  ///< of ball_constants(1)
  double* parts;            ///< [row][2 dim]
  double* factor;           ///< of every row

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    for (int r = team.rank(); r < rows_per_tile; r += team.size())
      if (const std::int64_t i = tile * rows_per_tile + r; i < points.count)
        factor[i] = write_sheet_point(points.row(i), points.dim, root_c, scale, numerator, parts + i * 2 * points.dim);
  }
};

}  // namespace quintet::pairwise
