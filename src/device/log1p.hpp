// log(1 + w) of packs, for w >= 0: SIMD code on the host, one value in a GPU thread, from the same text.
//
// 1 + w = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)]. f is taken as w 2^-k + (2^-k - 1), whose product is exact:
// the rounding of 1 + w, which costs log(1 + w) its digits for small w, is never met, and no division repairs it.
// float: f - f^2/2 + f^3 P(f), P of degree 7 (minimax, relative error 2^-27.3). double: 2 atanh(f / (2 + f)) with a
// polynomial of degree 6 in the square (2^-59).
//
// Error (measured over the whole range, against long double, in tests/unit/poincare/log1p_test.cpp): below 1.6 ulp for
// float and 2 ulp for double. w = 0 gives 0, infinity infinity, NaN NaN; w < 0 is not allowed.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "device/pack.hpp"

namespace quintet::device {

namespace detail {

template <class Real>
struct float_layout;
template <>
struct float_layout<float> {
  using integer = std::int32_t;
  static constexpr integer fraction_bits = 23, bias = 127, root_half = 0x3f3504f3;
};
template <>
struct float_layout<double> {
  using integer = std::int64_t;
  static constexpr integer fraction_bits = 52, bias = 1023, root_half = 0x3fe6a09e667f3bcd;
};

template <class Real, int W, class Integers>
inline pack<Real, W> to_real(const Integers& values) {
  if constexpr (W == 1)
    return Real(values);
  else
    return __builtin_convertvector(values, pack<Real, W>);
}

/// log(1 + f) for 1 + f in [sqrt(1/2), sqrt(2)].
template <class Real, int W>
inline pack<Real, W> log_near_one(const pack<Real, W>& f) {
  typedef pack<Real, W> value;
  if constexpr (sizeof(Real) == 4) {
    value p = fma(f, Real(-0.07634547292), Real(0.127616211));
    p = fma(p, f, Real(-0.1316018352));
    p = fma(p, f, Real(0.1420175162));
    p = fma(p, f, Real(-0.1662335653));
    p = fma(p, f, Real(0.200012271));
    p = fma(p, f, Real(-0.2500082106));
    p = fma(p, f, Real(0.3333333171));
    const value curved = fma(p, f, Real(-0.5));
    return fma(curved, value(f * f), f);
  } else {
    const value s = f / (f + Real(2)), z = s * s;
    value r = fma(z, Real(0.14796109336155970659), Real(0.15314036435912593438));
    r = fma(r, z, Real(0.18183564883178300675));
    r = fma(r, z, Real(0.22222198563131836234));
    r = fma(r, z, Real(0.28571428742478971553));
    r = fma(r, z, Real(0.3999999999941429715));
    r = fma(r, z, Real(0.6666666666666734466));
    const value rest = fma(value(-r), z, f);
    return fma(value(-s), rest, f);
  }
}

}  // namespace detail

template <class Real, int W>
inline pack<Real, W> root(const pack<Real, W>& values) {
  if constexpr (W == 1) {
    return std::sqrt(values);
  } else {
#if __has_builtin(__builtin_elementwise_sqrt)
    return __builtin_elementwise_sqrt(values);
#else
    pack<Real, W> result;
    for (int lane = 0; lane < W; ++lane) result[lane] = std::sqrt(values[lane]);
    return result;
#endif
  }
}

/// log1p() of what is neither huge (above a quarter of the largest number), infinite nor NaN.
template <class Real, int W>
inline pack<Real, W> log1p_finite(const pack<Real, W>& w) {
  typedef detail::float_layout<Real> layout;
  typedef pack<Real, W> value;
  typedef pack<typename layout::integer, W> integer;
  const integer k = (std::bit_cast<integer>(w + Real(1)) - layout::root_half) >> layout::fraction_bits;
  const value scale = std::bit_cast<value>((layout::bias - k) << layout::fraction_bits);
  const value f = fma(w, scale, value(scale - Real(1)));
  const value log_f = detail::log_near_one<Real, W>(f), exponent = detail::to_real<Real, W>(k);
  if constexpr (sizeof(Real) == 4) {
    // The float nearest to log 2 has 29 bits right.
    return fma(exponent, Real(0.69314718056), log_f);
  } else {
    const value low = fma(exponent, Real(1.9082149292705877000e-10), log_f);
    return fma(exponent, Real(6.9314718036912381649e-01), low);
  }
}

template <class Real, int W>
inline pack<Real, W> log1p(const pack<Real, W>& w) {
  typedef pack<Real, W> value;
  // 2^-k of huge w is no normal number: there log(w) = log(w / 16) + log 16. Infinity and NaN are their own results.
  constexpr Real largest = std::numeric_limits<Real>::max();
  const value reduced = w <= largest / 4 ? w : w * Real(0.0625);
  const value sum = log1p_finite<Real, W>(reduced);
  const value whole = w <= largest / 4 ? sum : sum + Real(2.7725887222397812377);
  return w <= largest ? whole : w;
}

}  // namespace quintet::device
