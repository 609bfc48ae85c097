// Sink: the lightest edge of mutual reachability that leaves each point's component (Boruvka's question), for a list of
// tiles. Weights are surrogates: max(core_i, core_j, surrogate of the distance), the cores scaled by alpha.
#pragma once

#include <cstdint>
#include <limits>

#include "device/team.hpp"
#include "pairwise/minima.hpp"
#include "pairwise/tile_kernel.hpp"
#include "pairwise/triangle.hpp"

namespace quintet::pairwise {

template <class Real>
struct lightest_arguments {
  const Real* panels;
  std::int64_t dim, count;
  const Real* core;               ///< core distances as surrogates
  const std::int32_t* component;  ///< of every point
  const std::int32_t* original;   ///< the caller's number of every point: ties go to the smaller one
  const Real* bound;              ///< per point: weights above it are of no use
  const tile_index* tiles;
  Real* weight;          ///< [tile][0: rows, 1: columns][side]: smallest weight that leaves the component, or infinity
  std::int32_t* target;  ///< [tile][0: rows, 1: columns][side]: the point it leads to, -1 if above the bound
};

namespace detail {

template <class Real, class Shape>
struct lightest_scratch : tile_scratch<Real, Shape> {
  tile_minima<Real, Shape> minima;
  Real row_core[Shape::side], col_core[Shape::side];
  std::int32_t row_component[Shape::side], col_component[Shape::side];
};

}  // namespace detail

template <class Real, int Dim, class Shape>
struct lightest_kernel {
  using shape = Shape;
  using scratch = detail::lightest_scratch<Real, Shape>;
  enum { threads = Shape::threads, emulated_threads = Shape::emulated_threads };
  lightest_arguments<Real> a;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch& s) const {
    const tile_index block = a.tiles[tile];
    load_points(team, block.row, s.row_core, s.row_component);
    load_points(team, block.col, s.col_core, s.col_component);
    squared_distances<Real, Dim, Shape>(team, a.panels, block.row, a.panels, block.col, a.dim, s);
    weigh(team, s);
    find_minima<Real, Shape>(team, s.values, s.minima);
    choose(team, s.values, Shape::pitch, 1, s.minima.row, block.row, block.col, 2 * tile);
    choose(team, s.values, 1, Shape::pitch, s.minima.col, block.col, block.row, 2 * tile + 1);
  }

 private:
  template <class Team>
  void load_points(const Team& team, std::int64_t block, Real* core, std::int32_t* component) const {
    for (int e = team.rank(); e < Shape::side; e += team.size()) {
      const std::int64_t point = block * Shape::side + e;
      core[e] = point < a.count ? a.core[point] : Real(0);
      component[e] = point < a.count ? a.component[point] : -1;
    }
  }

  /// Distances become weights; a pair inside one component becomes infinitely heavy.
  template <class Team>
  void weigh(const Team& team, scratch& s) const {
    device::for_each_in_tile<Shape::side>(team, Shape::side, [&](int i, int j) {
      Real& value = s.values[i * Shape::pitch + j];
      const Real core = s.row_core[i] > s.col_core[j] ? s.row_core[i] : s.col_core[j];
      const Real weight = core > value ? core : value;
      // A distance of NaN belongs to no pair of points.
      const bool leaves = s.row_component[i] != s.col_component[j] && value == value;
      value = leaves ? weight : std::numeric_limits<Real>::infinity();
    });
    team.barrier();
  }

  /// For every line of the tile whose minimum is of use, the point with the smallest number among those that attain it.
  template <class Team>
  void choose(const Team& team, const Real* values, int line_step, int step, const Real* least, std::int64_t line_block,
              std::int64_t other_block, std::int64_t out) const {
    const int lines = points_in_block<Shape>(a.count, line_block),
              others = points_in_block<Shape>(a.count, other_block);
    for (int l = team.rank(); l < lines; l += team.size()) {
      const std::int64_t point = line_block * Shape::side + l;
      std::int32_t target = -1;
      if (least[l] <= a.bound[point] && least[l] < std::numeric_limits<Real>::infinity())
        for (int e = 0; e < others; ++e) {
          if (!(values[l * line_step + e * step] == least[l])) continue;
          const auto other = std::int32_t(other_block * Shape::side + e);
          if (target < 0 || a.original[other] < a.original[target]) target = other;
        }
      a.weight[out * Shape::side + l] = least[l];
      a.target[out * Shape::side + l] = target;
    }
  }
};

}  // namespace quintet::pairwise
