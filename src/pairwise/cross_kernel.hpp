// Sink: the rectangular matrix of distances of one set of points (rows) to another (columns).
#pragma once

#include <cstdint>
#include <cstring>

#include "device/team.hpp"
#include "pairwise/metric.hpp"
#include "pairwise/pack_loop.hpp"
#include "pairwise/point_factors.hpp"
#include "pairwise/tile_kernel.hpp"
#include "pairwise/triangle.hpp"

namespace quintet::pairwise {

template <class Real>
struct cross_arguments {
  const Real* rows;
  const Real* cols;
  std::int64_t dim, row_count, col_count;
  surrogate_metric<Real> surrogate;
  point_factors<Real> factors;
  Real* out;  ///< [row_count][col_count], row stride out_stride
  std::int64_t out_stride;
};

/// One tile a team.
template <class Real, int Dim, class Shape>
struct cross_kernel {
  using shape = Shape;
  using scratch = detail::tile_scratch<Real, Shape>;
  enum { threads = Shape::threads, emulated_threads = Shape::emulated_threads };
  cross_arguments<Real> a;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch& s) const {
    const std::int64_t col_blocks = (a.col_count + Shape::side - 1) / Shape::side;
    const tile_index block{tile / col_blocks, tile % col_blocks};
    const int rows = points_in_block<Shape>(a.row_count, block.row);
    const int columns = points_in_block<Shape>(a.col_count, block.col);
    squared_distances<Real, Dim, Shape>(team, a.rows, block.row, a.cols, block.col, a.dim, s, rows, columns);
    // One loop for each question, so that its constants stay in registers.
    if (a.factors.row == nullptr)
      write(team, block, s.values, columns, [this](const value& squared, std::int64_t, std::int64_t) {
        return a.surrogate.template distances<width>(squared);
      });
    else if (a.surrogate.curve == surrogate_curve::hyperbolic)
      write(team, block, s.values, columns, [this](const value& squared, std::int64_t row, std::int64_t col) {
        const value t = weighted(squared, row, col);
        return value(device::twice_asinh_root<Real, width>(t) * a.surrogate.unscale);
      });
    else
      write(team, block, s.values, columns, [this](const value& squared, std::int64_t row, std::int64_t col) {
        return a.surrogate.template distances<width>(weighted(squared, row, col));
      });
  }

 private:
  // Two registers side by side hide the latency of the logarithm's polynomial.
  enum { width = Shape::on_device ? 1 : 2 * Shape::lanes };
  typedef device::pack<Real, width> value;

  /// The factors are multiplied first, so that (i, j) and (j, i) have the same bits.
  value weighted(const value& squared, std::int64_t row, std::int64_t col) const {
    const value both = device::load_pack<value>(a.factors.col + col) * a.factors.row[row];
    return squared * both;
  }

  template <class Team, class Distance>
  void write(const Team& team, tile_index block, const Real* values, int columns, Distance distance) const {
    const std::int64_t i0 = block.row * Shape::side, j0 = block.col * Shape::side;
    Real* out = a.out + i0 * a.out_stride + j0;
    for_each_pack_in_tile<Shape::side, width>(team, points_in_block<Shape>(a.row_count, block.row), [&](int i, int j) {
      if (j >= columns) return;
      const value result = distance(device::load_pack<value>(values + i * Shape::pitch + j), i0 + i, j0 + j);
      Real* to = out + i * a.out_stride + j;
      if (j + width <= columns)
        device::store_pack(to, result);
      else
        std::memcpy(to, &result, sizeof(Real) * (columns - j));
    });
  }
};

}  // namespace quintet::pairwise
