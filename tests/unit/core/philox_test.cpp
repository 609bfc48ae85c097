#include "quintet/core/philox.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <numeric>
#include <random>
#include <type_traits>
#include <vector>

namespace {

using quintet::philox4x32;
using quintet::philox_block;
using quintet::random_stream;

// From kat_vectors of Random123 1.14: philox4x32, 10 rounds.
TEST(Philox, KnownAnswers) {
  static_assert(philox4x32({{0, 0, 0, 0}}, {{0, 0}}) ==
                philox_block{{0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u}});
  EXPECT_TRUE((philox4x32({{0xffffffffu, 0xffffffffu, 0xffffffffu, 0xffffffffu}}, {{0xffffffffu, 0xffffffffu}}) ==
               philox_block{{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu}}));
  EXPECT_TRUE((philox4x32({{0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u}}, {{0xa4093822u, 0x299f31d0u}}) ==
               philox_block{{0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u}}));
}

TEST(Philox, CounterLayout) {
  const std::uint64_t seed = 0x299f31d0a4093822u, stream = 0x0370734413198a2eu, position = 0x85a308d3243f6a88u;
  EXPECT_TRUE((quintet::philox_at(seed, stream, position) ==
               philox_block{{0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u}}));
}

TEST(Philox, StreamIsTheBlocksInOrder) {
  random_stream numbers(7, 3, 5);
  for (std::uint64_t position = 5; position < 8; ++position) {
    const philox_block block = quintet::philox_at(7, 3, position);
    for (const std::uint32_t word : block.word) EXPECT_EQ(numbers.next_32(), word);
  }
  random_stream pairs(7, 3, 5);
  const philox_block block = quintet::philox_at(7, 3, 5);
  EXPECT_EQ(pairs.next_64(), quintet::join_words(block.word[0], block.word[1]));
  // A copy repeats the sequence.
  random_stream copy = pairs;
  EXPECT_EQ(copy.next_64(), pairs.next_64());
  static_assert(std::is_trivially_copyable_v<random_stream>);
}

TEST(Philox, EndsOfTheUniformRanges) {
  EXPECT_EQ(quintet::uniform_float(0), 0.0f);
  EXPECT_EQ(quintet::uniform_float(0xffffffffu), 1.0f - 0x1p-24f);
  EXPECT_EQ(quintet::uniform_positive_float(0), 0x1p-24f);
  EXPECT_EQ(quintet::uniform_positive_float(0xffffffffu), 1.0f);
  EXPECT_EQ(quintet::uniform_double(~std::uint64_t{0}), 1.0 - 0x1p-53);
  EXPECT_EQ(quintet::uniform_positive_double(0), 0x1p-53);
  EXPECT_EQ(quintet::uniform_positive_double(~std::uint64_t{0}), 1.0);
}

TEST(Philox, ArrayElementsAreTheStreamsNumbers) {
  random_stream floats(11, 2), doubles(11, 2);
  for (std::uint64_t i = 0; i < 20; ++i) {
    EXPECT_EQ(quintet::uniform_at<float>(11, 2, i), floats.uniform<float>());
    EXPECT_EQ(quintet::uniform_at<double>(11, 2, i), doubles.uniform<double>());
  }
  random_stream normals(11, 2);
  for (std::uint64_t i = 0; i < 20; i += 2) {
    const auto pair = normals.normals<double>();
    EXPECT_EQ(quintet::normal_at<double>(11, 2, i), pair.first);
    EXPECT_EQ(quintet::normal_at<double>(11, 2, i + 1), pair.second);
  }
}

template <class Real>
class Distribution : public testing::Test {};
using reals = testing::Types<float, double>;
TYPED_TEST_SUITE(Distribution, reals);

// The seed is fixed, so these tests cannot fail by chance; the limits are five standard errors.
TYPED_TEST(Distribution, UniformFillsItsCells) {
  constexpr int n = 1'000'000, cells = 100;
  std::array<int, cells> count{};
  random_stream numbers(1);
  for (int i = 0; i < n; ++i) {
    const TypeParam u = numbers.uniform<TypeParam>();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    const TypeParam p = numbers.uniform_positive<TypeParam>();
    ASSERT_GT(p, 0);
    ASSERT_LE(p, 1);
    ++count[static_cast<std::size_t>(u * cells)];
  }
  double chi_squared = 0;
  for (const int c : count) chi_squared += (c - n / cells) * double(c - n / cells) / (n / cells);
  EXPECT_LT(std::abs(chi_squared - (cells - 1)), 5 * std::sqrt(2.0 * (cells - 1)));
}

TYPED_TEST(Distribution, NormalHasItsMomentsAndTails) {
  constexpr int n = 1'000'000;
  double sum = 0, squares = 0, cubes = 0, fourths = 0;
  int beyond_2 = 0;
  for (int i = 0; i < n; ++i) {
    const double x = quintet::normal_at<TypeParam>(2, 0, static_cast<std::uint64_t>(i));
    ASSERT_TRUE(std::isfinite(x));
    sum += x;
    squares += x * x;
    cubes += x * x * x;
    fourths += x * x * x * x;
    beyond_2 += std::abs(x) > 2;
  }
  EXPECT_LT(std::abs(sum / n), 5 * std::sqrt(1.0 / n));
  EXPECT_LT(std::abs(squares / n - 1), 5 * std::sqrt(2.0 / n));
  EXPECT_LT(std::abs(cubes / n), 5 * std::sqrt(15.0 / n));
  EXPECT_LT(std::abs(fourths / n - 3), 5 * std::sqrt(96.0 / n));
  const double p = std::erfc(2 / std::sqrt(2.0));
  EXPECT_LT(std::abs(beyond_2 / double(n) - p), 5 * std::sqrt(p * (1 - p) / n));
}

TYPED_TEST(Distribution, DirectionsLieOnTheCircle) {
  double worst = 0;
  for (int i = 0; i < 40'000; ++i) {
    const TypeParam turns = i < 8 ? TypeParam(i) / 8 : quintet::uniform_at<TypeParam>(3, 1, std::uint64_t(i));
    const auto found = quintet::detail::cosine_and_sine_of_turns(turns);
    const long double angle = 2 * std::numbers::pi_v<long double> * turns;
    worst = std::max(
        {worst, double(std::abs(found.first - std::cos(angle))), double(std::abs(found.second - std::sin(angle)))});
  }
  EXPECT_LE(worst, std::numeric_limits<TypeParam>::epsilon());
}

TEST(Distribution, NormalIsFiniteAtTheEndsOfItsWords) {
  for (const std::uint32_t a : {0u, 0xffffffffu})
    for (const std::uint32_t b : {0u, 0xffffffffu}) {
      const auto f = quintet::normal_pair<float>({{a, b, a, b}});
      const auto d = quintet::normal_pair<double>({{a, a, b, b}});
      EXPECT_LT(std::abs(f.first), 6.8f);
      EXPECT_LT(std::abs(f.second), 6.8f);
      EXPECT_LT(std::abs(d.first), 8.6);
      EXPECT_LT(std::abs(d.second), 8.6);
    }
}

TEST(Bounded, EachValueEquallyOften) {
  random_stream numbers(3);
  constexpr int n = 600'000;
  std::array<int, 6> count{};
  for (int i = 0; i < n; ++i) ++count.at(numbers.below(6));
  for (const int c : count) EXPECT_LT(std::abs(c - n / 6), 5 * std::sqrt(n / 6.0));
}

// With bound 3 * 2^30 a plain product without rejection gives every third value twice as often as the others.
TEST(Bounded, NoBiasForLargeBounds) {
  random_stream numbers(4);
  constexpr int n = 300'000;
  std::array<int, 3> residue{};
  for (int i = 0; i < n; ++i) {
    const std::uint32_t x = numbers.below(3u << 30);
    ASSERT_LT(x, 3u << 30);
    ++residue[x % 3];
  }
  for (const int c : residue) EXPECT_LT(std::abs(c - n / 3), 5 * std::sqrt(n / 3.0));
}

TEST(Bounded, SmallestAndLargestBounds) {
  random_stream numbers(5);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(numbers.below(0), 0u);
    EXPECT_EQ(numbers.below(1), 0u);
    EXPECT_EQ(numbers.below_64(1), 0u);
    EXPECT_LT(numbers.below_64(5), 5u);
  }
  const std::uint64_t bound = (std::uint64_t{1} << 40) + 12345;
  std::uint64_t largest = 0;
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t x = numbers.below_64(bound);
    ASSERT_LT(x, bound);
    largest = std::max(largest, x);
  }
  EXPECT_GT(largest, bound - bound / 1000);
}

TEST(Philox, ServesTheStandardLibrary) {
  static_assert(std::uniform_random_bit_generator<random_stream>);
  std::vector<int> order(100);
  std::iota(order.begin(), order.end(), 0);
  random_stream numbers(6);
  std::shuffle(order.begin(), order.end(), numbers);
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
}

}  // namespace
