// Sums in about twice the precision of double, for what cancels near the boundary of the ball.
#pragma once

#include <cmath>

#include "device/pack.hpp"

namespace quintet::pairwise {

/// a * b + c, rounded once, in every lane.
template <int W>
inline device::pack<double, W> fused(const device::pack<double, W>& a, const device::pack<double, W>& b,
                                     const device::pack<double, W>& c) {
  if constexpr (W == 1) {
    return std::fma(a, b, c);
  } else {
#if __has_builtin(__builtin_elementwise_fma)
    return __builtin_elementwise_fma(a, b, c);
#else
    device::pack<double, W> result;
    for (int lane = 0; lane < W; ++lane) result[lane] = std::fma(a[lane], b[lane], c[lane]);
    return result;
#endif
  }
}

/// A sum kept as high + low (Knuth's two-sum, Dekker's two-product: Ogita, Rump, Oishi 2005). W sums side by side.
template <int W>
struct compensated_sum {
  typedef device::pack<double, W> value;
  value high{}, low{};

  void add(const value& term) {
    const value sum = high + term, grown = sum - high;
    low += (high - (sum - grown)) + (term - grown);
    high = sum;
  }
  void add_product(const value& a, const value& b) {
    const value product = a * b;
    add(product);
    low += fused<W>(a, b, -product);
  }
  /// Products that double holds exactly, as those of two floats.
  void add_exact_product(const value& a, const value& b) { add(a * b); }

  value total() const { return high + low; }
  /// 1 - factor * sum; 1 for the factor 0, also of a sum that is infinite.
  value one_minus(double factor) const {
    if (factor == 0) return value{} + 1.0;
    const value c = device::broadcast_pack<value>(factor);
    const value product = high * c, rest = fused<W>(high, c, -product);
    // The subtraction is exact where it cancels.
    const value gap = 1.0 - product;
    return gap - device::fma(low, c, rest);
  }
};

/// Adds x^2 where x came from storage of `Storage`.
template <class Storage, int W>
inline void add_square(compensated_sum<W>& sum, const device::pack<double, W>& x) {
  if constexpr (sizeof(Storage) == 8)
    sum.add_product(x, x);
  else
    sum.add_exact_product(x, x);
}

}  // namespace quintet::pairwise
