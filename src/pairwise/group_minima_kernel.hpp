// Sink: for every row point the smallest reduced distance to each group of column points. A team owns the rows it
// writes.
#pragma once

#include <cstdint>
#include <limits>

#include "device/team.hpp"
#include "pairwise/point_factors.hpp"
#include "pairwise/tile_kernel.hpp"

namespace quintet::pairwise {

template <class Real>
struct group_minima_arguments {
  const Real* rows;
  const Real* cols;
  std::int64_t dim, row_count, col_count;
  const std::int32_t* group;  ///< of every column point, in [0, groups)
  std::int64_t groups;
  Real* out;  ///< [row][group]
  point_factors<Real> factors;
  coordinate_term<Real> term;
};

/// Tile = row block. Tiles and panels of Goto, van de Geijn 2008; the minima bound Boruvka's edges (1926).
template <class Real, int Dim, class Shape>
struct group_minima_kernel {
  using shape = Shape;
  using scratch = detail::tile_scratch<Real, Shape>;
  enum { threads = Shape::threads, emulated_threads = Shape::emulated_threads };
  group_minima_arguments<Real> a;

  template <class Team>
  void operator()(const Team& team, std::int64_t row_block, scratch& s) const {
    const int lines = points_in_block<Shape>(a.row_count, row_block);
    Real* out = a.out + row_block * Shape::side * a.groups;
    for (std::int64_t e = team.rank(); e < lines * a.groups; e += team.size())
      out[e] = std::numeric_limits<Real>::infinity();
    const std::int64_t col_blocks = (a.col_count + Shape::side - 1) / Shape::side;
    for (std::int64_t col_block = 0; col_block < col_blocks; ++col_block) {
      tile_sums<Real, Dim, Shape>(team, a.rows, row_block, a.cols, col_block, a.dim, a.term, s);
      a.factors.template apply<Shape>(team, {row_block, col_block}, s.values);
      const int columns = points_in_block<Shape>(a.col_count, col_block);
      const std::int32_t* group = a.group + col_block * Shape::side;
      for (int l = team.rank(); l < lines; l += team.size())
        for (int e = 0; e < columns; ++e) {
          const Real value = s.values[l * Shape::pitch + e];
          Real& min = out[l * a.groups + group[e]];
          if (value < min) min = value;
        }
      team.barrier();
    }
  }
};

}  // namespace quintet::pairwise
