// What theory gives for sums and distances: the bounds of the cases, in units of epsilon = 2 u. docs/accuracy.md
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "quintet/pairwise/metric.hpp"

namespace quintet::accuracy {

/// A sum of n terms of one sign, added one after another, each addition rounded (a fused multiply-add counts as one).
/// The i-th rounding is at most u of a partial sum that is about i / n of the whole. In the worst case that makes n u;
/// for roundings that are independent with mean zero, Hoeffding's inequality gives l u sqrt(n / 3) but for 2 exp(-l^2 /
/// 2) (Higham and Mary, A new approach to probabilistic rounding error analysis, SIAM J. Sci. Comput. 41, 2019). Here
/// l = 6: one sum in 3e7.
inline double sum_bound(double n) { return std::min(n / 2, std::sqrt(3 * n)); }

/// Of a distance in `dim` dimensions, relative to it. The root halves the error of the sum of squares; differences and
/// the root are rounded (2 u). On the ball 1 - c |x|^2, products and asinh make it 7 u; no more than (D / 4 + 6) u of
/// poincare/distances.hpp. On the hyperboloid differences of two parts make it 9 u. The p-th root of Minkowski's
/// divides the sum's error by p; logarithms and exponentials make the rest.
inline double distance_bound(std::int64_t dim, const point_metric& distance) {
  const double sum = sum_bound(double(dim));
  if (distance.kind == metric::poincare) return std::min((double(dim) / 4 + 6) / 2, sum / 2 + 3.5);
  if (distance.kind == metric::lorentz) return sum / 2 + 4.5;
  if (distance.kind == metric::minkowski) return sum / distance.p + 3;
  if (distance.kind == metric::manhattan) return sum + 1;
  return distance.kind == metric::chebyshev ? 1 : sum / 2 + 1;
}

}  // namespace quintet::accuracy
