// Sink: the whole symmetric matrix of distances or mutual reachabilities. Every pair is computed once and written
// twice.
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
struct dense_arguments {
  const Real* panels;
  std::int64_t dim, count;
  reduced_metric<Real> measure;
  const Real* core;  ///< core distance of every point, padded to whole blocks; or null for plain distances
  Real alpha;
  bool core_on_diagonal;
  Real* out;  ///< rows of `count` values, row stride out_stride
  std::int64_t out_stride;
  /// row_blocks = 0: the whole matrix. Otherwise the blocks of rows first_row_block, ...; out begins with their first
  /// row.
  std::int64_t first_row_block = 0, row_blocks = 0;
  point_factors<Real> factors = {};
};

/// One tile per team. Tiles and panels of Goto, van de Geijn 2008, on differences instead of products; mutual
/// reachability is that of Campello, Moulavi, Sander 2013.
template <class Real, int Dim, class Shape>
struct dense_kernel {
  using shape = Shape;
  using scratch = detail::tile_scratch<Real, Shape>;
  enum { threads = Shape::threads, emulated_threads = Shape::emulated_threads };
  dense_arguments<Real> a;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch& s) const {
    const bool whole = a.row_blocks == 0;
    const tile_index block =
        whole ? tile_by_column(tile) : tile_index{a.first_row_block + tile % a.row_blocks, tile / a.row_blocks};
    tile_sums<Real, Dim, Shape>(team, a.panels, block.row, a.panels, block.col, a.dim, a.measure.term, s);
    finish(team, block, s.values);
    write(team, block, s.values);
    if (whole && block.row != block.col) write_transposed(team, block, s.values);
  }

 private:
  /// Reduced distances become what the matrix holds. Points beyond the count have NaN, which is harmless here.
  template <class Team>
  void finish(const Team& team, tile_index block, Real* values) const {
    const std::int64_t i0 = block.row * Shape::side, j0 = block.col * Shape::side;
    if (a.factors.row != nullptr)
      finish_in_ball(team, block, values);
    else if (Dim == other_metrics || takes_whole_rows(Dim))
      device::for_each_in_tile<Shape::side>(team, Shape::side, [&](int i, int j) {
        Real& value = values[i * Shape::pitch + j];
        value = a.measure.other_distance(value);
      });
    else
      device::for_each_in_tile<Shape::side>(team, Shape::side, [&](int i, int j) {
        Real& value = values[i * Shape::pitch + j];
        value = a.measure.flat_distance(value);
      });
    team.barrier();
    // Rarely wanted, and a division costs as much as a square root.
    if (a.alpha != 1)
      device::for_each_in_tile<Shape::side>(team, Shape::side,
                                            [&](int i, int j) { values[i * Shape::pitch + j] /= a.alpha; });
    team.barrier();
    if (a.core != nullptr)
      device::for_each_in_tile<Shape::side>(team, points_in_block<Shape>(a.count, block.row), [&](int i, int j) {
        Real& value = values[i * Shape::pitch + j];
        value = mutual_reachability(a.core[i0 + i], a.core[j0 + j], value);
      });
    team.barrier();
    if (block.row == block.col)
      for (int i = team.rank(); i < points_in_block<Shape>(a.count, block.row); i += team.size()) {
        // A point without a distance to itself is invalid; its whole row is NaN.
        Real& value = values[i * Shape::pitch + i];
        if (value == value) value = a.core != nullptr && a.core_on_diagonal ? a.core[i0 + i] : Real(0);
      }
    team.barrier();
  }

  template <class Team>
  void finish_in_ball(const Team& team, tile_index block, Real* values) const {
    typedef device::pack<Real, Shape::lanes> value;
    a.factors.template apply<Shape>(team, block, values);
    for_each_pack_in_tile<Shape::side, Shape::lanes>(team, Shape::side, [&](int i, int j) {
      Real* at = values + i * Shape::pitch + j;
      device::store_pack(at, a.measure.template hyperbolic_distances<Shape::lanes>(device::load_pack<value>(at)));
    });
  }

  template <class Team>
  void write(const Team& team, tile_index block, const Real* values) const {
    const std::int64_t i0 = block.row * Shape::side, j0 = block.col * Shape::side;
    const int columns = points_in_block<Shape>(a.count, block.col);
    device::for_each_in_tile<Shape::side>(team, points_in_block<Shape>(a.count, block.row), [&](int i, int j) {
      if (j < columns)
        a.out[(i0 - a.first_row_block * Shape::side + i) * a.out_stride + j0 + j] = values[i * Shape::pitch + j];
    });
  }

  template <class Team>
  void write_transposed(const Team& team, tile_index block, const Real* values) const {
    const std::int64_t i0 = block.row * Shape::side, j0 = block.col * Shape::side;
    const int columns = points_in_block<Shape>(a.count, block.row);
    device::for_each_in_tile<Shape::side>(team, points_in_block<Shape>(a.count, block.col), [&](int j, int i) {
      if (i < columns) a.out[(j0 + j) * a.out_stride + i0 + i] = values[i * Shape::pitch + j];
    });
  }
};

}  // namespace quintet::pairwise
