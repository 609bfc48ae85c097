// Null-space completion of matrices that several teams share. What a rank-deficient matrix has no columns for comes
// from the Householder QR of those that it has: Q e_r, ..., Q e_(n-1) are orthogonal to the r columns that Q was made
// of, to working accuracy (Golub, Van Loan 1996, 5.2.1; Higham 2002, theorem 19.4). complete() in finish.hpp makes one
// column after the other, with one team.
#pragma once

#include <algorithm>
#include <vector>

#include "device/for_each.hpp"
#include "quintet/device/buffer.hpp"
#include "svd/large_qr.hpp"

namespace quintet::svd {

/// X of several matrices of one shape, `slot` numbers apart, normalised.
template <class Real>
struct completed_batch {
  Real* x;
  const Real* norm;       ///< [n] squares of the lengths that the columns had
  Real* place;            ///< [n] number of a column among those with length, or among those without
  std::int32_t* missing;  ///< [matrices] columns without length
  std::int64_t slot;
  int rows, n, ld;

  QUINTET_SVD_INLINE bool is_missing(std::int64_t matrix, int j) const {
    return norm[matrix * slot + j] <= no_column_threshold<Real>();
  }
  QUINTET_SVD_INLINE int place_of(std::int64_t matrix, int j) const { return int(place[matrix * slot + j]); }
};

/// f(j) for the columns of a tile of a matrix with `count`.
template <class Map, class Function>
QUINTET_SVD_INLINE void for_each_column(std::int64_t tile, int count, Function f) {
  const int from = int(tile) * columns_of_tile<Map>(), to = from + columns_of_tile<Map>();
  for (int j = from; j < to && j < count; ++j) f(j);
}

template <class Map>
QUINTET_SVD_INLINE void copy_column(const Map& map, const typename Map::real* from, typename Map::real* to, int rows) {
  for_each_row(map, 0, rows, [&](int i) QUINTET_SVD_INLINE_LAMBDA { to[i] = from[i]; });
}

/// What is missing, and where a column goes or comes from.
template <class Real>
struct place_columns {
  completed_batch<Real> all;

  void operator()(std::int64_t matrix) const {
    int missing = 0;
    for (int j = 0; j < all.n; ++j) {
      const bool is_missing = all.is_missing(matrix, j);
      all.place[matrix * all.slot + j] = Real(is_missing ? missing : j - missing);
      missing += is_missing ? 1 : 0;
    }
    all.missing[matrix] = missing;
  }
};

/// The columns that there are, side by side in the memory of the QR.
template <class Real>
struct gather_columns {
  completed_batch<Real> all;
  factors_batch<Real> q;

  template <class Map>
  QUINTET_SVD_INLINE void operator()(const Map& map, std::int64_t tile) const {
    const std::int64_t tiles = column_tiles<Map>(all.n), matrix = tile / tiles;
    const factors<Real> f = q.of(matrix);
    for_each_column<Map>(tile % tiles, all.n, [&](int j) QUINTET_SVD_INLINE_LAMBDA {
      if (!all.is_missing(matrix, j))
        copy_column(map, all.x + matrix * all.slot + std::int64_t(j) * all.ld,
                    map.column(f.a, all.place_of(matrix, j), f.ld), all.rows);
    });
  }
};

/// Unit vectors e_r, e_(r+1), ... for the columns that are missing, among zeros.
template <class Real>
struct set_unit_vectors {
  completed_batch<Real> all;
  Real* c;
  std::int64_t c_slot;
  int count;

  void operator()(std::int64_t index) const {
    const std::int64_t matrix = index / count, j = index % count, missing = all.missing[matrix];
    if (j < missing) c[matrix * c_slot + j * all.ld + all.n - missing + j] = 1;
  }
};

/// The new columns, to their places.
template <class Real>
struct scatter_columns {
  completed_batch<Real> all;
  const Real* c;
  std::int64_t c_slot;

  template <class Map>
  QUINTET_SVD_INLINE void operator()(const Map& map, std::int64_t tile) const {
    const std::int64_t tiles = column_tiles<Map>(all.n), matrix = tile / tiles;
    for_each_column<Map>(tile % tiles, all.n, [&](int j) QUINTET_SVD_INLINE_LAMBDA {
      if (all.is_missing(matrix, j))
        copy_column(map, c + matrix * c_slot + std::int64_t(all.place_of(matrix, j)) * all.ld,
                    map.column(all.x + matrix * all.slot, j, all.ld), all.rows);
    });
  }
};

/// Columns of X without length become orthonormal ones, orthogonal to all others, in each of `matrices` matrices.
template <class Policy>
void complete_by_all(completed_batch<typename Policy::real> all, std::int64_t matrices, const Device& device) {
  using real = typename Policy::real;
  using map = typename Policy::map;
  Buffer<std::int32_t> counts(matrices, device);
  all.missing = counts.data();
  device::for_each(matrices, place_columns<real>{all}, device);
  const std::vector<std::int32_t> missing = counts.to_vector();
  const int most = *std::max_element(missing.begin(), missing.end()),
            columns = all.n - *std::min_element(missing.begin(), missing.end());
  if (most == 0) return;
  const std::int64_t filled = std::int64_t(most) * all.ld, size = std::int64_t(columns) * all.ld,
                     slot = 2 * size + padded_rows<map>(columns);
  Buffer<real> memory(matrices * slot, device), unit(matrices * filled, device);
  device::fill(memory, real(0));
  device::fill(unit, real(0));
  const factors_batch<real> q{
      {memory.data(), memory.data() + size, memory.data() + 2 * size, nullptr, all.rows, columns, all.ld}, slot};
  const std::int64_t tiles = matrices * column_tiles<map>(all.n);
  launch_body<Policy>(gather_columns<real>{all, q}, tiles, device);
  device::for_each(matrices * most, set_unit_vectors<real>{all, unit.data(), filled, most}, device);
  factorise_by_all<Policy>(q, matrices, device);
  apply_q_by_all<Policy>(q, unit.data(), filled, most, matrices, device);
  launch_body<Policy>(scatter_columns<real>{all, unit.data(), filled}, tiles, device);
}

}  // namespace quintet::svd
