// The sweeps of one-sided Jacobi (Hestenes 1958; de Rijk's exchange 1989): rotates the columns of X until all are
// orthogonal, and the columns of V with them, on either map.
#pragma once

#include <cstring>
#include <limits>

#include "svd/pairs.hpp"

namespace quintet::svd {

template <class Scalar>
struct sweep_result {
  Scalar sweeps;
  mask_of<Scalar> unfinished;
};

/// Number of the column at place p of the order in which columns are paired.
template <class Map>
QUINTET_SVD_INLINE int column_at(const columns<typename Map::real>& m, int p) {
  if constexpr (Map::row_cyclic)
    return p;
  else
    return int(m.order[p]);
}

/// One pair, in the form that the matrix is kept in.
template <class Map>
QUINTET_SVD_INLINE void rotate_any_pair(const Map& map, const columns<typename Map::real>& m, int p, int q, bool valid,
                                        const thresholds<typename Map::scalar>& limit,
                                        sweep_sums<typename Map::scalar>& sums) {
  if (m.is_scaled())
    rotate_pair_scaled(map, m, p, q, valid, limit, sums);
  else
    rotate_pair(map, m, p, q, valid, limit, sums);
}

/// The columns p and p + 1 (below `end`) with q and q + 1 (below `last`).
template <class Map>
QUINTET_SVD_INLINE void rotate_pairs_of_two(const Map& map, const columns<typename Map::real>& m, int p, int end, int q,
                                            int last, const thresholds<typename Map::scalar>& limit,
                                            sweep_sums<typename Map::scalar>& sums) {
  if (m.is_scaled() && p + 1 < end && q + 1 < last) return rotate_2x2_block(map, m, p, q, limit, sums);
  for (int i = p; i < p + 2 && i < end; ++i)
    for (int j = q; j < q + 2 && j < last; ++j) rotate_any_pair(map, m, i, j, true, limit, sums);
}

/// All pairs of columns in [first, last) once. Where one worker has the matrix: in an order that has the same result as
/// row by row. Where several threads share it: in the rounds of a tournament (in a round every column is in one pair;
/// for an odd number one idles). `ahead` is called now and then.
template <class Map, class Ahead>
QUINTET_SVD_INLINE void rotate_within(const Map& map, const columns<typename Map::real>& m, int first, int last,
                                      const thresholds<typename Map::scalar>& limit,
                                      sweep_sums<typename Map::scalar>& sums, [[maybe_unused]] Ahead& ahead) {
  if constexpr (Map::row_cyclic) {
    for (int p = first; p < last; p += 2) {
      ahead();
      if (p + 1 < last) rotate_any_pair(map, m, p, p + 1, true, limit, sums);
      for (int q = p + 2; q < last; q += 2) rotate_pairs_of_two(map, m, p, last, q, last, limit, sums);
    }
  } else {
    const int count = last - first, players = count + (count & 1), final_player = players - 1;
    for (int round = 0; round < final_player; ++round) {
      for_each_item(map, 0, players / 2, [&](int slot, bool valid) QUINTET_SVD_INLINE_LAMBDA {
        const int a = slot == 0 ? final_player : (round + slot) % final_player;
        const int b = (round - slot + final_player) % final_player;
        const int p = a < b ? a : b, q = a < b ? b : a;
        const bool plays = q < count;
        rotate_any_pair(map, m, column_at<Map>(m, first + (plays ? p : 0)), column_at<Map>(m, first + (plays ? q : 0)),
                        valid && plays, limit, sums);
      });
      map.barrier();
    }
  }
}

/// Whether four columns from p on and four from q on are orthogonal already: where most are, 16 products at a time cost
/// a fraction of the rotations that they spare. One worker, one matrix.
template <class Map>
QUINTET_SVD_INLINE bool are_orthogonal(const Map& map, const columns<typename Map::real>& m, int p, int q,
                                       const thresholds<typename Map::scalar>& limit) {
  using real = typename Map::real;
  using vector = typename Map::vector;
  const int chunks = (m.rows + Map::chunk - 1) / Map::chunk;
  const real *x = map.column(m.x, p, m.ld_x), *y = map.column(m.x, q, m.ld_x);
  vector sums[16] = {};
  for (int c = 0; c < chunks; ++c) {
    vector value[4];
    for (int e = 0; e < 4; ++e) value[e] = load<Map>(x + std::int64_t(e) * m.ld_x, c);
    for (int k = 0; k < 4; ++k) {
      const vector other = load<Map>(y + std::int64_t(k) * m.ld_x, c);
      for (int e = 0; e < 4; ++e) sums[4 * k + e] = device::fma(value[e], other, sums[4 * k + e]);
    }
  }
  real product[16], least[16];
  fold_sixteen<Map>(sums, product);
  const real tolerance = limit.cosine * limit.cosine;
  for (int k = 0; k < 4; ++k)
    for (int e = 0; e < 4; ++e) {
      const real scales = m.is_scaled() ? m.column_scale[p + e] * m.column_scale[q + k] : real(1);
      least[4 * k + e] = tolerance * (m.norm[p + e] * m.norm[q + k]);
      product[4 * k + e] *= product[4 * k + e] * scales;
    }
  bool all = true;  // not where both sides underflow
  for (int e = 0; e < 16; ++e) all &= product[e] < least[e];
  return all;
}

/// Every column in [first, last) with every one in [first_q, last_q), which come after them.
template <class Map, class Ahead>
QUINTET_SVD_INLINE void rotate_across(const Map& map, const columns<typename Map::real>& m, int first, int last,
                                      int first_q, int last_q, const thresholds<typename Map::scalar>& limit,
                                      sweep_sums<typename Map::scalar>& sums, [[maybe_unused]] Ahead& ahead) {
  if constexpr (Map::chunk > 1) {
    if (m.starts_from_eigenvectors) {
      for (int q = first_q; q < last_q; q += 4) {
        ahead();
        for (int p = first; p < last; p += 4) {
          const int end = p + 4 < last ? p + 4 : last, end_q = q + 4 < last_q ? q + 4 : last_q;
          if (end - p == 4 && end_q - q == 4 && are_orthogonal(map, m, p, q, limit)) continue;
          for (int j = q; j < end_q; j += 2)
            for (int i = p; i < end; i += 2) rotate_pairs_of_two(map, m, i, end, j, end_q, limit, sums);
        }
      }
      return;
    }
  }
  if constexpr (Map::row_cyclic) {
    for (int q = first_q; q < last_q; q += 2) {
      ahead();
      for (int p = first; p < last; p += 2) rotate_pairs_of_two(map, m, p, last, q, last_q, limit, sums);
    }
  } else {
    const int count = last - first, count_q = last_q - first_q, rounds = count > count_q ? count : count_q;
    for (int round = 0; round < rounds; ++round) {
      for_each_item(map, 0, rounds, [&](int slot, bool valid) QUINTET_SVD_INLINE_LAMBDA {
        const int other = (slot + round) % rounds;
        const bool plays = slot < count && other < count_q;
        rotate_any_pair(map, m, column_at<Map>(m, first + (plays ? slot : 0)),
                        column_at<Map>(m, first_q + (plays ? other : 0)), valid && plays, limit, sums);
      });
      map.barrier();
    }
  }
}

/// What is measured of scaled columns besides their lengths.
enum class column_scales { ones, known, measured };

/// Squared lengths of the columns at the places [first, last), exact again; for scaled ones also their scales,
/// from the columns of V, which rotations only ever stretch.
template <class Map>
QUINTET_SVD_INLINE void measure_columns(const Map& map, const columns<typename Map::real>& m, int first, int last,
                                        column_scales scales = column_scales::measured) {
  using real = typename Map::real;
  using scalar = typename Map::scalar;
  for_each_item(map, first, last, [&](int p, bool valid) QUINTET_SVD_INLINE_LAMBDA {
    const int j = column_at<Map>(m, p);
    const auto* x = map.column(m.x, j, m.ld_x);
    const scalar square = pair_dot(map, x, x, m.rows);
    if (!m.is_scaled()) {
      if (valid && map.leads_pair()) map.set_entry(m.norm, j, square);
      return;
    }
    if (scales != column_scales::measured) {
      // Nobody else reads the scale, as the leader writes it at the same time.
      if (valid && map.leads_pair()) {
        const scalar column_scale =
            scales == column_scales::ones ? same<scalar>(real(1)) : map.entry(m.column_scale, j);
        set_state(map, m, j, column_state<scalar>{square * column_scale, column_scale});
      }
      return;
    }
    const auto* v = map.column(m.v, j, m.ld_v);
    const scalar column_scale = device::inverse(pair_dot(map, v, v, m.n));
    column_state<scalar> state{square * column_scale, column_scale};
    if constexpr (Map::row_cyclic)
      if (any(column_scale < min_column_scale<real>)) keep_in_range(map, m, j, state);
    if (valid && map.leads_pair()) set_state(map, m, j, state);
  });
  map.barrier();
}

/// Rotations of a column after which its scale is measured again: the rounding errors of a scale add up, and make V
/// less orthogonal.
constexpr int rotations_between_rescalings = 32;

/// Columns that are rotated with the rest of the matrix together: it is read once for all of them, which counts when it
/// comes from the third-level cache.
QUINTET_SVD_INLINE int columns_together(int n) { return n > 96 ? 16 : 4; }

/// All pairs once.
template <class Map, class Ahead>
QUINTET_SVD_INLINE sweep_sums<typename Map::scalar> sweep(const Map& map, const columns<typename Map::real>& m,
                                                          const thresholds<typename Map::scalar>& limit,
                                                          [[maybe_unused]] Ahead& ahead) {
  sweep_sums<typename Map::scalar> sums;
  if constexpr (!Map::has_registers_for_four) {
    // At most 8 columns: within one sweep no scale has to be measured again.
#pragma GCC unroll 1
    for (int p = 0; p + 1 < m.n; ++p)
#pragma GCC unroll 1
      for (int q = p + 1; q < m.n; ++q) rotate_any_pair(map, m, p, q, true, limit, sums);
  } else if constexpr (Map::row_cyclic) {
    const int group_size = columns_together(m.n);
    for (int p = 0; p < m.n; p += group_size) {
      const int end = p + group_size < m.n ? p + group_size : m.n;
      if (p > 0 && p % rotations_between_rescalings == 0 && m.is_scaled()) measure_columns(map, m, p, m.n);
      rotate_within(map, m, p, end, limit, sums, ahead);
      for (int q = end; q < m.n; q += rotations_between_rescalings) {
        if (q > end && m.is_scaled()) measure_columns(map, m, p, end);
        const int last = q + rotations_between_rescalings < m.n ? q + rotations_between_rescalings : m.n;
        rotate_across(map, m, p, end, q, last, limit, sums, ahead);
      }
    }
  } else {
    rotate_within(map, m, 0, m.n, limit, sums, ahead);
    add_up(map, sums);
  }
  return sums;
}

/// rank_j, first <= j < last: how many of the n entries of `key` come before entry j in falling order; equal ones keep
/// their order.
template <class Map>
QUINTET_SVD_INLINE void rank_falling(const Map& map, const typename Map::real* key, int n, typename Map::real* rank,
                                     int first, int last) {
  using real = typename Map::real;
  using scalar = typename Map::scalar;
  const scalar one = same<scalar>(real(1));
  for_each_row(map, first, last, [&](int j) QUINTET_SVD_INLINE_LAMBDA {
    const scalar own = map.entry(key, j);
    scalar before{};
    for (int i = 0; i < j; ++i) before += choose(map.entry(key, i) >= own, one, scalar{});
    for (int i = j + 1; i < n; ++i) before += choose(map.entry(key, i) > own, one, scalar{});
    map.set_entry(rank, j, before);
  });
  map.barrier();
}

template <class Map>
QUINTET_SVD_INLINE void rank_falling(const Map& map, const typename Map::real* key, int n, typename Map::real* rank) {
  rank_falling(map, key, n, rank, 0, n);
}

/// More rows than this are ordered by their exponents: rank_falling() takes the square of their number.
constexpr int max_compared_rows = 2048;

/// Places of `count` sizes in falling order of their exponents, those of one exponent in the order they have. `counter`
/// has room for max_compared_rows numbers.
template <class Map>
QUINTET_SVD_INLINE void rank_by_exponent(const Map& map, typename Map::real* size, int count, typename Map::real* rank,
                                         typename Map::real* counter) {
  using real = typename Map::real;
  constexpr int significand = std::numeric_limits<real>::digits - 1, exponents = 1 << (sizeof(real) == 4 ? 8 : 11);
  static_assert(exponents <= max_compared_rows);
  if (map.leads_team())
    for (int l = 0; l < Map::packed; ++l) {
      const auto exponent = [&](int i) QUINTET_SVD_INLINE_LAMBDA {
        std::conditional_t<sizeof(real) == 4, std::int32_t, std::int64_t> bits;
        std::memcpy(&bits, &lane_element(map, size, 0, i, 0, l), sizeof bits);
        return int(bits >> significand);  // sizes have no sign
      };
      for (int e = 0; e < exponents; ++e) lane_element(map, counter, 0, e, 0, l) = 0;
      for (int i = 0; i < count; ++i) lane_element(map, counter, 0, exponent(i), 0, l) += 1;
      real next = 0;
      for (int e = exponents - 1; e >= 0; --e) {
        real& first = lane_element(map, counter, 0, e, 0, l);
        const real value = first;
        first = next;
        next += value;
      }
      for (int i = 0; i < count; ++i) {
        real& place = lane_element(map, counter, 0, exponent(i), 0, l);
        lane_element(map, rank, 0, i, 0, l) = place;
        place += 1;
      }
    }
  map.barrier();
}

/// Where threads share a matrix: columns by falling norm. Exchanging in a tournament doubles the sweeps; falling norms
/// from the start do what the exchange does.
template <class Map>
QUINTET_SVD_INLINE void order_columns(const Map& map, const columns<typename Map::real>& m) {
  using real = typename Map::real;
  if constexpr (!Map::row_cyclic) {
    for_each_row(map, 0, m.n, [&](int j) QUINTET_SVD_INLINE_LAMBDA { m.order[j] = real(j); });
    map.barrier();
    measure_columns(map, m, 0, m.n);
    real* rank = m.norm_correction;
    rank_falling(map, m.norm, m.n, rank);
    for_each_row(map, 0, m.n, [&](int j) QUINTET_SVD_INLINE_LAMBDA { m.order[int(rank[j])] = real(j); });
    map.barrier();
    for_each_row(map, 0, m.n, [&](int j) QUINTET_SVD_INLINE_LAMBDA { rank[j] = 0; });
    map.barrier();
  }
}

/// Whether columns may change places in the sweep after one that has seen this (de Rijk 1989). A column that changes
/// places within a sweep does not meet the columns between both places, so no such sweep can be the last one. Falling
/// norms serve the first sweeps; near the end only columns of almost equal norms would still change.
template <class Scalar>
QUINTET_SVD_INLINE mask_of<Scalar> may_exchange(const sweep_sums<Scalar>& sums) {
  constexpr real_of<Scalar> near_end = real_of<Scalar>(0x1p-4);
  return sums.cosine > near_end * near_end;
}

/// Whether a sweep that has seen this was not the last one. Of the cosine of a pair it leaves what the error of the
/// angle makes of it and what later rotations bring in: the sum of |e_pr cos_qr| + |e_qr cos_pr| over the other columns
/// r, each pair of columns at most once, and so (Cauchy and Schwarz) at most the product of the roots of the sums of
/// squares of e and of the cosines. e is the change of a column relative to its length: |t| for the longer one, |t|
/// times the ratio of both lengths, at most |t| + |cos|, for the shorter one. (The tangents alone would not do where
/// columns differ in length, the cosines alone not in a cluster of equal singular values.) All this is of sweeps that
/// meet every pair, in which no column changes places.
template <class Scalar, class Real>
QUINTET_SVD_INLINE mask_of<Scalar> needs_more(const sweep_sums<Scalar>& sums, Real tolerance, Real angle_error) {
  const Scalar leaves = root(sums.tangent) + root(sums.cosine) + angle_error;
  return sums.exchanged | (sums.cosine * leaves * leaves > tolerance * tolerance);
}

/// Columns with cosines at or below this are orthogonal.
template <class Real>
QUINTET_SVD_INLINE Real cosine_tolerance(Real root_rows) {
  return root_rows * std::numeric_limits<Real>::epsilon() / 2;
}

/// Makes all columns of X orthogonal. A matrix stops when a sweep has met no pair above the threshold, or when the
/// next one would not. Lanes that are done change no more. `ahead` is called a few times per sweep.
template <class Map, class Ahead>
QUINTET_SVD_INLINE sweep_result<typename Map::scalar> orthogonalise(const Map& map, columns<typename Map::real>& m,
                                                                    mask_of<typename Map::scalar> active, Ahead ahead) {
  using real = typename Map::real;
  using scalar = typename Map::scalar;
  const real tolerance = cosine_tolerance(m.root_rows);
  sweep_result<scalar> result{scalar{}, active};
  if (m.n < 2) {
    result.unfinished = scalar{} > scalar{};
    return result;
  }
  order_columns(map, m);
  int rotated = 0;  // of a column since its scale was measured
  mask_of<scalar> exchanges = active;
  if (m.starts_from_eigenvectors) exchanges = scalar{} > scalar{};  // they came in order
  for (int s = 0; s < m.max_sweeps && any(active); ++s) {
    // Small matrices do several sweeps between two measurements of the scales, which are 1 at first: V is the
    // identity.
    const bool is_due = rotated + m.n - 1 > rotations_between_rescalings;
    measure_columns(map, m, 0, m.n,
                    s == 0 && !m.starts_from_eigenvectors ? column_scales::ones
                    : s == 0 || is_due                    ? column_scales::measured
                                                          : column_scales::known);
    rotated = (is_due ? 0 : rotated) + m.n - 1;
    m.v_is_new = s == 0 && !m.starts_from_eigenvectors;
    const sweep_sums<scalar> sums = sweep(map, m, thresholds_for<scalar>(tolerance, active, exchanges), ahead);
    exchanges = may_exchange(sums);
    result.sweeps += choose(active, same<scalar>(real(1)), scalar{});
    active = active & needs_more(sums, tolerance, m.accurate ? real(0) : angle_error<scalar>());
  }
  result.unfinished = active;
  return result;
}

}  // namespace quintet::svd
