// The sweeps of one-sided Jacobi (Hestenes 1958; de Rijk's exchange 1989): rotates the columns of X until all are
// orthogonal, and the columns of V with them, on either map.
#pragma once

#include <limits>

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
  Real* norm;   ///< squared norms
  Real* drift;  ///< |v_j|^2 - 1 as it follows from the rounding of c and s, kept when there is no V
  Real* order;  ///< columns by falling norm, for the round-robin order
  Real root_rows;
  int max_sweeps;
  bool accurate;
};

template <class Scalar>
struct sweep_result {
  Scalar sweeps;
  mask_of<Scalar> unfinished;
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
    const vector new_x = r.pp * x + r.pq * y, new_y = r.qp * x + r.qq * y;
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
    const vector new_x = x - r.sine * (y + r.half_tangent * x), new_y = y + r.sine * (x - r.half_tangent * y);
    if constexpr (Map::width == 1) {
      store<Map>(p, c, r.exchange ? new_y : new_x);
      store<Map>(q, c, r.exchange ? new_x : new_y);
    } else {
      store<Map>(p, c, choose(r.on, choose(r.exchange, new_y, new_x), x));
      store<Map>(q, c, choose(r.on, choose(r.exchange, new_x, new_y), y));
    }
  }
}

/// |v|^2 of the two columns after the rotation, to first order in what is not orthogonal.
template <class Map>
QUINTET_SVD_INLINE void follow_drift(const Map& map, const rotation<typename Map::scalar>& r, typename Map::real* drift,
                                     int p, int q) {
  const auto a = map.entry(drift, p), b = map.entry(drift, q);
  map.set_entry(drift, p, choose(r.on, r.pp * r.pp * a + r.pq * r.pq * b + r.drift, a));
  map.set_entry(drift, q, choose(r.on, r.qp * r.qp * a + r.qq * r.qq * b + r.drift, b));
}

/// What a sweep has seen.
template <class Scalar>
struct sweep_extremes {
  Scalar cosine{}, tangent{};
};

/// One pair of columns. `valid` is false for the stand-ins of for_each_item.
template <class Map>
QUINTET_SVD_INLINE void meet(const Map& map, const columns<typename Map::real>& m, int p, int q, bool valid,
                             const thresholds<typename Map::real>& limit, const mask_of<typename Map::scalar>& active,
                             sweep_extremes<typename Map::scalar>& seen) {
  using real = typename Map::real;
  using scalar = typename Map::scalar;
  real *x = map.column(m.x, p, m.ld_x), *y = map.column(m.x, q, m.ld_x);
  // Norms are read before the reduction, which is what keeps the leader from writing them too early. A stand-in reads
  // nothing that another worker might be changing.
  const scalar alpha = valid ? map.entry(m.norm, p) : scalar{}, beta = valid ? map.entry(m.norm, q) : scalar{};
  const scalar gamma = pair_dot(map, x, y, valid ? m.rows : 0);
  const auto r = make_rotation<bool(Map::row_cyclic)>(alpha, beta, gamma, limit, active);
  if (!valid || !any(r.on)) return;
  seen.cosine = larger(seen.cosine, r.cosine);
  seen.tangent = larger(seen.tangent, r.tangent);
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
    follow_drift(map, r, m.drift, p, q);
  }
  if (map.leads_pair()) {
    map.set_entry(m.norm, p, r.alpha);
    map.set_entry(m.norm, q, r.beta);
  }
}

/// All pairs once: row by row where one worker has the matrix, in the rounds of a tournament where several share it
/// (in a round every column is in one pair; for an odd number one idles).
template <class Map>
QUINTET_SVD_INLINE sweep_extremes<typename Map::scalar> sweep(const Map& map, const columns<typename Map::real>& m,
                                                              const thresholds<typename Map::real>& limit,
                                                              const mask_of<typename Map::scalar>& active) {
  sweep_extremes<typename Map::scalar> seen;
  if constexpr (Map::row_cyclic) {
    for (int p = 0; p + 1 < m.n; ++p)
      for (int q = p + 1; q < m.n; ++q) meet(map, m, p, q, true, limit, active, seen);
  } else {
    const int players = m.n + (m.n & 1), last = players - 1;
    for (int round = 0; round < last; ++round) {
      for_each_item(map, 0, players / 2, [&](int slot, bool valid) QUINTET_SVD_INLINE_LAMBDA {
        const int a = slot == 0 ? last : (round + slot) % last, b = (round - slot + last) % last;
        const int p = a < b ? a : b, q = a < b ? b : a;
        const bool plays = q < m.n;
        meet(map, m, int(m.order[plays ? p : 0]), int(m.order[plays ? q : 0]), valid && plays, limit, active, seen);
      });
      map.barrier();
    }
    seen.cosine = map.team_max(seen.cosine);
    seen.tangent = map.team_max(seen.tangent);
  }
  return seen;
}

template <class Map>
QUINTET_SVD_INLINE void measure_columns(const Map& map, const columns<typename Map::real>& m) {
  for_each_item(map, 0, m.n, [&](int j, bool valid) QUINTET_SVD_INLINE_LAMBDA {
    const auto* x = map.column(m.x, j, m.ld_x);
    const auto square = pair_dot(map, x, x, m.rows);
    if (valid && map.leads_pair()) map.set_entry(m.norm, j, square);
  });
  map.barrier();
}

/// rank_j: how many entries of `key` come before entry j in falling order; equal ones keep their order.
template <class Map>
QUINTET_SVD_INLINE void rank_falling(const Map& map, const typename Map::real* key, int n, typename Map::real* rank) {
  using real = typename Map::real;
  using scalar = typename Map::scalar;
  const scalar one = same<scalar>(real(1));
  for_each_row(map, 0, n, [&](int j) QUINTET_SVD_INLINE_LAMBDA {
    const scalar own = map.entry(key, j);
    scalar before{};
    for (int i = 0; i < j; ++i) before += choose(map.entry(key, i) >= own, one, scalar{});
    for (int i = j + 1; i < n; ++i) before += choose(map.entry(key, i) > own, one, scalar{});
    map.set_entry(rank, j, before);
  });
  map.barrier();
}

/// Makes all columns of X orthogonal. A matrix stops when a sweep has met no pair above the threshold, or when the
/// next one would: the angle left after a sweep is about n * cosine * tangent. (Cosines alone would not do: within a
/// cluster of equal singular values they are small while the angles are large.) Lanes that are done change no more.
template <class Map>
QUINTET_SVD_INLINE sweep_result<typename Map::scalar> orthogonalise(const Map& map,
                                                                    const columns<typename Map::real>& m,
                                                                    mask_of<typename Map::scalar> active) {
  using real = typename Map::real;
  using scalar = typename Map::scalar;
  const real tolerance = m.root_rows * std::numeric_limits<real>::epsilon() / 2;
  const thresholds<real> limit{tolerance, no_column_threshold<real>()};
  sweep_result<scalar> result{scalar{}, active};
  if (m.n < 2) {
    result.unfinished = scalar{} > scalar{};
    return result;
  }
  if constexpr (!Map::row_cyclic) {
    // Exchanging in a tournament doubles the sweeps; falling norms from the start do what the exchange does.
    measure_columns(map, m);
    real* rank = m.drift;
    rank_falling(map, m.norm, m.n, rank);
    for_each_row(map, 0, m.n, [&](int j) QUINTET_SVD_INLINE_LAMBDA { m.order[int(rank[j])] = real(j); });
    map.barrier();
    for_each_row(map, 0, m.n, [&](int j) QUINTET_SVD_INLINE_LAMBDA { rank[j] = 0; });
  }
  for (int s = 0; s < m.max_sweeps && any(active); ++s) {
    measure_columns(map, m);
    const sweep_extremes<scalar> seen = sweep(map, m, limit, active);
    result.sweeps += choose(active, same<scalar>(real(1)), scalar{});
    active = active & (seen.cosine > tolerance) & (real(m.n) * seen.cosine * seen.tangent > tolerance / 2);
  }
  result.unfinished = active;
  return result;
}

}  // namespace quintet::svd
