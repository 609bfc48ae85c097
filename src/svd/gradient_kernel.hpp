// gA of one matrix after another: small products by the threads of a team, each element by one thread.
#pragma once

#include <cstdint>

#include "device/pack.hpp"
#include "quintet/core/poll.hpp"
#include "quintet/core/storage16.hpp"
#include "quintet/core/view.hpp"
#include "svd/sums.hpp"

namespace quintet::svd {

/// What becomes of 1 / x, by enum degeneracy; the limit is tolerance s_0.
template <class Real>
struct division {
  std::int32_t policy;

  Real inverse(Real x, Real limit) const {
    if (policy == 0) return Real(1) / x;
    if (policy == 1) return (x < 0 ? -x : x) <= limit ? Real(0) : Real(1) / x;
    return limit > 0 || x != 0 ? x / device::fma(x, x, limit * limit) : Real(0);
  }
};

template <class T, class Shape>
struct gradient_kernel {
  using shape = Shape;
  using real = accumulator_t<T>;
  struct scratch {};
  enum { threads = 128, emulated_threads = 4 };

  /// gu, gs and gv have no data where there is no such derivative.
  batch_view<const T> u, v, gu, gv;
  matrix_view<const real> s, gs;
  batch_view<T> ga;
  std::int64_t tiles;
  std::int32_t m, n, k;
  division<real> divide;
  real tolerance;
  /// A tile: U^T gU, V^T gV and M [k, k], left [m, k], right [n, k], and the derivatives of completing columns times
  /// the first k vectors, [columns of U - k, k] and [columns of V - k, k].
  real* workspace;
  std::int64_t slot;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    for (std::int64_t b = tile; b < ga.batch(); b += tiles) {
      if constexpr (!Team::on_device) poll();
      one(team, b, workspace + tile * slot);
    }
  }

  /// product[i, j] = sum_r a[r, i] g[r, j] for i, j < k.
  template <class Team>
  void project(const Team& team, std::int64_t b, const batch_view<const T>& a, const batch_view<const T>& g,
               real* product) const {
    for (int e = team.rank(); e < k * k; e += team.size()) {
      product[e] =
          g.data() == nullptr ? real(0) : sum_of_terms<real>(a.rows(), [&](std::int64_t r) QUINTET_SVD_INLINE_LAMBDA {
            return real(a(b, r, e / k)) * real(g(b, r, e % k));
          });
    }
  }

  /// completing[c - k, j] = sum_r g[r, c] a[r, j] for the columns c >= k and j < k.
  template <class Team>
  void complete(const Team& team, std::int64_t b, const batch_view<const T>& a, const batch_view<const T>& g,
                real* completing) const {
    if (g.data() == nullptr) return;
    for (std::int64_t e = team.rank(); e < (a.cols() - k) * k; e += team.size()) {
      const std::int64_t column = k + e / k, j = e % k;
      completing[e] = sum_of_terms<real>(
          a.rows(), [&](std::int64_t r) QUINTET_SVD_INLINE_LAMBDA { return real(g(b, r, column)) * real(a(b, r, j)); });
    }
  }

  /// (I - a a^T) g S^-1, element (r, j), and what the completing columns of a add to it.
  real outside(std::int64_t b, const batch_view<const T>& a, const batch_view<const T>& g, const real* product,
               const real* completing, std::int64_t r, std::int64_t j, real factor) const {
    real value = real(g(b, r, j));
    for (int i = 0; i < k; ++i) value = device::fma(-real(a(b, r, i)), product[i * k + j], value);
    for (std::int64_t c = k; c < a.cols(); ++c)
      value = device::fma(-real(a(b, r, c)), completing[(c - k) * k + j], value);
    return value * factor;
  }

  template <class Team>
  void one(const Team& team, std::int64_t b, real* memory) const {
    const real *sb = s.row(b), *gsb = gs.data() != nullptr ? gs.row(b) : nullptr;
    const bool has_gu = gu.data() != nullptr, has_gv = gv.data() != nullptr;
    real *uu = memory, *vv = uu + k * k, *mm = vv + k * k, *left = mm + k * k, *right = left + std::int64_t(m) * k;
    real *rest_u = right + std::int64_t(n) * k, *rest_v = rest_u + (u.cols() - k) * k;
    project(team, b, u, gu, uu);
    project(team, b, v, gv, vv);
    complete(team, b, u, gu, rest_u);
    complete(team, b, v, gv, rest_v);
    team.barrier();
    const real limit = tolerance * sb[0];
    for (int e = team.rank(); e < k * k; e += team.size()) mm[e] = middle(uu, vv, sb, gsb, e / k, e % k, limit);
    team.barrier();
    // left = U M + the part outside the range of U; right = the part outside the range of V.
    for (std::int64_t e = team.rank(); e < std::int64_t(m) * k; e += team.size()) {
      const std::int64_t r = e / k, j = e % k;
      real value = 0;
      for (int i = 0; i < k; ++i) value = device::fma(real(u(b, r, i)), mm[i * k + j], value);
      if (has_gu && m > k) value += outside(b, u, gu, uu, rest_u, r, j, divide.inverse(sb[j], limit));
      left[e] = value;
    }
    for (std::int64_t e = team.rank(); e < std::int64_t(n) * k; e += team.size())
      right[e] =
          has_gv && n > k ? outside(b, v, gv, vv, rest_v, e / k, e % k, divide.inverse(sb[e % k], limit)) : real(0);
    team.barrier();
    for (std::int64_t e = team.rank(); e < std::int64_t(m) * n; e += team.size()) {
      const std::int64_t r = e / n, c = e % n;
      real value = 0;
      for (int j = 0; j < k; ++j)
        value += device::fma(left[r * k + j], real(v(b, c, j)), real(u(b, r, j)) * right[c * k + j]);
      ga(b, r, c) = T(value);
    }
    team.barrier();
  }

  real middle(const real* uu, const real* vv, const real* sb, const real* gsb, int i, int j, real limit) const {
    if (i == j) return gsb != nullptr ? gsb[i] : real(0);
    // Without derivatives of the vectors there is nothing to divide.
    if (gu.data() == nullptr && gv.data() == nullptr) return real(0);
    const real p = uu[i * k + j] - uu[j * k + i], q = vv[i * k + j] - vv[j * k + i];
    real value = (p + q) * divide.inverse(sb[j] - sb[i], limit);
    // The sum vanishes only where both do.
    if (p != q) value = device::fma(p - q, divide.inverse(sb[j] + sb[i], 2 * limit), value);
    return value / 2;
  }
};

}  // namespace quintet::svd
