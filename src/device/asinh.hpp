// 2 asinh(sqrt(t)) of packs, t >= 0, without a division.
//
//   2 asinh(sqrt(t)) = arcosh(1 + 2 t) = log1p(2 (t + sqrt(t (1 + t))))
//
// The last form adds positive terms only: it is as accurate for t = 1e-30 as for t = 1e+20, where arcosh(1 + 2 t) loses
// every digit below t = 1e-8 (float) and artanh of a ratio every one above t = 1e7.
//
// The argument is T t with T = 2^scale_exponent, so that t may be far below the smallest float: then the result is
// 2 sqrt(t). Error: at most 3.5 ulp of float and double when T t is exact (tests/unit/poincare/log1p_test.cpp); an
// error of T t of e ulp adds at most e / 2 ulp. Infinity gives infinity, NaN gives NaN.
#pragma once

#include "device/log1p.hpp"

namespace quintet::device {

/// T = 2^40: float holds T t for 2^-166 <= t < 2^88.
enum { asinh_scale_exponent = 40 };

namespace detail {
template <class Real>
constexpr Real asinh_unscale = Real(1) / Real(std::int64_t(1) << asinh_scale_exponent);
template <class Real>
constexpr Real asinh_root_unscale = Real(1) / Real(std::int64_t(1) << (asinh_scale_exponent / 2));
}  // namespace detail

/// 2 asinh(sqrt(t)) where `scaled` is 2^asinh_scale_exponent t.
template <class Real, int W>
inline pack<Real, W> twice_asinh_root(const pack<Real, W>& scaled) {
  typedef pack<Real, W> value;
  // Above, 4 t is the argument to the last bit, and the square root's own argument overflows long before t does.
  constexpr Real large = Real(sizeof(Real) == 4 ? 0x1p68 : 0x1p100);
  constexpr Real unscale = detail::asinh_unscale<Real>, root_unscale = detail::asinh_root_unscale<Real>;
  const value twice_t = scaled * (2 * unscale), t_plus = fma(scaled, unscale, Real(1));
  const value near = fma(root<Real, W>(value(scaled * t_plus)), 2 * root_unscale, twice_t);
  // Nearly always. The selections below cost a fifth of the whole, and change no bit of the lanes that are not large.
  if (all_lanes<W>(scaled <= large)) return log1p_finite<Real, W>(near);
  return log1p<Real, W>(value(scaled <= large ? near : twice_t * Real(2)));
}

}  // namespace quintet::device
