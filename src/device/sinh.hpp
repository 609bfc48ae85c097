// sinh of packs, for x >= 0: SIMD code on the host, one value in a GPU thread, from the same text.
//
// Below 0.5 the series to x^15, whose rest is below 2^-62; above (e^x - e^-x) / 2 with e^x = 2^(x log2 e), the product
// in two numbers. Error (measured against long double in tests/unit/poincare/log1p_test.cpp): at most 4 ulp. 0 gives 0;
// NaN gives NaN; x above 700 gives sinh(700).
#pragma once

#include "device/power.hpp"

namespace quintet::device {

template <int W>
inline pack<double, W> sinh(const pack<double, W>& x) {
  typedef pack<double, W> value;
  const value at = x < 700.0 ? x : (x == x ? broadcast_pack<value>(700.0) : x);
  const value z = at * at;
  value series = fma(z, 1.0 / 1307674368000.0, 1.0 / 6227020800.0);
  series = fma(series, z, 1.0 / 39916800.0);
  series = fma(series, z, 1.0 / 362880.0);
  series = fma(series, z, 1.0 / 5040.0);
  series = fma(series, z, 1.0 / 120.0);
  series = fma(series, z, 1.0 / 6.0);
  series = fma(value(series * z), at, at);
  constexpr double log2_e = 1.4426950408889634074, rest = 2.0355273740931033e-17;
  const value product = at * log2_e, small = fused_multiply_add(at, log2_e, value(-product)) + at * rest;
  const value large = detail::exp2_of_sum<double, W>(product, small, value{});
  const value result = at < 0.5 ? series : value(0.5 * (large - 1.0 / large));
  return at == at ? result : at;
}

}  // namespace quintet::device
