// Inner products of points rounded to 16-bit integers, exact in 32 bits: the primitive of filters, which bound
// distances and leave what they cannot decide to the text that computes them.
//
// Coordinates 2 k and 2 k + 1 of a point are one word of 32 bits, an int16_pair, so that a tile of products is a tile
// of words with another step. Words and sums travel as packs of float, of which only the bits are moved: tiles, panels
// and scratch are those of float.
//
// The step is chosen by compiler macro, as QUINTET_HOST_ARCH and the levels of glibc-hwcaps have it: one instruction
// for two multiply-adds a lane with __AVX512VNNI__, two with __AVX512BW__ (x86-64-v4) or __AVX2__ (x86-64-v3), the
// plain text everywhere else, GPUs included. Integers have no order of summation: all of them give the same bits.
//
// Why not bfloat16, whose instruction (__AVX512BF16__) has the same rate: a point with a scale of its own keeps 13
// times as much of itself in 16 bits (384 dimensions), and so leaves less open. Matrix tiles (__AMX_BF16__) have no
// integers of 16 bits; their storage would be another.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "device/pack.hpp"

#if defined(__AVX512BW__) || defined(__AVX2__)
#include <immintrin.h>
#endif

namespace quintet::device {

/// Two integers, the one of the smaller index in the lower half.
typedef std::uint32_t int16_pair;

/// The longest vector of such integers: the inner product of two of them, and each part of its sum, is within 32 bits.
constexpr double max_int16_length = 46340;
/// The largest of them.
constexpr double max_int16 = 32767;

/// Whether there are instructions for add_products(), and so whether it is faster than sums of squares.
#if defined(__AVX512BW__) || defined(__AVX2__)
constexpr bool has_fast_products = true;
#else
constexpr bool has_fast_products = false;
#endif

namespace detail {
template <class Pack>
using integers_of = pack<std::int32_t, int(sizeof(Pack) / 4)>;

/// Numbers to integers and back.
template <class To, class From>
inline To converted(const From& values) {
  if constexpr (std::is_arithmetic_v<From>)
    return To(values);
  else
    return __builtin_convertvector(values, To);
}
}  // namespace detail

/// The nearest whole numbers, ties to even, of numbers up to 2^22; 0 for NaN.
template <class Pack>
inline Pack to_whole(const Pack& values) {
  constexpr float shift = 0x1.8p23f;
  const Pack whole = (values + shift) - shift;
  return whole == whole ? whole : Pack{};
}

/// Words of two whole numbers each.
template <class Pack>
inline Pack pair_int16(const Pack& first, const Pack& second) {
  typedef detail::integers_of<Pack> integers;
  typedef pack<std::uint32_t, int(sizeof(Pack) / 4)> words;
  const words low = std::bit_cast<words>(detail::converted<integers>(first));
  const words high = std::bit_cast<words>(detail::converted<integers>(second));
  return std::bit_cast<Pack>((low & 0xffffu) | (high << 16));
}

/// sum += x y + x' y' in every lane, for words (y, y') of `columns` and one word (x, x') in memory.
template <class Pack>
inline void add_products_plain(Pack& sum, const Pack& columns, const float* row) {
  typedef detail::integers_of<Pack> integers;
  const integers y = std::bit_cast<integers>(columns);
  const auto x = std::bit_cast<std::int32_t>(*row);
  const integers low = ((y << 16) >> 16) * ((x << 16) >> 16), high = (y >> 16) * (x >> 16);
  sum = std::bit_cast<Pack>(std::bit_cast<integers>(sum) + low + high);
}

template <class Pack>
inline void add_products(Pack& sum, const Pack& columns, const float* row) {
#if defined(__AVX512VNNI__)
  if constexpr (sizeof(Pack) == 64) {
    // The word is broadcast by the instruction, for the reason that subtract_scalar() tells.
    asm("vpdpwssd %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(columns), "m"(*row));
    return;
  }
#elif defined(__AVX512BW__)
  if constexpr (sizeof(Pack) == 64) {
    const __m512i x = _mm512_set1_epi32(std::bit_cast<std::int32_t>(*row));
    const __m512i products = _mm512_madd_epi16(std::bit_cast<__m512i>(columns), x);
    sum = std::bit_cast<Pack>(_mm512_add_epi32(std::bit_cast<__m512i>(sum), products));
    return;
  }
#endif
#if defined(__AVX2__)
  if constexpr (sizeof(Pack) == 32) {
    const __m256i x = _mm256_set1_epi32(std::bit_cast<std::int32_t>(*row));
    const __m256i products = _mm256_madd_epi16(std::bit_cast<__m256i>(columns), x);
    sum = std::bit_cast<Pack>(_mm256_add_epi32(std::bit_cast<__m256i>(sum), products));
    return;
  }
#endif
  add_products_plain(sum, columns, row);
}

/// Sums as numbers, rounded once.
template <class Pack>
inline Pack product_sums(const Pack& sums) {
  return detail::converted<Pack>(std::bit_cast<detail::integers_of<Pack>>(sums));
}

}  // namespace quintet::device
