#include "svd/gram_qr.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#include "device/for_each.hpp"
#include "instantiate.hpp"
#include "quintet/core/profile.hpp"
#include "quintet/device/buffer.hpp"
#include "svd/gram_qr_steps.hpp"
#include "svd/jacobi.hpp"
#include "svd/jacobi_policies.hpp"
#include "svd/transfer.hpp"
#include "svd/workspace.hpp"

namespace quintet::svd {

namespace {

/// The triangles are one worker's.
constexpr int largest_gram = 512;
/// Fewer numbers stay in a cache while reflections pass over them, and shorter ones have little for the rows to gain.
constexpr int smallest_gram_size = 8192;
template <class Real>
constexpr int shortest_gram = sizeof(Real) == 4 ? 4 : 3;

/// Matrices in work at the same time hold so many bytes a thread, if there are several: what caches hold.
constexpr std::int64_t gram_memory = std::int64_t(1) << 22;
/// Whole groups of lanes for the rotations may hold more.
constexpr std::int64_t group_memory = std::int64_t(1) << 28;

gram_shape divide_rows(std::int32_t rows, std::int32_t cols, bool is_host) {
  gram_shape shape = {};
  shape.rows = rows;
  shape.cols = cols;
  // On the host a tile in the second-level cache; on a device four rows for each thread of a team.
  shape.tile_rows = !is_host ? 1024 : cols <= 128 ? 512 : cols <= 256 ? 256 : 128;
  shape.tiles = (rows + shape.tile_rows - 1) / shape.tile_rows;
  shape.parts = is_host ? std::clamp(shape.tiles / 2, 1, 32) : std::clamp(shape.tiles, 1, 128);
  // Columns an odd number of cache lines apart.
  shape.ld = shape.tile_rows + 16;
  shape.side = (cols + gram_columns - 1) / gram_columns * gram_columns;
  return shape;
}

/// What values alone have from the first R of a matrix.
enum completion_state : std::int32_t { may_be_complete, is_complete, needs_second_pass };

/// Some matrices in work. Arrays have their parts for one matrix after the other.
template <class Real>
struct gram_batch {
  gram_shape shape;
  stored_batch a, left, right;
  Real* q;                   ///< [tiles] A, then Q; where no Q is kept, one tile for each slot
  double* sums;              ///< [parts, side, side] of a Gram matrix; the first one becomes R of Q
  double* r;                 ///< [side, side] R of A
  Real *packed, *inverse;    ///< [side, side] and [side]: see solve_rows(); then the factor of Q in U
  Real *square, *u;          ///< [cols, cols] R for Jacobi; [values, cols] its left vectors
  double* solution;          ///< [values, cols] R2^-1 U_R
  Real* extreme;             ///< [parts, values] the element of largest size of each column of U in a part
  row_sizes<Real>* sizes;    ///< [parts]
  std::int32_t* completion;  ///< see completion_state; null where a first R is never enough
  double* column_sums;       ///< [tiles, cols]; null where means stay
  column_means<Real> means;
  std::int32_t* status;
  std::int32_t values;
  bool vectors, signs, keeps_q;
  double largest_square;  ///< of S_0 / S_n, up to which the values of a first R are those of A

  double* sums_of(std::int64_t matrix, int part) const {
    return sums + (matrix * shape.parts + part) * shape.side * shape.side;
  }
  double* r_of(std::int64_t matrix) const { return r + matrix * shape.side * shape.side; }
  Real* packed_of(std::int64_t matrix) const { return packed + matrix * shape.side * shape.side; }
  Real* inverse_of(std::int64_t matrix) const { return inverse + matrix * shape.side; }
  Real* tile_of(std::int64_t matrix, int tile) const { return q + (matrix * shape.tiles + tile) * shape.tile_size(); }
  Real* tile_in(std::int64_t slot, std::int64_t matrix, int tile) const {
    return keeps_q ? tile_of(matrix, tile) : q + slot * shape.tile_size();
  }
  double* column_sums_of(std::int64_t matrix, int tile) const {
    return column_sums + (matrix * shape.tiles + tile) * shape.cols;
  }
  Real* means_of(std::int64_t matrix) const { return means.data + matrix * means.stride; }
  bool centres() const { return column_sums != nullptr; }
  QUINTET_SVD_INLINE bool is_taken(std::int64_t matrix) const {
    return status[matrix] == code_ok && (completion == nullptr || completion[matrix] == needs_second_pass);
  }
  /// The tile of A, with zeros below its last row.
  template <class Map>
  QUINTET_SVD_INLINE void load(const Map& map, std::int64_t matrix, int tile, Real* to) const {
    if (!keeps_q) map.barrier();  // other threads may still read the last one here
    with_elements<Real>(a.type, a.data, [&](const auto* data) QUINTET_SVD_INLINE_LAMBDA {
      load_tile(map, shape, data + matrix * a.batch, a.row, a.column, tile, to);
    });
  }
  /// R for Jacobi, in the precision of A.
  template <class Map>
  QUINTET_SVD_INLINE void store_square(const Map& map, std::int64_t matrix) const {
    const int n = shape.cols;
    const double* of_matrix = r_of(matrix);
    Real* to = square + matrix * n * n;
    for_each_row(map, 0, n, [&](int j) QUINTET_SVD_INLINE_LAMBDA {
      for (int i = 0; i < n; ++i)
        to[std::int64_t(j) * n + i] = i <= j ? Real(of_matrix[std::int64_t(j) * shape.side + i]) : Real(0);
    });
  }

  /// f(tile) for the tiles of a part.
  template <class Function>
  QUINTET_SVD_INLINE void for_each_tile(int part, Function f) const {
    for (int tile = shape.first_tile(part); tile < shape.first_tile(part + 1); ++tile) f(tile);
  }
};

template <class Map>
QUINTET_SVD_INLINE void set_zero_sums(const Map& map, const gram_shape& shape, double* sums) {
  const std::int64_t count = std::int64_t(shape.side) * shape.side;
  for (std::int64_t i = map.team_first(); i < count; i += map.team_step()) sums[i] = 0;
  map.barrier();
}

/// Of a part, by what each thread has seen.
template <class Map, class Real>
QUINTET_SVD_INLINE void note_sizes(const Map& map, const gram_batch<Real>& all, std::int64_t index,
                                   const row_sizes<Real>& own) {
  const row_sizes<Real> sizes = sizes_of_team(map, own);
  if (map.leads_team()) all.sizes[index] = sizes;
}

/// The tiles of A, their Gram matrix and the sizes of rows: a part of the rows of one matrix.
template <class Real>
struct load_and_multiply {
  gram_batch<Real> all;

  template <class Map>
  QUINTET_SVD_INLINE void operator()(const Map& map, std::int64_t index, std::int64_t slot) const {
    const std::int64_t matrix = index / all.shape.parts;
    const int part = int(index % all.shape.parts);
    double* sums = all.sums_of(matrix, part);
    set_zero_sums(map, all.shape, sums);
    row_sizes<Real> sizes;
    all.for_each_tile(part, [&](int tile) QUINTET_SVD_INLINE_LAMBDA {
      Real* to = all.tile_in(slot, matrix, tile);
      all.load(map, matrix, tile, to);
      if (all.centres())
        sum_columns_of_tile(map, matrix, tile, to);
      else
        add_row_sizes(map, all.shape, tile, static_cast<const Real*>(to), sizes);
      add_gram<double>(map, all.shape, tile, static_cast<const Real*>(to), sums);
    });
    note_sizes(map, all, index, sizes);
  }

 private:
  template <class Map>
  QUINTET_SVD_INLINE void sum_columns_of_tile(const Map& map, std::int64_t matrix, int tile, const Real* from) const {
    const int padded = padded_tile_rows<Map, double>(all.shape.rows_in(tile));
    double* sums = all.column_sums_of(matrix, tile);
    for_each_row(map, 0, all.shape.cols, [&](int j) QUINTET_SVD_INLINE_LAMBDA {
      sums[j] = sum_tile_column<Map>(from + std::int64_t(j) * all.shape.ld, padded);
    });
  }
};

/// The sum over all parts of a matrix, in place of the first one: pairs, then pairs of pairs.
template <class Map, class Real>
QUINTET_SVD_INLINE double* add_parts(const Map& map, const gram_batch<Real>& all, std::int64_t matrix) {
  double* first = all.sums_of(matrix, 0);
  const std::int64_t count = std::int64_t(all.shape.side) * all.shape.side;
  for (int apart = 1; apart < all.shape.parts; apart *= 2)
    for (int part = 0; part + apart < all.shape.parts; part += 2 * apart) {
      double* sums = all.sums_of(matrix, part);
      const double* other = all.sums_of(matrix, part + apart);
      for (std::int64_t i = map.team_first(); i < count; i += map.team_step()) sums[i] += other[i];
    }
  map.barrier();
  return first;
}

/// Whether no row differs much in size from another one, of A without its means where they are taken off.
template <class Real>
QUINTET_SVD_INLINE bool has_rows_of_one_size(const gram_batch<Real>& all, std::int64_t matrix) {
  row_sizes<Real> rows;
  for (int part = 0; part < all.shape.parts; ++part) rows.add(all.sizes[matrix * all.shape.parts + part]);
  return rows.are_within(badly_scaled_ratio<Real>);
}

/// A pivot below this part of its square is rounding errors of a Gram matrix in double; or, in float, those of Q make
/// the second pass fail.
template <class Real>
constexpr double lost_pivot(int n) {
  constexpr double epsilon = std::numeric_limits<Real>::epsilon();
  return std::max(n * std::numeric_limits<double>::epsilon(), 4 * epsilon * epsilon);
}

/// R of A from its Gram matrix, or code_wants_reflections. One matrix.
template <class Real>
struct factorise_first {
  gram_batch<Real> all;

  template <class Map>
  QUINTET_SVD_INLINE void operator()(const Map& map, std::int64_t matrix) const {
    const int n = all.shape.cols, side = all.shape.side;
    const double* sums = add_parts(map, all, matrix);
    double* r = all.r_of(matrix);
    const std::int64_t count = std::int64_t(side) * side;
    for (std::int64_t i = map.team_first(); i < count; i += map.team_step()) r[i] = sums[i];
    map.barrier();
    if (all.centres()) centre(map, matrix, r);
    const bool suits = is_well_scaled(matrix, r) && factorise_gram(map, r, n, side, lost_pivot<Real>(n));
    if (map.leads_team()) {
      all.status[matrix] = suits ? code_ok : code_wants_reflections;
      if (all.completion != nullptr) all.completion[matrix] = suits ? first_state(r, n, side) : needs_second_pass;
    }
    if (!suits) return;
    if (all.completion != nullptr) all.store_square(map, matrix);
    map.barrier();
    Real *packed = all.packed_of(matrix), *inverse = all.inverse_of(matrix);
    for_each_row(map, 0, side, [&](int j) QUINTET_SVD_INLINE_LAMBDA {
      double* column = r + std::int64_t(j) * side;
      for (int k = 0; k < side; ++k) packed[packed_place(k, j, side)] = j < n && k < j ? Real(-column[k]) : Real(0);
      inverse[j] = j < n ? Real(1 / column[j]) : Real(0);
      // What the rows are solved with is what R is made of.
      for (int k = 0; k <= j && j < n; ++k) column[k] = double(Real(column[k]));
    });
    map.barrier();
  }

 private:
  /// S_0 is at least, and S_n at most, the size of any diagonal element of R.
  QUINTET_SVD_INLINE completion_state first_state(const double* r, int n, int side) const {
    double least = r[0], largest = r[0];
    for (int j = 1; j < n; ++j) {
      least = smaller(least, r[std::int64_t(j) * side + j]);
      largest = larger(largest, r[std::int64_t(j) * side + j]);
    }
    return largest * largest <= all.largest_square * least * least ? may_be_complete : needs_second_pass;
  }

  /// Squares in range, so that nothing has to be scaled; rows and columns of about one size (NaN is not).
  QUINTET_SVD_INLINE bool is_well_scaled(std::int64_t matrix, const double* g) const {
    constexpr double large = sizeof(Real) == 4 ? 0x1p120 : 0x1p400;
    double least = large, largest = 0;
    for (int j = 0; j < all.shape.cols; ++j) {
      const double square = g[std::int64_t(j) * all.shape.side + j];
      if (!(square > 1 / large && square < large)) return false;
      least = smaller(least, square);
      largest = larger(largest, square);
    }
    const double ratio = double(badly_scaled_ratio<Real>);
    return largest <= ratio * ratio * least && (all.centres() || has_rows_of_one_size(all, matrix));
  }

  /// The means, and G without them. The sums of whole columns take the place of those of the first tile.
  template <class Map>
  QUINTET_SVD_INLINE void centre(const Map& map, std::int64_t matrix, double* g) const {
    const int n = all.shape.cols;
    double* sums = all.column_sums_of(matrix, 0);
    Real* means = all.means_of(matrix);
    for_each_row(map, 0, n, [&](int j) QUINTET_SVD_INLINE_LAMBDA {
      compensated_sum<double> sum;
      for (int tile = 0; tile < all.shape.tiles; ++tile) sum.add(all.column_sums_of(matrix, tile)[j]);
      sums[j] = sum.total();
      means[j] = Real(sums[j] / double(all.shape.rows));
    });
    map.barrier();
    centre_gram(map, g, n, all.shape.side, double(all.shape.rows), static_cast<const double*>(sums),
                static_cast<const Real*>(means));
  }
};

/// A part of the rows of Q = A R^-1, and of its Gram matrix.
template <class Real>
struct solve_and_multiply {
  gram_batch<Real> all;

  template <class Map>
  QUINTET_SVD_INLINE void operator()(const Map& map, std::int64_t index, std::int64_t slot) const {
    const std::int64_t matrix = index / all.shape.parts;
    const int part = int(index % all.shape.parts);
    if (!all.is_taken(matrix)) return;
    double* sums = all.sums_of(matrix, part);
    set_zero_sums(map, all.shape, sums);
    row_sizes<Real> sizes;
    all.for_each_tile(part, [&](int tile) QUINTET_SVD_INLINE_LAMBDA {
      Real* q = all.tile_in(slot, matrix, tile);
      if (!all.keeps_q) all.load(map, matrix, tile, q);
      if (all.centres()) {
        centre_tile(map, all.shape, tile, static_cast<const Real*>(all.means_of(matrix)), q);
        add_row_sizes(map, all.shape, tile, static_cast<const Real*>(q), sizes);
        map.barrier();  // other threads solve these rows
      }
      solve_rows(map, all.shape, tile, q, all.packed_of(matrix), all.inverse_of(matrix));
      add_gram<Real>(map, all.shape, tile, static_cast<const Real*>(q), sums);
    });
    if (all.centres()) note_sizes(map, all, index, sizes);
  }
};

/// Columns of Q may be so far from orthonormal, as a Frobenius norm, that the second pass makes them orthonormal to
/// working accuracy: the condition of Q is below sqrt((1 + d) / (1 - d)).
constexpr double largest_deviation = 0.25;

/// R2 of Q, and R = R2 R1 for Jacobi; or code_wants_reflections, where Q is too far from orthonormal. One matrix.
template <class Real>
struct factorise_second {
  gram_batch<Real> all;

  template <class Map>
  QUINTET_SVD_INLINE void operator()(const Map& map, std::int64_t matrix) const {
    if (!all.is_taken(matrix)) return;
    map.barrier();  // before the status changes
    const int n = all.shape.cols, side = all.shape.side;
    double *sums = add_parts(map, all, matrix), *r = all.r_of(matrix);
    const double deviation = deviation_of(map, sums, n, side);
    if (!(deviation <= largest_deviation * largest_deviation) || !has_rows_of_one_size(all, matrix) ||
        !factorise_gram(map, sums, n, side, lost_pivot<double>(n))) {
      if (map.leads_team()) all.status[matrix] = code_wants_reflections;
      return;
    }
    multiply_triangles(map, sums, r, n, side);
    all.store_square(map, matrix);
  }

 private:
  /// |Q^T Q - I|^2, Frobenius.
  template <class Map>
  QUINTET_SVD_INLINE double deviation_of(const Map& map, const double* sums, int n, int side) const {
    double deviation = 0;
    for_each_row(map, 0, n, [&](int j) QUINTET_SVD_INLINE_LAMBDA {
      for (int i = 0; i <= j; ++i) {
        const double error = sums[std::int64_t(j) * side + i] - (i == j ? 1 : 0);
        deviation += (i == j ? 1 : 2) * error * error;
      }
    });
    return map.team_sum(deviation);
  }
};

/// Roundings that a term of a Gram matrix passes at most.
inline double roundings_of_sum(const gram_shape& shape) {
  constexpr int chain = terms_of_short_sum;
  int levels = 0;
  while (1 << levels < shape.parts) ++levels;
  return double(chain + shape.tile_rows / chain + 8 + shape.tiles / shape.parts + 1 + levels);
}

/// Up to which square of S_0 / S_n the values of the first R are those of A.
///
/// Float: a product of two floats is exact in double, so the Gram matrix is wrong by at most c u |A|_F^2 with u = 2^-53
/// and c of roundings_of_sum(), and Cholesky's factorisation adds n + 1 to c (Higham 2002, 10.3). Squares of values are
/// wrong by (c + n + 1) n u S_0^2 then, and values by half of that times (S_0 / S_j)^2 of themselves. That has to be
/// below half a rounding error of float.
///
/// Double: an error of e S_0^2 of the sums is one of e / 2 (S_0 / S_j)^2 of S_j. The second pass of two has e / 2 too.
/// Rows that are solved for it come on top. Equal terms round alike: e is up to 6 eps, and in proportion to c. With
/// c = 64 the limit is n / 4, so that e is worth at most 3 n / 4 eps.
template <class Real>
double largest_square_of_one_pass(const gram_shape& shape) {
  const double n = shape.cols;
  if constexpr (sizeof(Real) == 4) return 0x1p30 / ((roundings_of_sum(shape) + n + 1) * n);
  return 16 * n / roundings_of_sum(shape);
}

/// Whether the values of the first R are those of A: see largest_square_of_one_pass().
template <class Real>
struct judge_values {
  const std::int32_t* status;
  std::int32_t* completion;
  stored_batch s;
  std::int32_t values;
  double largest_square;

  void operator()(std::int64_t matrix) const {
    if (status[matrix] != code_ok || completion[matrix] != may_be_complete) return;
    const Real* of = static_cast<const Real*>(s.data) + matrix * s.batch;
    const double ratio = double(of[0]) / double(of[(values - 1) * s.column]);
    completion[matrix] = ratio * ratio <= largest_square ? is_complete : needs_second_pass;
  }
};

/// Passes over one matrix, which stays in a cache. The bits are those of the launches one after the other.
template <class Real>
struct factorise_whole {
  gram_batch<Real> all;
  bool first_pass, second_pass;

  template <class Map>
  void operator()(const Map& map, std::int64_t matrix, std::int64_t slot) const {
    const std::int64_t first = matrix * all.shape.parts, last = first + all.shape.parts;
    if (first_pass) {
      for (std::int64_t part = first; part < last; ++part) load_and_multiply<Real>{all}(map, part, slot);
      factorise_first<Real>{all}(map, matrix);
    }
    if (!second_pass) return;
    for (std::int64_t part = first; part < last; ++part) solve_and_multiply<Real>{all}(map, part, slot);
    factorise_second<Real>{all}(map, matrix);
  }
};

/// body(map, 0, slot), ..., body(map, count - 1, slot), by as many slots as there are tiles of memory.
template <class Body>
struct in_slots {
  Body body;
  std::int64_t count, slots;

  template <class Map>
  QUINTET_SVD_INLINE void operator()(const Map& map, std::int64_t slot) const {
    for (std::int64_t index = slot; index < count; index += slots) body(map, index, slot);
  }
};

/// W = R2^-1 U_R, U = Q W: a column of W per thread; a tile has four of them on the host, 64 on a device.
template <class Real>
struct solve_vectors {
  gram_batch<Real> all;

  template <class Map>
  static constexpr int columns() {
    return Map::row_cyclic ? int(gram_columns) : 64;
  }
  template <class Map>
  std::int64_t blocks() const {
    return (all.values + columns<Map>() - 1) / columns<Map>();
  }
  template <class Map>
  QUINTET_SVD_INLINE void operator()(const Map& map, std::int64_t index) const {
    const std::int64_t matrix = index / blocks<Map>();
    if (!all.is_taken(matrix)) return;
    const int n = all.shape.cols, side = all.shape.side, first = int(index % blocks<Map>()) * columns<Map>();
    const int rest = (all.values + gram_columns - 1) / gram_columns * gram_columns - first;
    Real* packed = all.packed_of(matrix);
    for_each_row(map, 0, rest < columns<Map>() ? rest : columns<Map>(), [&](int e) QUINTET_SVD_INLINE_LAMBDA {
      const int j = first + e;
      if (j >= all.values) {
        for (int i = 0; i < n; ++i) packed[packed_place(i, j, side)] = 0;
        return;
      }
      double* x = all.solution + (matrix * all.values + j) * n;
      const Real* from = all.u + (matrix * all.values + j) * n;
      for (int i = 0; i < n; ++i) x[i] = double(from[i]);
      solve_triangle<Map>(all.sums_of(matrix, 0), x, n, side);
      for (int i = 0; i < n; ++i) packed[packed_place(i, j, side)] = Real(x[i]);
    });
  }
};

/// The element of largest size of each column of U in a part of the rows; the first one among equals.
template <class Real>
struct find_extremes {
  gram_batch<Real> all;

  template <class Map>
  QUINTET_SVD_INLINE void operator()(const Map& map, std::int64_t index) const {
    using lanes = gram_map<Map, Real>;
    const std::int64_t matrix = index / all.shape.parts;
    const int part = int(index % all.shape.parts);
    if (!all.is_taken(matrix)) return;
    Real* extreme = all.extreme + index * all.values;
    const int blocks = (all.values + gram_columns - 1) / gram_columns;
    for_each_row(map, 0, all.values, [&](int j) QUINTET_SVD_INLINE_LAMBDA { extreme[j] = 0; });
    map.barrier();
    // Four columns are one thread's, so that the order of the rows is known.
    for_each_row(map, 0, blocks, [&](int block) QUINTET_SVD_INLINE_LAMBDA {
      const int j = block * gram_columns;
      all.for_each_tile(part, [&](int tile) QUINTET_SVD_INLINE_LAMBDA {
        const Real* q = all.tile_of(matrix, tile);
        for (int first = 0; first < all.shape.rows_in(tile); first += gram_rows<Map, Real>)
          multiply_rows<Map>(all.shape, q + first, all.packed_of(matrix) + std::int64_t(j) * all.shape.side,
                             [&](int, int e, const auto& products) QUINTET_SVD_INLINE_LAMBDA {
                               if (j + e >= all.values) return;
                               for (int i = 0; i < lanes::chunk; ++i) {
                                 const Real value = lane_of(products, i);
                                 if (absolute(value) > absolute(extreme[j + e])) extreme[j + e] = value;
                               }
                             });
      });
    });
  }
};

/// Columns of U and V whose extreme is negative change their signs. One matrix.
template <class Real>
struct fix_signs {
  gram_batch<Real> all;

  template <class Map>
  QUINTET_SVD_INLINE void operator()(const Map& map, std::int64_t matrix) const {
    if (!all.is_taken(matrix)) return;
    const int n = all.shape.cols;
    Real* packed = all.packed_of(matrix);
    for_each_row(map, 0, all.values, [&](int j) QUINTET_SVD_INLINE_LAMBDA {
      Real extreme = 0;
      for (int part = 0; part < all.shape.parts; ++part) {
        const Real value = all.extreme[(matrix * all.shape.parts + part) * all.values + j];
        if (absolute(value) > absolute(extreme)) extreme = value;
      }
      if (!(extreme < 0)) return;
      for (int i = 0; i < n; ++i) packed[packed_place(i, j, all.shape.side)] *= -1;
      with_elements<Real>(all.right.type, all.right.data, [&](auto* data) QUINTET_SVD_INLINE_LAMBDA {
        using stored = std::remove_reference_t<decltype(*data)>;
        for (int i = 0; i < n; ++i) {
          stored& value = data[matrix * all.right.batch + i * all.right.row + j * all.right.column];
          value = to_storage<stored>(Real(0) - Real(value));
        }
      });
    });
  }
};

/// U = Q W to the caller's memory: a part of the rows of one matrix.
template <class Real>
struct store_left {
  gram_batch<Real> all;

  template <class Map>
  QUINTET_SVD_INLINE void operator()(const Map& map, std::int64_t index) const {
    constexpr int height = gram_rows<Map, Real>;
    const std::int64_t matrix = index / all.shape.parts;
    const int part = int(index % all.shape.parts);
    if (!all.is_taken(matrix)) return;
    all.for_each_tile(part, [&](int tile) QUINTET_SVD_INLINE_LAMBDA {
      const int rows = all.shape.rows_in(tile);
      for (int first = map.team_first() * height; first < rows; first += map.team_step() * height)
        store_rows<Map>(matrix, tile, first, rows);
    });
  }

 private:
  template <class Map>
  QUINTET_SVD_INLINE void store_rows(std::int64_t matrix, int tile, int first, int rows) const {
    const Real *q = all.tile_of(matrix, tile) + first, *packed = all.packed_of(matrix);
    const std::int64_t row = std::int64_t(tile) * all.shape.tile_rows + first;
    with_elements<Real>(all.left.type, all.left.data, [=, this](auto* data) QUINTET_SVD_INLINE_LAMBDA {
      auto* to = data + matrix * all.left.batch + row * all.left.row;
      for (int j = 0; j < all.values; j += gram_columns)
        store_block<Map>(q, packed + std::int64_t(j) * all.shape.side, to + j * all.left.column, rows - first,
                         all.values - j);
    });
  }

  /// A register tile, as far as there are rows and columns. Zeros become +0.
  template <class Map, class Stored>
  QUINTET_SVD_INLINE void store_block(const Real* q, const Real* packed, Stored* to, int rows, int columns) const {
    using lanes = gram_map<Map, Real>;
    if constexpr (Map::row_cyclic) {
      Real products[gram_columns * gram_rows<Map, Real>];
      multiply_rows<Map>(all.shape, q, packed, [&](int i, int e, const auto& value) QUINTET_SVD_INLINE_LAMBDA {
        device::store_pack(products + e * gram_rows<Map, Real> + i * lanes::chunk, value);
      });
      store_numbers<gram_rows<Map, Real>>(products, to, std::min(rows, gram_rows<Map, Real>),
                                          std::min(columns, int(gram_columns)));
    } else {
      multiply_rows<Map>(all.shape, q, packed, [&](int i, int e, Real value) QUINTET_SVD_INLINE_LAMBDA {
        if (i < rows && e < columns) to[i * all.left.row + e * all.left.column] = to_storage<Stored>(value + Real(0));
      });
    }
  }

  template <int Height, class Stored>
  void store_numbers(const Real* products, Stored* to, int rows, int columns) const {
    const std::int64_t row = all.left.row, column = all.left.column;
    const auto value = [&](int i, int e) { return to_storage<Stored>(products[e * Height + i] + Real(0)); };
    if (column == 1 && columns == gram_columns) {
      for (int i = 0; i < rows; i += gram_columns) {
        using square = device::pack<Real, gram_columns>;
        square packs[gram_columns];
        for (int e = 0; e < gram_columns; ++e) packs[e] = device::load_pack<square>(products + e * Height + i);
        device::transpose_packs<gram_columns>(packs);
        for (int e = 0; e < gram_columns && i + e < rows; ++e) {
          Stored* line = to + (i + e) * row;
          for (int k = 0; k < gram_columns; ++k) line[k] = to_storage<Stored>(Real(packs[e][k]) + Real(0));
        }
      }
    } else if (row == 1) {
      for (int e = 0; e < columns; ++e)
        for (int i = 0; i < rows; ++i) to[e * column + i] = value(i, e);
    } else {
      for (int i = 0; i < rows; ++i)
        for (int e = 0; e < columns; ++e) to[i * row + e * column] = value(i, e);
    }
  }
};

template <class Real>
stored_batch from_matrix(stored_batch batch, std::int64_t first) {
  if (batch.data != nullptr)
    with_elements<Real>(batch.type, batch.data, [&](auto* data) { batch.data = data + first * batch.batch; });
  return batch;
}

/// Who has a matrix: one thread with its rows in registers on the host, a team on a device. The first sums, and the
/// triangles, are in double.
template <class Real>
struct gram_on_host {
  enum { is_host = 1 };
  using rows = host_rows<Real>;
  using sums = host_rows<double>;
};
template <class Real>
struct gram_on_device {
  enum { is_host = 0 };
  using rows = gpu_large<Real>;
  using sums = gpu_large<double>;
};

/// The matrices [first, first + count) of a job.
template <class Real, class Place>
class gram_run {
 public:
  gram_run(const jacobi_job<Real>& job, const column_means<Real>& means, const gram_shape& shape, std::int64_t count,
           const Device& device)
      : job_(job),
        means_(means),
        device_(device),
        triangle_(std::int64_t(shape.side) * shape.side),
        keeps_q_(job.vectors || means.data != nullptr),
        slots_(Place::is_host ? std::min<std::int64_t>(threads(), count * shape.parts) : count * shape.parts),
        q_((keeps_q_ ? count * shape.tiles : slots_) * shape.tile_size(), device),
        packed_(count * triangle_, device),
        inverse_(count * shape.side, device),
        square_(count * shape.cols * shape.cols, device),
        u_(job.vectors ? count * shape.cols * job.values : 0, device),
        solution_(job.vectors ? count * shape.cols * job.values : 0, device),
        sums_(count * shape.parts * triangle_, device),
        r_(count * triangle_, device),
        column_sums_(means.data != nullptr ? count * shape.tiles * shape.cols : 0, device),
        sizes_(count * shape.parts, device),
        completion_(count, device) {
    all_.shape = shape;
    all_.values = job.values;
    all_.vectors = job.vectors;
    all_.signs = job.canonical && !job.sign_by_right && job.vectors;
    all_.keeps_q = keeps_q_;
    all_.largest_square = largest_square_of_one_pass<Real>(shape);
    extreme_ = Buffer<Real>(all_.signs ? count * shape.parts * job.values : 0, device);
    all_.q = q_.data();
    all_.packed = packed_.data();
    all_.inverse = inverse_.data();
    all_.square = square_.data();
    all_.u = u_.data();
    all_.solution = solution_.data();
    all_.sums = sums_.data();
    all_.r = r_.data();
    all_.sizes = sizes_.data();
    all_.column_sums = means.data != nullptr ? column_sums_.data() : nullptr;
    all_.extreme = extreme_.data();
    const bool has_all_values = !job.vectors && job.values == job.cols;
    all_.completion = has_all_values && !all_.centres() ? completion_.data() : nullptr;
  }

  void run(std::int64_t first, std::int64_t count, std::int64_t batch) {
    all_.a = from_matrix<Real>(job_.a, first);
    all_.left = from_matrix<Real>(job_.left, first);
    all_.right = from_matrix<Real>(job_.right, first);
    all_.status = job_.status + first;
    all_.means = {means_.data + (all_.centres() ? first * means_.stride : 0), means_.stride};
    const std::int64_t parts = count * all_.shape.parts;
    if (all_.completion != nullptr) {
      factorise(count, parts, true, false);
      rotate(first, batch, accepted(count, may_be_complete));
      device::for_each(count,
                       judge_values<Real>{all_.status, all_.completion, from_matrix<Real>(job_.s, first), all_.values,
                                          all_.largest_square},
                       device_);
      if (accepted(count, needs_second_pass).size() == 0) return;
      factorise(count, parts, false, true);
      return rotate(first, batch, accepted(count, needs_second_pass));
    }
    factorise(count, parts, true, true);
    rotate(first, batch, accepted(count, may_be_complete));
    if (!all_.vectors) return;
    const stage_region stage("finish");
    const solve_vectors<Real> solution{all_};
    launch<sums>(solution, count * solution.template blocks<typename sums::map>());
    if (all_.signs) {
      launch<rows>(find_extremes<Real>{all_}, parts);
      launch<rows>(fix_signs<Real>{all_}, count);
    }
    launch<rows>(store_left<Real>{all_}, parts);
  }

 private:
  using rows = typename Place::rows;
  using sums = typename Place::sums;

  template <class Policy, class Body>
  void launch(const Body& body, std::int64_t tiles) {
    launch_body<Policy>(body, tiles, device_);
  }

  /// Where Q is kept every one has its own memory.
  template <class Policy, class Body>
  void launch_in_slots(const Body& body, std::int64_t count) {
    const std::int64_t slots = keeps_q_ ? count : std::min(slots_, count);
    launch<Policy>(in_slots<Body>{body, count, slots}, slots);
  }

  void factorise(std::int64_t count, std::int64_t parts, bool first_pass, bool second_pass) {
    const stage_region stage("qr");
    if constexpr (Place::is_host)
      if (count >= 2 * threads() || all_.shape.parts == 1)
        return launch_in_slots<rows>(factorise_whole<Real>{all_, first_pass, second_pass}, count);
    if (first_pass) {
      launch_in_slots<sums>(load_and_multiply<Real>{all_}, parts);
      launch<sums>(factorise_first<Real>{all_}, count);
    }
    if (!second_pass) return;
    launch_in_slots<rows>(solve_and_multiply<Real>{all_}, parts);
    launch<sums>(factorise_second<Real>{all_}, count);
  }

  /// The places of the matrices that QR has taken and that are in this state.
  Buffer<std::int64_t> accepted(std::int64_t count, completion_state state) const {
    std::vector<std::int32_t> status(count), completion(count, state);
    const std::int64_t bytes = count * std::int64_t(sizeof(std::int32_t));
    quintet::detail::copy(status.data(), Device::host(), all_.status, device_, bytes);
    if (all_.completion != nullptr)
      quintet::detail::copy(completion.data(), Device::host(), all_.completion, device_, bytes);
    std::vector<std::int64_t> places;
    for (std::int64_t b = 0; b < count; ++b)
      if (status[b] == code_ok && completion[b] == state) places.push_back(b);
    return {places, device_};
  }

  /// S, V and the left vectors of R.
  void rotate(std::int64_t first, std::int64_t batch, const Buffer<std::int64_t>& index) {
    const stage_region stage("rotate");
    const std::int64_t n = all_.shape.cols;
    jacobi_job<Real> job = job_;
    job.a = {all_.square, scalar_type_of<Real>(), n * n, 1, n};
    job.left = {all_.u, scalar_type_of<Real>(), n * job.values, 1, n};
    job.right = all_.right;
    job.s = from_matrix<Real>(job_.s, first);
    job.status = all_.status;
    job.sweeps = job_.sweeps + first;
    job.index = index.data();
    job.first = 0;
    job.count = index.size();
    job.rows = std::int32_t(n);
    job.left_cols = job.vectors ? job.values : 0;
    job.preconditioner = route::direct;
    job.is_triangle = true;
    job.defer_badly_scaled = job.defer_out_of_range = false;
    job.canonical = job.canonical && job.sign_by_right;
    run_jacobi(job, batch, device_);
  }

  jacobi_job<Real> job_;
  column_means<Real> means_;
  Device device_;
  std::int64_t triangle_;
  bool keeps_q_;
  std::int64_t slots_;
  Buffer<Real> q_, packed_, inverse_, square_, u_, extreme_;
  Buffer<double> solution_, sums_, r_, column_sums_;
  Buffer<row_sizes<Real>> sizes_;
  Buffer<std::int32_t> completion_;
  gram_batch<Real> all_ = {};
};

/// Matrices that are in work at the same time.
std::int64_t matrices_of_step(std::int64_t count, std::int64_t bytes, bool is_host) {
  if (!is_host) return std::clamp<std::int64_t>(device_workspace / bytes, 1, count);
  constexpr std::int64_t group = 16;
  const std::int64_t fitting = std::max<std::int64_t>(gram_memory * threads() / bytes, 1),
                     rounded = (fitting + group - 1) / group * group;
  return std::min(count, rounded * bytes <= group_memory * threads() ? rounded : fitting);
}

template <class Real, class Place>
void run_gram_qr_at(const jacobi_job<Real>& job, const column_means<Real>& means, std::int64_t batch,
                    const Device& device) {
  const gram_shape shape = divide_rows(job.rows, job.cols, Place::is_host);
  const std::int64_t bytes = shape.tiles * shape.tile_size() * std::int64_t(sizeof(Real)) +
                             shape.parts * std::int64_t(shape.side) * shape.side * std::int64_t(sizeof(double));
  const std::int64_t step = matrices_of_step(job.count, bytes, Place::is_host);
  gram_run<Real, Place> run(job, means, shape, step, device);
  for (std::int64_t first = 0; first < job.count; first += step)
    run.run(first, std::min(step, job.count - first), batch);
}

}  // namespace

template <class Real>
bool suits_gram_qr(const jacobi_job<Real>& job) {
  const std::int64_t m = job.rows, n = job.cols;
  return job.starts_from_eigenvectors && job.preconditioner == route::triangle && n >= 2 && n <= largest_gram &&
         m >= shortest_gram<Real> * n && m * n >= smallest_gram_size && job.left_cols <= n;
}

template <class Real>
void run_gram_qr(const jacobi_job<Real>& job, const column_means<Real>& means, std::int64_t batch,
                 const Device& device) {
  if (device.kind() == device_kind::host)
    run_gram_qr_at<Real, gram_on_host<Real>>(job, means, batch, device);
  else
    run_gram_qr_at<Real, gram_on_device<Real>>(job, means, batch, device);
}

#define QUINTET_INSTANTIATE(Real)                       \
  template bool suits_gram_qr(const jacobi_job<Real>&); \
  template void run_gram_qr(const jacobi_job<Real>&, const column_means<Real>&, std::int64_t, const Device&);
QUINTET_FOR_EACH_REAL(QUINTET_INSTANTIATE)

}  // namespace quintet::svd
