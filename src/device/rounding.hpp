// Keeps a product out of fused multiply-adds.
#pragma once

namespace quintet::device {

/// a * b, rounded before it is used. Where packed and unpacked coordinates must agree to the bit, a compiler may not
/// contract the scaling of one of them with the subtraction that follows.
template <class Real>
inline Real rounded_product(Real a, Real b) {
#if defined(__clang__)
  // Compiled with -ffp-contract=on: contraction stays inside one expression.
  const Real product = a * b;
  return product;
#else
  return __builtin_assoc_barrier(a * b);
#endif
}

}  // namespace quintet::device
