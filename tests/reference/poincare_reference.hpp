// Plain Poincare ball, slow: sums in 113 bits, the rest in long double.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace quintet::reference {

#if defined(__x86_64__)
typedef __float128 wide;
#else
typedef long double wide;
#endif

/// t = c |x - y|^2 / ((1 - c |x|^2)(1 - c |y|^2)).
template <class Real>
long double ball_t(std::span<const Real> x, std::span<const Real> y, double c) {
  wide x_square = 0, y_square = 0, difference = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const wide a = x[k], b = y[k];
    x_square += a * a;
    y_square += b * b;
    difference += (a - b) * (a - b);
  }
  return (long double)(wide(c) * difference / ((1 - wide(c) * x_square) * (1 - wide(c) * y_square)));
}

template <class Real>
long double ball_distance(std::span<const Real> x, std::span<const Real> y, double c) {
  if (c == 0) {
    wide difference = 0;
    for (std::size_t k = 0; k < x.size(); ++k) difference += (wide(x[k]) - wide(y[k])) * (wide(x[k]) - wide(y[k]));
    return 2 * std::sqrt((long double)difference);
  }
  return 2 / std::sqrt((long double)c) * std::asinh(std::sqrt(ball_t(x, y, c)));
}

/// 1 - c |x|^2.
template <class Real>
long double ball_gap(std::span<const Real> x, double c) {
  wide square = 0;
  for (const Real a : x) square += wide(a) * wide(a);
  return (long double)(1 - wide(c) * square);
}

}  // namespace quintet::reference
