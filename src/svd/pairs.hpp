// Two columns, or two and two, are made orthogonal: products, rotations, and what they do to the columns of X and V.
//
// With V the columns are scaled and the rotations fast Givens ones (see fast_rotation): two multiply-adds per row.
// Without V, or when the accurate form is asked for, they are rotated as they are.
#pragma once

#include "svd/maps.hpp"
#include "svd/rotation.hpp"

namespace quintet::svd {

/// The matrices of one group while they are worked on. Arrays hold one scalar a column.
template <class Real>
struct columns {
  Real* x;  ///< [n] columns of `rows` elements, ld_x apart
  int rows, ld_x;
  Real* v;  ///< [n] columns of n elements, ld_v apart; null when no vectors are wanted
  int n, ld_v;
  Real* norm;             ///< squared norms
  Real* column_scale;     ///< see column_state; kept when columns are scaled
  Real* norm_correction;  ///< |v_j|^2 - 1 as it follows from the rounding of c and s, kept when there is no V
  Real* order;            ///< columns by falling norm, for the round-robin order
  Real root_rows;
  int max_sweeps;
  bool accurate;
  bool starts_from_eigenvectors;  ///< X and V are those that start_from_eigenvectors() has left
  bool v_is_new;                  ///< V was the identity before this sweep, whose order is row-cyclic

  bool is_scaled() const { return v != nullptr && !accurate; }
  /// Rows of V that may hold anything when columns up to q have met: until column q has met others it is a canonical
  /// vector, and all that came before it have zeros in its row and below.
  int rows_of_v(int q) const { return v_is_new ? q + 1 : n; }
};

/// Applies a rotation to two columns. Lanes that do not rotate keep their bits, signed zeros included.
template <class Map>
QUINTET_SVD_INLINE void rotate(const Map& map, const rotation<typename Map::scalar>& r, typename Map::real* p,
                               typename Map::real* q, int rows) {
  using vector = typename Map::vector;
  const int step = map.pair_step(), chunks = (rows + Map::chunk - 1) / Map::chunk;
#pragma GCC unroll 2
  for (int c = map.pair_first(); c < chunks; c += step) {
    const vector x = load<Map>(p, c), y = load<Map>(q, c);
    const vector new_x = device::fma(r.pp, x, r.pq * y), new_y = device::fma(r.qp, x, r.qq * y);
    if constexpr (Map::width == 1) {
      store<Map>(p, c, new_x);
      store<Map>(q, c, new_y);
    } else {
      store<Map>(p, c, choose(r.on, new_x, x));
      store<Map>(q, c, choose(r.on, new_y, y));
    }
  }
}

/// The same in Rutishauser's form, which adds small corrections to the old values: about half the rounding errors.
template <class Map>
QUINTET_SVD_INLINE void rotate_accurately(const Map& map, const rotation<typename Map::scalar>& r,
                                          typename Map::real* p, typename Map::real* q, int rows) {
  using vector = typename Map::vector;
  const int step = map.pair_step(), chunks = (rows + Map::chunk - 1) / Map::chunk;
  for (int c = map.pair_first(); c < chunks; c += step) {
    const vector x = load<Map>(p, c), y = load<Map>(q, c);
    const vector new_x = device::fma(-r.sine, device::fma(r.half_tangent, x, y), x);
    const vector new_y = device::fma(r.sine, device::fma(-r.half_tangent, y, x), y);
    if constexpr (Map::width == 1) {
      store<Map>(p, c, r.exchanged ? new_y : new_x);
      store<Map>(q, c, r.exchanged ? new_x : new_y);
    } else {
      store<Map>(p, c, choose(r.on, choose(r.exchanged, new_y, new_x), x));
      store<Map>(q, c, choose(r.on, choose(r.exchanged, new_x, new_y), y));
    }
  }
}

/// |v|^2 of the two columns after the rotation, to first order in what is not orthogonal.
template <class Map>
QUINTET_SVD_INLINE void correct_norm(const Map& map, const rotation<typename Map::scalar>& r,
                                     typename Map::real* norm_correction, int p, int q) {
  const auto a = map.entry(norm_correction, p), b = map.entry(norm_correction, q);
  map.set_entry(norm_correction, p, choose(r.on, device::fma(r.pp * r.pp, a, r.pq * r.pq * b) + r.norm_correction, a));
  map.set_entry(norm_correction, q, choose(r.on, device::fma(r.qp * r.qp, a, r.qq * r.qq * b) + r.norm_correction, b));
}

/// Squares of what a sweep has rotated, summed over its pairs, and where columns changed places.
template <class Scalar>
struct sweep_sums {
  Scalar cosine{}, tangent{};
  mask_of<Scalar> exchanged{};
};

/// Takes what a rotation, or a fast one, did into the sums.
template <class Scalar, class Rotation>
QUINTET_SVD_INLINE void note(sweep_sums<Scalar>& sums, const Rotation& r) {
  sums.cosine = device::fma(r.cosine, r.cosine, sums.cosine);
  sums.tangent = device::fma(r.tangent, r.tangent, sums.tangent);
  sums.exchanged = sums.exchanged | r.exchanged;
}

/// Sums of the whole team, whose columns stay where they are. All threads of a pair have noted the same.
template <class Map>
QUINTET_SVD_INLINE void add_up(const Map& map, sweep_sums<typename Map::scalar>& sums) {
  using scalar = typename Map::scalar;
  sums.cosine = map.team_sum(map.leads_pair() ? sums.cosine : scalar{});
  sums.tangent = map.team_sum(map.leads_pair() ? sums.tangent : scalar{});
}

/// One pair of columns. `valid` is false for the stand-ins of for_each_item.
template <class Map>
QUINTET_SVD_INLINE void rotate_pair(const Map& map, const columns<typename Map::real>& m, int p, int q, bool valid,
                                    const thresholds<typename Map::scalar>& limit,
                                    sweep_sums<typename Map::scalar>& sums) {
  using real = typename Map::real;
  using scalar = typename Map::scalar;
  real *x = map.column(m.x, p, m.ld_x), *y = map.column(m.x, q, m.ld_x);
  // Norms are read before the reduction, which is what keeps the leader from writing them too early. A stand-in reads
  // nothing that another worker might be changing.
  const scalar alpha = valid ? map.entry(m.norm, p) : scalar{}, beta = valid ? map.entry(m.norm, q) : scalar{};
  const scalar gamma = pair_dot(map, x, y, valid ? m.rows : 0);
  const auto r = make_rotation<bool(Map::row_cyclic)>(alpha, beta, gamma, limit, m.accurate);
  if (!valid || !any(r.on)) return;
  note(sums, r);
  if (m.accurate)
    rotate_accurately(map, r, x, y, m.rows);
  else
    rotate(map, r, x, y, m.rows);
  if (m.v != nullptr) {
    real *v = map.column(m.v, p, m.ld_v), *w = map.column(m.v, q, m.ld_v);
    if (m.accurate)
      rotate_accurately(map, r, v, w, m.n);
    else
      rotate(map, r, v, w, m.n);
  } else if (!m.accurate && map.leads_pair()) {
    correct_norm(map, r, m.norm_correction, p, q);
  }
  if (map.leads_pair()) {
    map.set_entry(m.norm, p, r.alpha);
    map.set_entry(m.norm, q, r.beta);
  }
}

/// State of column j of a scaled matrix.
template <class Map>
QUINTET_SVD_INLINE column_state<typename Map::scalar> state_of(const Map& map, const columns<typename Map::real>& m,
                                                               int j) {
  return {map.entry(m.norm, j), map.entry(m.column_scale, j)};
}
template <class Map>
QUINTET_SVD_INLINE void set_state(const Map& map, const columns<typename Map::real>& m, int j,
                                  const column_state<typename Map::scalar>& state) {
  map.set_entry(m.norm, j, state.norm);
  map.set_entry(m.column_scale, j, state.column_scale);
}

template <class Map>
QUINTET_SVD_INLINE void scale_column(const Map& map, typename Map::real* column, int rows,
                                     const typename Map::scalar& factor) {
  const int chunks = (rows + Map::chunk - 1) / Map::chunk;
  for (int c = map.pair_first(); c < chunks; c += map.pair_step()) store<Map>(column, c, load<Map>(column, c) * factor);
}

/// Scales may fall to this before keep_in_range() acts. A rotation halves a scale at most, and 47 of them lie
/// between two measurements: squares of what is stored stay below 2^100.
template <class Real>
constexpr Real min_column_scale = Real(0x1p-40);

/// What is stored grows as the scales fall. Takes a power of two out of a column whose scale has become small.
template <class Map>
QUINTET_SVD_INLINE void keep_in_range(const Map& map, const columns<typename Map::real>& m, int j,
                                      column_state<typename Map::scalar>& state) {
  using real = typename Map::real;
  using scalar = typename Map::scalar;
  const mask_of<scalar> is_small = state.column_scale < min_column_scale<real>;
  const scalar factor = choose(is_small, power_of_two_below(root(state.column_scale)), same<scalar>(real(1)));
  scale_column(map, map.column(m.x, j, m.ld_x), m.rows, factor);
  scale_column(map, map.column(m.v, j, m.ld_v), m.n, factor);
  state.column_scale = state.column_scale / (factor * factor);
}

template <bool Exchange, class Map>
QUINTET_SVD_INLINE void apply_fast_rotation(const Map& map, const fast_rotation<typename Map::scalar>& r,
                                            typename Map::real* p, typename Map::real* q, int rows) {
  using vector = typename Map::vector;
  const int step = map.pair_step(), chunks = (rows + Map::chunk - 1) / Map::chunk;
#pragma GCC unroll 2
  for (int c = map.pair_first(); c < chunks; c += step) {
    vector x = load<Map>(p, c), y = load<Map>(q, c);
    apply_fast_rotation_to<Exchange>(r, x, y);
    store<Map>(p, c, x);
    store<Map>(q, c, y);
  }
}

/// rotate_pair() for scaled columns.
template <class Map>
QUINTET_SVD_INLINE void rotate_pair_scaled(const Map& map, const columns<typename Map::real>& m, int p, int q,
                                           bool valid, const thresholds<typename Map::scalar>& limit,
                                           sweep_sums<typename Map::scalar>& sums) {
  using real = typename Map::real;
  using scalar = typename Map::scalar;
  real *x = map.column(m.x, p, m.ld_x), *y = map.column(m.x, q, m.ld_x);
  column_state<scalar> first{}, second{};
  if (valid) {  // see rotate_pair()
    first = state_of(map, m, p);
    second = state_of(map, m, q);
  }
  const scalar product = pair_dot(map, x, y, valid ? m.rows : 0);
  const auto r = make_fast_rotation<bool(Map::row_cyclic)>(first, second, product, limit);
  if (!valid || !any(r.tangent > scalar{})) return;
  note(sums, r);
  real *v = map.column(m.v, p, m.ld_v), *w = map.column(m.v, q, m.ld_v);
  const int v_rows = Map::row_cyclic ? m.rows_of_v(q) : m.n;
  if (Map::row_cyclic && any(r.exchanged)) {
    apply_fast_rotation<true>(map, r, x, y, m.rows);
    apply_fast_rotation<true>(map, r, v, w, v_rows);
  } else {
    apply_fast_rotation<false>(map, r, x, y, m.rows);
    apply_fast_rotation<false>(map, r, v, w, v_rows);
  }
  if constexpr (!Map::row_cyclic) {  // others see to it when they measure columns, often enough
    if (any(smaller(first.column_scale, second.column_scale) < min_column_scale<real>)) {
      keep_in_range(map, m, p, first);
      keep_in_range(map, m, q, second);
    }
  }
  if (map.leads_pair()) {
    set_state(map, m, p, first);
    set_state(map, m, q, second);
  }
}

/// Products of four columns are sums of one chain each up to this many chunks, which square matrices of one worker do
/// not exceed.
constexpr int largest_undivided_sum = 256;

/// The products of four columns p, p + 1, q, q + 1 of X with one another.
template <class Scalar>
struct products_of_four {
  Scalar p, q;                ///< p . (p + 1), q . (q + 1)
  Scalar pq, pq1, p1q, p1q1;  ///< p . q, p . (q + 1), (p + 1) . q, (p + 1) . (q + 1)
};

/// Six sums over the chunks [c, last), one chain each.
template <class Map>
QUINTET_SVD_INLINE products_of_four<typename Map::vector> multiply_four_chunks(const typename Map::real* x,
                                                                               const typename Map::real* x1,
                                                                               const typename Map::real* y,
                                                                               const typename Map::real* y1, int c,
                                                                               int last) {
  using vector = typename Map::vector;
  products_of_four<vector> sum{};
  for (; c < last; ++c) {
    const vector a = load<Map>(x, c), a1 = load<Map>(x1, c), b = load<Map>(y, c), b1 = load<Map>(y1, c);
    sum.p = device::fma(a, a1, sum.p);
    sum.q = device::fma(b, b1, sum.q);
    sum.pq = device::fma(a, b, sum.pq);
    sum.pq1 = device::fma(a, b1, sum.pq1);
    sum.p1q = device::fma(a1, b, sum.p1q);
    sum.p1q1 = device::fma(a1, b1, sum.p1q1);
  }
  return sum;
}

/// The same for long columns: see chunk_dot.
template <class Map>
[[gnu::noinline]] products_of_four<typename Map::vector> multiply_four_blocks(const typename Map::real* x,
                                                                              const typename Map::real* x1,
                                                                              const typename Map::real* y,
                                                                              const typename Map::real* y1,
                                                                              int chunks) {
  constexpr int block = 4 * terms_of_block;
  compensated_sum<typename Map::vector> p, q, pq, pq1, p1q, p1q1;
  for (int c = 0; c < chunks; c += block) {
    const auto part = multiply_four_chunks<Map>(x, x1, y, y1, c, c + block < chunks ? c + block : chunks);
    p.add(part.p);
    q.add(part.q);
    pq.add(part.pq);
    pq1.add(part.pq1);
    p1q.add(part.p1q);
    p1q1.add(part.p1q1);
  }
  return {p.total(), q.total(), pq.total(), pq1.total(), p1q.total(), p1q1.total()};
}

template <class Map>
QUINTET_SVD_INLINE products_of_four<typename Map::scalar> multiply_four(const Map& map,
                                                                        const columns<typename Map::real>& m, int p,
                                                                        int q) {
  using real = typename Map::real;
  const real *x = map.column(m.x, p, m.ld_x), *x1 = map.column(m.x, p + 1, m.ld_x);
  const real *y = map.column(m.x, q, m.ld_x), *y1 = map.column(m.x, q + 1, m.ld_x);
  const int chunks = (m.rows + Map::chunk - 1) / Map::chunk;
  const auto sum = chunks <= largest_undivided_sum ? multiply_four_chunks<Map>(x, x1, y, y1, 0, chunks)
                                                   : multiply_four_blocks<Map>(x, x1, y, y1, chunks);
  return {map.pair_sum(sum.p),   map.pair_sum(sum.q),   map.pair_sum(sum.pq),
          map.pair_sum(sum.pq1), map.pair_sum(sum.p1q), map.pair_sum(sum.p1q1)};
}

/// The fast rotations of the pairs (p, q), (p + 1, q + 1), (p, q + 1), (p + 1, q), one after the other.
template <class Scalar>
struct fast_rotations_2x2 {
  fast_rotation<Scalar> pq, p1q1, pq1, p1q;
};

template <bool Exchange, class Map>
QUINTET_SVD_INLINE void apply_fast_rotations_2x2(const Map& map, const fast_rotations_2x2<typename Map::scalar>& r,
                                                 typename Map::real* base, int p, int q, int ld, int rows) {
  using real = typename Map::real;
  using vector = typename Map::vector;
  real *x = map.column(base, p, ld), *x1 = map.column(base, p + 1, ld);
  real *y = map.column(base, q, ld), *y1 = map.column(base, q + 1, ld);
  const int chunks = (rows + Map::chunk - 1) / Map::chunk;
  for (int c = 0; c < chunks; ++c) {
    vector a = load<Map>(x, c), a1 = load<Map>(x1, c), b = load<Map>(y, c), b1 = load<Map>(y1, c);
    apply_fast_rotation_to<Exchange>(r.pq, a, b);
    apply_fast_rotation_to<Exchange>(r.p1q1, a1, b1);
    apply_fast_rotation_to<Exchange>(r.pq1, a, b1);
    apply_fast_rotation_to<Exchange>(r.p1q, a1, b);
    store<Map>(x, c, a);
    store<Map>(x1, c, a1);
    store<Map>(y, c, b);
    store<Map>(y1, c, b1);
  }
}

/// The four pairs of two and two neighbouring columns in one pass over them: half the memory traffic, and the first two
/// rotations, which have no column in common, do not wait for each other. Only where one thread has the matrix.
template <class Map>
QUINTET_SVD_INLINE void rotate_2x2_block(const Map& map, const columns<typename Map::real>& m, int p, int q,
                                         const thresholds<typename Map::scalar>& limit,
                                         sweep_sums<typename Map::scalar>& sums) {
  using scalar = typename Map::scalar;
  column_state<scalar> s = state_of(map, m, p), s1 = state_of(map, m, p + 1);
  column_state<scalar> t = state_of(map, m, q), t1 = state_of(map, m, q + 1);
  auto g = multiply_four(map, m, p, q);
  fast_rotations_2x2<scalar> r;
  r.pq = make_fast_rotation<true>(s, t, g.pq, limit);
  r.p1q1 = make_fast_rotation<true>(s1, t1, g.p1q1, limit);
  // What the two did to the other products.
  apply_fast_rotation_to<true>(r.pq, g.pq1, g.q);
  apply_fast_rotation_to<true>(r.pq, g.p, g.p1q);
  apply_fast_rotation_to<true>(r.p1q1, g.p, g.pq1);
  apply_fast_rotation_to<true>(r.p1q1, g.p1q, g.q);
  r.pq1 = make_fast_rotation<true>(s, t1, g.pq1, limit);
  r.p1q = make_fast_rotation<true>(s1, t, g.p1q, limit);
  const scalar tangent = larger(larger(r.pq.tangent, r.p1q1.tangent), larger(r.pq1.tangent, r.p1q.tangent));
  if (!any(tangent > scalar{})) return;
  for (const auto* each : {&r.pq, &r.p1q1, &r.pq1, &r.p1q}) note(sums, *each);
  const mask_of<scalar> exchanged = r.pq.exchanged | r.p1q1.exchanged | r.pq1.exchanged | r.p1q.exchanged;
  if (any(exchanged)) {
    apply_fast_rotations_2x2<true>(map, r, m.x, p, q, m.ld_x, m.rows);
    apply_fast_rotations_2x2<true>(map, r, m.v, p, q, m.ld_v, m.rows_of_v(q + 1));
  } else {
    apply_fast_rotations_2x2<false>(map, r, m.x, p, q, m.ld_x, m.rows);
    apply_fast_rotations_2x2<false>(map, r, m.v, p, q, m.ld_v, m.rows_of_v(q + 1));
  }
  set_state(map, m, p, s);
  set_state(map, m, p + 1, s1);
  set_state(map, m, q, t);
  set_state(map, m, q + 1, t1);
}

}  // namespace quintet::svd
