// Keeps a product out of fused multiply-adds.
#pragma once

namespace quintet::device {

/// a * b, rounded before it is used: no compiler contracts what is compiled with -ffp-contract=off. Where packed and
/// unpacked coordinates must agree to the bit, this says that the scaling of one of them is rounded first.
template <class Real>
inline Real rounded_product(Real a, Real b) {
  return a * b;
}

}  // namespace quintet::device
