// Lanes of a SIMD register moved to places that are known at run time only, and bytes as bits: instructions for which
// compilers have no expression of their own.
#pragma once

#include <cstdint>
#include <cstring>

#include "device/inline.hpp"
#include "device/pack.hpp"

#if defined(__AVX2__) || (defined(__AVX512F__) && defined(__AVX512VL__))
#include <immintrin.h>
#endif

namespace quintet::device {

#if defined(__AVX512F__) && defined(__AVX512VL__)

/// Whether the functions here exist.
constexpr bool has_lane_moves = true;

/// A bit for every lane of `values` above `limit`.
QUINTET_INLINE inline std::uint32_t lanes_above(const pack<std::int32_t, 8>& values, std::int32_t limit) {
  return _mm256_cmpgt_epi32_mask((__m256i)values, _mm256_set1_epi32(limit));
}

/// Lane l is lane index[l] of `values`. (With masks: g++ 12 warns of uninitialised numbers in its header without.)
QUINTET_INLINE inline pack<float, 8> permuted(const pack<float, 8>& values, const pack<std::int32_t, 8>& index) {
  return (pack<float, 8>)_mm256_maskz_permutexvar_ps(0xff, (__m256i)index, (__m256)values);
}
QUINTET_INLINE inline pack<double, 8> permuted(const pack<double, 8>& values, const pack<std::int32_t, 8>& index) {
  return (pack<double, 8>)_mm512_maskz_permutexvar_pd(0xff, _mm512_maskz_cvtepi32_epi64(0xff, (__m256i)index),
                                                      (__m512d)values);
}

/// Lanes of `yes` where `mask` has a bit, of `no` elsewhere.
QUINTET_INLINE inline pack<float, 8> selected(std::uint32_t mask, const pack<float, 8>& yes, const pack<float, 8>& no) {
  return (pack<float, 8>)_mm256_mask_blend_ps(__mmask8(mask), (__m256)no, (__m256)yes);
}
QUINTET_INLINE inline pack<double, 8> selected(std::uint32_t mask, const pack<double, 8>& yes,
                                               const pack<double, 8>& no) {
  return (pack<double, 8>)_mm512_mask_blend_pd(__mmask8(mask), (__m512d)no, (__m512d)yes);
}

/// The lanes where `mask` has a bit, side by side, and zeros behind them.
QUINTET_INLINE inline pack<std::int32_t, 8> gathered(std::uint32_t mask, const pack<std::int32_t, 8>& values) {
  return (pack<std::int32_t, 8>)_mm256_maskz_compress_epi32(__mmask8(mask), (__m256i)values);
}
QUINTET_INLINE inline pack<float, 8> gathered(std::uint32_t mask, const pack<float, 8>& values) {
  return (pack<float, 8>)_mm256_maskz_compress_ps(__mmask8(mask), (__m256)values);
}
QUINTET_INLINE inline pack<double, 8> gathered(std::uint32_t mask, const pack<double, 8>& values) {
  return (pack<double, 8>)_mm512_maskz_compress_pd(__mmask8(mask), (__m512d)values);
}

#else

constexpr bool has_lane_moves = false;

template <class Values>
std::uint32_t lanes_above(const Values&, std::int32_t) = delete;
template <class Values, class Index>
Values permuted(const Values&, const Index&) = delete;
template <class Values>
Values selected(std::uint32_t, const Values&, const Values&) = delete;
template <class Values>
Values gathered(std::uint32_t, const Values&) = delete;

#endif

/// The first `count` numbers of `from` in the first lanes, zeros in the others; nothing behind them is read.
template <class Pack, class Number>
QUINTET_INLINE inline Pack load_some(const Number* from, int count) {
  constexpr int lanes = sizeof(Pack) / sizeof(Number);
  if (count > lanes) count = lanes;
#if defined(__AVX512F__) && defined(__AVX512VL__)
  const std::uint32_t mask = (1U << count) - 1;
  if constexpr (sizeof(Pack) == 64 && sizeof(Number) == 4) return (Pack)_mm512_maskz_loadu_epi32(__mmask16(mask), from);
  if constexpr (sizeof(Pack) == 64 && sizeof(Number) == 8) return (Pack)_mm512_maskz_loadu_epi64(__mmask8(mask), from);
  if constexpr (sizeof(Pack) == 32 && sizeof(Number) == 4) return (Pack)_mm256_maskz_loadu_epi32(__mmask8(mask), from);
#endif
  Pack value{};
  std::memcpy(&value, from, count * sizeof(Number));
  return value;
}

/// The first `count` lanes to `to`; nothing behind them is written.
template <class Pack, class Number>
QUINTET_INLINE inline void store_some(Number* to, const Pack& value, int count) {
  constexpr int lanes = sizeof(Pack) / sizeof(Number);
  if (count > lanes) count = lanes;
#if defined(__AVX512F__) && defined(__AVX512VL__)
  const std::uint32_t mask = (1U << count) - 1;
  if constexpr (sizeof(Pack) == 64 && sizeof(Number) == 4) {
    _mm512_mask_storeu_epi32(to, __mmask16(mask), (__m512i)value);
    return;
  } else if constexpr (sizeof(Pack) == 64 && sizeof(Number) == 8) {
    _mm512_mask_storeu_epi64(to, __mmask8(mask), (__m512i)value);
    return;
  } else if constexpr (sizeof(Pack) == 32 && sizeof(Number) == 4) {
    _mm256_mask_storeu_epi32(to, __mmask8(mask), (__m256i)value);
    return;
  }
#endif
  std::memcpy(to, &value, count * sizeof(Number));
}

/// Bit i: whether bytes[i] has one of `bits`, for 64 bytes.
inline std::uint64_t bytes_with(const std::uint8_t* bytes, std::uint8_t bits) {
#if defined(__AVX512BW__)
  return _mm512_test_epi8_mask(_mm512_loadu_si512(bytes), _mm512_set1_epi8(char(bits)));
#elif defined(__AVX2__)
  const __m256i mask = _mm256_set1_epi8(char(bits));
  const auto without = [&](int half) {
    const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes) + half);
    return std::uint32_t(_mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_and_si256(b, mask), _mm256_setzero_si256())));
  };
  return ~(std::uint64_t(without(1)) << 32 | without(0));
#else
  std::uint64_t mask = 0;
#pragma GCC unroll 8
  for (int w = 0; w < 8; ++w) {
    std::uint64_t word;
    __builtin_memcpy(&word, bytes + 8 * w, 8);
    word &= 0x0101010101010101u * bits;
    // The highest bit of every byte that is not zero; nothing carries.
    word = (((word & 0x7f7f7f7f7f7f7f7fu) + 0x7f7f7f7f7f7f7f7fu) | word) & 0x8080808080808080u;
    // Moves the highest bit of byte i to bit 56 + i.
    mask |= (((word >> 7) * 0x0102040810204080u) >> 56) << (8 * w);
  }
  return mask;
#endif
}

}  // namespace quintet::device
