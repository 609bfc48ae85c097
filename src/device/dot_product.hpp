// Inner products of rows of 16-bit integers, four in a word of 64 bits, of W words side by side.
//
// Processors multiply pairs of 16-bit integers and add both products to 32 bits (pmaddwd, and vpdpwssd that also adds
// to a sum). Sums of a word are 2 x 32 bits, which hold 2^14 words of integers in [-255, 255].
#pragma once

#include <bit>
#include <cstdint>

#include "device/bit_count.hpp"
#include "device/inline.hpp"
#include "device/pack.hpp"

namespace quintet::device {

namespace detail {

/// sum + products of the 16-bit integers of a and b, in both halves of every word.
template <int W>
QUINTET_INLINE inline pack<std::uint64_t, W> add_products(const pack<std::uint64_t, W>& sum,
                                                          const pack<std::uint64_t, W>& a,
                                                          const pack<std::uint64_t, W>& b) {
  typedef pack<std::uint64_t, W> value;
#if defined(__AVX512VNNI__)
  if constexpr (W == 8) return (value)_mm512_dpwssd_epi32((__m512i)sum, (__m512i)a, (__m512i)b);
#endif
#if defined(__AVX512BW__)
  if constexpr (W == 8) return (value)_mm512_add_epi32((__m512i)sum, _mm512_madd_epi16((__m512i)a, (__m512i)b));
#endif
#if defined(__AVX2__)
  if constexpr (W == 4) return (value)_mm256_add_epi32((__m256i)sum, _mm256_madd_epi16((__m256i)a, (__m256i)b));
#endif
  typedef typename pack_of<std::int32_t, 2 * W>::type halves;
  const halves x = std::bit_cast<halves>(a), y = std::bit_cast<halves>(b);
  const halves low = ((x << 16) >> 16) * ((y << 16) >> 16), high = (x >> 16) * (y >> 16);
  return std::bit_cast<value>(std::bit_cast<halves>(sum) + low + high);
}

}  // namespace detail

/// Sums products of integers, lane by lane.
template <int W>
class dot_product {
 public:
  typedef pack<std::uint64_t, W> words;
  /// Words between settle() and settle(), as for bit_counter: all that fit.
  enum { words_at_once = 1 << 14 };

  QUINTET_INLINE void add(const words& x, const words& y) { sum_ = detail::add_products<W>(sum_, x, y); }
  QUINTET_INLINE void settle() {}
  /// As doubles, which hold them exactly.
  QUINTET_INLINE pack<double, W> total() const {
    typedef pack<std::int64_t, W> integers;
    const integers both = std::bit_cast<integers>(sum_);
    const integers low = std::bit_cast<integers>(sum_ << 32) >> 32, total = low + (both >> 32);
    // The bits of 1.5 * 2^52, to whose last digits the sum is added.
    return std::bit_cast<pack<double, W>>(total + 0x4338000000000000) - 0x1.8p52;
  }

 private:
  words sum_{};
};

}  // namespace quintet::device
