// Householder's QR of matrices that several teams share. Every column meets the reflections in the order in which one
// worker would apply them, whoever does it: the bits are those of factorise() and apply_q(). Columns come in panels, so
// that those behind a panel are read once for all its reflections.
#pragma once

#include "device/for_each.hpp"
#include "svd/householder.hpp"
#include "svd/jacobi_policies.hpp"

namespace quintet::svd {

/// Factors of several matrices of one shape, `slot` numbers apart.
template <class Real>
struct factors_batch {
  factors<Real> first;
  std::int64_t slot;

  QUINTET_SVD_INLINE factors<Real> of(std::int64_t matrix) const {
    factors<Real> f = first;
    f.a += matrix * slot;
    f.h += matrix * slot;
    f.tau += matrix * slot;
    if (f.pivots != nullptr) f.pivots += matrix * slot;
    return f;
  }
};

/// Columns of a matrix that one tile works on.
template <class Map>
constexpr int columns_of_tile() {
  return Map::row_cyclic ? 2 : 32;
}
template <class Map>
constexpr std::int64_t column_tiles(int columns) {
  return (columns + columns_of_tile<Map>() - 1) / columns_of_tile<Map>();
}

/// Every column stands at its own place.
template <class Real>
struct start_pivots {
  factors_batch<Real> q;
  void operator()(std::int64_t index) const {
    const std::int64_t n = q.first.n;
    q.first.pivots[index / n * q.slot + index % n] = Real(index % n);
  }
};

/// Reflections [first, last) on the columns [begin, end) of A, in this order; then, where it is one of them, column
/// `next` becomes a reflection itself. Golub, Van Loan 1996, Algorithm 5.2.1.
template <class Real>
struct reflect_columns {
  factors_batch<Real> q;
  int first, last, begin, end, next;

  template <class Map>
  QUINTET_SVD_INLINE void operator()(const Map& map, std::int64_t tile) const {
    const std::int64_t tiles = column_tiles<Map>(end - begin);
    const factors<Real> f = q.of(tile / tiles);
    const int from = begin + int(tile % tiles) * columns_of_tile<Map>(),
              to = from + columns_of_tile<Map>() < end ? from + columns_of_tile<Map>() : end;
    for_each_item(map, from, to, [&](int j, bool valid) QUINTET_SVD_INLINE_LAMBDA {
      for (int k = first; k < last; ++k) reflect(map, f, k, map.column(f.a, j, f.ld), valid);
    });
    map.barrier();
    if (next >= from && next < to) make_reflection(map, f, next);
  }
};

/// The columns [first, last), all reflections before them applied, become reflections. Golub, Van Loan 1996, Algorithm
/// 5.2.1.
template <class Real>
struct factorise_panel {
  factors_batch<Real> q;
  int first, last;

  template <class Map>
  QUINTET_SVD_INLINE void operator()(const Map& map, std::int64_t tile) const {
    const factors<Real> f = q.of(tile);
    for (int k = first; k < last; ++k) {
      make_reflection(map, f, k);
      for_each_item(map, k + 1, last, [&](int j, bool valid) QUINTET_SVD_INLINE_LAMBDA {
        reflect(map, f, k, map.column(f.a, j, f.ld), valid);
      });
      map.barrier();
    }
  }
};

/// The columns of a tile meet reflection `step`, where there is one before them, and show the squares of what is left
/// of them: what step + 1 chooses its pivot by.
template <class Real>
struct reflect_and_measure {
  factors_batch<Real> q;
  Real* squares;  ///< [n] of a matrix, slots apart as its factors
  int step;

  template <class Map>
  QUINTET_SVD_INLINE void operator()(const Map& map, std::int64_t tile) const {
    const int begin = step + 1, n = q.first.n;
    const std::int64_t tiles = column_tiles<Map>(n - begin), matrix = tile / tiles;
    const factors<Real> f = q.of(matrix);
    const int from = begin + int(tile % tiles) * columns_of_tile<Map>(),
              to = from + columns_of_tile<Map>() < n ? from + columns_of_tile<Map>() : n;
    if (step >= 0)
      for_each_item(map, from, to, [&](int j, bool valid) QUINTET_SVD_INLINE_LAMBDA {
        reflect(map, f, step, map.column(f.a, j, f.ld), valid);
      });
    map.barrier();
    for (int j = from; j < to; ++j) {
      const Real* column = map.column(f.a, j, f.ld);
      const Real square = team_dot(map, column, column, f.rows, begin);
      if (map.leads_team()) squares[matrix * q.slot + j] = square;
    }
  }
};

/// The column with the largest square comes to place `step` and becomes a reflection (Businger, Golub 1965).
template <class Real>
struct take_pivot {
  factors_batch<Real> q;
  const Real* squares;
  int step;

  template <class Map>
  QUINTET_SVD_INLINE void operator()(const Map& map, std::int64_t matrix) const {
    const factors<Real> f = q.of(matrix);
    Real longest = -1;
    int place = step;
    for (int j = step; j < f.n; ++j)
      if (const Real square = squares[matrix * q.slot + j]; square > longest) longest = square, place = j;
    if (place != step) exchange_columns(map, f, step, place, true);
    map.barrier();
    make_reflection(map, f, step);
  }
};

/// C := Q C, for `count` columns of a matrix at c + matrix * c_slot. Golub, Van Loan 1996, 5.1.6 (factored form).
template <class Real>
struct apply_q_to_columns {
  factors_batch<Real> q;
  Real* c;
  std::int64_t c_slot;
  int count;

  template <class Map>
  QUINTET_SVD_INLINE void operator()(const Map& map, std::int64_t tile) const {
    const std::int64_t tiles = column_tiles<Map>(count), matrix = tile / tiles;
    const int from = int(tile % tiles) * columns_of_tile<Map>();
    apply_q(map, q.of(matrix), c + matrix * c_slot, from,
            from + columns_of_tile<Map>() < count ? from + columns_of_tile<Map>() : count);
  }
};

/// A = Q R of `matrices` matrices; nothing but time depends on how it is shared out.
template <class Policy>
void factorise_by_all(const factors_batch<typename Policy::real>& q, std::int64_t matrices, const Device& device) {
  using real = typename Policy::real;
  using map = typename Policy::map;
  constexpr int panel = 32;
  const int n = q.first.n;
  // A launch takes microseconds: columns of a panel are shared out where they are long.
  const bool shares_panels = q.first.rows >= 4096 && matrices * 2 <= threads();
  for (int first = 0; first < n; first += panel) {
    const int last = first + panel < n ? first + panel : n;
    launch_body<Policy>(factorise_panel<real>{q, first, shares_panels ? first + 1 : last}, matrices, device);
    if (shares_panels)
      for (int k = first; k + 1 < last; ++k)
        launch_body<Policy>(reflect_columns<real>{q, k, k + 1, k + 1, last, k + 1},
                            matrices * column_tiles<map>(last - k - 1), device);
    if (last < n)
      launch_body<Policy>(reflect_columns<real>{q, first, last, last, n, -1}, matrices * column_tiles<map>(n - last),
                          device);
  }
}

/// A P = Q R of `matrices` matrices, with `squares` for [n] numbers of each. The same choices and bits as factorise().
template <class Policy>
void factorise_pivoted_by_all(const factors_batch<typename Policy::real>& q, typename Policy::real* squares,
                              std::int64_t matrices, const Device& device) {
  using real = typename Policy::real;
  const int n = q.first.n;
  device::for_each(matrices * n, start_pivots<real>{q}, device);
  for (int step = -1; step + 1 < n; ++step) {
    launch_body<Policy>(reflect_and_measure<real>{q, squares, step},
                        matrices * column_tiles<typename Policy::map>(n - step - 1), device);
    launch_body<Policy>(take_pivot<real>{q, squares, step + 1}, matrices, device);
  }
}

/// C := Q C for `count` columns of each of `matrices` matrices.
template <class Policy>
void apply_q_by_all(const factors_batch<typename Policy::real>& q, typename Policy::real* c, std::int64_t c_slot,
                    int count, std::int64_t matrices, const Device& device) {
  launch_body<Policy>(apply_q_to_columns<typename Policy::real>{q, c, c_slot, count},
                      matrices * column_tiles<typename Policy::map>(count), device);
}

}  // namespace quintet::svd
