// 1 / x and 1 / sqrt(x) without dividing: on AVX-512 from the processor's 14-bit estimates and Newton's iteration,
// which is several times as fast as its division and square root; elsewhere by division.
//
// Arguments are normal numbers whose inverse is normal too; the roots take positive ones only. (The estimate of
// rough_inverse_root(0) is infinite, without an exception.)
#pragma once

#include <cmath>
#include <type_traits>

#include "device/pack.hpp"

#if defined(__AVX512F__) && defined(__AVX512VL__)
#include <immintrin.h>
#define QUINTET_HAVE_ESTIMATES 1
#else
#define QUINTET_HAVE_ESTIMATES 0
#endif

namespace quintet::device {

/// Whether the processor has estimates for this pack.
template <class Value>
constexpr bool has_estimates() {
#if QUINTET_HAVE_ESTIMATES
  return std::is_same_v<Value, pack<float, 16>> || std::is_same_v<Value, pack<double, 8>> ||
         std::is_same_v<Value, pack<float, 8>> || std::is_same_v<Value, pack<double, 4>> ||
         std::is_same_v<Value, pack<float, 32>> || std::is_same_v<Value, pack<double, 16>>;
#else
  return false;
#endif
}

namespace detail {

template <class Value>
inline Value by_square_root(const Value& x) {
  if constexpr (std::is_floating_point_v<Value>) {
    return Value(1) / std::sqrt(x);
  } else {
    Value result = x;
    for (unsigned l = 0; l < sizeof(Value) / sizeof(x[0]); ++l) result[l] = 1 / std::sqrt(x[l]);
    return result;
  }
}

#if QUINTET_HAVE_ESTIMATES
/// The masked forms make the same instruction; the plain ones make g++ 12 warn of a variable that is not initialised.
enum { all_lanes = 0xffff };
inline pack<float, 16> estimate_inverse(const pack<float, 16>& x) { return _mm512_maskz_rcp14_ps(all_lanes, x); }
inline pack<double, 8> estimate_inverse(const pack<double, 8>& x) {
  return _mm512_maskz_rcp14_pd(__mmask8(all_lanes), x);
}
inline pack<float, 8> estimate_inverse(const pack<float, 8>& x) { return _mm256_rcp14_ps(x); }
inline pack<double, 4> estimate_inverse(const pack<double, 4>& x) { return _mm256_rcp14_pd(x); }
inline pack<float, 16> estimate_inverse_root(const pack<float, 16>& x) { return _mm512_maskz_rsqrt14_ps(all_lanes, x); }
inline pack<double, 8> estimate_inverse_root(const pack<double, 8>& x) {
  return _mm512_maskz_rsqrt14_pd(__mmask8(all_lanes), x);
}
inline pack<float, 8> estimate_inverse_root(const pack<float, 8>& x) { return _mm256_rsqrt14_ps(x); }
inline pack<double, 4> estimate_inverse_root(const pack<double, 4>& x) { return _mm256_rsqrt14_pd(x); }

/// Two registers that are worked on side by side.
template <class Half, class Value, class Function>
inline Value by_halves(const Value& x, Function f) {
  Half half[2];
  __builtin_memcpy(half, &x, sizeof x);
  half[0] = f(half[0]);
  half[1] = f(half[1]);
  Value result;
  __builtin_memcpy(&result, half, sizeof x);
  return result;
}
inline pack<float, 32> estimate_inverse(const pack<float, 32>& x) {
  return by_halves<pack<float, 16>>(x, [](const pack<float, 16>& half) { return estimate_inverse(half); });
}
inline pack<double, 16> estimate_inverse(const pack<double, 16>& x) {
  return by_halves<pack<double, 8>>(x, [](const pack<double, 8>& half) { return estimate_inverse(half); });
}
inline pack<float, 32> estimate_inverse_root(const pack<float, 32>& x) {
  return by_halves<pack<float, 16>>(x, [](const pack<float, 16>& half) { return estimate_inverse_root(half); });
}
inline pack<double, 16> estimate_inverse_root(const pack<double, 16>& x) {
  return by_halves<pack<double, 8>>(x, [](const pack<double, 8>& half) { return estimate_inverse_root(half); });
}

/// One step towards 1 / sqrt(x): twice the digits.
template <class Value>
inline Value refine_inverse_root(const Value& x, const Value& y) {
  const Value rest = fma(Value(-(x * y)), y, 1);
  return fma(y, Value(rest / 2), y);
}
#endif

}  // namespace detail

/// 1 / sqrt(x) with a relative error of at most 2^-13.
template <class Value>
inline Value rough_inverse_root(const Value& x) {
#if QUINTET_HAVE_ESTIMATES
  if constexpr (has_estimates<Value>()) return detail::estimate_inverse_root(x);
#endif
  return detail::by_square_root(x);
}

/// 1 / sqrt(x) with a relative error of at most 2^-23 (float) or 2^-27 (double).
template <class Value>
inline Value near_inverse_root(const Value& x) {
#if QUINTET_HAVE_ESTIMATES
  if constexpr (has_estimates<Value>()) return detail::refine_inverse_root(x, detail::estimate_inverse_root(x));
#endif
  return detail::by_square_root(x);
}

/// 1 / sqrt(x) with a relative error of at most 2^-23 (float) or 2^-52 (double).
template <class Value>
inline Value inverse_root(const Value& x) {
#if QUINTET_HAVE_ESTIMATES
  if constexpr (has_estimates<Value>()) {
    const Value near = near_inverse_root(x);
    if constexpr (sizeof(x[0]) == sizeof(float))
      return near;
    else
      return detail::refine_inverse_root(x, near);
  }
#endif
  return detail::by_square_root(x);
}

/// 1 / x, of either sign, with a relative error of at most 2^-23 (float) or 2^-27 (double).
template <class Value>
inline Value near_inverse(const Value& x) {
#if QUINTET_HAVE_ESTIMATES
  if constexpr (has_estimates<Value>()) {
    const Value y = detail::estimate_inverse(x);
    return fma(y, fma(Value(-x), y, 1), y);
  }
#endif
  return 1 / x;
}

/// 1 / x, of either sign, with a relative error of at most 2^-13.
template <class Value>
inline Value rough_inverse(const Value& x) {
#if QUINTET_HAVE_ESTIMATES
  if constexpr (has_estimates<Value>()) return detail::estimate_inverse(x);
#endif
  return 1 / x;
}

/// 1 / x, of either sign, with a relative error of at most 2^-23 (float) or 2^-52 (double).
template <class Value>
inline Value inverse(const Value& x) {
#if QUINTET_HAVE_ESTIMATES
  if constexpr (has_estimates<Value>()) {
    const Value y = near_inverse(x);
    if constexpr (sizeof(x[0]) == sizeof(float))
      return y;
    else
      return fma(y, fma(Value(-x), y, 1), y);
  }
#endif
  return 1 / x;
}

}  // namespace quintet::device
