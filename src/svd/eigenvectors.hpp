// A start for the sweeps near their end: approximate right singular vectors, the eigenvectors of the Gram matrix of X.
//
// The columns of X V are orthogonal up to rounding errors of the Gram matrix, and one or two sweeps remain of nine
// (Gao, Ma, Shao 2022 start Jacobi from vectors of lower precision). Singular values and vectors still come from
// rotations of X V, with their threshold: what the Gram matrix has lost of small singular values costs sweeps, not
// digits. Only V must be orthogonal to all digits, and is as a product of reflections and rotations. X V mixes columns:
// relative accuracy of small singular values is kept where columns are of one size (see started_ratio).
#pragma once

#include <type_traits>

#include "svd/division.hpp"
#include "svd/large_products.hpp"
#include "svd/reflection_blocks.hpp"
#include "svd/sweeps.hpp"

namespace quintet::svd {

/// Columns may differ in size by this factor: so much is lost of the relative accuracy that rotations have for any
/// scaling of the columns.
template <class Real>
constexpr Real started_ratio = Real(16);

/// Memory of the start: a matrix of n columns of at least `rows` and n numbers, and arrays of padded n.
template <class Real>
struct start_memory {
  Real* matrix;
  Real *diagonal, *off_diagonal, *tau, *w, *y;
  Real* division;   ///< of division_memory; null: implicit QL steps make V
  int y_count = 1;  ///< workers that share a matrix add to several y, `y_length` apart
  int y_length = 0;

  /// The y that the columns from `first` on are added to.
  QUINTET_SVD_INLINE Real* y_of(int first) const {
    return y_count > 1 ? y + std::int64_t(first / columns_of_y) * y_length : y;
  }
};

/// Columns that are worked on together.
constexpr int start_together = 4;

/// The columns 4 j to 4 j + 3 of G = X^T X down to the diagonal. The columns of G are `ld` apart.
template <class Map>
QUINTET_SVD_INLINE void multiply_columns(const Map& map, const columns<typename Map::real>& m, typename Map::real* g,
                                         int ld, int j) {
  using real = typename Map::real;
  const multiply_transposed<real> product{{m.x, 0, 1, m.ld_x}, {m.x, 0, 1, m.ld_x}, {g, 0, 1, ld}, m.rows, m.n, m.n};
  for_each_item(map, 0, j + 1, [&](int i, bool valid) QUINTET_SVD_INLINE_LAMBDA {
    product.multiply_block(map, 0, start_together * i, start_together * j, valid);
  });
}

/// Column j of G below the diagonal from its row; padding becomes zero.
template <class Map>
QUINTET_SVD_INLINE void mirror_column(const Map& map, typename Map::real* g, int n, int ld, int j) {
  using real = typename Map::real;
  for_each_row(map, j + 1, ld, [&](int i) QUINTET_SVD_INLINE_LAMBDA {
    g[std::int64_t(j) * ld + i] = i < n ? g[std::int64_t(i) * ld + j] : real(0);
  });
}

/// For the Count columns g_j of G from j on: g_j -= v w_j + w v_j; y_j = g_j . h. All over the chunks from `first` on.
template <int Count, class Map>
QUINTET_SVD_INLINE void update_and_multiply(const Map& map, typename Map::real* g, int ld, int j, int chunks, int first,
                                            const typename Map::real* v, const typename Map::real* w,
                                            const typename Map::real* h, typename Map::real* y, bool valid) {
  using real = typename Map::real;
  using scalar = typename Map::scalar;
  using vector = typename Map::vector;
  vector sum[Count] = {};
  real* column[Count];
  scalar minus_v[Count], minus_w[Count];
  for (int e = 0; e < Count; ++e) {
    column[e] = map.column(g, j + e, ld);
    minus_v[e] = -map.element(v, j + e);
    minus_w[e] = -map.element(w, j + e);
  }
  for (int c = first; c < (valid ? chunks : 0); c += map.pair_step()) {
    const vector v_c = load<Map>(v, c), w_c = load<Map>(w, c), h_c = load<Map>(h, c);
    for (int e = 0; e < Count; ++e) {
      vector value = load<Map>(column[e], c);
      value = device::fma(v_c, minus_w[e], value);
      value = device::fma(w_c, minus_v[e], value);
      store<Map>(column[e], c, value);
      sum[e] = device::fma(value, h_c, sum[e]);
    }
  }
  for (int e = 0; e < Count; ++e) {
    const scalar product = map.pair_sum(sum[e]);
    if (valid && map.leads_pair()) map.set_element(y, j + e, product);
  }
}

/// The same by one worker, for the columns from their block on the diagonal on: it adds to y_j what is in column j, and
/// to y what the columns have below the block, which by symmetry is what they have beside it. So the half above is
/// neither read nor written.
template <int Count, class Map>
QUINTET_SVD_INLINE void update_and_multiply_half(const Map& map, typename Map::real* g, int ld, int j, int chunks,
                                                 int first, const typename Map::real* v, const typename Map::real* w,
                                                 const typename Map::real* h, typename Map::real* y) {
  using scalar = typename Map::scalar;
  using vector = typename Map::vector;
  constexpr int block = Map::chunk > start_together ? int(Map::chunk) : start_together;
  const int start = j / block * block / Map::chunk, next = start + block / Map::chunk;
  const int end = next < chunks ? next : chunks;
  vector sum[Count] = {};
  typename Map::real* column[Count];
  scalar minus_v[Count], minus_w[Count], factor[Count];
  for (int e = 0; e < Count; ++e) {
    column[e] = map.column(g, j + e, ld);
    minus_v[e] = -map.element(v, j + e);
    minus_w[e] = -map.element(w, j + e);
    factor[e] = map.element(h, j + e);
  }
  const auto update = [&](int e, int c, const vector& v_c, const vector& w_c, const vector& h_c)
                          QUINTET_SVD_INLINE_LAMBDA {
                            vector value = load<Map>(column[e], c);
                            value = device::fma(v_c, minus_w[e], value);
                            value = device::fma(w_c, minus_v[e], value);
                            store<Map>(column[e], c, value);
                            sum[e] = device::fma(value, h_c, sum[e]);
                            return value;
                          };
  for (int c = first > start ? first : start; c < end; ++c)
    for (int e = 0; e < Count; ++e) update(e, c, load<Map>(v, c), load<Map>(w, c), load<Map>(h, c));
  for (int c = end; c < chunks; ++c) {
    const vector v_c = load<Map>(v, c), w_c = load<Map>(w, c), h_c = load<Map>(h, c);
    vector y_c = load<Map>(y, c);
    for (int e = 0; e < Count; ++e) y_c = device::fma(update(e, c, v_c, w_c, h_c), factor[e], y_c);
    store<Map>(y, c, y_c);
  }
  for (int e = 0; e < Count; ++e) map.set_element(y, j + e, map.element(y, j + e) + map.pair_sum(sum[e]));
}

/// The array of this thread's lanes.
template <class Map>
QUINTET_SVD_INLINE typename Map::real* lanes_of_array(const Map& map, typename Map::real* array) {
  return map.column(array, 0, 0);
}

/// Reflection k of the tridiagonalisation, from column k of G; `column` becomes its vector, zero down to row k.
template <class Map>
QUINTET_SVD_INLINE void make_inner_reflection(const Map& map, typename Map::real* column, int k, int n, int ld,
                                              const start_memory<typename Map::real>& at) {
  using real = typename Map::real;
  using scalar = typename Map::scalar;
  const scalar zero{}, one = same<scalar>(real(1));
  const scalar below = team_dot(map, column, column, n, k + 2), alpha = map.element(column, k + 1),
               diagonal = map.element(column, k);
  const mask_of<scalar> reflects = below > no_column_threshold<real>();
  const scalar length = root(device::fma(alpha, alpha, below)), beta = choose(alpha > zero, -length, length);
  const scalar inverse = choose(reflects, one / choose(reflects, alpha - beta, one), zero);
  map.barrier();  // everybody has read column k
  for_each_row(map, 0, ld, [&](int i) QUINTET_SVD_INLINE_LAMBDA {
    map.set_element(column, i, i <= k ? zero : i == k + 1 ? one : map.element(column, i) * inverse);
  });
  if (map.leads_team()) {
    map.set_entry(at.diagonal, k, diagonal);
    map.set_entry(at.off_diagonal, k, choose(reflects, beta, alpha));
    map.set_entry(at.tau, k, choose(reflects, (beta - alpha) / choose(reflects, beta, one), zero));
  }
  map.barrier();
}

/// y, where several hold a part of it: those of the columns from k on. The first one is y.
template <class Map>
QUINTET_SVD_INLINE void add_up_products(const Map&, int k, int n, const start_memory<typename Map::real>& at) {
  const int chunks = (n + Map::chunk - 1) / Map::chunk;
  for (int j = k / columns_of_y * columns_of_y; at.y_count > 1 && j < n; j += columns_of_y) {
    const typename Map::real* part = at.y_of(j);
    const bool is_first = j <= k;
    if (is_first && part == at.y) continue;
    for (int c = (is_first ? k - 1 : j) / Map::chunk; c < chunks; ++c) {
      const auto value = load<Map>(part, c);
      store<Map>(at.y, c, is_first ? value : load<Map>(at.y, c) + value);
    }
  }
}

/// Step k of G = Q T Q^T with a tridiagonal T (Golub, Van Loan 1996, Algorithm 8.3.1), first half: w of the reflection
/// before, from y, and reflection k, which replaces column k of G.
template <class Map>
QUINTET_SVD_INLINE void begin_step(const Map& map, typename Map::real* g, int n, int ld, int k,
                                   const start_memory<typename Map::real>& at) {
  using real = typename Map::real;
  using scalar = typename Map::scalar;
  real* column = map.column(g, k, ld);
  if (k == 0) {
    for_each_row(map, 0, padded_rows<Map>(n), [&](int i) QUINTET_SVD_INLINE_LAMBDA {
      map.set_entry(at.w, i, scalar{});
      map.set_entry(at.y, i, scalar{});
    });
    map.barrier();
  } else {  // w = tau y - tau^2 / 2 (y . h) h, and G - h w^T - w h^T in column k
    if constexpr (divides<Map>) add_up_products(map, k, n, at);
    const real* h = map.column(g, k - 1, ld);
    const scalar tau = map.entry(at.tau, k - 1),
                 half = tau * tau * team_dot(map, lanes_of_array(map, at.y), h, n, k) * real(0.5);
    map.barrier();
    for_each_row(map, 0, n, [&](int i) QUINTET_SVD_INLINE_LAMBDA {
      map.set_entry(at.w, i, i >= k ? device::fma(-half, map.element(h, i), tau * map.entry(at.y, i)) : scalar{});
    });
    map.barrier();
    const scalar h_k = map.element(h, k), w_k = map.entry(at.w, k);
    for_each_row(map, k, n, [&](int i) QUINTET_SVD_INLINE_LAMBDA {
      const scalar value = device::fma(-map.entry(at.w, i), h_k, map.element(column, i));
      map.set_element(column, i, device::fma(-map.element(h, i), w_k, value));
    });
    map.barrier();
  }
  if (k + 1 < n)
    make_inner_reflection(map, column, k, n, ld, at);
  else if (map.leads_team())
    map.set_entry(at.diagonal, k, map.element(column, k));
}

/// Columns that this map works on together.
template <class Map>
constexpr int columns_at_once() {
  return Map::has_registers_for_four ? start_together : 1;
}

/// Second half of step k, for the columns [begin, end) behind k: a column is updated by the reflection before and
/// multiplied with the vector of the new one in one pass.
template <class Map>
QUINTET_SVD_INLINE void update_columns(const Map& map, typename Map::real* g, int n, int ld, int k, int begin, int end,
                                       const start_memory<typename Map::real>& at) {
  using real = typename Map::real;
  const real *column = map.column(g, k, ld), *w = lanes_of_array(map, at.w), *v = k > 0 ? map.column(g, k - 1, ld) : w;
  real* y = lanes_of_array(map, at.y_of(begin));
  const int chunks = (n + Map::chunk - 1) / Map::chunk, first = first_chunk(map, k);
  if constexpr (Map::row_cyclic) {
    for (int c = first; c < chunks; ++c) store<Map>(y, c, typename Map::vector{});
    int j = begin;
    const auto meet = [&]<int Count>(std::integral_constant<int, Count>) QUINTET_SVD_INLINE_LAMBDA {
      update_and_multiply_half<Count>(map, g, ld, j, chunks, first, v, w, column, y);
      j += Count;
    };
    if constexpr (Map::has_registers_for_four) {
      while (j < end && j % start_together != 0) meet(std::integral_constant<int, 1>{});
      while (j + start_together <= end) meet(std::integral_constant<int, start_together>{});
    }
    while (j < end) meet(std::integral_constant<int, 1>{});
    return;
  }
  constexpr int group_size = columns_at_once<Map>();
  const int blocks = (end - begin) / group_size;
  for_each_item(map, 0, blocks, [&](int item, bool valid) QUINTET_SVD_INLINE_LAMBDA {
    update_and_multiply<group_size>(map, g, ld, begin + item * group_size, chunks, first, v, w, column, y, valid);
  });
  for_each_item(map, begin + blocks * group_size, end, [&](int j, bool valid) QUINTET_SVD_INLINE_LAMBDA {
    update_and_multiply<1>(map, g, ld, j, chunks, first, v, w, column, y, valid);
  });
}

/// Reflection h on the Count columns of `matrix` from j on, from the chunk of row `first` on.
template <int Count, class Map>
QUINTET_SVD_INLINE void reflect_together(const Map& map, const typename Map::real* h, const typename Map::scalar& tau,
                                         typename Map::real* matrix, int j, int ld, int rows, int first, bool valid) {
  using real = typename Map::real;
  using scalar = typename Map::scalar;
  using vector = typename Map::vector;
  const int start = first_chunk(map, first), step = map.pair_step();
  const int chunks = valid ? (rows + Map::chunk - 1) / Map::chunk : 0;
  vector sum[Count] = {};
  real* column[Count];
  for (int e = 0; e < Count; ++e) column[e] = map.column(matrix, j + e, ld);
  for (int i = start; i < chunks; i += step) {
    const vector value = load<Map>(h, i);
    for (int e = 0; e < Count; ++e) sum[e] = device::fma(value, load<Map>(column[e], i), sum[e]);
  }
  scalar factor[Count];
  for (int e = 0; e < Count; ++e) factor[e] = -(tau * map.pair_sum(sum[e]));
  for (int i = start; i < chunks; i += step) {
    const vector value = load<Map>(h, i);
    for (int e = 0; e < Count; ++e) store<Map>(column[e], i, device::fma(value, factor[e], load<Map>(column[e], i)));
  }
}

/// The columns [begin, end) of V = Q (Golub, Van Loan 1996, 5.1.6, backward accumulation): a column meets the
/// reflections before it only. `begin` is a multiple of 4.
template <class Map>
QUINTET_SVD_INLINE void form_columns(const Map& map, typename Map::real* h, int ld_h, const typename Map::real* tau,
                                     typename Map::real* v, int n, int ld_v, int begin, int end) {
  using real = typename Map::real;
  using scalar = typename Map::scalar;
  const scalar zero{}, one = same<scalar>(real(1));
  for (int j = begin; j < end; ++j)
    for_each_row(map, 0, ld_v, [&](int i) QUINTET_SVD_INLINE_LAMBDA {
      map.set_element(map.column(v, j, ld_v), i, i == j ? one : zero);
    });
  map.barrier();
  // Where threads share sums, all take part in those of all columns.
  const auto reflect_all = [&]<int Count>(std::integral_constant<int, Count>, int j,
                                          bool valid) QUINTET_SVD_INLINE_LAMBDA {
    const int last = j + Count < n ? j + Count : n - 1;
    for (int k = (Map::row_cyclic ? last : n - 1) - 1; k >= 0; --k)
      reflect_together<Count>(map, map.column(h, k, ld_h), map.entry(tau, k), v, j, ld_v, n, k + 1, valid && k < last);
  };
  constexpr int group_size = columns_at_once<Map>();
  const int blocks = (end - begin) / group_size;
  for_each_item(map, 0, blocks, [&](int item, bool valid) QUINTET_SVD_INLINE_LAMBDA {
    reflect_all(std::integral_constant<int, group_size>{}, begin + item * group_size, valid);
  });
  for_each_item(map, begin + blocks * group_size, end, [&](int j, bool valid) QUINTET_SVD_INLINE_LAMBDA {
    reflect_all(std::integral_constant<int, 1>{}, j, valid);
  });
  map.barrier();
}

/// The next rotations of V, in `at.matrix` (at.y[0] numbers); at.y[1] is 1 when there will be more. One thread.
template <class Map>
QUINTET_SVD_INLINE void record_rotations(const Map& map, const start_memory<typename Map::real>& at, int n, int ld,
                                         tridiagonal_state& state) {
  using real = typename Map::real;
  if (map.leads_team()) {
    if (state.first == 0 && state.iterations == 0)
      for (int i = 0; i < n; ++i) at.w[i] = 1;
    const std::int64_t target = std::int64_t(rotations_between_lengths + 4) * n, fitting = std::int64_t(n) * ld;
    const std::int64_t used = iterate_tridiagonal(at.diagonal, at.off_diagonal, at.w, n, state, at.matrix,
                                                  target < fitting ? target : fitting);
    at.y[0] = real(used);
    at.y[1] = real(state.first < n ? 1 : 0);
  }
  map.barrier();
}

/// V = Q Z from the reflections of G = Q T Q^T and T = Z D Z^T, by steps of QL. Whether all eigenvalues have converged.
template <class Map, class Between>
QUINTET_SVD_INLINE bool iterate_eigenvectors(const Map& map, const start_memory<typename Map::real>& at,
                                             typename Map::real* v, int n, int ld, Between between) {
  const int chunks = (n + Map::chunk - 1) / Map::chunk;
  form_columns(map, at.matrix, ld, at.tau, v, n, ld, 0, n);
  tridiagonal_state state;
  for (bool has_more = true; has_more;) {
    between();
    record_rotations(map, at, n, ld, state);
    has_more = at.y[1] > 0;
    rotate_chunks(map, v, ld, 0, chunks, at.matrix, std::int64_t(at.y[0]));
    map.barrier();
    restore_lengths(map, v, n, ld, 0, n, true);
  }
  return !state.failed;
}

/// The same by division, on the host.
template <class Map, class Between>
QUINTET_SVD_INLINE bool divide_eigenvectors(const Map& map, const start_memory<typename Map::real>& at,
                                            typename Map::real* v, int n, int ld, Between between) {
  const auto memory = division_memory<typename Map::real>::at(at.division, n, ld);
  using division_type = tridiagonal_division<Map>;
  const division_type division(map, at.diagonal, at.off_diagonal, v, n, ld, memory);
  const int levels = division_type::levels(n);
  division.split();
  for (int i = 0; i < 1 << levels; ++i) division.solve_leaf(i);
  for (int level = levels - 1; level >= 0; --level)
    for (int i = 0; i < 1 << level; ++i) {
      between();
      const int parts = division_type::parts(n, level), product_parts = division_type::product_parts(n, level);
      division.deflate(level, i);
      for (int part = 0; part < parts; ++part) division.copy_columns(level, i, part);
      for (int part = 0; part < parts; ++part) division.find_roots(level, i, part);
      for (int part = 0; part < parts; ++part) division.find_weights(level, i, part);
      for (int part = 0; part < parts; ++part) division.find_vectors(level, i, part);
      for (int part = 0; part < product_parts; ++part) division.multiply(level, i, part);
    }
  const bool has_failed = division.has_failed();
  const reflection_blocks<Map> q{at.matrix, at.tau, memory.copy, memory.factor, n, ld};
  for (int block = 0; block < q.blocks(n); ++block) q.make_block(map, block);
  for (int part = 0; part < q.parts(n); ++part) {
    between();
    q.reflect(map, v, part);
  }
  restore_lengths(map, v, n, ld, 0, n, true);
  return !has_failed;
}

/// Eigenvectors of G from its tridiagonalisation, in no order.
template <class Map, class Between>
QUINTET_SVD_INLINE bool make_eigenvectors(const Map& map, const start_memory<typename Map::real>& at,
                                          typename Map::real* v, int n, int ld, Between between) {
  if constexpr (divides<Map>)
    if (at.division != nullptr) return divide_eigenvectors(map, at, v, n, ld, between);
  return iterate_eigenvectors(map, at, v, n, ld, between);
}

/// Column j of V to its place in `to`, by falling eigenvalues.
template <class Map>
QUINTET_SVD_INLINE void place_column(const Map& map, const typename Map::real* v, const typename Map::real* rank,
                                     int ld, int j, typename Map::real* to) {
  for_each_row(map, 0, ld, [&](int i) QUINTET_SVD_INLINE_LAMBDA {
    to[std::int64_t(rank[j]) * ld + i] = v[std::int64_t(j) * ld + i];
  });
}

/// |v_j|^2 - 1 of the columns [begin, end), where there will be no V to measure it.
template <class Map>
QUINTET_SVD_INLINE void note_lengths(const Map& map, const columns<typename Map::real>& m, const typename Map::real* v,
                                     int begin, int end) {
  using real = typename Map::real;
  for_each_item(map, begin, end, [&](int j, bool valid) QUINTET_SVD_INLINE_LAMBDA {
    const real* column = v + std::int64_t(j) * m.ld_v;
    const real square = pair_dot(map, column, column, m.n);
    if (valid && map.leads_pair()) m.norm_correction[j] = square - 1;
  });
  map.barrier();
}

template <class Map>
QUINTET_SVD_INLINE void copy_numbers(const Map& map, const typename Map::real* from, typename Map::real* to,
                                     std::int64_t count) {
  for (std::int64_t i = map.team_first(); i < count; i += map.team_step()) to[i] = from[i];
  map.barrier();
}

/// V becomes the eigenvectors of X^T X by falling eigenvalues, and X becomes X V. `v` is where V is, also when no
/// vectors are wanted (then the norm correction takes the lengths of its columns). By one team; for many, see
/// large_eigenvectors.hpp.
template <class Map, class Between>
QUINTET_SVD_INLINE void start_from_eigenvectors(const Map& map, const columns<typename Map::real>& m,
                                                typename Map::real* v, const start_memory<typename Map::real>& at,
                                                Between between) {
  using real = typename Map::real;
  const int n = m.n, ld = m.ld_v;
  real* g = at.matrix;
  for (int j = 0; j < (n + start_together - 1) / start_together; ++j) multiply_columns(map, m, g, ld, j);
  map.barrier();
  for (int j = 0; j < n; ++j) mirror_column(map, g, n, ld, j);
  map.barrier();
  for (int k = 0; k < n; ++k) {
    between();
    begin_step(map, g, n, ld, k, at);
    if (k + 1 < n) update_columns(map, g, n, ld, k, k + 1, n, at);
    map.barrier();
  }
  make_eigenvectors(map, at, v, n, ld, between);
  real* rank = at.off_diagonal;
  rank_falling(map, at.diagonal, n, rank);
  for (int j = 0; j < n; ++j) place_column(map, v, rank, ld, j, at.matrix);
  map.barrier();
  copy_numbers(map, at.matrix, v, std::int64_t(n) * ld);
  const multiply_by_rows<real> product{
      {m.x, 0, 1, m.ld_x}, {v, 0, 1, ld}, {at.matrix, 0, 1, m.ld_x}, m.rows, n, n, true};
  for (std::int64_t tile = 0; tile < product.template tiles<Map>(); ++tile) {
    between();
    product(map, tile);
  }
  map.barrier();
  copy_numbers(map, at.matrix, m.x, std::int64_t(n) * m.ld_x);
  if (m.v == nullptr) note_lengths(map, m, v, 0, n);
}

}  // namespace quintet::svd
