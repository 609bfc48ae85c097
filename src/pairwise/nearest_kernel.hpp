// Sink: for every row point the K nearest column points, without the matrix.
//
// The order of candidates is total, (reduced distance, index), so a list is a function of the set of points seen: it
// does not depend on the order of the tiles or on who computed them.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "device/team.hpp"
#include "pairwise/dot_bounds.hpp"
#include "pairwise/minima.hpp"
#include "pairwise/point_factors.hpp"
#include "pairwise/tile_kernel.hpp"
#include "pairwise/triangle.hpp"

namespace quintet::pairwise {

/// Lists of the K nearest, ascending; unfilled places hold infinity and -1.
template <class Real>
struct nearest_lists {
  Real* value;          ///< [row][k]
  std::int32_t* index;  ///< [row][k]
  int k;
  /// While kernels of the host fill them, long lists are heaps (Williams 1964), so that a candidate costs log k instead
  /// of k: the farthest entry is at k - 1, its children at k - 2 and k - 3, and so on. See sort_heaps().
  bool is_heap = false;

  void clear(std::int64_t row) const {
    for (int e = 0; e < k; ++e) {
      value[row * k + e] = std::numeric_limits<Real>::infinity();
      index[row * k + e] = -1;
    }
  }

  bool accepts(std::int64_t row, Real candidate, std::int32_t candidate_index) const {
    const std::int64_t last = row * k + k - 1;
    return candidate < value[last] || (candidate == value[last] && candidate_index < index[last]);
  }

  /// Puts an accepted candidate into its place; the last entry falls out.
  void insert(std::int64_t row, Real candidate, std::int32_t candidate_index) const {
    Real* v = value + row * k;
    std::int32_t* at = index + row * k;
    int e = k - 1;
    for (; e > 0 && (candidate < v[e - 1] || (candidate == v[e - 1] && candidate_index < at[e - 1])); --e) {
      v[e] = v[e - 1];
      at[e] = at[e - 1];
    }
    v[e] = candidate;
    at[e] = candidate_index;
  }

  /// The same for a heap.
  void replace_farthest(std::int64_t row, Real candidate, std::int32_t candidate_index) const {
    Real* v = value + row * k + k - 1;
    std::int32_t* at = index + row * k + k - 1;
    const auto comes_after = [](Real x, std::int32_t i, Real y, std::int32_t j) { return x > y || (x == y && i > j); };
    int hole = 0;
    for (int child = 1; child < k; child = 2 * hole + 1) {
      if (child + 1 < k && comes_after(v[-child - 1], at[-child - 1], v[-child], at[-child])) ++child;
      if (!comes_after(v[-child], at[-child], candidate, candidate_index)) break;
      v[-hole] = v[-child];
      at[-hole] = at[-child];
      hole = child;
    }
    v[-hole] = candidate;
    at[-hole] = candidate_index;
  }

  /// insert() or replace_farthest(), for an accepted candidate; a GPU has no heaps.
  template <bool OnDevice>
  void take_in(std::int64_t row, Real candidate, std::int32_t candidate_index) const {
    if constexpr (!OnDevice)
      if (is_heap) return replace_farthest(row, candidate, candidate_index);
    insert(row, candidate, candidate_index);
  }
};

/// The smallest reduced distance of every row within every group of `blocks_per_group` column blocks, [row][group].
template <class Real>
struct minima_table {
  Real* value = nullptr;  ///< null: not wanted. Infinity before the first tile.
  std::int64_t groups = 0;
  std::int64_t blocks_per_group = 1;
  std::int64_t first_block = 0;  ///< the number, in the table, of the first block of the other side

  /// Takes in the minima of `lines` points of a tile; its other side is block `other_block`.
  template <class Team>
  void update(const Team& team, const Real* minima, std::int64_t first_row, int lines, std::int64_t other_block) const {
    if (value == nullptr) return;
    const std::int64_t group = (first_block + other_block) / blocks_per_group;
    for (int l = team.rank(); l < lines; l += team.size()) {
      Real& so_far = value[(first_row + l) * groups + group];
      so_far = minima[l] < so_far ? minima[l] : so_far;
    }
  }
};

template <class Real>
struct nearest_arguments {
  const Real* rows;
  const Real* cols;  ///< the same as `rows` when the points are compared with themselves
  std::int64_t dim, row_count, col_count;
  /// Rows and columns are one set; a point is not its own neighbour. Without it list_sharing::symmetric computes a
  /// rectangle of tiles, for the lists of both sides.
  bool same_points;
  nearest_lists<Real> list;   ///< [split][row][k]
  std::int64_t splits;        ///< parts of the column blocks, each with lists of its own
  std::int32_t* locks;        ///< list_sharing::symmetric: one for each block of points, zero
  minima_table<Real> minima;  ///< smallest reduced distance of every row and group of column blocks; may be absent
  point_factors<Real> factors = {};
  coordinate_term<Real> term = {};
  /// What lists hold of a point, and what decides between ties; null: as points are packed.
  const std::int32_t* row_number = nullptr;
  const std::int32_t* col_number = nullptr;
  /// list_sharing::symmetric without same_points: those of the columns.
  nearest_lists<Real> col_list = {};
  std::int32_t* col_locks = nullptr;
  minima_table<Real> col_minima = {};
  ///@{
  /// list_sharing::symmetric: which tiles; all of them for a count of 0.
  std::int64_t first_tile = 0, tile_count = 0;
  ///@}
  /// Lists and minima are of bounds, not of distances: `dim` words of these, and nothing of rows, cols and factors.
  dot_bounds bounds = {};
};

namespace detail {

template <class Real, class Shape>
struct nearest_scratch : tile_scratch<Real, Shape> {
  tile_minima<Real, Shape> minima;
};

/// Computes a tile, takes a point out of its own neighbourhood, and finds the minima.
template <class Real, int Dim, class Shape, class Team>
inline void candidate_tile(const Team& team, const nearest_arguments<Real>& a, tile_index block,
                           nearest_scratch<Real, Shape>& s) {
  if constexpr (Dim == rounded_products) {
    tile_bounds<Shape>(team, a.bounds, block, a.dim, s);
  } else if (Team::on_device || Dim == other_metrics || takes_whole_rows(Dim) || a.factors.row == nullptr) {
    tile_sums<Real, Dim, Shape>(team, a.rows, block.row, a.cols, block.col, a.dim, a.term, s);
    a.factors.template apply<Shape>(team, block, s.values);
  } else {
    // The same product, while the sums are in registers.
    sliced_tile<Real, Shape>(a.rows, block.row, a.cols, block.col, Dim > 0 ? Dim : a.dim, s, Shape::side, Shape::side,
                             [&](int ti, int tj, const auto& tile) QUINTET_INLINE {
                               tile.store(s.values + ti * Shape::pitch + tj, Shape::pitch,
                                          tile_factors<Real>{a.factors.row + block.row * Shape::side + ti,
                                                             a.factors.col + block.col * Shape::side + tj});
                             });
  }
  if (a.same_points && block.row == block.col) {
    for (int i = team.rank(); i < Shape::side; i += team.size())
      s.values[i * Shape::pitch + i] = std::numeric_limits<Real>::quiet_NaN();
    team.barrier();
  }
  find_minima<Real, Shape>(team, s.values, s.minima);
}

}  // namespace detail

/// Tile: (part of the columns, row block), or a tile of the triangle of blocks. Insertion into sorted lists (Knuth
/// 1998, 5.2.1) on the tiles of Goto, van de Geijn 2008.
template <class Real, int Dim, class Shape, list_sharing Sharing>
struct nearest_kernel {
  using shape = Shape;
  using scratch = detail::nearest_scratch<Real, Shape>;
  enum { threads = Shape::threads, emulated_threads = Shape::emulated_threads };
  nearest_arguments<Real> a;

  static std::int64_t tiles(const nearest_arguments<Real>& a) {
    const std::int64_t row_blocks = blocks_of(a.row_count);
    if (Sharing == list_sharing::owned) return a.splits * row_blocks;
    return a.same_points ? triangle_size(row_blocks) : row_blocks * blocks_of(a.col_count);
  }

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch& s) const {
    if constexpr (Sharing == list_sharing::symmetric) {
      // Diagonal tiles come first: points are packed near their neighbours, so lists are nearly right from the start.
      const std::int64_t row_blocks = blocks_of(a.row_count);
      const std::int64_t t = a.first_tile + tile;
      const tile_index block =
          a.same_points ? tile_by_diagonal(row_blocks, t) : tile_index{t % row_blocks, t / row_blocks};
      detail::candidate_tile<Real, Dim, Shape>(team, a, block, s);
      insert<false>(team, s, s.minima.row, block.row, block.col, 0);
      if (!a.same_points || block.row != block.col) insert<true>(team, s, s.minima.col, block.col, block.row, 0);
    } else {
      const std::int64_t split = tile / blocks_of(a.row_count), row_block = tile % blocks_of(a.row_count);
      const std::int64_t first_list = split * a.row_count;
      const int lines = points_in_block<Shape>(a.row_count, row_block);
      for (int l = team.rank(); l < lines; l += team.size()) a.list.clear(first_list + row_block * Shape::side + l);
      team.barrier();
      // Parts are whole groups of column blocks, so that one team alone writes an entry of the table of minima.
      const std::int64_t col_blocks = blocks_of(a.col_count), group = a.minima.blocks_per_group;
      const std::int64_t groups = (col_blocks + group - 1) / group;
      const std::int64_t first = groups * split / a.splits * group, end = groups * (split + 1) / a.splits * group;
      for (std::int64_t col_block = first; col_block < end && col_block < col_blocks; ++col_block) {
        detail::candidate_tile<Real, Dim, Shape>(team, a, {row_block, col_block}, s);
        insert<false>(team, s, s.minima.row, row_block, col_block, first_list);
        team.barrier();
      }
    }
  }

 private:
  static std::int64_t blocks_of(std::int64_t count) { return (count + Shape::side - 1) / Shape::side; }

  /// Calls insert_one(line, candidate) for all pairs of a tile that are not beyond last(line), a pack of them at a
  /// time: most packs hold none. Packs run along the rows of values, so they are candidates of a row, or lines that are
  /// columns.
  template <bool Transposed, class Last, class Insert>
  static QUINTET_INLINE void insert_packs(const scratch& s, const Real* minima, int lines, int candidates,
                                          const Last& last, const Insert& insert_one) {
    constexpr int lanes = Shape::lanes;
    typedef device::pack<Real, lanes> value;
    const auto whole_packs = [](int count) { return (count + lanes - 1) / lanes * lanes; };
    if constexpr (!Transposed) {
      for (int l = 0; l < lines; ++l) {
        if (!(minima[l] <= last(l))) continue;
        for (int e = 0; e < whole_packs(candidates); e += lanes) {
          const value limit = device::broadcast_pack<value>(last(l));
          std::uint32_t hits =
              lanes_up_to<Real, lanes>(device::load_pack<value>(s.values + l * Shape::pitch + e), limit);
          for (; hits != 0; hits &= hits - 1) insert_one(l, e + std::countr_zero(hits));
        }
      }
    } else {
      for (int l = 0; l < lines; l += lanes) {
        Real limits[lanes];
        bool any = false;
        const auto measure = [&](int lane) {
          const bool may = l + lane < lines && minima[l + lane] <= last(l + lane);
          limits[lane] = may ? last(l + lane) : -std::numeric_limits<Real>::infinity();
          any = any || may;
        };
        for (int lane = 0; lane < lanes; ++lane) measure(lane);
        if (!any) continue;
        value limit = device::load_pack<value>(limits);
        for (int e = 0; e < candidates; ++e) {
          std::uint32_t hits =
              lanes_up_to<Real, lanes>(device::load_pack<value>(s.values + e * Shape::pitch + l), limit);
          if (hits == 0) continue;
          for (; hits != 0; hits &= hits - 1) {
            const int lane = std::countr_zero(hits);
            insert_one(l + lane, e);
            limits[lane] = last(l + lane);
          }
          limit = device::load_pack<value>(limits);
        }
      }
    }
  }

  /// Inserts a tile into the lists of the points of one side of it: of its rows, or, transposed, of its columns.
  template <bool Transposed, class Team>
  void insert(const Team& team, const scratch& s, const Real* minima, std::int64_t block, std::int64_t other_block,
              std::int64_t first_list) const {
    constexpr int line_step = Transposed ? 1 : int(Shape::pitch), step = Transposed ? int(Shape::pitch) : 1;
    const bool of_columns = Transposed && !a.same_points;
    const nearest_lists<Real>& list = of_columns ? a.col_list : a.list;
    const std::int32_t* number = Transposed ? a.row_number : a.col_number;
    const std::int64_t first_row = block * Shape::side, first_other = other_block * Shape::side;
    const int lines = points_in_block<Shape>(of_columns ? a.col_count : a.row_count, block);
    const int candidates = points_in_block<Shape>(Transposed ? a.row_count : a.col_count, other_block);
    std::int32_t* lock = nullptr;
    if constexpr (Sharing == list_sharing::symmetric) {
      lock = (of_columns ? a.col_locks : a.locks) + block;
      team.lock(lock);
    }
    const auto insert_one = [&](int l, int e) QUINTET_INLINE {
      const std::int64_t row = first_list + first_row + l;
      const Real candidate = s.values[l * line_step + e * step];
      if (!(candidate <= list.value[row * list.k + list.k - 1])) return;
      const auto index = number == nullptr ? std::int32_t(first_other + e) : number[first_other + e];
      if (list.accepts(row, candidate, index)) list.template take_in<Shape::on_device != 0>(row, candidate, index);
    };
    const auto last = [&](int l) { return list.value[(first_list + first_row + l) * list.k + list.k - 1]; };
    if constexpr (Team::on_device) {
      for (int l = team.rank(); l < lines; l += team.size())
        if (minima[l] <= last(l))
          for (int e = 0; e < candidates; ++e) insert_one(l, e);
    } else {
      insert_packs<Transposed>(s, minima, lines, candidates, last, insert_one);
    }
    (of_columns ? a.col_minima : a.minima).update(team, minima, first_row, lines, other_block);
    if constexpr (Sharing == list_sharing::symmetric) team.unlock(lock);
  }
};

/// Joins the lists of all splits into the lists of split 0. Tile = merge_rows rows. Merging of sorted lists (Knuth
/// 1998, 5.2.4).
template <class Real, class Shape>
struct merge_lists_kernel {
  using shape = Shape;
  struct scratch {};
  enum { threads = Shape::threads, emulated_threads = Shape::emulated_threads, rows_per_tile = 64 };
  nearest_lists<Real> list;
  std::int64_t row_count, splits;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    for (std::int64_t e = team.rank(); e < rows_per_tile; e += team.size()) {
      const std::int64_t row = tile * rows_per_tile + e;
      if (row >= row_count) continue;
      for (std::int64_t split = 1; split < splits; ++split) {
        const std::int64_t from = (split * row_count + row) * list.k;
        for (int p = 0; p < list.k; ++p) {
          const bool is_used =
              list.index[from + p] >= 0 && list.accepts(row, list.value[from + p], list.index[from + p]);
          // The rest of a list that ascends is not used either.
          if (is_used)
            list.template take_in<Shape::on_device != 0>(row, list.value[from + p], list.index[from + p]);
          else if (!list.is_heap)
            break;
        }
      }
    }
  }
};

}  // namespace quintet::pairwise
