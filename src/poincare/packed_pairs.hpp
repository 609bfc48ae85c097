// Pairs of packed points, one at a time: what the engine computes of tiles.
#pragma once

#include <cstdint>

#include "device/pack.hpp"
#include "pairwise/ball.hpp"
#include "pairwise/panels.hpp"
#include "pairwise/tile_kernel.hpp"

namespace quintet::poincare {

template <class Real>
struct packed_pairs {
  const Real *rows, *cols;
  std::int64_t dim, count;        ///< coordinates of a point, and columns
  const Real *of_rows, *of_cols;  ///< factors; null: none
  pairwise::ball_constants ball;
  pairwise::reduced_metric<Real> measure;

  enum { columns = pairwise::panel_points<Real> };

  static packed_pairs of(const pairwise::panels<Real>& rows, const pairwise::panels<Real>& cols,
                         const pairwise::ball_constants& ball) {
    return {rows.data.data(),   cols.data.data(),   rows.dim, cols.count,
            rows.factor.data(), cols.factor.data(), ball,     ball.measure<Real>(pairwise::distance_curve::hyperbolic)};
  }

  /// out[Count] := reduced distances of a row and of so many columns of one panel from `first` on, with the bits of a
  /// tile.
  template <int Count>
  void reduce(std::int64_t row, std::int64_t first, Real* out) const {
    const Real *x = pairwise::detail::coordinates(rows, dim, row), *y = pairwise::detail::coordinates(cols, dim, first);
    Real squared[Count] = {};
    for (std::int64_t k = 0; k < dim; ++k)
#pragma GCC unroll 16
      for (int j = 0; j < Count; ++j) {
        const Real difference = y[k * columns + j] - x[k * columns];
        squared[j] = device::fma(difference, difference, squared[j]);
      }
#pragma GCC unroll 16
    for (int j = 0; j < Count; ++j)
      out[j] = of_rows == nullptr ? squared[j] : squared[j] * (of_cols[first + j] * of_rows[row]);
  }

  /// A distance that is lost, see ball_constants::lost().
  Real measured_again(std::int64_t row, std::int64_t col, Real lost_distance) const {
    const Real *x = pairwise::detail::coordinates(rows, dim, row), *y = pairwise::detail::coordinates(cols, dim, col);
    const double rescale = ball.again_scale(lost_distance);
    double squared = 0;
    for (std::int64_t k = 0; k < dim; ++k) {
      const double difference = (double(y[k * columns]) - double(x[k * columns])) * rescale;
      squared = device::fma(difference, difference, squared);
    }
    const double factors = of_rows == nullptr ? 1 : double(of_rows[row]) * double(of_cols[col]);
    return Real(ball.measured_again(squared, factors, rescale));
  }

  /// The distance of a pair with this reduced distance, as distances() gives it.
  Real distance(std::int64_t row, std::int64_t col, Real reduced_distance, bool may_lose) const {
    const Real measured = measure.distance(reduced_distance);
    return may_lose && ball.lost(measured) ? measured_again(row, col, measured) : measured;
  }
};

}  // namespace quintet::poincare
