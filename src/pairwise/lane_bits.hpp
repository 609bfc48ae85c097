// Comparisons of packs as bits.
#pragma once

#include <cstdint>

#include "device/pack.hpp"

#if defined(__AVX__)
#include <immintrin.h>
#endif

namespace quintet::pairwise {

/// Whether a comparison of packs of W lanes holds in one of them.
template <int W, class Mask>
inline bool any_lane(const Mask& mask) {
  if constexpr (W == 1) {
    return mask != 0;
  } else {
#if __has_builtin(__builtin_reduce_or)
    return __builtin_reduce_or(mask) != 0;
#else
    auto any = mask[0];
    for (int lane = 1; lane < W; ++lane) any |= mask[lane];
    return any != 0;
#endif
  }
}

/// The lanes in which a <= b, bit by bit; none for NaN.
template <class Real, int W>
inline std::uint32_t lanes_up_to(const device::pack<Real, W>& a, const device::pack<Real, W>& b) {
#if defined(__AVX512F__)
  if constexpr (W * sizeof(Real) == 64 && sizeof(Real) == 4) return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ);
  if constexpr (W * sizeof(Real) == 64 && sizeof(Real) == 8) return _mm512_cmp_pd_mask(a, b, _CMP_LE_OQ);
#endif
#if defined(__AVX__)
  if constexpr (W * sizeof(Real) == 32 && sizeof(Real) == 4)
    return std::uint32_t(_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_LE_OQ)));
  if constexpr (W * sizeof(Real) == 32 && sizeof(Real) == 8)
    return std::uint32_t(_mm256_movemask_pd(_mm256_cmp_pd(a, b, _CMP_LE_OQ)));
#endif
  std::uint32_t lanes = 0;
  if constexpr (W == 1) {
    lanes = a <= b;
  } else {
    for (int lane = 0; lane < W; ++lane) lanes |= std::uint32_t(a[lane] <= b[lane]) << lane;
  }
  return lanes;
}

/// Which of W numbers in memory are not `value`, bit by bit.
template <int W>
inline std::uint32_t lanes_other_than(const std::int32_t* from, std::int32_t value) {
#if defined(__AVX512F__)
  if constexpr (W == 16) return _mm512_cmpneq_epi32_mask(_mm512_loadu_si512(from), _mm512_set1_epi32(value));
#endif
#if defined(__AVX2__)
  if constexpr (W == 8) {
    const __m256i equal = _mm256_cmpeq_epi32(_mm256_loadu_si256((const __m256i*)from), _mm256_set1_epi32(value));
    return 0xffu & ~std::uint32_t(_mm256_movemask_ps(_mm256_castsi256_ps(equal)));
  }
#endif
  std::uint32_t lanes = 0;
  for (int lane = 0; lane < W; ++lane) lanes |= std::uint32_t(from[lane] != value) << lane;
  return lanes;
}

}  // namespace quintet::pairwise
