// QR factorisation by Householder reflections, with column pivoting when asked for (Drmac and Veselic 2008 use it to
// precondition Jacobi), and the product with Q. On either map.
#pragma once

#include "svd/maps.hpp"
#include "svd/rotation.hpp"

namespace quintet::svd {

/// A = Q R. Reflection k is I - tau_k h_k h_k^T with h_k zero above row k.
template <class Real>
struct factors {
  Real* a;       ///< [n] columns of `rows` elements: A, then R in its upper triangle
  Real* h;       ///< [n] columns: the vectors h_k
  Real* tau;     ///< [n]
  Real* pivots;  ///< [n] column of A that stands at each place; null without pivoting
  int rows, n, ld;
};

/// Exchanges the columns k and j, and what they are, in the matrices where `moves`.
template <class Map>
QUINTET_SVD_INLINE void exchange_columns(const Map& map, const factors<typename Map::real>& f, int k, int j,
                                         const mask_of<typename Map::scalar>& moves) {
  using scalar = typename Map::scalar;
  auto *first = map.column(f.a, k, f.ld), *other = map.column(f.a, j, f.ld);
  for_each_row(map, 0, f.rows, [&](int i) QUINTET_SVD_INLINE_LAMBDA {
    const scalar x = map.element(first, i), y = map.element(other, i);
    map.set_element(first, i, choose(moves, y, x));
    map.set_element(other, i, choose(moves, x, y));
  });
  if (map.leads_team()) {
    const scalar x = map.entry(f.pivots, k), y = map.entry(f.pivots, j);
    map.set_entry(f.pivots, k, choose(moves, y, x));
    map.set_entry(f.pivots, j, choose(moves, x, y));
  }
}

/// Brings the longest remaining column to place k, in each matrix its own.
template <class Map>
QUINTET_SVD_INLINE void pivot(const Map& map, const factors<typename Map::real>& f, int k) {
  using real = typename Map::real;
  using scalar = typename Map::scalar;
  scalar longest = same<scalar>(real(-1)), place = same<scalar>(real(k));
  for (int j = k; j < f.n; ++j) {
    const real* column = map.column(f.a, j, f.ld);
    const scalar square = team_dot(map, column, column, f.rows, k);
    place = choose(square > longest, same<scalar>(real(j)), place);
    longest = larger(longest, square);
  }
  for (int j = k + 1; j < f.n; ++j) {
    const mask_of<scalar> moves = (place >= real(j)) & (place <= real(j));
    if (any(moves)) exchange_columns(map, f, k, j, moves);
  }
  map.barrier();
}

/// Makes reflection k from column k. What is so small that its squares underflow is dropped: it is far below the
/// rounding errors, and a reflection made of it would not be orthogonal.
template <class Map>
QUINTET_SVD_INLINE void make_reflection(const Map& map, const factors<typename Map::real>& f, int k) {
  using real = typename Map::real;
  using scalar = typename Map::scalar;
  const scalar zero{}, one = same<scalar>(real(1));
  real *column = map.column(f.a, k, f.ld), *h = map.column(f.h, k, f.ld);
  const scalar below = team_dot(map, column, column, f.rows, k + 1);
  const scalar alpha = map.element(column, k);
  const mask_of<scalar> reflects = below > no_column_threshold<real>();
  const scalar length = root(device::fma(alpha, alpha, below));
  const scalar beta = choose(alpha > zero, -length, length);
  const scalar denominator = choose(reflects, alpha - beta, one);
  map.barrier();  // everybody has read alpha
  for_each_row(map, 0, padded_rows<Map>(f.rows), [&](int i) QUINTET_SVD_INLINE_LAMBDA {
    scalar value{};
    if (i == k) value = one;
    if (i > k && i < f.rows) value = choose(reflects, map.element(column, i) / denominator, zero);
    map.set_element(h, i, value);
  });
  if (map.leads_team()) {
    map.set_element(column, k, choose(reflects, beta, alpha));
    map.set_entry(f.tau, k, choose(reflects, (beta - alpha) / choose(reflects, beta, one), zero));
  }
  map.barrier();
}

/// Reflection k on a column. Row k of it is read and written: pair_dot ends before pair_add begins.
template <class Map>
QUINTET_SVD_INLINE void reflect(const Map& map, const factors<typename Map::real>& f, int k, typename Map::real* column,
                                bool valid) {
  const auto* h = map.column(f.h, k, f.ld);
  const typename Map::scalar product = pair_dot(map, h, column, valid ? f.rows : 0, k);
  if (valid) pair_add(map, -(map.entry(f.tau, k) * product), h, column, f.rows, k);
}

/// `between` is called before every reflection.
template <class Map, class Between>
QUINTET_SVD_INLINE void factorise(const Map& map, const factors<typename Map::real>& f, Between between) {
  using real = typename Map::real;
  using scalar = typename Map::scalar;
  if (f.pivots != nullptr) {
    for_each_row(map, 0, f.n,
                 [&](int j) QUINTET_SVD_INLINE_LAMBDA { map.set_entry(f.pivots, j, same<scalar>(real(j))); });
    map.barrier();
  }
  for (int k = 0; k < f.n; ++k) {
    between();
    if (f.pivots != nullptr) pivot(map, f, k);
    make_reflection(map, f, k);
    for_each_item(map, k + 1, f.n, [&](int j, bool valid) QUINTET_SVD_INLINE_LAMBDA {
      reflect(map, f, k, map.column(f.a, j, f.ld), valid);
    });
    map.barrier();
  }
}

struct no_pause {
  void operator()() const {}
};

/// C := Q C for the columns [first, last) of C. `between` is called before every column.
template <class Map, class Between = no_pause>
QUINTET_SVD_INLINE void apply_q(const Map& map, const factors<typename Map::real>& f, typename Map::real* c, int first,
                                int last, Between between = {}) {
  // A column at a time through all reflections: it stays in the first-level cache.
  for_each_item(map, first, last, [&](int j, bool valid) QUINTET_SVD_INLINE_LAMBDA {
    between();
    for (int k = f.n - 1; k >= 0; --k) reflect(map, f, k, map.column(c, j, f.ld), valid);
  });
  map.barrier();
}

}  // namespace quintet::svd
