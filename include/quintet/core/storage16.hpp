// Two 16-bit floating-point formats for storage: half (IEEE 754 binary16) and bfloat16 (the upper half of a binary32).
//
// They hold data, they do not compute: a value is widened to float on use and sums are kept in float, so `a + b` of two
// 16-bit values is a float. Every 16-bit value is a float exactly; the way back rounds to nearest, ties to even, over
// the whole range, subnormals and overflow to infinity included.
//
//   format     significand   largest finite   smallest normal   smallest subnormal   unit roundoff
//   half       11 bits       65504            2^-14             2^-24                2^-11
//   bfloat16    8 bits       about 3.39e38    2^-126            2^-133               2^-8
//
// NaN stays NaN with its sign; a quiet NaN's payload keeps the bits that fit (a GPU may give its canonical NaN
// instead). Everything here is constexpr, needs no library, throws nothing, and may be called in device code.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <type_traits>

#include "quintet/core/compiler.hpp"

// Where the processor converts binary16 itself, one instruction does what the integer code below does. Never when the
// compiler would call a run-time library instead.
#if defined(__NVPTX__) || defined(__AMDGCN__) || (defined(__F16C__) && defined(__FLT16_MANT_DIG__))
#define QUINTET_NATIVE_HALF 1
#else
#define QUINTET_NATIVE_HALF 0
#endif

namespace quintet {

namespace detail {

/// Bits of the binary16 nearest to `value`, by integer arithmetic alone.
constexpr std::uint16_t half_bits_portable(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7fffffffu;
  std::uint32_t result = 0;
  if (magnitude > 0x7f800000u) {
    result = 0x7e00u | ((magnitude >> 13) & 0x3ffu);  // NaN, made quiet
  } else if (magnitude >= 0x47800000u) {
    result = 0x7c00u;  // 2^16 and above, infinity included
  } else if (magnitude >= 0x38800000u) {
    // Normal: the exponent's bias moves from 127 to 15, 13 bits are rounded away; a carry runs into the exponent and
    // from there, above 65504, into infinity, as it should.
    const std::uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u);
    result = (rounded - (112u << 23)) >> 13;
  } else if (magnitude > 0x33000000u) {
    // Subnormal: above 2^-25, below 2^-14. The significand is shifted until one unit is 2^-24.
    const std::uint32_t shift = 126u - (magnitude >> 23);
    const std::uint32_t significand = (magnitude & 0x7fffffu) | 0x800000u;
    const std::uint32_t mantissa = significand >> shift;
    const std::uint32_t rest = significand & ((1u << shift) - 1u);
    const std::uint32_t tie = 1u << (shift - 1u);
    result = mantissa + ((rest > tie || (rest == tie && (mantissa & 1u) != 0u)) ? 1u : 0u);
  }
  return static_cast<std::uint16_t>(sign | result);
}

/// The float with the value of a binary16, by integer arithmetic alone.
constexpr float half_value_portable(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fu;
  const std::uint32_t fraction = bits & 0x3ffu;
  std::uint32_t result = 0;
  if (exponent == 0x1fu) {
    result = 0x7f800000u | (fraction << 13) | (fraction != 0u ? 0x400000u : 0u);
  } else if (exponent != 0u) {
    result = ((exponent + 112u) << 23) | (fraction << 13);
  } else if (fraction != 0u) {
    const std::uint32_t shift = static_cast<std::uint32_t>(std::countl_zero(fraction)) - 21u;
    result = ((113u - shift) << 23) | (((fraction << shift) & 0x3ffu) << 13);
  }
  return std::bit_cast<float>(sign | result);
}

}  // namespace detail

/// IEEE 754 binary16, storage only.
struct half {
  /// The pattern: 1 sign bit, 5 exponent bits, 10 fraction bits.
  std::uint16_t bits;

  half() = default;
  /// Nearest binary16, ties to even; from 65520 on, infinity.
  constexpr explicit half(float value) : bits(round(value)) {}
  /// The number that has this pattern.
  static constexpr half from_bits(std::uint16_t pattern) {
    half result{0.0f};
    result.bits = pattern;
    return result;
  }
  /// Exact.
  constexpr operator float() const {
#if QUINTET_NATIVE_HALF
    if (!std::is_constant_evaluated()) return static_cast<float>(std::bit_cast<_Float16>(bits));
#endif
    return detail::half_value_portable(bits);
  }

 private:
  static constexpr std::uint16_t round(float value) {
#if QUINTET_NATIVE_HALF
    if (!std::is_constant_evaluated()) return std::bit_cast<std::uint16_t>(static_cast<_Float16>(value));
#endif
    return detail::half_bits_portable(value);
  }
};

/// bfloat16, storage only: range of float, 8 bits of significand.
struct bfloat16 {
  /// The pattern: 1 sign bit, 8 exponent bits, 7 fraction bits.
  std::uint16_t bits;

  bfloat16() = default;
  /// Nearest bfloat16, ties to even; above the largest finite value, infinity.
  constexpr explicit bfloat16(float value) : bits(round(value)) {}
  /// The number that has this pattern.
  static constexpr bfloat16 from_bits(std::uint16_t pattern) {
    bfloat16 result{0.0f};
    result.bits = pattern;
    return result;
  }
  /// Exact.
  constexpr operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

 private:
  static constexpr std::uint16_t round(float value) {
    const std::uint32_t pattern = std::bit_cast<std::uint32_t>(value);
    // Rounding up could turn a NaN with its payload in the lower half into infinity.
    if ((pattern & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((pattern >> 16) | 0x40u);
    return static_cast<std::uint16_t>((pattern + 0x7fffu + ((pattern >> 16) & 1u)) >> 16);
  }
};

static_assert(sizeof(half) == 2 && std::is_trivially_copyable_v<half> &&
              std::is_trivially_default_constructible_v<half>);
static_assert(sizeof(bfloat16) == 2 && std::is_trivially_copyable_v<bfloat16> &&
              std::is_trivially_default_constructible_v<bfloat16>);

/// Types in which points and dense matrices are stored.
template <class T>
concept storage_type =
    std::same_as<T, float> || std::same_as<T, double> || std::same_as<T, half> || std::same_as<T, bfloat16>;

namespace detail {

/// T, or a sentence that refuses it.
template <class T>
struct checked_storage {
  static_assert(storage_type<T>,
                "quintet: elements must be float, double, quintet::half or quintet::bfloat16: convert the matrix first "
                "(of Eigen: matrix.cast<double>().eval())");
  using type = T;
};

}  // namespace detail

/// The type in which values of T are computed and summed: float for the 16-bit types, T itself otherwise.
template <class T>
struct accumulator {
  using type = T;  ///< the type itself
};
/// half is computed in float.
template <>
struct accumulator<half> {
  using type = float;  ///< exact for every half
};
/// bfloat16 is computed in float.
template <>
struct accumulator<bfloat16> {
  using type = float;  ///< exact for every bfloat16
};
/// Short for accumulator<T>::type.
template <class T>
using accumulator_t = typename accumulator<T>::type;

}  // namespace quintet
