// Numbers of twice the digits of double.
#pragma once

#include <cmath>

#include "device/pack.hpp"

namespace quintet::device {

/// A sum or product kept as high + low, to about 2^-104 of the largest term (Dekker 1971; Hida, Li, Bailey 2001).
struct doubled {
  double high = 0, low = 0;

  static constexpr doubled sum(double a, double b) {
    const double s = a + b, grown = s - a;
    return {s, (a - (s - grown)) + (b - grown)};
  }
  static doubled product(double a, double b) {
    const double p = a * b;
    return {p, fused_multiply_add(a, b, -p)};
  }
  friend constexpr doubled operator+(const doubled& a, const doubled& b) {
    const doubled s = sum(a.high, b.high), rest = sum(a.low, b.low);
    const doubled once = sum(s.high, s.low + rest.high);
    return sum(once.high, once.low + rest.low);
  }
  friend constexpr doubled operator-(const doubled& a, const doubled& b) { return a + doubled{-b.high, -b.low}; }
  friend doubled operator*(const doubled& a, const doubled& b) {
    const doubled p = product(a.high, b.high);
    return sum(p.high, p.low + device::fma(a.high, b.low, a.low * b.high));
  }
  constexpr double value() const { return high + low; }
};

/// sqrt(a), a > 0: one step of Newton's.
inline doubled root(const doubled& a) {
  const double r = std::sqrt(a.high);
  return doubled::sum(r, (a - doubled::product(r, r)).value() / (2 * r));
}

inline doubled operator/(const doubled& a, const doubled& b) {
  const double q = a.high / b.high;
  return doubled::sum(q, (a - b * doubled{q, 0}).value() / b.high);
}

}  // namespace quintet::device
