// Square matrices of up to four columns: the one-sided Jacobi method of sweeps.hpp with all vectors, and the two-sided
// one of symmetric eigenproblems, with every loop over rows and columns unrolled, so that X and V stay in registers. On
// the host the matrices of a group lie side by side in the lanes of a register, on a device each thread has one.
#pragma once

#include <cstring>

#include "device/interleave.hpp"
#include "device/launch.hpp"
#include "svd/eigenvectors.hpp"
#include "svd/jacobi_policies.hpp"
#include "svd/small_values.hpp"
#include "svd/sweeps.hpp"
#include "svd/transfer.hpp"

namespace quintet::svd {

/// X, V and what belongs to their columns.
template <class Scalar, int N>
struct small_matrices {
  Scalar x[N][N], v[N][N];  ///< [column][row]
  column_state<Scalar> state[N];
  Scalar sigma[N];
};

namespace detail {

template <int N, class Scalar>
QUINTET_SVD_INLINE Scalar dot(const Scalar* x, const Scalar* y) {
  Scalar sum = x[0] * y[0];
#pragma GCC unroll 4
  for (int i = 1; i < N; ++i) sum = device::fma(x[i], y[i], sum);
  return sum;
}

template <int N, class Scalar>
QUINTET_SVD_INLINE void swap_where(const mask_of<Scalar>& where, Scalar* x, Scalar* y) {
#pragma GCC unroll 4
  for (int i = 0; i < N; ++i) {
    const Scalar a = x[i], b = y[i];
    x[i] = choose(where, b, a);
    y[i] = choose(where, a, b);
  }
}

/// Squared lengths again, and the scales, before they become too small: those of the columns of V, or those that the
/// rotations have left where there is no V.
template <bool HasV, int N, class Scalar>
QUINTET_SVD_INLINE void measure(small_matrices<Scalar, N>& m, bool rescales) {
#pragma GCC unroll 4
  for (int j = 0; j < N; ++j) {
    column_state<Scalar>& state = m.state[j];
    if (rescales) {
      const Scalar factor = power_of_two_below(root(state.column_scale));
#pragma GCC unroll 4
      for (int i = 0; i < N; ++i) {
        m.x[j][i] *= factor;
        if constexpr (HasV) m.v[j][i] *= factor;
      }
      if constexpr (HasV)
        state.column_scale = device::inverse(dot<N>(m.v[j], m.v[j]));
      else
        state.column_scale = state.column_scale / (factor * factor);  // exact: lanes that are done keep their bits
    }
    state.norm = dot<N>(m.x[j], m.x[j]) * state.column_scale;
  }
}

template <bool HasV, int N, class Scalar>
QUINTET_SVD_INLINE sweep_sums<Scalar> sweep(small_matrices<Scalar, N>& m, const thresholds<Scalar>& limit) {
  sweep_sums<Scalar> sums;
#pragma GCC unroll 4
  for (int p = 0; p < N - 1; ++p)
#pragma GCC unroll 4
    for (int q = p + 1; q < N; ++q) {
      const Scalar product = dot<N>(m.x[p], m.x[q]);
      const auto r = make_fast_rotation<true>(m.state[p], m.state[q], product, limit);
      note(sums, r);
#pragma GCC unroll 4
      for (int i = 0; i < N; ++i) {
        apply_fast_rotation_to<true>(r, m.x[p][i], m.x[q][i]);
        if constexpr (HasV) apply_fast_rotation_to<true>(r, m.v[p][i], m.v[q][i]);
      }
    }
  return sums;
}

/// Rotations halve a scale at most, and the smallest number is far away: see min_column_scale.
template <int N>
constexpr int sweeps_between_rescalings = rotations_between_rescalings / (N - 1);

template <bool HasV, int N, class Scalar>
QUINTET_SVD_INLINE sweep_result<Scalar> orthogonalise(small_matrices<Scalar, N>& m, mask_of<Scalar> active,
                                                      real_of<Scalar> tolerance, int max_sweeps) {
  sweep_result<Scalar> result{Scalar{}, active};
  mask_of<Scalar> exchanges = active;
  for (int s = 0; s < max_sweeps && any(active); ++s) {
    measure<HasV>(m, s > 0 && s % sweeps_between_rescalings<N> == 0);
    const sweep_sums<Scalar> sums = sweep<HasV>(m, thresholds_for<Scalar>(tolerance, active, exchanges));
    exchanges = may_exchange(sums);
    result.sweeps += choose(active, same<Scalar>(real_of<Scalar>(1)), Scalar{});
    active = active & needs_more(sums, tolerance, angle_error<Scalar>());
  }
  result.unfinished = active;
  return result;
}

/// As normalise() and sort_columns(): sigma_j = |x_j| / |v_j| in falling order, columns of length 1.
template <int N, class Scalar>
QUINTET_SVD_INLINE void normalise_and_sort(small_matrices<Scalar, N>& m) {
  using real = real_of<Scalar>;
  const Scalar one = same<Scalar>(real(1));
#pragma GCC unroll 4
  for (int j = 0; j < N; ++j) {
    const Scalar length = root(dot<N>(m.x[j], m.x[j])), stretch = root(dot<N>(m.v[j], m.v[j]));
    m.sigma[j] = length / stretch;
    m.state[j].norm = m.sigma[j] * m.sigma[j];
    const Scalar inverse = one / choose(m.state[j].norm > no_column_threshold<real>(), length, one);
    const Scalar inverse_stretch = one / stretch;
#pragma GCC unroll 4
    for (int i = 0; i < N; ++i) {
      m.x[j][i] *= inverse;
      m.v[j][i] *= inverse_stretch;
    }
  }
#pragma GCC unroll 4
  for (int last = N - 1; last > 0; --last)
#pragma GCC unroll 4
    for (int j = 0; j < last; ++j) {
      const mask_of<Scalar> wrong = m.sigma[j] < m.sigma[j + 1];
      if (!any(wrong)) continue;
      swap_where<N>(wrong, m.x[j], m.x[j + 1]);
      swap_where<N>(wrong, m.v[j], m.v[j + 1]);
      swap_where<1>(wrong, &m.sigma[j], &m.sigma[j + 1]);
      swap_where<1>(wrong, &m.state[j].norm, &m.state[j + 1].norm);
    }
}

/// As complete(): columns of X without length, which are the last ones, become unit vectors orthogonal to the others.
template <int N, class Scalar>
QUINTET_SVD_INLINE void complete(small_matrices<Scalar, N>& m) {
  using real = real_of<Scalar>;
  const Scalar zero{}, one = same<Scalar>(real(1));
#pragma GCC unroll 4
  for (int j = 0; j < N; ++j) {
    const mask_of<Scalar> missing = m.state[j].norm <= no_column_threshold<real>();
    if (!any(missing)) continue;
    // The canonical vector of the row in which the finished columns are smallest.
    Scalar best = same<Scalar>(real(4)), unit[N];
#pragma GCC unroll 4
    for (int i = 0; i < N; ++i) {
      Scalar size{};
#pragma GCC unroll 4
      for (int c = 0; c < j; ++c) size = device::fma(m.x[c][i], m.x[c][i], size);
      const mask_of<Scalar> is_smaller = size < best;
#pragma GCC unroll 4
      for (int k = 0; k < i; ++k) unit[k] = choose(is_smaller, zero, unit[k]);
      unit[i] = choose(is_smaller, one, zero);
      best = choose(is_smaller, size, best);
    }
#pragma GCC unroll 2
    for (int pass = 0; pass < 2; ++pass) {
#pragma GCC unroll 4
      for (int c = 0; c < j; ++c) {
        const Scalar product = dot<N>(m.x[c], unit);
#pragma GCC unroll 4
        for (int i = 0; i < N; ++i) unit[i] = device::fma(Scalar(-product), m.x[c][i], unit[i]);
      }
      const Scalar inverse = one / root(dot<N>(unit, unit));
#pragma GCC unroll 4
      for (int i = 0; i < N; ++i) unit[i] *= inverse;
    }
#pragma GCC unroll 4
    for (int i = 0; i < N; ++i) m.x[j][i] = choose(missing, unit[i], m.x[j][i]);
  }
}

/// As canonical_signs(), of columns `of`, applied to both matrices.
template <int N, class Scalar>
QUINTET_SVD_INLINE void make_canonical(small_matrices<Scalar, N>& m, Scalar (&of)[N][N]) {
  const Scalar zero{}, one = same<Scalar>(real_of<Scalar>(1));
#pragma GCC unroll 4
  for (int j = 0; j < N; ++j) {
    Scalar size{}, value{};
#pragma GCC unroll 4
    for (int i = 0; i < N; ++i) {
      value = choose(absolute(of[j][i]) > size, of[j][i], value);
      size = larger(size, absolute(of[j][i]));
    }
    const Scalar sign = choose(value < zero, Scalar(-one), one);
#pragma GCC unroll 4
    for (int i = 0; i < N; ++i) {
      m.x[j][i] *= sign;
      m.v[j][i] *= sign;
    }
  }
}

/// The elements of symmetric matrices above the diagonal: row p, column q > p.
template <int N, class Scalar>
QUINTET_SVD_INLINE Scalar& upper_element(small_matrices<Scalar, N>& m, int p, int q) {
  return p < q ? m.x[q][p] : m.x[p][q];
}

/// x and y by the angle of s and tau = s / (1 + c).
template <class Scalar>
QUINTET_SVD_INLINE void turn_two(const Scalar& s, const Scalar& tau, Scalar& x, Scalar& y) {
  const Scalar new_x = device::fma(Scalar(-s), device::fma(tau, x, y), x);
  y = device::fma(s, device::fma(Scalar(-tau), y, x), y);
  x = new_x;
}

/// The rotation that makes element (p, q) zero (Rutishauser 1966), in the lanes of `active`.
template <int N, class Scalar>
QUINTET_SVD_INLINE void rotate_two_sided(small_matrices<Scalar, N>& m, int p, int q, const mask_of<Scalar>& active,
                                         bool vectors) {
  using real = real_of<Scalar>;
  constexpr real epsilon = std::numeric_limits<real>::epsilon();
  const Scalar zero{}, one = same<Scalar>(real(1));
  Scalar& element = upper_element(m, p, q);
  const mask_of<Scalar> on = active & (absolute(element) > epsilon * epsilon);
  const Scalar difference = m.x[q][q] - m.x[p][p], twice = element + element;
  const Scalar square = choose(on, device::fma(difference, difference, twice * twice), one);
  const Scalar length = square * device::inverse_root(square);
  const Scalar t =
      choose(on, Scalar(flip_sign(twice, difference) * device::inverse(Scalar(absolute(difference) + length))), zero);
  const Scalar c = device::inverse_root(device::fma(t, t, one)), s = t * c, tau = s * device::inverse(Scalar(one + c));
  const Scalar change = t * element;
  m.x[p][p] -= change;
  m.x[q][q] += change;
  element = choose(on, zero, element);
#pragma GCC unroll 4
  for (int r = 0; r < N; ++r)
    if (r != p && r != q) turn_two(s, tau, upper_element(m, r, p), upper_element(m, r, q));
  if (!vectors) return;
#pragma GCC unroll 4
  for (int r = 0; r < N; ++r) turn_two(s, tau, m.v[p][r], m.v[q][r]);
}

/// The singular values of 2 x 2 matrices. Their sum and their difference are lengths of two sums each, and their
/// product is the determinant, whose error is a rounding error of its own size (Kahan; Jeannerod, Louvet, Muller 2013).
/// So both values are right to 4 roundings, whatever the scales of rows and columns are.
template <class Scalar>
QUINTET_SVD_INLINE void find_two_values(small_matrices<Scalar, 2>& m) {
  using real = real_of<Scalar>;
  const Scalar &a = m.x[0][0], &b = m.x[1][0], &c = m.x[0][1], &d = m.x[1][1], one = same<Scalar>(real(1));
  const auto length = [](const Scalar& x, const Scalar& y)
                          QUINTET_SVD_INLINE_LAMBDA { return root(device::fma(x, x, y * y)); };
  const Scalar large = (length(a + d, b - c) + length(a - d, b + c)) * real(0.5);
  const Scalar product = b * c, lost = device::fused_multiply_add(Scalar(-b), c, product);
  const Scalar determinant = device::fused_multiply_add(a, d, Scalar(-product)) + lost;
  m.sigma[0] = large;
  m.sigma[1] = absolute(determinant) / choose(large > Scalar{}, large, one);
}

template <int N, class Scalar>
QUINTET_SVD_INLINE void sort_values_falling(small_matrices<Scalar, N>& m) {
#pragma GCC unroll 4
  for (int last = N - 1; last > 0; --last)
#pragma GCC unroll 4
    for (int j = 0; j < last; ++j) {
      const Scalar first = m.sigma[j], second = m.sigma[j + 1];
      m.sigma[j] = larger(first, second);
      m.sigma[j + 1] = smaller(first, second);
    }
}

/// The singular values, in falling order, by reduction (small_values.hpp); of the lanes in `rotates` by rotations.
template <class Scalar>
QUINTET_SVD_INLINE sweep_result<Scalar> reduce_values(small_matrices<Scalar, 3>& m, const mask_of<Scalar>& reduces,
                                                      const mask_of<Scalar>& rotates, real_of<Scalar> tolerance,
                                                      int max_sweeps) {
  Scalar x[3][3];
#pragma GCC unroll 3
  for (int j = 0; j < 3; ++j)
#pragma GCC unroll 3
    for (int i = 0; i < 3; ++i) x[j][i] = m.x[j][i];
  const mask_of<Scalar> left = rotates | find_three_values(x, reduces, m.sigma);
  sweep_result<Scalar> result{Scalar{}, Scalar{} > Scalar{}};
  if (any(left)) {
    result = orthogonalise<false>(m, left, tolerance, max_sweeps);
#pragma GCC unroll 3
    for (int j = 0; j < 3; ++j)
      m.sigma[j] = choose(left, Scalar(root(dot<3>(m.x[j], m.x[j]) * m.state[j].column_scale)), m.sigma[j]);
  }
  sort_values_falling(m);
  return result;
}

/// The singular values, in falling order.
template <int N, class Scalar>
QUINTET_SVD_INLINE sweep_result<Scalar> find_values(small_matrices<Scalar, N>& m, const mask_of<Scalar>& active,
                                                    real_of<Scalar> tolerance, int max_sweeps) {
  sweep_result<Scalar> result{Scalar{}, Scalar{} > Scalar{}};
  if constexpr (N == 2) {
    find_two_values(m);
  } else {
    result = orthogonalise<false>(m, active, tolerance, max_sweeps);
#pragma GCC unroll 4
    for (int j = 0; j < N; ++j) m.sigma[j] = root(dot<N>(m.x[j], m.x[j]) * m.state[j].column_scale);
  }
  sort_values_falling(m);
  return result;
}

/// Sweeps until what is left off the diagonal changes no eigenvalue by more than epsilon / 4 times their size.
template <int N, class Scalar>
QUINTET_SVD_INLINE sweep_result<Scalar> diagonalise(small_matrices<Scalar, N>& m, mask_of<Scalar> active,
                                                    int max_sweeps, bool vectors) {
  using real = real_of<Scalar>;
  constexpr real limit = std::numeric_limits<real>::epsilon() / 2;  // elements are below 4, the largest is at least 2
  sweep_result<Scalar> result{Scalar{}, active};
  for (int sweep = 0;; ++sweep) {
    Scalar rest{};
#pragma GCC unroll 4
    for (int q = 1; q < N; ++q)
#pragma GCC unroll 4
      for (int p = 0; p < q; ++p) rest = device::fma(m.x[q][p], m.x[q][p], rest);
    active = active & (rest > limit * limit);
    if (sweep == max_sweeps || !any(active)) break;
    result.sweeps += choose(active, same<Scalar>(real(1)), Scalar{});
#pragma GCC unroll 4
    for (int p = 0; p < N - 1; ++p)
#pragma GCC unroll 4
      for (int q = p + 1; q < N; ++q) rotate_two_sided(m, p, q, active, vectors);
  }
  result.unfinished = active;
  return result;
}

/// The diagonal in rising order, and the columns of V with it.
template <int N, class Scalar>
QUINTET_SVD_INLINE void sort_rising(small_matrices<Scalar, N>& m) {
#pragma GCC unroll 4
  for (int j = 0; j < N; ++j) m.sigma[j] = m.x[j][j];
#pragma GCC unroll 4
  for (int last = N - 1; last > 0; --last)
#pragma GCC unroll 4
    for (int j = 0; j < last; ++j) {
      const mask_of<Scalar> wrong = m.sigma[j] > m.sigma[j + 1];
      if (!any(wrong)) continue;
      swap_where<N>(wrong, m.v[j], m.v[j + 1]);
      swap_where<1>(wrong, &m.sigma[j], &m.sigma[j + 1]);
    }
}

/// Element (i, j) from element (j, i) of the triangle that is read.
template <int N, class Scalar>
QUINTET_SVD_INLINE void mirror(small_matrices<Scalar, N>& m, bool reads_upper) {
#pragma GCC unroll 4
  for (int j = 0; j < N; ++j)
#pragma GCC unroll 4
    for (int i = j + 1; i < N; ++i) {
      const Scalar value = reads_upper ? m.x[i][j] : m.x[j][i];
      m.x[i][j] = m.x[j][i] = value;
    }
}

}  // namespace detail

/// The direct way for rows = cols = N, with all vectors or none. `Policy` is one of lanes (jacobi_policies.hpp).
/// Hestenes 1958, with the fast rotations of Gentleman 1973. Of symmetric matrices the eigenproblem, with vectors or
/// without: cyclic Jacobi.
template <class Policy, int N, bool Symmetric = false>
struct small_kernel {
  struct shape {
    enum { on_device = Policy::on_device };
  };
  using scratch = typename Policy::scratch;
  using real = typename Policy::real;
  enum { threads = Policy::threads, emulated_threads = Policy::emulated_threads };
  jacobi_job<real> job;

  template <class Team>
  QUINTET_SVD_INLINE void operator()(const Team& team, std::int64_t tile, scratch& s) const {
    const std::int64_t last = (tile + 1) * job.groups / job.tiles;
    for (std::int64_t group = tile * job.groups / job.tiles; group < last; ++group)
      Policy::run(team, s, [&](const auto& map, real*) QUINTET_SVD_INLINE_LAMBDA { solve(map, group); });
  }

 private:
  /// What the lanes of a group hold: a matrix, or -1, and what became of it.
  template <int Width>
  struct lanes {
    std::int64_t matrix[Width];
    std::int32_t code[Width];
  };

  /// Memory that another group will need.
  template <class Map>
  QUINTET_SVD_INLINE void prefetch_rows(const Map& map, std::int64_t group) const {
    if (!are_neighbours(map, group) || !is_dense<N * N>(job.a) || !has_dense_vectors() || !job.vectors) {
      memory_ahead ahead(1);
      ahead.add(map, job, group, job.a, N * N, false);
      ahead.add(map, job, group, job.left, N * N, true);
      ahead.add(map, job, group, job.right, N * N, true);
      return ahead();
    }
    // The same lines without a loop.
    constexpr int bytes = Map::packed * N * N * int(sizeof(real)), memory_line = 64;
    const std::int64_t first = (job.first + group * Map::width) * (N * N * std::int64_t(sizeof(real)));
    const char* from = static_cast<const char*>(job.a.data) + first;
    const char *left = static_cast<const char*>(job.left.data) + first,
               *right = static_cast<const char*>(job.right.data) + first;
#pragma GCC unroll 64
    for (int at = 0; at < bytes; at += memory_line) {
      __builtin_prefetch(from + at, 0);
      if constexpr (!Symmetric) __builtin_prefetch(left + at, 1);
      __builtin_prefetch(right + at, 1);
    }
  }

  template <class Map>
  QUINTET_SVD_INLINE void solve(const Map& map, std::int64_t group) const {
    using scalar = typename Map::scalar;
    const scalar one = same<scalar>(real(1));
    if constexpr (Map::packed > 1) prefetch_rows(map, group + 1);
    lanes<Map::packed> at;
    for (int l = 0; l < Map::packed; ++l) at.matrix[l] = matrix_in(map, job, group, first_lane(map) + l);
    small_matrices<scalar, N> m;
    load(map, group, at, m);
    if constexpr (Symmetric) detail::mirror(m, job.reads_upper);
    const survey<scalar> extremes = look_over(m);
    const mask_of<scalar> active = find_codes<scalar>(extremes, at);
    const scaling<scalar> scale = scaling_for<real>(choose(active, extremes.largest, one));
#pragma GCC unroll 4
    for (int j = 0; j < N; ++j) {
#pragma GCC unroll 4
      for (int i = 0; i < N; ++i) {
        // Lanes that are not worked on hold identity matrices, which cost nothing.
        const scalar unit = i == j ? one : scalar{};
        m.x[j][i] = choose(active, scalar(m.x[j][i] * scale.first * scale.second), unit);
        m.v[j][i] = unit;
      }
      m.state[j].column_scale = one;
    }
    const auto outcome = decompose(m, extremes, active);
    if constexpr (Map::packed > 1)
      if (store_neighbours(map, group, m, scale, outcome, at)) return;
    store(m, scale, outcome, at);
  }

  template <class Scalar>
  QUINTET_SVD_INLINE sweep_result<Scalar> decompose(small_matrices<Scalar, N>& m, const survey<Scalar>& extremes,
                                                    const mask_of<Scalar>& active) const {
    if constexpr (Symmetric) {
      const auto outcome = detail::diagonalise(m, active, job.max_sweeps, job.vectors);
      detail::sort_rising(m);
      detail::make_canonical(m, m.v);
      return outcome;
    } else {
      if constexpr (N == 3)
        if (job.reduces) {
          // In 32 lanes one in five groups would have a row or a column of a sixteenth.
          constexpr real limit = started_ratio<real> * started_ratio<real>;
          const Scalar ratio = extremes.row_ratio * extremes.column_ratio;
          return detail::reduce_values(m, active & (ratio <= limit), active & (ratio > limit),
                                       cosine_tolerance(job.root_rows), job.max_sweeps);
        }
      if (!job.vectors) return detail::find_values(m, active, cosine_tolerance(job.root_rows), job.max_sweeps);
      const auto outcome = detail::orthogonalise<true>(m, active, cosine_tolerance(job.root_rows), job.max_sweeps);
      detail::normalise_and_sort(m);
      detail::complete(m);
      if (job.canonical) {
        if (job.sign_by_right)
          detail::make_canonical(m, m.v);
        else
          detail::make_canonical(m, m.x);
      }
      return outcome;
    }
  }

  /// f(where element e = j * N + i of a matrix lies): matrices are dense more often than not, and then the compiler
  /// knows.
  template <class Function>
  static QUINTET_SVD_INLINE void with_places(const stored_batch& a, Function f) {
    if (a.column == 1 && a.row == N)
      f([](int e) QUINTET_SVD_INLINE_LAMBDA { return e % N * N + e / N; });
    else
      f([row = a.row, column = a.column](int e) QUINTET_SVD_INLINE_LAMBDA { return e % N * row + e / N * column; });
  }

  template <class Map>
  QUINTET_SVD_INLINE void load(const Map& map, std::int64_t group, const lanes<Map::packed>& at,
                               small_matrices<typename Map::scalar, N>& m) const {
    if constexpr (Map::packed > 1) {
      if (are_neighbours(map, group) && is_dense<N * N>(job.a)) {
        const real* from = static_cast<const real*>(job.a.data) + (job.first + group * Map::width) * (N * N);
        with_places(job.a, [&](auto place) QUINTET_SVD_INLINE_LAMBDA {
          read_records<N * N, typename Map::scalar>(from, [&](int at_place, const auto& value) {
            // place() is its own inverse: rows and columns change places, or nothing does.
            const int e = place(at_place);
            m.x[e / N][e % N] = value;
          });
        });
        return;
      }
    }
    real numbers[N * N][Map::packed];
    // A lane to spare has a copy of the first matrix.
    const std::int64_t first = matrix_in(map, job, group, 0);
    with_elements<real>(job.a.type, job.a.data, [&](const auto* data) QUINTET_SVD_INLINE_LAMBDA {
      with_places(job.a, [&](auto place) QUINTET_SVD_INLINE_LAMBDA {
#pragma GCC unroll 1
        for (int l = 0; l < Map::packed; ++l) {
          const auto* from = data + (at.matrix[l] < 0 ? first : at.matrix[l]) * job.a.batch;
#pragma GCC unroll 16
          for (int e = 0; e < N * N; ++e) numbers[e][l] = real(from[place(e)]);
        }
      });
    });
#pragma GCC unroll 16
    for (int e = 0; e < N * N; ++e) m.x[e / N][e % N] = device::load_pack<typename Map::scalar>(numbers[e]);
  }

  /// Whether the matrices of a group lie one after another, none of them missing.
  template <class Map>
  QUINTET_SVD_INLINE bool are_neighbours(const Map&, std::int64_t group) const {
    return job.index == nullptr && job.first + (group + 1) * Map::width <= job.count;
  }
  template <int Count>
  static QUINTET_SVD_INLINE bool is_dense(const stored_batch& a) {
    constexpr scalar_type own = scalar_type_of<real>();
    return a.type == own && a.batch == Count &&
           (Count == N || (a.row == N && a.column == 1) || (a.row == 1 && a.column == N));
  }

  /// Whether the vectors that are written are dense.
  QUINTET_SVD_INLINE bool has_dense_vectors() const {
    return !job.vectors || ((Symmetric || is_dense<N * N>(job.left)) && is_dense<N * N>(job.right));
  }

  /// Calls set(place, pack) for every place of a record of Count numbers, of which there is one for every lane.
  template <int Count, class Pack, class Function>
  static QUINTET_SVD_INLINE void read_records(const real* from, Function set) {
    constexpr int width = sizeof(Pack) / sizeof(real), main = Count & (Count - 1) ? Count - 1 : Count;
    Pack packs[main];
    if constexpr (main == Count) {
#pragma GCC unroll 16
      for (int i = 0; i < main; ++i) packs[i] = device::load_pack<Pack>(from + i * width);
    } else {
      // 3 and 9: the last number goes by itself.
      real records[main * width], last[width];
#pragma GCC unroll 1
      for (int l = 0; l < width; ++l) {
        std::memcpy(records + l * main, from + l * Count, main * sizeof(real));
        last[l] = from[l * Count + main];
      }
#pragma GCC unroll 16
      for (int i = 0; i < main; ++i) packs[i] = device::load_pack<Pack>(records + i * width);
      set(main, device::load_pack<Pack>(last));
    }
    device::separate_packs<main, width>(packs);
#pragma GCC unroll 16
    for (int i = 0; i < main; ++i) set(i, packs[i]);
  }

  /// The other way round, from get(place).
  template <int Count, class Pack, class Function>
  static QUINTET_SVD_INLINE void write_records(real* to, Function get) {
    constexpr int width = sizeof(Pack) / sizeof(real), main = Count & (Count - 1) ? Count - 1 : Count;
    Pack packs[main];
#pragma GCC unroll 16
    for (int i = 0; i < main; ++i) packs[i] = get(i);
    device::interleave_packs<main, width>(packs);
    if constexpr (main == Count) {
#pragma GCC unroll 16
      for (int i = 0; i < main; ++i) device::store_pack(to + i * width, packs[i]);
    } else {
      real records[main * width], last[width];
#pragma GCC unroll 16
      for (int i = 0; i < main; ++i) device::store_pack(records + i * width, packs[i]);
      device::store_pack(last, get(main));
#pragma GCC unroll 1
      for (int l = 0; l < width; ++l) {
        std::memcpy(to + l * Count, records + l * main, main * sizeof(real));
        to[l * Count + main] = last[l];
      }
    }
  }

  /// survey_matrices() in registers.
  template <class Scalar>
  QUINTET_SVD_INLINE survey<Scalar> look_over(const small_matrices<Scalar, N>& m) const {
    const Scalar zero{}, infinite = same<Scalar>(std::numeric_limits<real>::infinity());
    Scalar row[N] = {}, not_finite{}, min_row = infinite, min_column = infinite;
    survey<Scalar> s;
    s.largest = zero;
#pragma GCC unroll 4
    for (int j = 0; j < N; ++j) {
      Scalar column{};
#pragma GCC unroll 4
      for (int i = 0; i < N; ++i) {
        const Scalar size = absolute(m.x[j][i]);
        not_finite = device::fma(m.x[j][i], zero, not_finite);  // NaN for NaN and infinity
        column = larger(column, size);
        row[i] = larger(row[i], size);
      }
      s.largest = larger(s.largest, column);
      min_column = choose((column > zero) & (column < min_column), column, min_column);
    }
#pragma GCC unroll 4
    for (int i = 0; i < N; ++i) min_row = choose((row[i] > zero) & (row[i] < min_row), row[i], min_row);
    s.finite = (not_finite >= zero) & (not_finite <= zero);
    s.row_ratio = s.largest / min_row;
    s.column_ratio = s.largest / min_column;
    return s;
  }

  /// What is known of each lane before the sweeps; gives those to work on.
  template <class Scalar, int Width>
  QUINTET_SVD_INLINE mask_of<Scalar> find_codes(const survey<Scalar>& extremes, lanes<Width>& at) const {
    const auto number = [](int code) QUINTET_SVD_INLINE_LAMBDA { return same<Scalar>(real(code)); };
    const Scalar zero_codes{};
    Scalar codes{};
    if (job.defer_badly_scaled)
      codes =
          choose((extremes.column_ratio > badly_scaled_ratio<real>) | (extremes.row_ratio > badly_scaled_ratio<real>),
                 number(code_badly_scaled), codes);
    if (job.defer_out_of_range)
      codes = choose(extremes.column_ratio * extremes.row_ratio > out_of_range_ratio<real>, number(code_out_of_range),
                     codes);
    codes = choose(extremes.finite, codes, number(code_not_finite));
    if (!any(codes != zero_codes)) {
      bool is_full = true;
      for (int l = 0; l < Width; ++l) {
        at.code[l] = code_ok;
        is_full = is_full && at.matrix[l] >= 0;
      }
      if (is_full) return codes == zero_codes;
    }
    real numbers[Width];
    device::store_pack(numbers, codes);
    for (int l = 0; l < Width; ++l) {
      at.code[l] = std::int32_t(numbers[l]);
      numbers[l] = at.matrix[l] >= 0 && at.code[l] == code_ok ? real(1) : real(0);
    }
    return device::load_pack<Scalar>(numbers) > Scalar{};
  }

  /// All matrices of a group at once, if they are neighbours and nothing is wrong with any.
  template <class Map, class Scalar, int Width>
  QUINTET_SVD_INLINE bool store_neighbours(const Map& map, std::int64_t group, const small_matrices<Scalar, N>& m,
                                           const scaling<Scalar>& scale, const sweep_result<Scalar>& outcome,
                                           const lanes<Width>& at) const {
    if (!are_neighbours(map, group) || !has_dense_vectors() || !is_dense<N>(job.s) || any(outcome.unfinished))
      return false;
    std::int32_t wrong = 0;
    for (int l = 0; l < Width; ++l) wrong |= at.code[l];
    if (wrong != code_ok) return false;
    const std::int64_t first = job.first + group * Map::width;
    const auto write = [&](const stored_batch& out, const Scalar(&matrix)[N][N]) QUINTET_SVD_INLINE_LAMBDA {
      with_places(out, [&](auto place) QUINTET_SVD_INLINE_LAMBDA {
        write_records<N * N, Scalar>(static_cast<real*>(out.data) + first * (N * N),
                                     [&](int at_place) QUINTET_SVD_INLINE_LAMBDA {
                                       const int e = place(at_place);
                                       return Scalar(matrix[e / N][e % N] + real(0));
                                     });
      });
    };
    if (job.vectors) {
      if constexpr (!Symmetric) write(job.left, m.x);
      write(job.right, m.v);
    }
    write_records<N, Scalar>(static_cast<real*>(job.s.data) + first * N, [&](int j) QUINTET_SVD_INLINE_LAMBDA {
      return Scalar(m.sigma[j] / scale.second / scale.first);
    });
    real sweeps[Width];
    device::store_pack(sweeps, outcome.sweeps);
    for (int l = 0; l < Width; ++l) {
      job.status[first + l] = code_ok;
      if constexpr (!Symmetric) job.sweeps[first + l] = std::int32_t(sweeps[l]);
    }
    return true;
  }

  template <class Scalar, int Width>
  QUINTET_SVD_INLINE void store(const small_matrices<Scalar, N>& m, const scaling<Scalar>& scale,
                                const sweep_result<Scalar>& outcome, lanes<Width>& at) const {
    // Zeros are written as +0: see store_matrices().
    real left[N * N][Width], right[N * N][Width], values[N][Width], sweeps[Width], unfinished[Width];
#pragma GCC unroll 4
    for (int j = 0; j < N; ++j) {
#pragma GCC unroll 4
      for (int i = 0; i < N; ++i) {
        device::store_pack(left[j * N + i], Scalar(m.x[j][i] + real(0)));
        device::store_pack(right[j * N + i], Scalar(m.v[j][i] + real(0)));
      }
      device::store_pack(values[j], Scalar(m.sigma[j] / scale.second / scale.first));
    }
    device::store_pack(sweeps, outcome.sweeps);
    device::store_pack(unfinished, choose(outcome.unfinished, same<Scalar>(real(1)), Scalar{}));
#pragma GCC unroll 1
    for (int l = 0; l < Width; ++l) {
      if (at.matrix[l] < 0) continue;
      if (unfinished[l] > 0) at.code[l] = code_not_converged;
      job.status[at.matrix[l]] = at.code[l];
      if constexpr (!Symmetric) job.sweeps[at.matrix[l]] = std::int32_t(sweeps[l]);
      if (!has_result(at.code[l])) at.matrix[l] = -1;
    }
    if constexpr (!Symmetric)
      if (job.vectors)
        with_places(job.left,
                    [&](auto place) QUINTET_SVD_INLINE_LAMBDA { store_part<N * N>(at, job.left, left, place); });
    if (job.vectors)
      with_places(job.right,
                  [&](auto place) QUINTET_SVD_INLINE_LAMBDA { store_part<N * N>(at, job.right, right, place); });
    store_part<N>(at, job.s, values, [](int e) QUINTET_SVD_INLINE_LAMBDA { return e; });
  }

  template <int Count, int Width, class Place>
  QUINTET_SVD_INLINE void store_part(const lanes<Width>& at, const stored_batch& out, const real (*numbers)[Width],
                                     Place place) const {
    with_elements<real>(out.type, out.data, [&](auto* data) QUINTET_SVD_INLINE_LAMBDA {
      using stored = std::remove_reference_t<decltype(*data)>;
#pragma GCC unroll 1
      for (int l = 0; l < Width; ++l) {
        if (at.matrix[l] < 0) continue;
        auto* to = data + at.matrix[l] * out.batch;
        const real lost = at.code[l] == code_not_finite ? std::numeric_limits<real>::quiet_NaN() : real(0);
#pragma GCC unroll 16
        for (int e = 0; e < Count; ++e) to[place(e)] = to_storage<stored>(real(numbers[e][l] + lost));
      }
    });
  }
};

/// Instantiated by svd.cmake.
template <class Policy, int N, bool Symmetric>
void small_launch<Policy, N, Symmetric>::run(const jacobi_job<typename Policy::real>& job, const Device& device) {
  device::launch(small_kernel<Policy, N, Symmetric>{job}, job.tiles, device);
}

}  // namespace quintet::svd
