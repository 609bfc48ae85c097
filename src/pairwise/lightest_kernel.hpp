// Sink: the lightest edge of mutual reachability that leaves each point's component (Boruvka's question), for a list of
// tiles; a tile that can hold no better edge any more is passed over. Weights are reduced distances: max(core_i,
// core_j, reduced distance of the distance), the cores scaled by alpha.
//
// With a filter a tile holds lower bounds of distances first, and distances where a bound leaves it open whether the
// pair is the best edge of either end; what it does not is heavier, so the edges are the same.
#pragma once

#include <cstdint>
#include <limits>

#include "device/atomic.hpp"
#include "device/team.hpp"
#include "pairwise/dot_bounds.hpp"
#include "pairwise/edge_bounds.hpp"
#include "pairwise/minima.hpp"
#include "pairwise/point_factors.hpp"
#include "pairwise/tile_kernel.hpp"
#include "pairwise/triangle.hpp"

namespace quintet::pairwise {

template <class Real>
struct lightest_arguments {
  const Real* panels;  ///< of own blocks
  std::int64_t dim;
  point_factors<Real> factors;   ///< of own points, twice
  const Real* core;              ///< core distances as reduced distances
  const std::int32_t* original;  ///< the caller's number of every point: ties go to the smaller one
  edge_bounds<Real> bounds;      ///< read; tile_bound, and minima if its groups are single blocks, are made sharper
  const tile_index* tiles;
  Real* weight;           ///< [tile][0: rows, 1: columns][side]: smallest weight that leaves the component
  std::int32_t* target;   ///< [tile][0: rows, 1: columns][side]: the point it leads to, -1 if it is of no use
  std::int64_t* scanned;  ///< counts the tiles that were not passed over
  /// Where visitors are among `visiting`, by their place after the own blocks.
  const std::int32_t* visiting_panel = nullptr;
  const Real* visiting = nullptr;         ///< their panels
  const Real* visiting_factor = nullptr;  ///< and factors; null: none
  coordinate_term<Real> term = {};
  dot_bounds filter = {};  ///< of own points, `words` words each; without visitors
  std::int64_t words = 0;
};

namespace detail {

template <class Real, class Shape, int Dim>
struct lightest_scratch : tile_scratch<Real, Shape> {
  tile_minima<Real, Shape> minima;
  Real row_core[Shape::side], col_core[Shape::side];
  std::int32_t row_component[Shape::side], col_component[Shape::side];
  int is_useful;
};
template <class Real, class Shape>
struct lightest_scratch<Real, Shape, rounded_products> : lightest_scratch<Real, Shape, any_dimension> {
  /// The weight of the best edge of a point's component, if the point may have one into the other block; else -1.
  Real row_limit[Shape::side], col_limit[Shape::side];
};

/// What a filter leaves open is computed again in these parts of a tile: a pack of columns whose sums hide each other's
/// latency, or a pair.
template <class Shape>
struct open_shape {
  enum { rows = Shape::on_device ? 1 : 8, packs = 1, lanes = Shape::lanes, cols = lanes };
};

}  // namespace detail

/// Boruvka's step (1926) on tiles; a tile is passed over by its bound (March, Ram, Gray 2010).
template <class Real, int Dim, class Shape>
struct lightest_kernel {
  using shape = Shape;
  using scratch = detail::lightest_scratch<Real, Shape, Dim>;
  enum { threads = Shape::threads, emulated_threads = Shape::emulated_threads };
  lightest_arguments<Real> a;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch& s) const {
    const tile_index block = a.tiles[tile];
    if (!is_useful(team, block, s)) return pass_over(team, tile);
    if (team.rank() == 0) device::atomic_add(a.scanned, std::int64_t(1));
    load_points(team, block.row, s.row_core, s.row_component);
    load_points(team, block.col, s.col_core, s.col_component);
    // Rows of tiles are own blocks.
    tile_index panel = {a.bounds.place_of(block.row), a.bounds.place_of(block.col)};
    const bool visits = panel.col >= a.bounds.own;
    if (visits) panel.col = a.visiting_panel[panel.col - a.bounds.own];
    if constexpr (Dim == rounded_products) {
      set_limits(team, block.row, block.col, s.row_limit);
      set_limits(team, block.col, block.row, s.col_limit);
      tile_bounds<Shape>(team, a.filter, panel, a.words, s);
      open_up(team, panel, s);
    } else {
      tile_sums<Real, Dim, Shape>(team, a.panels, panel.row, visits ? a.visiting : a.panels, panel.col, a.dim, a.term,
                                  s);
      point_factors<Real> factors = a.factors;
      if (visits) factors.col = a.visiting_factor;
      factors.template apply<Shape>(team, panel, s.values);
    }
    weigh(team, s);
    find_minima<Real, Shape>(team, s.values, s.minima);
    choose(team, s, Shape::pitch, 1, s.minima.row, block.row, block.col, 2 * tile);
    choose(team, s, 1, Shape::pitch, s.minima.col, block.col, block.row, 2 * tile + 1);
    sharpen(team, block, s.minima);
  }

 private:
  template <class Team>
  bool is_useful(const Team& team, tile_index block, scratch& s) const {
    if (team.rank() == 0) s.is_useful = 0;
    team.barrier();
    look_from(team, block.row, block.col, s);
    look_from(team, block.col, block.row, s);
    team.barrier();
    return s.is_useful != 0;
  }

  /// Sets is_useful if a point of block `mine` may have an edge of use into the other one.
  template <class Team>
  void look_from(const Team& team, std::int64_t own_block, std::int64_t other, scratch& s) const {
    const typename edge_bounds<Real>::block_pair pair = a.bounds.pair_of(own_block, other);
    const int lines = points_in_block<Shape>(a.bounds.count, own_block);
    for (int l = team.rank(); l < lines; l += team.size())
      if (a.bounds.useful_bound(pair, own_block * Shape::side + l, l) < std::numeric_limits<Real>::infinity())
        device::atomic_set(&s.is_useful);
  }

  template <class Team>
  void pass_over(const Team& team, std::int64_t tile) const {
    for (int l = team.rank(); l < 2 * Shape::side; l += team.size()) a.target[2 * tile * Shape::side + l] = -1;
  }

  template <class Team>
  void load_points(const Team& team, std::int64_t block, Real* core, std::int32_t* component) const {
    for (int e = team.rank(); e < Shape::side; e += team.size()) {
      const std::int64_t point = block * Shape::side + e;
      core[e] = point < a.bounds.count ? a.core[point] : Real(0);
      component[e] = point < a.bounds.count ? a.bounds.component[point] : -1;
    }
  }

  template <class Team>
  void set_limits(const Team& team, std::int64_t own_block, std::int64_t other, Real* limit) const {
    const typename edge_bounds<Real>::block_pair pair = a.bounds.pair_of(own_block, other);
    for (int l = team.rank(); l < Shape::side; l += team.size()) {
      const std::int64_t point = own_block * Shape::side + l;
      const bool may =
          point < a.bounds.count && a.bounds.useful_bound(pair, point, l) < std::numeric_limits<Real>::infinity();
      limit[l] = may ? a.bounds.best_of(point) : Real(-1);
    }
  }

  /// Bounds become distances where a pair may be the best edge of one of its ends.
  template <class Team>
  void open_up(const Team& team, tile_index panel, scratch& s) const {
    using part = detail::open_shape<Shape>;
    constexpr int side = Shape::side, per_row = side / part::cols, parts = side / part::rows * per_row;
    constexpr int step = panel_points<Real>;
    for (int p = team.rank(); p < parts; p += team.size()) {
      const int ti = p / per_row * part::rows, tj = p % per_row * part::cols;
      if (!is_open<part>(ti, tj, s)) continue;
      detail::register_tile<Real, part> tile;
      tile.clear();
      const Real* columns = detail::coordinates(a.panels, a.dim, panel.col * Shape::side + tj);
      tile.add(
          detail::coordinates(a.panels, a.dim, panel.row * Shape::side + ti), step, [=](int) { return columns; }, step,
          a.dim);
      tile.store(s.values + ti * Shape::pitch + tj, Shape::pitch);
    }
    team.barrier();
  }

  template <class Part>
  bool is_open(int ti, int tj, const scratch& s) const {
    constexpr int lanes = Part::lanes;
    typedef device::pack<Real, lanes> value;
    typedef device::pack<std::int32_t, lanes> integer;
    static_assert(sizeof(Real) == sizeof(std::int32_t));
    const value core = device::load_pack<value>(s.col_core + tj), limit = device::load_pack<value>(s.col_limit + tj);
    const integer component = device::load_pack<integer>(s.col_component + tj);
    integer open{};
    for (int i = ti; i < ti + Part::rows; ++i) {
      const value bound = device::load_pack<value>(s.values + i * Shape::pitch + tj);
      const value row_core = device::broadcast_pack<value>(s.row_core[i]);
      const value row_limit = device::broadcast_pack<value>(s.row_limit[i]);
      const value max_limit = row_limit > limit ? row_limit : limit;
      open |= integer((bound <= max_limit) & (core <= max_limit) & (row_core <= max_limit) &
                      (component != s.row_component[i]));
    }
    return any_lane<lanes>(open);
  }

  /// Components only grow: what leaves one later leaves one now, and is no lighter than the lightest edge that does.
  template <class Team>
  void sharpen(const Team& team, tile_index block, const tile_minima<Real, Shape>& minima) const {
    const edge_bounds<Real>& b = a.bounds;
    const std::int64_t row_place = b.place_of(block.row), col_place = b.place_of(block.col);
    if (b.has_single_blocks(row_place))
      for (int l = team.rank(); l < points_in_block<Shape>(b.count, block.row); l += team.size())
        *b.minimum_of(block.row * Shape::side + l, block.row, row_place, col_place) = minima.row[l];
    // A tile on the diagonal has the same minima both ways.
    if (block.row != block.col && b.has_single_blocks(col_place))
      for (int l = team.rank(); l < points_in_block<Shape>(b.count, block.col); l += team.size())
        *b.minimum_of(block.col * Shape::side + l, block.col, col_place, row_place) = minima.col[l];
    if (team.rank() != 0) return;
    Real min = minima.row[0];
    for (int l = 1; l < Shape::side; ++l) min = minima.row[l] < min ? minima.row[l] : min;
    b.bound_of_tile(row_place, col_place) = min;
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

  /// Weights up to it are those of distances, and of use.
  Real limit_of(const scratch& s, const Real* line_min, std::int64_t point, int l) const {
    if constexpr (Dim == rounded_products)
      return line_min == s.minima.row ? s.row_limit[l] : s.col_limit[l];
    else
      return a.bounds.best_of(point);
  }

  /// For every line of the tile whose minimum is of use, the point with the smallest number among those that attain it.
  template <class Team>
  void choose(const Team& team, const scratch& s, int line_step, int step, const Real* line_min,
              std::int64_t line_block, std::int64_t other_block, std::int64_t out) const {
    const Real* values = s.values;
    const int other_points = points_in_block<Shape>(a.bounds.count, other_block);
    for (int l = team.rank(); l < Shape::side; l += team.size()) {
      const std::int64_t point = line_block * Shape::side + l;
      std::int32_t target = -1;
      if (point < a.bounds.count && line_min[l] < std::numeric_limits<Real>::infinity() &&
          line_min[l] <= limit_of(s, line_min, point, l))
        for (int e = 0; e < other_points; ++e) {
          if (!(values[l * line_step + e * step] == line_min[l])) continue;
          const auto other = std::int32_t(other_block * Shape::side + e);
          if (target < 0 || a.original[other] < a.original[target]) target = other;
        }
      a.weight[out * Shape::side + l] = line_min[l];
      a.target[out * Shape::side + l] = target;
    }
  }
};

}  // namespace quintet::pairwise
