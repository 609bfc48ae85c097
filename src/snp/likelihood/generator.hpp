// The generator A of the lineages on one branch: dF/dt = A F (Bryant et al. 2012, eqs. 1 to 4; Rabier et al. 2021, Rule
// 1).
//
// In the library's coordinates (state_space.hpp) row (n, r) takes from
//   (n, r)       - n (n - 1) / theta - (n - r) v - r u
//   (n, r + 1)   (r + 1) v                               a red lineage was green above
//   (n, r - 1)   (n - r + 1) u                           a green one was red
//   (n + 1, r)   (n - r)(n - r + 1) / theta              two green ones merge
//   (n + 1, r + 1)   r (r + 1) / theta                   two red ones merge
#pragma once

#include "device/pack.hpp"

namespace quintet::snp {

/// (A + s I) h, its rows and columns. All four numbers are multiplied by h.
struct generator {
  double coalescence = 0;  ///< 1 / theta
  double u = 0, v = 0;
  double shift = 0;  ///< s

  ///@{
  /// Elements of row (n, r), named by their column; r + 1 <= n, r - 1 >= 0.
  double itself(int n, int r) const {
    return device::fma(-r, u, device::fma(-(n - r), v, device::fma(-n * (n - 1.0), coalescence, shift)));
  }
  double one_more_red(int, int r) const { return (r + 1) * v; }
  double one_less_red(int n, int r) const { return (n - r + 1) * u; }
  double one_more_green_lineage(int n, int r) const { return (n - r) * (n - r + 1.0) * coalescence; }
  double one_more_red_lineage(int, int r) const { return r * (r + 1.0) * coalescence; }
  ///@}

  /// Row (n, r) times a vector: own(i) is its element (n, r + i), above(i) is (n + 1, r + i), which counts where
  /// `has_more`.
  template <class Own, class Above>
  double row(int n, int r, bool has_more, Own own, Above above) const {
    double sum = itself(n, r) * own(0);
    if (r < n) sum = device::fma(one_more_red(n, r), own(1), sum);
    if (r > 0) sum = device::fma(one_less_red(n, r), own(-1), sum);
    if (has_more) {
      sum = device::fma(one_more_green_lineage(n, r), above(0), sum);
      sum = device::fma(one_more_red_lineage(n, r), above(1), sum);
    }
    return sum;
  }

  /// Row (n, r) as numbers, for loops that use it often: of (n, r), (n, r + 1), (n, r - 1), (n + 1, r), (n + 1, r + 1).
  /// States with more than `max` lineages are not there.
  void write_row(int n, int r, int max, double* c) const {
    c[0] = itself(n, r);
    c[1] = r < n ? one_more_red(n, r) : 0;
    c[2] = r > 0 ? one_less_red(n, r) : 0;
    c[3] = n < max ? one_more_green_lineage(n, r) : 0;
    c[4] = n < max ? one_more_red_lineage(n, r) : 0;
  }

  /// Column (n, r): of (n, r), (n, r + 1), (n, r - 1), (n - 1, r), (n - 1, r - 1).
  void write_column(int n, int r, double* c) const {
    c[0] = itself(n, r);
    c[1] = r < n ? one_less_red(n, r + 1) : 0;
    c[2] = r > 0 ? one_more_red(n, r - 1) : 0;
    c[3] = r < n ? one_more_green_lineage(n - 1, r) : 0;
    c[4] = r > 0 ? one_more_red_lineage(n - 1, r - 1) : 0;
  }
};

///@{
/// Row (n, r) of the derivatives of A by u and by v, times a vector with own(i) = element (n, r + i), numbers or packs.
template <class Value, class Own>
Value generator_by_u(int n, int r, Own own) {
  Value sum = -double(r) * own(0);
  if (r > 0) sum = device::fma(double(n - r + 1), own(-1), sum);
  return sum;
}
template <class Value, class Own>
Value generator_by_v(int n, int r, Own own) {
  Value sum = -double(n - r) * own(0);
  if (r < n) sum = device::fma(double(r + 1), own(1), sum);
  return sum;
}
///@}

}  // namespace quintet::snp
