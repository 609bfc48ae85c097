// The backward pass of polar(): formulas of quintet/svd/gradient.hpp. One matrix per team at a time.
#pragma once

#include <cstdint>

#include "quintet/core/poll.hpp"
#include "quintet/core/storage16.hpp"
#include "quintet/core/view.hpp"
#include "svd/gradient_kernel.hpp"
#include "svd/sums.hpp"

namespace quintet::svd {

template <class T, class Shape>
struct polar_gradient_kernel {
  using shape = Shape;
  using real = accumulator_t<T>;
  struct scratch {};
  enum { threads = 128, emulated_threads = 4 };

  /// gw and gh have no data where there is no such derivative.
  batch_view<const T> u, v, gw, gh;
  matrix_view<const real> s;
  batch_view<T> ga;
  std::int64_t tiles;
  std::int32_t m, n, k;
  division<real> divide;
  real tolerance;
  real* workspace;  ///< of a tile: slot_size() numbers
  std::int64_t slot;

  static std::int64_t slot_size(std::int64_t m, std::int64_t n, std::int64_t k) { return 3 * k * k + 2 * (m + n) * k; }

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    for (std::int64_t b = tile; b < ga.batch(); b += tiles) {
      if constexpr (!Team::on_device) poll();
      one(team, b, workspace + tile * slot);
    }
  }

 private:
  /// f(row, column) for a matrix of `rows` x `columns`, its elements shared by the team, to `out`.
  template <class Team, class Function>
  static void each_element(const Team& team, std::int64_t rows, std::int64_t columns, real* out, Function f) {
    for (std::int64_t e = team.rank(); e < rows * columns; e += team.size()) out[e] = f(e / columns, e % columns);
  }

  template <class Team>
  void one(const Team& team, std::int64_t b, real* memory) const {
    const real* sb = s.row(b);
    const bool has_gw = gw.data() != nullptr, has_gh = gh.data() != nullptr;
    real *mm = memory, *nn = mm + k * k, *x = nn + k * k, *turned = x + k * k, *bent = turned + std::int64_t(m) * k,
         *left = bent + std::int64_t(n) * k, *right = left + std::int64_t(m) * k;
    const real limit = tolerance * sb[0];
    // gW V and (gH + gH^T) V.
    each_element(team, m, k, turned, [&](std::int64_t r, std::int64_t j) QUINTET_SVD_INLINE_LAMBDA {
      const auto term = [&](std::int64_t c) QUINTET_SVD_INLINE_LAMBDA { return real(gw(b, r, c)) * real(v(b, c, j)); };
      return has_gw ? sum_of_terms<real>(std::int64_t(n), term) : real(0);
    });
    each_element(team, n, k, bent, [&](std::int64_t c, std::int64_t j) QUINTET_SVD_INLINE_LAMBDA {
      const auto term = [&](std::int64_t d) QUINTET_SVD_INLINE_LAMBDA {
        return (real(gh(b, c, d)) + real(gh(b, d, c))) * real(v(b, d, j));
      };
      return has_gh ? sum_of_terms<real>(std::int64_t(n), term) : real(0);
    });
    team.barrier();
    // M and N.
    project(team, b, u, m, turned, mm);
    project(team, b, v, n, bent, nn);
    team.barrier();
    each_element(team, k, k, x, [&](std::int64_t i, std::int64_t j) QUINTET_SVD_INLINE_LAMBDA {
      const real sum = device::fma(sb[i], nn[i * k + j], mm[i * k + j] - mm[j * k + i]);
      return sum == 0 ? real(0) : sum * divide.inverse(sb[i] + sb[j], 2 * limit);
    });
    team.barrier();
    each_element(team, m, k, left, [&](std::int64_t r, std::int64_t j) QUINTET_SVD_INLINE_LAMBDA {
      real value = 0;
      for (int i = 0; i < k; ++i) value = device::fma(real(u(b, r, i)), x[i * k + j], value);
      if (has_gw && m > k) value = device::fma(outside(b, u, turned, mm, r, j), divide.inverse(sb[j], limit), value);
      return value;
    });
    // (I - V V^T) (gW^T U S^-1 + (gH + gH^T) V).
    each_element(team, n, k, right, [&](std::int64_t c, std::int64_t j) QUINTET_SVD_INLINE_LAMBDA {
      if (n == k) return real(0);
      real value = has_gh ? outside(b, v, bent, nn, c, j) : real(0);
      if (!has_gw) return value;
      real back = sum_of_terms<real>(std::int64_t(m), [&](std::int64_t r) QUINTET_SVD_INLINE_LAMBDA {
        return real(gw(b, r, c)) * real(u(b, r, j));
      });
      for (int i = 0; i < k; ++i) back = device::fma(-real(v(b, c, i)), mm[j * k + i], back);
      return device::fma(back, divide.inverse(sb[j], limit), value);
    });
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

  /// product = a^T g for a [rows, k], g [rows, k] dense.
  template <class Team>
  void project(const Team& team, std::int64_t b, const batch_view<const T>& a, std::int64_t rows, const real* g,
               real* product) const {
    each_element(team, k, k, product, [&](std::int64_t i, std::int64_t j) QUINTET_SVD_INLINE_LAMBDA {
      return sum_of_terms<real>(
          rows, [&](std::int64_t r) QUINTET_SVD_INLINE_LAMBDA { return real(a(b, r, i)) * g[r * k + j]; });
    });
  }

  /// (I - a a^T) g, element (r, j), where product = a^T g.
  real outside(std::int64_t b, const batch_view<const T>& a, const real* g, const real* product, std::int64_t r,
               std::int64_t j) const {
    real value = g[r * k + j];
    for (int i = 0; i < k; ++i) value = device::fma(-real(a(b, r, i)), product[i * k + j], value);
    return value;
  }
};

}  // namespace quintet::svd
