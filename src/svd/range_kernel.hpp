// Range finder of the randomised decomposition: Q with orthonormal columns that nearly span A's leading directions, and
// A^T Q. One matrix a team, on the rows map.
#pragma once

#include "quintet/core/philox.hpp"
#include "svd/householder.hpp"
#include "svd/jacobi_kernel.hpp"

namespace quintet::svd {

/// Policies: host_rows<Real>, or device_rows<Real, ThreadsPerPair, 0>.
template <class Policy>
struct range_kernel {
  struct shape {
    enum { on_device = Policy::on_device };
  };
  using scratch = typename Policy::scratch;
  using real = typename Policy::real;
  using map_type = typename Policy::map;
  enum { threads = Policy::threads, emulated_threads = Policy::emulated_threads };

  const real* a;  ///< element (b, i, j) at b * a_batch + i * a_row + j * a_column
  std::int64_t a_batch, a_row, a_column, batch, tiles, slot;
  std::int32_t m, n, l, power_iterations;  ///< l <= min(m, n)
  std::uint64_t seed;
  real *q, *product;      ///< [batch, l, m] and [batch, l, n], dense
  double *square, *unit;  ///< [batch] |A / unit|_F^2 and the unit, a power of two
  real* workspace;

  struct parts {
    real *a, *y, *z, *h, *tau;
    int ld_m, ld_n;
  };

  static std::int64_t numbers(std::int64_t m, std::int64_t n, std::int64_t l) {
    const std::int64_t pm = padded_rows<map_type>(int(m)), pn = padded_rows<map_type>(int(n));
    return pm * n + pm * l + pn * l + (pm > pn ? pm : pn) * l + padded_rows<map_type>(int(l));
  }

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch& s) const {
    for (std::int64_t b = tile; b < batch; b += tiles)
      Policy::run(team, s, [&](const auto& map, real*) { find_range(map, b, workspace + tile * slot); });
  }

  template <class Map>
  void find_range(const Map& map, std::int64_t b, real* memory) const {
    parts p;
    p.ld_m = padded_rows<Map>(m);
    p.ld_n = padded_rows<Map>(n);
    p.a = memory;
    p.y = p.a + std::int64_t(p.ld_m) * n;
    p.z = p.y + std::int64_t(p.ld_m) * l;
    p.h = p.z + std::int64_t(p.ld_n) * l;
    p.tau = p.h + std::int64_t(p.ld_m > p.ld_n ? p.ld_m : p.ld_n) * l;
    const scaling<real> scale = load(map, b, p);
    times_a(map, p);
    orthonormalise(map, p, p.y, m, p.ld_m);
    for (int pass = 0; pass < power_iterations; ++pass) {
      times_transpose(map, p);
      orthonormalise(map, p, p.z, n, p.ld_n);
      times_a(map, p);
      orthonormalise(map, p, p.y, m, p.ld_m);
    }
    times_transpose(map, p);
    for (int j = 0; j < l; ++j) {
      for_each_row(map, 0, m, [&](int i) { q[(b * l + j) * m + i] = map.column(p.y, j, p.ld_m)[i]; });
      for_each_row(map, 0, n, [&](int i) {
        product[(b * l + j) * n + i] = map.column(p.z, j, p.ld_n)[i] / scale.second / scale.first;
      });
    }
    map.barrier();
  }

  /// A, scaled by a power of two so that squares stay in range, and Omega in place of Z.
  template <class Map>
  scaling<real> load(const Map& map, std::int64_t b, const parts& p) const {
    const real* from = a + b * a_batch;
    real largest = 0, lost = 0;
    for (int j = 0; j < n; ++j)
      for_each_row(map, 0, m, [&](int i) {
        const real value = from[i * a_row + j * a_column];
        lost += value * real(0);
        largest = larger(largest, absolute(value));
      });
    lost = map.team_sum(lost);
    largest = map.team_max(largest);
    // NaN for a matrix with NaN or infinity: it spreads to everything, as it should.
    const scaling<real> scale = scaling_for<real>(lost == 0 ? largest : real(0));
    for (int j = 0; j < n; ++j)
      for_each_row(map, 0, p.ld_m, [&](int i) {
        const real value = i < m ? from[i * a_row + j * a_column] * scale.first * scale.second + lost : real(0);
        map.column(p.a, j, p.ld_m)[i] = value;
      });
    for (int j = 0; j < l; ++j)
      for_each_row(map, 0, p.ld_n, [&](int i) {
        map.column(p.z, j, p.ld_n)[i] =
            i < n ? normal_at<real>(seed, std::uint64_t(b), std::uint64_t(i) * std::uint64_t(l) + j) : real(0);
      });
    map.barrier();
    if (map.leads_team()) {
      double total = 0;
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i) {
          const double value = double(map.column(p.a, j, p.ld_m)[i]);
          total += value * value;
        }
      square[b] = total;
      unit[b] = 1.0 / double(scale.first) / double(scale.second);
    }
    return scale;
  }

  /// Y = A Z
  template <class Map>
  void times_a(const Map& map, const parts& p) const {
    for_each_item(map, 0, l, [&](int j, bool valid) {
      if (!valid) return;
      real* y = map.column(p.y, j, p.ld_m);
      const real* z = map.column(p.z, j, p.ld_n);
      for (int c = map.pair_first(); c < p.ld_m / Map::chunk; c += map.pair_step())
        store<Map>(y, c, typename Map::vector{});
      for (int c = 0; c < n; ++c) pair_add(map, z[c], map.column(p.a, c, p.ld_m), y, m);
    });
    map.barrier();
  }

  /// Z = A^T Y
  template <class Map>
  void times_transpose(const Map& map, const parts& p) const {
    for_each_item(map, 0, l, [&](int j, bool valid) {
      const real* y = map.column(p.y, j, p.ld_m);
      real* z = map.column(p.z, j, p.ld_n);
      for (int c = 0; c < n; ++c) {
        const real value = pair_dot(map, y, map.column(p.a, c, p.ld_m), m);
        if (valid && map.leads_pair()) z[c] = value;
      }
    });
    map.barrier();
  }

  /// The columns become those of Q of their QR factorisation.
  template <class Map>
  void orthonormalise(const Map& map, const parts& p, real* columns, int rows, int ld) const {
    const factors<real> f{columns, p.h, p.tau, nullptr, rows, l, ld};
    factorise(map, f);
    for (int j = 0; j < l; ++j)
      for_each_row(map, 0, ld, [&](int i) { map.column(columns, j, ld)[i] = real(i == j ? 1 : 0); });
    map.barrier();
    apply_q(map, f, columns, l);
  }
};

}  // namespace quintet::svd
