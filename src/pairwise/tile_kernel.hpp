// The heart of the pairwise engine: one tile of squared Euclidean distances in difference form, sum_k (x_k - y_k)^2, or
// of the sums of another term of the differences (coordinate_term.hpp).
//
// The difference form keeps identical points at exactly zero and near-duplicates accurate to a few ulp, where the usual
// |x|^2 + |y|^2 - 2xy loses every digit. Each sum runs over k in ascending order by fused multiply-adds, so a pair has
// the same bits in every tile, in both orders, and on every device.
//
// Points lie in panels [block][coordinate][panel_points], see panels.hpp.
#pragma once

#include <cstdint>

#include "device/pack.hpp"
#include "pairwise/coordinate_term.hpp"
#include "pairwise/pack_loop.hpp"
#include "pairwise/shape.hpp"

namespace quintet::pairwise {

namespace detail {

template <class Real, class Shape, bool Staged>
struct stage {
  alignas(16) Real rows[Shape::depth * Shape::side];
  alignas(16) Real cols[Shape::depth * Shape::side];
};
template <class Real, class Shape>
struct stage<Real, Shape, false> {};

/// Team memory of a tile. values[i * pitch + j] is the squared distance of row i and column j.
template <class Real, class Shape>
struct tile_scratch {
  alignas(64) Real values[Shape::side * Shape::pitch];
  stage<Real, Shape, Shape::on_device != 0> staged;
};

/// Where the coordinates of point `point` begin; the next coordinate is panel_points<Real> further.
template <class Real>
inline const Real* coordinates(const Real* panels, std::int64_t dim, std::int64_t point) {
  constexpr int lanes = panel_points<Real>;
  return panels + (point / lanes) * dim * lanes + point % lanes;
}

/// A register tile: rows x packs accumulators.
template <class Real, class Shape>
struct register_tile {
  typedef device::pack<Real, Shape::lanes> value;
  value sum[Shape::rows][Shape::packs];

  void clear() {
#pragma GCC unroll 16
    for (int i = 0; i < Shape::rows; ++i)
#pragma GCC unroll 16
      for (int j = 0; j < Shape::packs; ++j) sum[i][j] = value{};
  }

  /// Adds coordinates [0, depth). Row i is at x[k * x_step + i], pack j at y[j][k * y_step]. Of terms that take whole
  /// points these are all coordinates.
  template <class Columns, class Term = square_term<Real>>
  void add(const Real* __restrict x, int x_step, const Columns& y, int y_step, std::int64_t depth,
           const Term& term = {}) {
    if constexpr (takes_words<Term>) return set_words(x, x_step, y, y_step, depth, term);
    if constexpr (takes_factors<Term>) return set_factors(x, x_step, y, y_step, depth, term);
    if constexpr (takes_points<Term>) return set_points(x, x_step, y, y_step, term);
    if constexpr (parts_of<Term> == 2) return add_parts(x, x_step, y, y_step, depth, term);
    for (std::int64_t k = 0; k < depth; ++k) {
      value column[Shape::packs];
#pragma GCC unroll 16
      for (int j = 0; j < Shape::packs; ++j) column[j] = device::load_pack<value>(y(j) + k * y_step);
#pragma GCC unroll 16
      for (int i = 0; i < Shape::rows; ++i)
#pragma GCC unroll 16
        for (int j = 0; j < Shape::packs; ++j) take_in(term, sum[i][j], column[j], x + k * x_step + i);
    }
  }

  /// The reduced distances of whole points. Pairs beyond a right angle are rare where points are near each other.
  template <class Columns, class Term>
  QUINTET_INLINE void set_points(const Real* __restrict x, int x_step, const Columns& y, int y_step, const Term& term) {
    bool any_far = false;
#pragma GCC unroll 16
    for (int j = 0; j < Shape::packs; ++j) {
      value column[Term::words];
      load_columns(column, y(j), y_step);
#pragma GCC unroll 16
      for (int i = 0; i < Shape::rows; ++i) {
        sum[i][j] = term.squared_chord(column, x + i, x_step);
        any_far |= term.may_exceed_right_angle(sum[i][j]);
      }
    }
    if (!any_far) return;
#pragma GCC unroll 16
    for (int j = 0; j < Shape::packs; ++j) {
      value column[Term::words];
      load_columns(column, y(j), y_step);
#pragma GCC unroll 16
      for (int i = 0; i < Shape::rows; ++i) sum[i][j] = term.reduced_pair(sum[i][j], column, x + i, x_step);
    }
  }

  template <int Words>
  QUINTET_INLINE static void load_columns(value (&column)[Words], const Real* from, int step) {
#pragma GCC unroll 6
    for (int k = 0; k < Words; ++k) column[k] = device::load_pack<value>(from + k * step);
  }

  /// The reduced distances of rows of words, of `depth` numbers each: the whole register tile where a counter is one
  /// register, else a few rows and a pack at a time.
  template <class Columns, class Term>
  QUINTET_INLINE void set_words(const Real* __restrict x, int x_step, const Columns& y, int y_step, std::int64_t depth,
                                const Term& term) {
    typedef typename Term::template counter<Shape::lanes> counter;
    constexpr bool whole = sizeof(counter) == sizeof(value);
    constexpr int rows = whole ? int(Shape::rows) : 4, packs = whole ? int(Shape::packs) : 1;
    static_assert(Shape::rows % rows == 0);
#pragma GCC unroll 16
    for (int j = 0; j < Shape::packs; j += packs)
#pragma GCC unroll 16
      for (int i = 0; i < Shape::rows; i += rows) set_some_words<rows, packs>(x, x_step, y, y_step, depth, term, i, j);
  }
  template <int Rows, int Packs, class Columns, class Term>
  QUINTET_INLINE void set_some_words(const Real* __restrict x, int x_step, const Columns& y, int y_step,
                                     std::int64_t depth, const Term& term, int i0, int j0) {
    typedef typename Term::template counter<Shape::lanes> counter;
    typedef typename counter::words words;
    counter count[Rows][Packs];
    for (std::int64_t from = Term::numbers; from < depth; from += counter::words_at_once) {
      const std::int64_t end = depth - from < counter::words_at_once ? depth : from + counter::words_at_once;
      for (std::int64_t k = from; k < end; ++k) {
        words column[Packs];
#pragma GCC unroll 16
        for (int j = 0; j < Packs; ++j) column[j] = device::load_words<Shape::lanes>(y(j0 + j) + k * y_step);
#pragma GCC unroll 16
        for (int i = 0; i < Rows; ++i) {
          const words row = device::load_words<1>(x + k * x_step + i0 + i) - words{};
#pragma GCC unroll 16
          for (int j = 0; j < Packs; ++j) count[i][j].add(column[j], row);
        }
      }
#pragma GCC unroll 16
      for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 16
        for (int j = 0; j < Packs; ++j) count[i][j].settle();
    }
#pragma GCC unroll 16
    for (int j = 0; j < Packs; ++j) {
      value numbers[Term::numbers];
      load_columns(numbers, y(j0 + j), y_step);
#pragma GCC unroll 16
      for (int i = 0; i < Rows; ++i)
        sum[i0 + i][j0 + j] = term.reduced_of(count[i][j].total(), numbers, x + i0 + i, x_step);
    }
  }

  /// The reduced distances of rows of factors, of `depth` numbers each.
  template <class Columns, class Term>
  QUINTET_INLINE void set_factors(const Real* __restrict x, int x_step, const Columns& y, int y_step,
                                  std::int64_t depth, const Term& term) {
#pragma GCC unroll 16
    for (int j = 0; j < Shape::packs; ++j) {
      const Real* const column = y(j);
      value total[Shape::rows];
#pragma GCC unroll 16
      for (int i = 0; i < Shape::rows; ++i) total[i] = device::load_pack<value>(column) + x[i];
      term.template add_factors<Shape::rows>(total, column + y_step, y_step, x + x_step, x_step, depth - 1);
#pragma GCC unroll 16
      for (int i = 0; i < Shape::rows; ++i) sum[i][j] = total[i];
    }
  }

  /// The same of coordinates in two parts.
  template <class Columns, class Term>
  void add_parts(const Real* __restrict x, int x_step, const Columns& y, int y_step, std::int64_t depth,
                 const Term& term) {
    for (std::int64_t k = 0; k < depth; k += 2) {
      value high[Shape::packs], low[Shape::packs];
#pragma GCC unroll 16
      for (int j = 0; j < Shape::packs; ++j) {
        high[j] = device::load_pack<value>(y(j) + k * y_step);
        low[j] = device::load_pack<value>(y(j) + (k + 1) * y_step);
      }
#pragma GCC unroll 16
      for (int i = 0; i < Shape::rows; ++i)
#pragma GCC unroll 16
        for (int j = 0; j < Shape::packs; ++j)
          take_in_parts(term, sum[i][j], high[j], low[j], x + k * x_step + i, x_step);
    }
  }

  void load(const Real* from, int pitch) {
#pragma GCC unroll 16
    for (int i = 0; i < Shape::rows; ++i)
#pragma GCC unroll 16
      for (int j = 0; j < Shape::packs; ++j) sum[i][j] = device::load_pack<value>(from + i * pitch + j * Shape::lanes);
  }

  /// store() of the sums times the factors of their points.
  template <class Factors>
  QUINTET_INLINE void store(Real* to, int pitch, const Factors& factors) const {
#pragma GCC unroll 16
    for (int i = 0; i < Shape::rows; ++i)
#pragma GCC unroll 16
      for (int j = 0; j < Shape::packs; ++j)
        device::store_pack(to + i * pitch + j * Shape::lanes, factors.weigh(sum[i][j], i, j * Shape::lanes));
  }

  void store(Real* to, int pitch) const {
#pragma GCC unroll 16
    for (int i = 0; i < Shape::rows; ++i)
#pragma GCC unroll 16
      for (int j = 0; j < Shape::packs; ++j) device::store_pack(to + i * pitch + j * Shape::lanes, sum[i][j]);
  }
};

/// Factors of the rows and columns of a register tile; none: row == nullptr. See point_factors.hpp.
template <class Real>
struct tile_factors {
  const Real *row, *col;

  /// The factors are multiplied first, so that (i, j) and (j, i) have the same bits.
  template <class Pack>
  Pack weigh(const Pack& squared, int i, int j) const {
    const Pack both = device::load_pack<Pack>(col + j) * row[i];
    return squared * both;
  }
};

/// Copies coordinates [k0, k0 + depth) of the points of one block into team memory, [coordinate][side].
template <class Real, class Shape, class Team>
inline void stage_block(const Team& team, const Real* panels, std::int64_t dim, std::int64_t block, std::int64_t k0,
                        Real* to) {
  struct alignas(16) chunk {
    Real value[16 / sizeof(Real)];
  };
  constexpr int width = 16 / int(sizeof(Real)), lanes = panel_points<Real>, chunks = lanes / width;
  const Real* from = panels + block * Shape::side * dim + k0 * lanes;
  for (int e = team.rank(); e < Shape::depth * Shape::side / width; e += team.size()) {
    const int part = e % chunks, k = e / chunks % Shape::depth, panel = e / (chunks * Shape::depth);
    const Real* source = from + (panel * dim + k) * lanes + part * width;
    Real* target = to + k * Shape::side + panel * lanes + part * width;
    *reinterpret_cast<chunk*>(target) = *reinterpret_cast<const chunk*>(source);
  }
}

template <class Shape>
struct micro_tiles {
  enum { per_row = Shape::side / Shape::cols, count = Shape::side / Shape::rows * per_row };
  static_assert(Shape::side % Shape::cols == 0 && Shape::side % Shape::rows == 0);
  static int row(int micro) { return micro / per_row * Shape::rows; }
  static int col(int micro) { return micro % per_row * Shape::cols; }
};

/// Device: every thread keeps its register tile while slices of the panels pass through team memory.
template <class Real, class Shape, class Team, class Term>
inline void staged_tile(const Team& team, const Real* rows, std::int64_t row_block, const Real* cols,
                        std::int64_t col_block, std::int64_t dim, tile_scratch<Real, Shape>& scratch,
                        const Term& term) {
  using micros = micro_tiles<Shape>;
  for (int first = 0; first < micros::count; first += team.size()) {
    const int micro = first + team.rank(), ti = micros::row(micro), tj = micros::col(micro);
    register_tile<Real, Shape> tile;
    tile.clear();
    for (std::int64_t k = 0; k < dim; k += Shape::depth) {
      stage_block<Real, Shape>(team, rows, dim, row_block, k, scratch.staged.rows);
      stage_block<Real, Shape>(team, cols, dim, col_block, k, scratch.staged.cols);
      team.barrier();
      const Real* columns = scratch.staged.cols + tj;
      if (micro < micros::count)
        tile.add(
            scratch.staged.rows + ti, Shape::side, [=](int j) { return columns + j * Shape::lanes; }, Shape::side,
            Shape::depth, term);
      team.barrier();
    }
    if (micro < micros::count) tile.store(scratch.values + ti * Shape::pitch + tj, Shape::pitch);
  }
}

/// Host: the panels are read in slices of `depth` coordinates that stay in the first-level cache while they serve a
/// whole strip of register tiles; partial sums wait in scratch.values. finish(ti, tj, tile) takes the register tile
/// with first row ti and first column tj when its sums are complete. It has to be inlined: a register tile whose
/// address some function knows is not kept in registers.
template <class Real, class Shape, class Finish, class Term = square_term<Real>>
inline void sliced_tile(const Real* rows, std::int64_t row_block, const Real* cols, std::int64_t col_block,
                        std::int64_t dim, tile_scratch<Real, Shape>& scratch, int used_rows, int used_cols,
                        const Finish& finish, const Term& term = {}) {
  constexpr int lanes = panel_points<Real>;
  static_assert(lanes % Shape::rows == 0, "a register tile's rows lie in one panel");
  for (std::int64_t k = 0; k < dim; k += Shape::depth) {
    const std::int64_t depth = dim - k < Shape::depth ? dim - k : std::int64_t(Shape::depth);
    for (int tj = 0; tj < used_cols; tj += Shape::cols) {
      const std::int64_t j0 = col_block * Shape::side + tj;
      for (int ti = 0; ti < used_rows; ti += Shape::rows) {
        Real* values = scratch.values + ti * Shape::pitch + tj;
        register_tile<Real, Shape> tile;
        if (k == 0)
          tile.clear();
        else
          tile.load(values, Shape::pitch);
        tile.add(
            coordinates(rows, dim, row_block * Shape::side + ti) + k * lanes, lanes,
            [=](int j) { return coordinates(cols, dim, j0 + j * Shape::lanes) + k * lanes; }, lanes, depth, term);
        if (k + depth < dim)
          tile.store(values, Shape::pitch);
        else
          finish(ti, tj, tile);
      }
    }
  }
}

/// Register tiles that read all coordinates where the panels are, for terms that take them at once and for as long as
/// they take.
template <class Real, class Shape, class Team, class Term>
inline void tile_in_place(const Team& team, const Real* rows, std::int64_t row_block, const Real* cols,
                          std::int64_t col_block, std::int64_t dim, tile_scratch<Real, Shape>& scratch, int used_rows,
                          int used_cols, const Term& term) {
  using micros = micro_tiles<Shape>;
  constexpr int lanes = panel_points<Real>;
  for (int micro = team.rank(); micro < micros::count; micro += team.size()) {
    const int ti = micros::row(micro), tj = micros::col(micro);
    if (ti >= used_rows || tj >= used_cols) continue;
    const std::int64_t j0 = col_block * Shape::side + tj;
    register_tile<Real, Shape> tile;
    tile.add(
        coordinates(rows, dim, row_block * Shape::side + ti), lanes,
        [=](int j) QUINTET_INLINE { return coordinates(cols, dim, j0 + j * Shape::lanes); }, lanes, dim, term);
    tile.store(scratch.values + ti * Shape::pitch + tj, Shape::pitch);
  }
}

/// values := reduced distances of the sums that rows of a tile hold, where is_needed(row). Every thread of the team
/// takes part, after a barrier; it ends with one.
template <int Dim, class Real, class Shape, class Team, class Needed>
QUINTET_INLINE inline void reduce_sums(const Team& team, const coordinate_term<Real>& term, Real* values,
                                       const Needed& is_needed) {
  if (Dim != other_metrics || term.kind != term_kind::power) return;
  typedef device::pack<Real, Shape::lanes> value;
  const root_of_sum<Real> root{{}, term.p};
  for_each_pack_in_tile<Shape::side, Shape::lanes>(team, Shape::side, [&](int i, int j) {
    Real* at = values + i * Shape::pitch + j;
    if (is_needed(i)) device::store_pack(at, root.reduced(device::load_pack<value>(at)));
  });
  team.barrier();
}

}  // namespace detail

/// Points of block `block` of `count` points; the rest of the block is padding.
template <class Shape>
inline int points_in_block(std::int64_t count, std::int64_t block) {
  const std::int64_t left = count - block * Shape::side;
  return int(left < Shape::side ? left : std::int64_t(Shape::side));
}

/// scratch.values := reduced distances by `term` (Dim other_metrics; by squares for all others), before factors, of the
/// points of block `row_block` of `rows` and block `col_block` of `cols`. A positive Dim is the panels' dimension,
/// otherwise it is `dim`. Every thread of the team takes part; it ends with a barrier. On the host, values beyond
/// used_rows and used_cols may be left out.
template <class Real, int Dim, class Shape, class Team>
QUINTET_INLINE inline void tile_sums(const Team& team, const Real* rows, std::int64_t row_block, const Real* cols,
                                     std::int64_t col_block, std::int64_t dim, const coordinate_term<Real>& term,
                                     detail::tile_scratch<Real, Shape>& scratch, int used_rows = Shape::side,
                                     int used_cols = Shape::side) {
  if constexpr (Dim > 0) dim = Dim;
  detail::with_term<Dim>(term, [&](const auto& of_coordinate) QUINTET_INLINE {
    if constexpr (takes_whole_rows(Dim))
      detail::tile_in_place(team, rows, row_block, cols, col_block, dim, scratch, used_rows, used_cols, of_coordinate);
    else if constexpr (Team::on_device)
      detail::staged_tile(team, rows, row_block, cols, col_block, dim, scratch, of_coordinate);
    else
      detail::sliced_tile<Real, Shape>(
          rows, row_block, cols, col_block, dim, scratch, used_rows, used_cols,
          [&](int ti, int tj, const auto& tile)
              QUINTET_INLINE { tile.store(scratch.values + ti * Shape::pitch + tj, Shape::pitch); },
          of_coordinate);
  });
  team.barrier();
  detail::reduce_sums<Dim, Real, Shape>(team, term, scratch.values, [&](int row) { return row < used_rows; });
}

}  // namespace quintet::pairwise
