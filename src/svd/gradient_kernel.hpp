// gA of one matrix after another: small products by the threads of a team, each element by one thread.
#pragma once

#include <cstdint>

#include "quintet/core/storage16.hpp"
#include "svd/sums.hpp"

namespace quintet::svd {

template <class T, class Shape>
struct gradient_kernel {
  using shape = Shape;
  using real = accumulator_t<T>;
  struct scratch {};
  enum { threads = 128, emulated_threads = 4 };

  /// Dense row-major arrays; gu, gs, gv are null where there is no such derivative.
  const T *u, *v, *gu, *gv;
  const real *s, *gs;
  T* ga;
  std::int64_t batch, tiles;
  std::int32_t m, n, k, u_cols, v_cols;
  std::int32_t policy;  ///< of enum degeneracy
  real tolerance;
  real* workspace;  ///< a tile: U^T gU, V^T gV and M [k, k], then left [m, k] and right [n, k]
  std::int64_t slot;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    for (std::int64_t b = tile; b < batch; b += tiles) one(team, b, workspace + tile * slot);
  }

  real inverse(real x, real limit) const {
    if (policy == 0) return real(1) / x;
    if (policy == 1) return (x < 0 ? -x : x) <= limit ? real(0) : real(1) / x;
    return limit > 0 || x != 0 ? x / (x * x + limit * limit) : real(0);
  }

  /// product[i, j] = sum_r a[r, i] g[r, j] for i, j < k.
  template <class Team>
  void project(const Team& team, const T* a, int a_cols, const T* g, int rows, real* product) const {
    for (int e = team.rank(); e < k * k; e += team.size()) {
      product[e] = g == nullptr ? real(0)
                                : sum_of_terms<real>(std::int64_t(rows), [&](std::int64_t r) QUINTET_SVD_INLINE_LAMBDA {
                                    return real(a[r * a_cols + e / k]) * real(g[r * a_cols + e % k]);
                                  });
    }
  }

  /// (I - a a^T) g S^-1, element (r, j).
  real outside(const T* a, int a_cols, const T* g, const real* product, std::int64_t r, std::int64_t j,
               real factor) const {
    real value = real(g[r * a_cols + j]);
    for (int i = 0; i < k; ++i) value -= real(a[r * a_cols + i]) * product[i * k + j];
    return value * factor;
  }

  template <class Team>
  void one(const Team& team, std::int64_t b, real* memory) const {
    const T *ub = u + b * m * u_cols, *vb = v + b * n * v_cols;
    const T *gub = gu != nullptr ? gu + b * m * u_cols : nullptr, *gvb = gv != nullptr ? gv + b * n * v_cols : nullptr;
    const real *sb = s + b * k, *gsb = gs != nullptr ? gs + b * k : nullptr;
    real *uu = memory, *vv = uu + k * k, *mm = vv + k * k, *left = mm + k * k, *right = left + std::int64_t(m) * k;
    project(team, ub, u_cols, gub, m, uu);
    project(team, vb, v_cols, gvb, n, vv);
    team.barrier();
    const real limit = tolerance * sb[0];
    for (int e = team.rank(); e < k * k; e += team.size()) mm[e] = middle(uu, vv, sb, gsb, e / k, e % k, limit);
    team.barrier();
    // left = U M + the part outside the range of U; right = the part outside the range of V.
    for (std::int64_t e = team.rank(); e < std::int64_t(m) * k; e += team.size()) {
      const std::int64_t r = e / k, j = e % k;
      real value = 0;
      for (int i = 0; i < k; ++i) value += real(ub[r * u_cols + i]) * mm[i * k + j];
      if (gub != nullptr && m > k) value += outside(ub, u_cols, gub, uu, r, j, inverse(sb[j], limit));
      left[e] = value;
    }
    for (std::int64_t e = team.rank(); e < std::int64_t(n) * k; e += team.size())
      right[e] =
          gvb != nullptr && n > k ? outside(vb, v_cols, gvb, vv, e / k, e % k, inverse(sb[e % k], limit)) : real(0);
    team.barrier();
    for (std::int64_t e = team.rank(); e < std::int64_t(m) * n; e += team.size()) {
      const std::int64_t r = e / n, c = e % n;
      real value = 0;
      for (int j = 0; j < k; ++j)
        value += left[r * k + j] * real(vb[c * v_cols + j]) + real(ub[r * u_cols + j]) * right[c * k + j];
      ga[b * m * n + e] = T(value);
    }
    team.barrier();
  }

  real middle(const real* uu, const real* vv, const real* sb, const real* gsb, int i, int j, real limit) const {
    if (i == j) return gsb != nullptr ? gsb[i] : real(0);
    // Without derivatives of the vectors there is nothing to divide.
    if (gu == nullptr && gv == nullptr) return real(0);
    const real p = uu[i * k + j] - uu[j * k + i], q = vv[i * k + j] - vv[j * k + i];
    real value = (p + q) * inverse(sb[j] - sb[i], limit);
    // The sum vanishes only where both do.
    if (p != q) value += (p - q) * inverse(sb[j] + sb[i], 2 * limit);
    return value / 2;
  }
};

}  // namespace quintet::svd
