// Points of a product of spaces as the pairwise engine has them: rows that say themselves what their numbers are.
//
// Panels hold a number of the row as coordinate 0, which is NaN where the row is missing, and behind it for every
// factor
//
//   its curve, how many coordinates follow, the weight of the square of the curve's distance, the point's factor
//   coordinates
//
// so that kernels need nothing but the panels. A flat part has its coordinates; one of the ball has them scaled as
// ball_constants says; one of the hyperboloid lies in the ball in two words a coordinate, see sheet_kernel.hpp; one of
// a sphere is a unit vector in two words a coordinate, and so is the stereographic projection of a curvature k > 0
// (Bachmann, Becigneul, Ganea 2020), with t = sqrt(k) x:
//
//   u = (2 t, 1 - |t|^2) / (1 + |t|^2)
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "pairwise/coordinate_term.hpp"
#include "pairwise/sheet_kernel.hpp"
#include "quintet/pairwise/metric.hpp"

namespace quintet::pairwise {

using detail::part_curve, detail::part_head;

/// A factor with its places in rows, of the caller and packed.
struct packed_factor {
  product::geometry kind;
  part_curve curve;
  std::int64_t first, dim, at, coordinates;
  double root;          ///< of the curvature's magnitude; 1 where there is none
  double weight;        ///< of the squared distance of the curve
  ball_constants ball;  ///< that the coordinates are scaled for

  constexpr bool is_projected_sphere() const {
    return kind == product::geometry::stereographic && curve == part_curve::arc;
  }
};

/// Throws InvalidArgument for factors that product.hpp does not allow; returns the numbers of a row.
std::int64_t check_factors(std::span<const product::factor> space);
/// Factors that are allowed, with weights in [1e-30, 1e30].
std::vector<packed_factor> packed_factors(const product_space& space);
/// Numbers of a packed row behind its first.
std::int64_t packed_words(const std::vector<packed_factor>& factors);

/// Packed rows, and for each a number: 0, or NaN for a row with a part that is no point of its factor, and minus
/// infinity for one that is too far out.
template <class Shape>
struct product_rows_kernel {
  using shape = Shape;
  struct scratch {};
  enum { threads = 64, emulated_threads = 4, rows_per_tile = 64 };
  stored_rows<double> points;
  const packed_factor* factors;
  std::int64_t count;  ///< of factors
  std::int64_t words;  ///< of a packed row
  double* rows;        ///< [row][words]
  double* number;      ///< of every row

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    for (int r = team.rank(); r < rows_per_tile; r += team.size())
      if (tile * rows_per_tile + r < points.count) write_row(tile * rows_per_tile + r);
  }

 private:
  static constexpr double absent = std::numeric_limits<double>::quiet_NaN();
  static constexpr double too_far = -std::numeric_limits<double>::infinity();
  static constexpr double most = 0x1p480;

  void write_row(std::int64_t i) const {
    double of_row = 0;
    for (std::int64_t f = 0; f < count; ++f) {
      const packed_factor& factor = factors[f];
      const double* const x = points.row(i) + factor.first;
      double* const to = rows + i * words + factor.at;
      double largest = 0, not_finite = 0;
      for (std::int64_t k = 0; k < factor.dim; ++k) {
        not_finite += x[k] - x[k];
        largest = std::fabs(x[k]) > largest ? std::fabs(x[k]) : largest;
      }
      const double of_part = not_finite == 0 ? write_part(factor, x, largest, to + part_head) : absent;
      to[0] = double(int(factor.curve));
      to[1] = double(factor.coordinates);
      to[2] = factor.weight;
      to[3] = of_part;
      if (of_row == of_row && !(of_part >= 0)) of_row = of_part;
    }
    number[i] = of_row;
  }

  /// The point's factor.
  static double write_part(const packed_factor& f, const double* x, double largest, double* to) {
    if (f.curve == part_curve::sheet) return write_sheet_point(x, f.dim, f.root, f.ball.scale, f.ball.numerator, to);
    if (f.curve == part_curve::ball) return write_ball_point(f, x, to);
    if (f.is_projected_sphere()) return f.root * largest <= most ? write_projected(f, x, to) : too_far;
    if (f.curve == part_curve::arc) return largest > 0 ? write_direction(f, x, largest, to) : absent;
    for (std::int64_t k = 0; k < f.dim; ++k) to[k] = x[k];
    return largest <= most ? 1 : too_far;
  }

  static double write_ball_point(const packed_factor& f, const double* x, double* to) {
    compensated_sum<1> square;
    for (std::int64_t k = 0; k < f.dim; ++k) {
      to[k] = x[k] * f.ball.scale;
      square.add_product(to[k], to[k]);
    }
    const double gap = square.one_minus(f.ball.c / f.ball.scale / f.ball.scale);
    return gap > 0 ? f.ball.template factor<double>(gap) : absent;
  }

  static void write_words(const doubled& u, double* to) {
    to[0] = u.high;
    to[1] = u.low;
  }

  static double write_direction(const packed_factor& f, const double* x, double largest, double* to) {
    const int exponent = std::ilogb(largest);
    doubled square;
    for (std::int64_t k = 0; k < f.dim; ++k) {
      to[2 * k] = std::ldexp(x[k], -exponent);
      square = square + doubled::product(to[2 * k], to[2 * k]);
    }
    const doubled length = root(square);
    for (std::int64_t k = 0; k < f.dim; ++k) write_words(doubled{to[2 * k], 0} / length, to + 2 * k);
    return 1;
  }

  static double write_projected(const packed_factor& f, const double* x, double* to) {
    doubled square;
    for (std::int64_t k = 0; k < f.dim; ++k) {
      const doubled t = doubled::product(f.root, x[k]);
      square = square + t * t;
    }
    const doubled below = doubled{1, 0} + square;
    for (std::int64_t k = 0; k < f.dim; ++k) {
      const doubled t = doubled::product(2 * f.root, x[k]);
      write_words(t / below, to + 2 * k);
    }
    write_words((doubled{1, 0} - square) / below, to + 2 * f.dim);
    return 1;
  }
};

}  // namespace quintet::pairwise
