// Cholesky factors of symmetric positive (semi)definite matrices and systems with them, a matrix a team: what
// eigenproblems of definite matrices begin with (definite.cpp).
#pragma once

#include <cstdint>
#include <limits>

#include "quintet/core/view.hpp"
#include "quintet/svd/options.hpp"
#include "svd/lane_math.hpp"

namespace quintet::svd {

/// Memory of a group of matrices of n rows.
template <class Real>
struct cholesky_memory {
  Real* factor;          ///< [count, n, n]: row k is column k of the factor
  Real* rest;            ///< [count, n, n]
  Real* size;            ///< [count, n]: the diagonal
  std::int32_t* used;    ///< [count, n]: rows that were pivots
  std::int32_t* status;  ///< [count]
  std::int32_t n;
};

/// Element (i, j) of a symmetric matrix, by one triangle.
template <class T>
accumulator_t<T> symmetric_element(const batch_view<const T>& a, std::int64_t b, int i, int j, bool upper) {
  const bool is_read = upper ? j >= i : j <= i;
  return accumulator_t<T>(a(b, is_read ? i : j, is_read ? j : i));
}

/// A = F F^T. With pivots, the largest diagonal element that is left comes next, and F is not triangular but in the
/// order of the rows of A: where nothing is left beyond rounding, the other columns of F are zero. A matrix that is not
/// definite gets NaN and status::not_definite.
template <class T, class Shape>
struct cholesky_kernel {
  using shape = Shape;
  using real = accumulator_t<T>;
  struct scratch {};
  enum { threads = 128, emulated_threads = 4 };
  batch_view<const T> a;
  bool upper, pivots;
  cholesky_memory<real> memory;

  /// What rounding makes of a zero on the diagonal, relative to what was there.
  real noise() const { return real(memory.n) * std::numeric_limits<real>::epsilon(); }

  template <class Team>
  void operator()(const Team& team, std::int64_t b, scratch&) const {
    const int n = memory.n;
    real *factor = memory.factor + b * n * n, *rest = memory.rest + b * n * n, *size = memory.size + b * n;
    std::int32_t* const used = memory.used + b * n;
    for (int e = team.rank(); e < n * n; e += team.size()) {
      rest[e] = symmetric_element(a, b, e / n, e % n, upper);
      if (e / n == e % n) size[e / n] = rest[e];
      if (e < n) used[e] = 0;
    }
    team.barrier();
    int k = 0;
    for (int p; k < n && (p = next_pivot(rest, size, used, k)) >= 0; ++k) {
      eliminate(team, p, factor + std::int64_t(k) * n, rest, used);
      team.barrier();
    }
    const bool is_definite = k == n || (pivots && has_no_rest(rest, size, used));
    const real filling = is_definite ? real(0) : std::numeric_limits<real>::quiet_NaN();
    for (int e = team.rank() + (is_definite ? k : 0) * n; e < n * n; e += team.size()) factor[e] = filling;
    if (team.rank() == 0) memory.status[b] = is_definite ? ok : is_finite(b) ? not_definite : not_finite;
  }

  /// Every thread finds the same; -1 if no row can be one.
  int next_pivot(const real* rest, const real* size, const std::int32_t* used, int k) const {
    const int n = memory.n;
    if (!pivots) return rest[std::int64_t(k) * n + k] > 0 ? k : -1;
    int best = -1;
    real largest = 0;
    for (int i = 0; i < n; ++i) {
      const real value = rest[std::int64_t(i) * n + i];
      if (used[i] == 0 && value > noise() * size[i] && value > largest) {
        largest = value;
        best = i;
      }
    }
    return best;
  }

  template <class Team>
  void eliminate(const Team& team, int p, real* column, real* rest, std::int32_t* used) const {
    const int n = memory.n;
    const real* const row = rest + std::int64_t(p) * n;
    const real inverse = real(1) / root(row[p]);
    for (int i = team.rank(); i < n; i += team.size()) column[i] = used[i] != 0 ? real(0) : row[i] * inverse;
    team.barrier();
    for (int i = team.rank(); i < n; i += team.size()) {
      if (i == p || used[i] != 0) continue;
      real* const to = rest + std::int64_t(i) * n;
      const real factor = -column[i];
#pragma omp simd
      for (int j = 0; j < n; ++j) to[j] += factor * column[j];
    }
    team.barrier();
    if (team.rank() == 0) used[p] = 1;
  }

  /// Whether all that is left is rounding: |x_ij| <= c sqrt(a_ii a_jj), as in the matrix that was eliminated.
  bool has_no_rest(const real* rest, const real* size, const std::int32_t* used) const {
    const int n = memory.n;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        if (used[i] != 0 || used[j] != 0) continue;
        const real limit = 4 * noise() * root(size[i]) * root(size[j]);
        const bool is_rounding = absolute(rest[std::int64_t(i) * n + j]) <= limit;
        if (!is_rounding || !(limit <= std::numeric_limits<real>::max())) return false;
      }
    return true;
  }

  bool is_finite(std::int64_t b) const {
    for (int i = 0; i < memory.n; ++i)
      for (int j = 0; j <= i; ++j)
        if (!(absolute(symmetric_element(a, b, i, j, upper)) <= std::numeric_limits<real>::max())) return false;
    return true;
  }
};

/// `values` [n, n] := L^-1 values, by rows, for the triangle of cholesky_kernel without pivots.
template <class Real, class Team>
void solve_forward(const Team& team, const Real* factor, Real* values, int n) {
  for (int k = 0; k < n; ++k) {
    const Real* const column = factor + std::int64_t(k) * n;
    Real* const row = values + std::int64_t(k) * n;
    const Real inverse = Real(1) / column[k];
    for (int j = team.rank(); j < n; j += team.size()) row[j] *= inverse;
    team.barrier();
    for (int i = k + 1 + team.rank(); i < n; i += team.size()) {
      Real* const to = values + std::int64_t(i) * n;
      const Real share = -column[i];
#pragma omp simd
      for (int j = 0; j < n; ++j) to[j] += share * row[j];
    }
    team.barrier();
  }
}

/// L^-1 A L^-T of the generalised eigenproblem, in place of `rest`.
template <class T, class Shape>
struct reduce_kernel {
  using shape = Shape;
  using real = accumulator_t<T>;
  struct scratch {};
  enum { threads = 128, emulated_threads = 4 };
  batch_view<const T> a;
  bool upper;
  cholesky_memory<real> memory;

  template <class Team>
  void operator()(const Team& team, std::int64_t b, scratch&) const {
    const int n = memory.n;
    const real* const factor = memory.factor + b * n * n;
    real* const values = memory.rest + b * n * n;
    for (int e = team.rank(); e < n * n; e += team.size()) values[e] = symmetric_element(a, b, e / n, e % n, upper);
    team.barrier();
    solve_forward(team, factor, values, n);
    for (int e = team.rank(); e < n * n; e += team.size()) {
      const int i = e / n, j = e % n;
      if (i >= j) continue;
      const real x = values[e];
      values[e] = values[std::int64_t(j) * n + i];
      values[std::int64_t(j) * n + i] = x;
    }
    team.barrier();
    solve_forward(team, factor, values, n);
  }
};

/// `values` := L^-T values, the eigenvectors of the generalised problem by those of the reduced one.
template <class Real, class Shape>
struct restore_kernel {
  using shape = Shape;
  struct scratch {};
  enum { threads = 128, emulated_threads = 4 };
  cholesky_memory<Real> memory;
  Real* vectors;  ///< [count, n, columns], one a column
  std::int32_t columns;

  template <class Team>
  void operator()(const Team& team, std::int64_t b, scratch&) const {
    const int n = memory.n;
    const Real* const factor = memory.factor + b * n * n;
    Real* const values = vectors + b * n * columns;
    for (int k = n - 1; k >= 0; --k) {
      Real* const row = values + std::int64_t(k) * columns;
      const Real inverse = Real(1) / factor[std::int64_t(k) * n + k];
      for (int j = team.rank(); j < columns; j += team.size()) row[j] *= inverse;
      team.barrier();
      for (int i = team.rank(); i < k; i += team.size()) {
        Real* const to = values + std::int64_t(i) * columns;
        const Real share = -factor[std::int64_t(i) * n + k];
#pragma omp simd
        for (int j = 0; j < columns; ++j) to[j] += share * row[j];
      }
      team.barrier();
    }
  }
};

}  // namespace quintet::svd
