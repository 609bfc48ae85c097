// x^p and x^(1/p) of packs, for x >= 0 and p >= 1: SIMD code on the host, one value in a GPU thread, from the same
// text.
//
// x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)], so x^p = 2^(p k + p log2(1 + f)). p k is taken as a sum of two
// numbers, exactly, and |log2(1 + f)| <= 1/2: the error of x^p is about p / 2 times that of the logarithm, and the
// error of (x^p)^(1/p) about that of the logarithm, however large |k| is. 2^r for |r| <= 1/2 is a Taylor polynomial of
// degree 7 (float, 2^-27) or 13 (double, 2^-57).
//
// Error (measured against long double in tests/unit/pairwise/power_test.cpp): below (p + 2) ulp for x^p, 2 ulp for
// x^(1/p). Results below the normal numbers are 0; 0 gives 0, infinity infinity, NaN NaN; x < 0 is not allowed, nor is
// a power that overflows.
#pragma once

#include <limits>

#include "device/log1p.hpp"

namespace quintet::device {

namespace detail {

/// 2^(whole + rest), whole of magnitude below 2^11, |rest| below 2^6.
template <class Real, int W>
inline pack<Real, W> exp2_of_sum(const pack<Real, W>& whole, const pack<Real, W>& small, const pack<Real, W>& rest) {
  typedef float_layout<Real> layout;
  typedef pack<Real, W> value;
  typedef pack<typename layout::integer, W> integer;
  // Adding it rounds to an integer, which then stands in the last bits.
  constexpr Real shifter = Real(sizeof(Real) == 4 ? 0x1.8p23 : 0x1.8p52);
  const value shifted = whole + rest + shifter, n = shifted - shifter;
  const value r = (whole - n) + rest + small;
  value e;
  if constexpr (sizeof(Real) == 4) {
    e = fma(r, Real(1.5252734e-05), Real(1.5403530e-04));
    e = fma(e, r, Real(1.3333558e-03));
    e = fma(e, r, Real(9.6181291e-03));
    e = fma(e, r, Real(5.5504109e-02));
    e = fma(e, r, Real(2.4022651e-01));
    e = fma(e, r, Real(6.9314718e-01));
  } else {
    e = fma(r, Real(1.3691488853904128881e-12), Real(2.5678435993488205142e-11));
    e = fma(e, r, Real(4.4455382718708114976e-10));
    e = fma(e, r, Real(7.0549116208011233299e-09));
    e = fma(e, r, Real(1.0178086009239699728e-07));
    e = fma(e, r, Real(1.3215486790144309489e-06));
    e = fma(e, r, Real(1.5252733804059840280e-05));
    e = fma(e, r, Real(1.5403530393381609954e-04));
    e = fma(e, r, Real(1.3333558146428443423e-03));
    e = fma(e, r, Real(9.6181291076284771619e-03));
    e = fma(e, r, Real(5.5504108664821579953e-02));
    e = fma(e, r, Real(2.4022650695910071233e-01));
    e = fma(e, r, Real(6.9314718055994530942e-01));
  }
  const value fraction = fma(e, r, Real(1));
  const integer exponent = std::bit_cast<integer>(shifted) - std::bit_cast<integer>(broadcast_pack<value>(shifter));
  const value scale = std::bit_cast<value>((exponent + layout::bias) << layout::fraction_bits);
  const value least = broadcast_pack<value>(Real(2 - layout::bias));
  return n >= least ? fraction * scale : value{};
}

/// The exponent k of x, and log2(1 + f).
template <class Real, int W>
struct split_log2 {
  pack<Real, W> exponent, fraction;

  explicit split_log2(const pack<Real, W>& x) {
    typedef float_layout<Real> layout;
    typedef pack<Real, W> value;
    typedef pack<typename layout::integer, W> integer;
    const integer k = (std::bit_cast<integer>(x) - layout::root_half) >> layout::fraction_bits;
    const value scale = std::bit_cast<value>((layout::bias - k) << layout::fraction_bits);
    exponent = to_real<Real, W>(k);
    fraction = log_near_one<Real, W>(value(x * scale - Real(1))) * Real(1.44269504088896340736);
  }
};

template <class Real, int W>
inline pack<Real, W> where_positive(const pack<Real, W>& x, const pack<Real, W>& result) {
  typedef pack<Real, W> value;
  const value largest = broadcast_pack<value>(std::numeric_limits<Real>::max());
  const value finite = x <= largest ? result : x;
  return x > value{} ? finite : x;
}

}  // namespace detail

/// x^p.
template <class Real, int W>
inline pack<Real, W> power(const pack<Real, W>& x, Real p) {
  typedef pack<Real, W> value;
  const detail::split_log2<Real, W> log2(x);
  const value whole = log2.exponent * p;
  const value small = fused_multiply_add(log2.exponent, p, value(-whole));
  return detail::where_positive<Real, W>(x, detail::exp2_of_sum<Real, W>(whole, small, value(log2.fraction * p)));
}

/// x^p of a whole p >= 1, by squares and products; within p / 2 ulp, monotone, and exact where x^p is.
template <class Pack>
inline Pack whole_power(const Pack& x, int p) {
  int bit = 1;
  while (bit <= p / 2) bit *= 2;
  Pack result = x;
  for (bit /= 2; bit > 0; bit /= 2) {
    result = result * result;
    if ((p & bit) != 0) result = result * x;
  }
  return result;
}

/// x^(1/p).
template <class Real, int W>
inline pack<Real, W> nth_root(const pack<Real, W>& x, Real p) {
  typedef pack<Real, W> value;
  const detail::split_log2<Real, W> log2(x);
  const value whole = log2.exponent / p;
  const value small = fused_multiply_add(value(-whole), p, log2.exponent) / p;
  return detail::where_positive<Real, W>(x, detail::exp2_of_sum<Real, W>(whole, small, value(log2.fraction / p)));
}

}  // namespace quintet::device
