// Plain Poincare ball, slow: sums in 113 bits, the rest in long double.
#pragma once

#include <span>
#include <vector>

namespace quintet::reference {

#if defined(__x86_64__)
typedef __float128 wide;
#else
typedef long double wide;
#endif

/// A point, its coordinates as they are.
using ball_vector = std::vector<wide>;
template <class Real>
ball_vector widened(std::span<const Real> x) {
  return {x.begin(), x.end()};
}

/// t = c |x - y|^2 / ((1 - c |x|^2)(1 - c |y|^2)).
long double ball_t(const ball_vector& x, const ball_vector& y, double c);
/// 2 / sqrt(c) asinh(sqrt(t)); 2 |x - y| for c = 0.
long double ball_distance(const ball_vector& x, const ball_vector& y, double c);
/// 1 - c |x|^2.
long double ball_gap(const ball_vector& x, double c);

template <class Real>
long double ball_t(std::span<const Real> x, std::span<const Real> y, double c) {
  return ball_t(widened(x), widened(y), c);
}
template <class Real>
long double ball_distance(std::span<const Real> x, std::span<const Real> y, double c) {
  return ball_distance(widened(x), widened(y), c);
}
template <class Real>
long double ball_gap(std::span<const Real> x, double c) {
  return ball_gap(widened(x), c);
}

}  // namespace quintet::reference
