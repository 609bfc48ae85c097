// Sink: the rectangular matrix of distances of one set of points (rows) to another (columns).
//
// Squared distances become distances while they are in registers or in the first-level cache: the matrix is written
// once and never read.
#pragma once

#include <cstdint>
#include <cstring>

#include "device/team.hpp"
#include "pairwise/metric.hpp"
#include "pairwise/point_factors.hpp"
#include "pairwise/resident_tile.hpp"
#include "pairwise/tile_kernel.hpp"
#include "pairwise/triangle.hpp"

namespace quintet::pairwise {

template <class Real>
struct cross_arguments {
  const Real* rows;
  const Real* cols;
  std::int64_t dim, row_count, col_count;
  reduced_metric<Real> measure;
  point_factors<Real> factors;
  Real* out;  ///< [row_count][col_count], row stride out_stride
  std::int64_t out_stride;
  /// Blocks of columns that one team takes after another, with its block of rows in team memory.
  std::int64_t blocks_per_team = 1;
};

/// Tile = (row block, group of column blocks). Tiles and panels of Goto, van de Geijn 2008, on differences instead of
/// products.
template <class Real, int Dim, class Shape>
struct cross_kernel {
  using shape = Shape;
  using scratch = detail::row_resident_scratch<Real, Dim, Shape>;
  enum { threads = Shape::threads, emulated_threads = Shape::emulated_threads };
  cross_arguments<Real> a;

  static std::int64_t tiles(const cross_arguments<Real>& a) {
    return blocks_of(a.row_count) * groups(blocks_of(a.col_count), a.blocks_per_team);
  }

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch& s) const {
    // A loop of its own for the question that matters, so that its constants stay in registers.
    if (a.measure.curve == distance_curve::hyperbolic)
      write(team, tile, s, [this](const auto& reduced) QUINTET_INLINE {
        return device::twice_asinh_root<Real, width>(reduced) * a.measure.unscale;
      });
    else
      write(team, tile, s,
            [this](const auto& reduced) QUINTET_INLINE { return a.measure.template distances<width>(reduced); });
  }

 private:
  // Several registers side by side hide the latency of the logarithm's polynomial.
  enum { width = Shape::on_device ? 1 : 2 * Shape::lanes, per_tile = Shape::rows * Shape::cols };
  typedef device::pack<Real, width> value;
  static_assert(per_tile % width == 0);

  static std::int64_t blocks_of(std::int64_t count) { return (count + Shape::side - 1) / Shape::side; }
  static std::int64_t groups(std::int64_t blocks, std::int64_t group) { return (blocks + group - 1) / group; }

  template <class Team, class Distance>
  QUINTET_INLINE void write(const Team& team, std::int64_t tile, scratch& s, const Distance& distance) const {
    const std::int64_t col_blocks = blocks_of(a.col_count), per_row = groups(col_blocks, a.blocks_per_team);
    const std::int64_t row_block = tile / per_row, first = tile % per_row * a.blocks_per_team;
    const std::int64_t end = first + a.blocks_per_team < col_blocks ? first + a.blocks_per_team : col_blocks;
    const int used_rows = points_in_block<Shape>(a.row_count, row_block);
    detail::with_resident_rows<Real, Dim, Shape>(
        team, a.rows, row_block, a.dim, s, [&](const auto& rows) QUINTET_INLINE {
          for (std::int64_t col_block = first; col_block < end; ++col_block) {
            const int used_cols = points_in_block<Shape>(a.col_count, col_block);
            Real* out = a.out + row_block * Shape::side * a.out_stride + col_block * Shape::side;
            rows.against(team, a.cols, col_block, used_rows, used_cols, a.factors,
                         tile_writer<Distance>{distance, out, a.out_stride, used_rows, used_cols});
          }
        });
  }

  template <class Distance>
  struct tile_writer {
    const Distance& distance;
    Real* out;
    std::int64_t out_stride;
    int used_rows, used_cols;

    QUINTET_INLINE void take(int i, int j, Real reduced) const { out[i * out_stride + j] = distance(reduced); }

    void take_tile(int ti, int tj, Real* place) const {
#pragma GCC unroll 1
      for (int e = 0; e < per_tile; e += width)
        device::store_pack(place + e, distance(device::load_pack<value>(place + e)));
      const int rows = used_rows - ti < Shape::rows ? used_rows - ti : int(Shape::rows);
      const int cols = used_cols - tj < Shape::cols ? used_cols - tj : int(Shape::cols);
      for (int i = 0; i < rows; ++i) {
        Real* to = out + (ti + i) * out_stride + tj;
        if (cols == Shape::cols)
          std::memcpy(to, place + i * Shape::cols, sizeof(Real) * Shape::cols);
        else
          std::memcpy(to, place + i * Shape::cols, sizeof(Real) * cols);
      }
    }
  };
};

}  // namespace quintet::pairwise
