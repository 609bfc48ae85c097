// All 65536 patterns of both formats, and all rounding boundaries between them.
#include "quintet/core/storage16.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace {

using quintet::bfloat16;
using quintet::half;

// The value of a pattern as the standards define it, by exact arithmetic in double.
double defined_value(std::uint32_t pattern, int exponent_bits, int fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = static_cast<int>((pattern >> fraction_bits) & ((1u << exponent_bits) - 1u));
  const int fraction = static_cast<int>(pattern & ((1u << fraction_bits) - 1u));
  const double sign = (pattern & 0x8000u) != 0 ? -1.0 : 1.0;
  if (exponent == (1 << exponent_bits) - 1)
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * std::numeric_limits<double>::infinity();
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
}

template <class T>
struct format;
template <>
struct format<half> {
  static constexpr int exponent_bits = 5, fraction_bits = 10;
};
template <>
struct format<bfloat16> {
  static constexpr int exponent_bits = 8, fraction_bits = 7;
};

template <class T>
double value_of(std::uint32_t pattern) {
  return defined_value(pattern, format<T>::exponent_bits, format<T>::fraction_bits);
}

template <class T>
class Storage16 : public testing::Test {};
using formats = testing::Types<half, bfloat16>;
TYPED_TEST_SUITE(Storage16, formats);

TYPED_TEST(Storage16, EveryPatternHasItsValueAndReturnsToItself) {
  for (std::uint32_t pattern = 0; pattern < 0x10000u; ++pattern) {
    const TypeParam stored = TypeParam::from_bits(static_cast<std::uint16_t>(pattern));
    const float value = stored;
    const double expected = value_of<TypeParam>(pattern);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(value)) << pattern;
      const std::uint16_t back = TypeParam(value).bits;
      ASSERT_TRUE(std::isnan(value_of<TypeParam>(back))) << pattern;
      ASSERT_EQ(back & 0x8000u, pattern & 0x8000u) << "sign of NaN " << pattern;
    } else {
      ASSERT_EQ(static_cast<double>(value), expected) << pattern;
      ASSERT_EQ(std::signbit(value), (pattern & 0x8000u) != 0) << pattern;
      ASSERT_EQ(TypeParam(value).bits, pattern);
    }
  }
}

// Between neighbours a < b: the middle goes to the even one, its float neighbours to the nearer one.
TYPED_TEST(Storage16, RoundsToNearestEvenBetweenAllNeighbours) {
  const std::uint32_t infinity = ((1u << format<TypeParam>::exponent_bits) - 1u) << format<TypeParam>::fraction_bits;
  for (std::uint32_t low = 0; low < infinity; ++low) {
    const double below = value_of<TypeParam>(low);
    // Above the largest finite number the next step counts, as if the exponent went on.
    const double above = low + 1 == infinity ? 2 * below - value_of<TypeParam>(low - 1) : value_of<TypeParam>(low + 1);
    const float middle = static_cast<float>((below + above) / 2);
    // The middle below bfloat16's smallest number still is a float.
    ASSERT_EQ(static_cast<double>(middle), (below + above) / 2);
    const std::uint32_t even = (low & 1u) == 0u ? low : low + 1;
    for (const std::uint32_t sign : {0u, 0x8000u}) {
      const float s = sign != 0u ? -1.0f : 1.0f;
      ASSERT_EQ(TypeParam(s * middle).bits, sign | even) << low;
      ASSERT_EQ(TypeParam(s * std::nextafter(middle, 0.0f)).bits, sign | low) << low;
      ASSERT_EQ(TypeParam(s * std::nextafter(middle, std::numeric_limits<float>::infinity())).bits, sign | (low + 1));
    }
  }
}

TYPED_TEST(Storage16, ExtremesAndNaN) {
  const std::uint16_t infinity =
      static_cast<std::uint16_t>(((1u << format<TypeParam>::exponent_bits) - 1u) << format<TypeParam>::fraction_bits);
  EXPECT_EQ(TypeParam(std::numeric_limits<float>::max()).bits, infinity);
  EXPECT_EQ(TypeParam(-std::numeric_limits<float>::infinity()).bits, infinity | 0x8000u);
  EXPECT_EQ(TypeParam(std::numeric_limits<float>::denorm_min()).bits, 0u);
  EXPECT_EQ(TypeParam(-0.0f).bits, 0x8000u);
  // A payload in the lowest bits only must not round to infinity.
  for (const std::uint32_t nan : {0x7f800001u, 0xff800001u, 0x7fffffffu, 0xffffffffu, 0x7fc00000u}) {
    float value;
    std::memcpy(&value, &nan, sizeof value);
    EXPECT_TRUE(std::isnan(static_cast<float>(TypeParam(value)))) << std::hex << nan;
  }
}

TYPED_TEST(Storage16, WorksInConstantExpressions) {
  constexpr TypeParam one(1.0f);
  static_assert(static_cast<float>(one) == 1.0f);
  static_assert(static_cast<float>(TypeParam(-2.5f)) == -2.5f);
  static_assert(std::is_same_v<decltype(one + one), float>);
  static_assert(std::is_same_v<quintet::accumulator_t<TypeParam>, float>);
  static_assert(std::is_same_v<quintet::accumulator_t<double>, double>);
}

// The processor's conversion and the integer one are the same function.
TEST(Half, NativeEqualsPortable) {
  for (std::uint32_t pattern = 0; pattern < 0x10000u; ++pattern) {
    const float portable = quintet::detail::half_value_portable(static_cast<std::uint16_t>(pattern));
    const float native = half::from_bits(static_cast<std::uint16_t>(pattern));
    ASSERT_EQ(std::memcmp(&portable, &native, sizeof native), 0) << pattern;
  }
  // A stride prime to 2^32 visits floats of every exponent and many fractions.
  std::uint32_t pattern = 0;
  for (int i = 0; i < 2'000'000; ++i, pattern += 2654435761u) {
    float value;
    std::memcpy(&value, &pattern, sizeof value);
    ASSERT_EQ(half(value).bits, quintet::detail::half_bits_portable(value)) << std::hex << pattern;
  }
}

}  // namespace
