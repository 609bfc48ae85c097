// From orthogonal columns to singular values and vectors: norm correction, null-space completion, order and signs.
#pragma once

#include "svd/sweeps.hpp"

namespace quintet::svd {

/// sigma_j = |x_j| / |v_j|; x_j and v_j get length 1. The rounded rotations are orthogonal up to a factor, and X = A V
/// has the same factor on both sides: dividing by |v_j| takes it out of sigma as well.
template <class Map>
QUINTET_SVD_INLINE void normalise(const Map& map, const columns<typename Map::real>& m, typename Map::real* sigma) {
  using real = typename Map::real;
  using scalar = typename Map::scalar;
  const scalar one = same<scalar>(real(1));
  for_each_item(map, 0, m.n, [&](int j, bool valid) QUINTET_SVD_INLINE_LAMBDA {
    real* x = map.column(m.x, j, m.ld_x);
    scalar square = pair_dot(map, x, x, m.rows);
    scalar length = root(square), stretch = one;
    real* v = nullptr;
    if (m.v != nullptr) {
      v = map.column(m.v, j, m.ld_v);
      stretch = root(pair_dot(map, v, v, m.n));
      square = square / (stretch * stretch);
    }
    const scalar inverse = one / choose(square > no_column_threshold<real>(), length, one);
    if (m.v != nullptr) {
      length = length / stretch;
      if (valid) {
        scale_column(map, x, m.rows, inverse);
        scale_column(map, v, m.n, one / stretch);
      }
    } else if (!m.accurate) {
      length = length / root(one + map.entry(m.norm_correction, j));
    }
    if (valid && map.leads_pair()) {
      map.set_entry(m.norm, j, square);
      map.set_entry(sigma, j, length);
    }
  });
  map.barrier();
}

template <class Map>
QUINTET_SVD_INLINE void swap_columns(const Map& map, const mask_of<typename Map::scalar>& where,
                                     typename Map::real* first, typename Map::real* second, int rows) {
  for_each_row(map, 0, rows, [&](int i) QUINTET_SVD_INLINE_LAMBDA {
    const auto x = map.element(first, i), y = map.element(second, i);
    map.set_element(first, i, choose(where, y, x));
    map.set_element(second, i, choose(where, x, y));
  });
}

/// Brings the columns of matrices that lie side by side into falling order, equal ones in the order they had, so that
/// one column of all of them is written to one place. Exchanges left them nearly sorted.
template <class Map>
QUINTET_SVD_INLINE void sort_columns(const Map& map, const columns<typename Map::real>& m, typename Map::real* sigma) {
  for (int last = m.n - 1; last > 0;) {
    int swapped = 0;
    for (int j = 0; j < last; ++j) {
      const auto wrong = map.entry(sigma, j) < map.entry(sigma, j + 1);
      if (!any(wrong)) continue;
      if (m.v != nullptr) {
        swap_columns(map, wrong, map.column(m.x, j, m.ld_x), map.column(m.x, j + 1, m.ld_x), m.rows);
        swap_columns(map, wrong, map.column(m.v, j, m.ld_v), map.column(m.v, j + 1, m.ld_v), m.n);
      }
      swap_columns(map, wrong, map.column(sigma, j, 1), map.column(sigma, j + 1, 1), 1);
      swap_columns(map, wrong, map.column(m.norm, j, 1), map.column(m.norm, j + 1, 1), 1);
      swapped = j;
    }
    last = swapped;
  }
}

/// The row in which the finished columns have least weight, and with it the best start for one more column.
template <class Map>
QUINTET_SVD_INLINE typename Map::scalar lightest_row(const Map& map, const columns<typename Map::real>& m, int done) {
  using real = typename Map::real;
  using scalar = typename Map::scalar;
  const scalar zero{};
  scalar best = same<scalar>(real(4)), row = zero;
  for_each_row(map, 0, m.rows, [&](int i) QUINTET_SVD_INLINE_LAMBDA {
    scalar weight{};
    for (int j = 0; j < m.n; ++j) {
      const scalar value = map.element(map.column(m.x, j, m.ld_x), i);
      const auto counts = (map.entry(m.norm, j) > no_column_threshold<real>());
      weight += j < done ? value * value : choose(counts, value * value, zero);
    }
    row = choose(weight < best, same<scalar>(real(i)), row);
    best = choose(weight < best, weight, best);
  });
  // Every thread has the best of its rows; the least weight wins, then the first row.
  const scalar min = -map.team_max(-best);
  return -map.team_max(choose(best > min, same<scalar>(real(-(1 << 24))), -row));
}

/// Replaces columns of X without length by unit vectors orthogonal to all others: the canonical vector of the lightest
/// row, orthogonalised twice against every finished column. Deterministic.
template <class Map>
QUINTET_SVD_INLINE void complete(const Map& map, const columns<typename Map::real>& m) {
  using real = typename Map::real;
  using scalar = typename Map::scalar;
  const scalar zero{}, one = same<scalar>(real(1));
  const real min = no_column_threshold<real>();
  for (int j = 0; j < m.n; ++j) {
    const auto missing = map.entry(m.norm, j) <= min;
    if (!any(missing)) continue;
    real* x = map.column(m.x, j, m.ld_x);
    const scalar row = lightest_row(map, m, j);
    map.barrier();
    for_each_row(map, 0, m.rows, [&](int i) QUINTET_SVD_INLINE_LAMBDA {
      const scalar unit = choose((row >= real(i)) & (row <= real(i)), one, zero);
      map.set_element(x, i, choose(missing, unit, map.element(x, i)));
    });
    map.barrier();
    for (int pass = 0; pass < 2; ++pass) {
      for (int c = 0; c < m.n; ++c) {
        if (c == j) continue;
        const real* other = map.column(m.x, c, m.ld_x);
        const scalar product = team_dot(map, x, other, m.rows);
        mask_of<scalar> counts = missing;
        if (c > j) counts = missing & (map.entry(m.norm, c) > min);
        for_each_row(map, 0, m.rows, [&](int i) QUINTET_SVD_INLINE_LAMBDA {
          const scalar old = map.element(x, i);
          map.set_element(x, i, choose(counts, device::fma(-product, map.element(other, i), old), old));
        });
        map.barrier();
      }
      const scalar length = root(team_dot(map, x, x, m.rows));
      const scalar factor = choose(missing, one / length, one);
      for_each_row(map, 0, m.rows,
                   [&](int i) QUINTET_SVD_INLINE_LAMBDA { map.set_element(x, i, map.element(x, i) * factor); });
      map.barrier();
    }
  }
}

/// +1 or -1 for each column, so that its element of largest size becomes positive; the first one decides among equals.
template <class Map>
QUINTET_SVD_INLINE void canonical_signs(const Map& map, typename Map::real* matrix, int rows, int n, int ld,
                                        typename Map::real* sign) {
  using real = typename Map::real;
  using scalar = typename Map::scalar;
  const scalar one = same<scalar>(real(1));
  for_each_row(map, 0, n, [&](int j) QUINTET_SVD_INLINE_LAMBDA {
    const real* column = map.column(matrix, j, ld);
    scalar size{}, value{};
    for (int i = 0; i < rows; ++i) {
      const scalar x = map.element(column, i);
      value = choose(absolute(x) > size, x, value);
      size = larger(size, absolute(x));
    }
    map.set_entry(sign, j, choose(value < scalar{}, -one, one));
  });
  map.barrier();
}

}  // namespace quintet::svd
