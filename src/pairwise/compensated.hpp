// Sums in about twice the precision of double, for what cancels near the boundary of the ball.
#pragma once

#include "device/pack.hpp"

namespace quintet::pairwise {

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
    low += device::fused_multiply_add(a, b, value(-product));
  }
  /// Products that double holds exactly, as those of two floats.
  void add_exact_product(const value& a, const value& b) { add(a * b); }

  value total() const { return high + low; }
  /// 1 - factor * sum; 1 for the factor 0, also of a sum that is infinite.
  value one_minus(double factor) const {
    if (factor == 0) return value{} + 1.0;
    const value c = device::broadcast_pack<value>(factor);
    const value product = high * c, rest = device::fused_multiply_add(high, c, value(-product));
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
