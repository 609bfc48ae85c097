// One block of row points against many blocks of columns: the rows are staged once per team, in team memory on a
// device; on the host their packed panel is it, which stays in the caches.
//
// There is no tile of values. A sink has
//   take_tile(i, j, place)  host: reduced distances of a register tile, [Shape::rows][Shape::cols], with first row i,
//   column j take(i, j, reduced distance)   device: one pair
#pragma once

#include <cstdint>

#include "device/launch.hpp"
#include "pairwise/point_factors.hpp"
#include "pairwise/tile_kernel.hpp"

namespace quintet::pairwise::detail {

/// Coordinates of the rows that team memory holds: all of them, if they fit beside a slice of the columns, else a slice
/// as well.
template <class Real, int Dim, class Shape>
constexpr int resident_depth() {
  constexpr int max = device::device_scratch_limit / (Shape::side * int(sizeof(Real))) - Shape::depth;
  return Dim > 0 && Dim <= max && Dim % Shape::depth == 0 ? Dim : int(Shape::depth);
}

template <class Real, int Dim, class Shape, bool OnDevice = Shape::on_device != 0>
struct row_resident_scratch {
  alignas(16) Real rows[resident_depth<Real, Dim, Shape>() * Shape::side];
  alignas(16) Real cols[Shape::depth * Shape::side];
};
template <class Real, int Dim, class Shape>
struct row_resident_scratch<Real, Dim, Shape, false> : tile_scratch<Real, Shape> {};

/// Host: the panel is read in place.
template <class Real, int Dim, class Shape>
struct panel_rows {
  const Real* rows;
  std::int64_t block, dim;
  tile_scratch<Real, Shape>& scratch;

  template <class Team, class Sink>
  void against(const Team&, const Real* cols, std::int64_t col_block, int used_rows, int used_cols,
               const point_factors<Real>& factors, const Sink& sink) const {
    sliced_tile<Real, Shape>(rows, block, cols, col_block, Dim > 0 ? Dim : dim, scratch, used_rows, used_cols,
                             [&](int ti, int tj, const auto& tile) QUINTET_INLINE {
                               alignas(64) Real place[Shape::rows * Shape::cols];
                               if (factors.row == nullptr)
                                 tile.store(place, Shape::cols);
                               else
                                 tile.store(place, Shape::cols,
                                            tile_factors<Real>{factors.row + block * Shape::side + ti,
                                                               factors.col + col_block * Shape::side + tj});
                               sink.take_tile(ti, tj, place);
                             });
  }
};

/// Device: every thread keeps its register tile while slices of the columns pass through team memory. Its columns are
/// side / cols apart, so that neighbouring threads write neighbouring places.
template <class Real, int Dim, class Shape>
struct staged_rows {
  using scratch = row_resident_scratch<Real, Dim, Shape>;
  enum { resident = resident_depth<Real, Dim, Shape>() == Dim, step = Shape::side / Shape::cols };
  const Real* rows;
  std::int64_t block, dim;
  scratch& s;

  /// Called by every thread of the team, before against().
  template <class Team>
  QUINTET_INLINE void stage(const Team& team) const {
    if constexpr (resident)
      for (std::int64_t k = 0; k < Dim; k += Shape::depth)
        stage_block<Real, Shape>(team, rows, Dim, block, k, s.rows + k * Shape::side);
  }

  /// Inlined into every kernel: as a call it needs a stack on a GPU.
  template <class Team, class Sink>
  QUINTET_INLINE void against(const Team& team, const Real* cols, std::int64_t col_block, int used_rows, int used_cols,
                              const point_factors<Real>& factors, const Sink& sink) const {
    using micros = micro_tiles<Shape>;
    const std::int64_t depth = Dim > 0 ? Dim : dim;
    for (int first = 0; first < micros::count; first += team.size()) {
      const int micro = first + team.rank(), ti = micros::row(micro), tj = micro % step;
      register_tile<Real, Shape> tile;
      tile.clear();
      for (std::int64_t k = 0; k < depth; k += Shape::depth) {
        if constexpr (!resident) stage_block<Real, Shape>(team, rows, depth, block, k, s.rows);
        stage_block<Real, Shape>(team, cols, depth, col_block, k, s.cols);
        team.barrier();
        const Real* of_rows = s.rows + (resident ? k * Shape::side : 0) + ti;
        const Real* of_cols = s.cols + tj;
        if (micro < micros::count)
          tile.add(of_rows, Shape::side, [=](int j) { return of_cols + j * step; }, Shape::side, Shape::depth);
        team.barrier();
      }
      if (micro >= micros::count) continue;
#pragma GCC unroll 16
      for (int i = 0; i < Shape::rows; ++i)
#pragma GCC unroll 16
        for (int j = 0; j < Shape::cols; ++j)
          if (ti + i < used_rows && tj + j * step < used_cols)
            sink.take(ti + i, tj + j * step,
                      factors.row == nullptr
                          ? tile.sum[i][j]
                          : tile_factors<Real>{factors.row + block * Shape::side, factors.col + col_block * Shape::side}
                                .weigh(tile.sum[i][j], ti + i, tj + j * step));
    }
  }
};

/// Calls f(rows) with one of the above.
template <class Real, int Dim, class Shape, class Team, class Function>
QUINTET_INLINE inline void with_resident_rows(const Team& team, const Real* rows, std::int64_t row_block,
                                              std::int64_t dim, row_resident_scratch<Real, Dim, Shape>& scratch,
                                              Function f) {
  if constexpr (Team::on_device) {
    const staged_rows<Real, Dim, Shape> staged{rows, row_block, dim, scratch};
    staged.stage(team);
    f(staged);
  } else {
    f(panel_rows<Real, Dim, Shape>{rows, row_block, dim, scratch});
  }
}

}  // namespace quintet::pairwise::detail
