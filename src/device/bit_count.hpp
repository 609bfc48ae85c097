// Ones in words of 64 bits, of W words side by side.
//
// Processors with an instruction for it count a register of words at once. Others look up half bytes in a table of 16
// by a byte shuffle (Mula, Kurz, Lemire 2018), or add neighbouring bits. Both leave counts of bytes, which are added up
// before they could exceed 255.
#pragma once

#include <bit>
#include <cstdint>

#include "device/inline.hpp"
#include "device/pack.hpp"

#if defined(__AVX2__) || defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace quintet::device {

/// A pack of words from memory that may hold them as numbers of another type.
template <int W, class Memory>
QUINTET_INLINE inline pack<std::uint64_t, W> load_words(const Memory* from) {
  static_assert(sizeof(Memory) == sizeof(std::uint64_t));
  return load_pack<pack<std::uint64_t, W>>(from);
}

namespace detail {

/// Whether words are counted whole; otherwise their bytes are.
template <int W>
constexpr bool counts_words() {
#if defined(__AVX512VPOPCNTDQ__)
  return W == 1 || W == 8;
#else
  return W == 1;
#endif
}

/// The ones of every word, or of every byte of it.
template <int W>
QUINTET_INLINE inline pack<std::uint64_t, W> ones_in_parts(const pack<std::uint64_t, W>& words) {
  typedef pack<std::uint64_t, W> value;
#if defined(__AVX512VPOPCNTDQ__)
  if constexpr (W == 8) return (value)_mm512_popcnt_epi64((__m512i)words);
#endif
  if constexpr (W == 1) return std::uint64_t(__builtin_popcountll(words));
#if defined(__AVX512BW__)
  if constexpr (W == 8) {
    const __m512i table = _mm512_set4_epi32(0x04030302, 0x03020201, 0x03020201, 0x02010100);
    const __m512i half = _mm512_set1_epi8(0x0f);
    const __m512i low = _mm512_and_si512((__m512i)words, half);
    const __m512i high = _mm512_and_si512(_mm512_srli_epi32((__m512i)words, 4), half);
    return (value)_mm512_add_epi8(_mm512_shuffle_epi8(table, low), _mm512_shuffle_epi8(table, high));
  }
#endif
#if defined(__AVX2__)
  if constexpr (W == 4) {
    const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2,
                                           2, 3, 2, 3, 3, 4);
    const __m256i half = _mm256_set1_epi8(0x0f);
    const __m256i low = _mm256_and_si256((__m256i)words, half);
    const __m256i high = _mm256_and_si256(_mm256_srli_epi32((__m256i)words, 4), half);
    return (value)_mm256_add_epi8(_mm256_shuffle_epi8(table, low), _mm256_shuffle_epi8(table, high));
  }
#endif
  const value pairs = words - ((words >> 1) & 0x5555555555555555u);
  const value fours = (pairs & 0x3333333333333333u) + ((pairs >> 2) & 0x3333333333333333u);
  return (fours + (fours >> 4)) & 0x0f0f0f0f0f0f0f0fu;
}

/// The sum of the bytes of every word.
template <int W>
QUINTET_INLINE inline pack<std::uint64_t, W> sum_of_bytes(const pack<std::uint64_t, W>& words) {
#if defined(__AVX512BW__)
  if constexpr (W == 8) return (pack<std::uint64_t, W>)_mm512_sad_epu8((__m512i)words, _mm512_setzero_si512());
#endif
#if defined(__AVX2__)
  if constexpr (W == 4) return (pack<std::uint64_t, W>)_mm256_sad_epu8((__m256i)words, _mm256_setzero_si256());
#endif
  const pack<std::uint64_t, W> halves = (words & 0x00ff00ff00ff00ffu) + ((words >> 8) & 0x00ff00ff00ff00ffu);
  return (halves * 0x0001000100010001u) >> 48;
}

}  // namespace detail

/// Counts the bits in which words differ, lane by lane.
template <int W>
class bit_counter {
 public:
  typedef pack<std::uint64_t, W> words;
  /// Words between settle() and settle(): a byte of 8 ones each.
  enum { words_at_once = 31 };

  QUINTET_INLINE void add(const words& x, const words& y) { parts_ += detail::ones_in_parts<W>(x ^ y); }
  QUINTET_INLINE void settle() {
    if constexpr (detail::counts_words<W>())
      sum_ += parts_;
    else
      sum_ += detail::sum_of_bytes<W>(parts_);
    parts_ = words{};
  }
  /// The counts that are settled, below 2^52, as doubles.
  QUINTET_INLINE pack<double, W> total() const {
    // The bits of 2^52 with the count as its last digits.
    const words shifted = sum_ | 0x4330000000000000u;
    return std::bit_cast<pack<double, W>>(shifted) - 0x1p52;
  }

 private:
  words parts_{}, sum_{};
};

}  // namespace quintet::device
