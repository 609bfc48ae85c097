// Sink: the rectangular matrix of distances of one set of points (rows) to another (columns).
#pragma once

#include <cstdint>

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
    squared_distances<Real, Dim, Shape>(team, a.rows, block.row, a.cols, block.col, a.dim, s);
    if (a.factors.row != nullptr)
      write(team, block, s.values, a.factors);
    else
      write(team, block, s.values, no_factors{});
  }

 private:
  struct no_factors {};
  typedef device::pack<Real, Shape::lanes> value;

  value surrogate(const value& squared, const Real* row, const Real* col, const point_factors<Real>&) const {
    const value both = device::load_pack<value>(col) * *row;
    return squared * both;
  }
  value surrogate(const value& squared, const Real*, const Real*, no_factors) const { return squared; }

  template <class Team, class Factors>
  void write(const Team& team, tile_index block, const Real* values, const Factors& factors) const {
    const std::int64_t i0 = block.row * Shape::side, j0 = block.col * Shape::side;
    const int columns = points_in_block<Shape>(a.col_count, block.col);
    for_each_pack_in_tile<Shape::side, Shape::lanes>(
        team, points_in_block<Shape>(a.row_count, block.row), [&](int i, int j) {
          if (j >= columns) return;
          const value squared = device::load_pack<value>(values + i * Shape::pitch + j);
          const value distance = a.surrogate.template distances<Shape::lanes>(
              surrogate(squared, a.factors.row + i0 + i, a.factors.col + j0 + j, factors));
          Real* to = a.out + (i0 + i) * a.out_stride + j0 + j;
          if (j + Shape::lanes <= columns) return device::store_pack(to, distance);
          Real lane[Shape::lanes];
          device::store_pack(lane, distance);
          for (int e = 0; e < columns - j; ++e) to[e] = lane[e];
        });
  }
};

}  // namespace quintet::pairwise
