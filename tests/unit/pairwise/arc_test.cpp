#include "device/arc.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "support/near.hpp"
#include "support/pack_errors.hpp"
#include "support/real_types.hpp"

namespace quintet::test {
namespace {

template <class Real>
class vector_arc : public ::testing::Test {};
TYPED_TEST_SUITE(vector_arc, real_types);

long double exact_arc(long double reduced) {
  constexpr long double pi = std::numbers::pi_v<long double>;
  return reduced <= 2 ? 2 * std::asin(std::sqrt(reduced) / 2) : pi - 2 * std::asin(1 / std::sqrt(reduced));
}

// From arcs that are their chords, past the ends of both polynomials, to the antipodes.
TYPED_TEST(vector_arc, error) {
  constexpr int lanes = device::host_lanes<TypeParam>();
  double worst = 0;
  for (const auto [low, high] :
       {std::pair(-100.0, -3.0), {-3.0, 0.0}, {-0.01, 0.01}, {0.0, 1.0}, {0.99, 1.01}, {1.0, 4.0}, {4.0, 110.0}})
    worst = std::max(worst, worst_ulps<TypeParam>(
                                40000, low, high, [](auto v) { return device::arc<TypeParam, lanes>(v); },
                                [](TypeParam v) { return device::arc<TypeParam, 1>(v); }, exact_arc));
  expect_error_within("arc", worst, 1.5);
}

TYPED_TEST(vector_arc, ends_of_the_range) {
  using limits = std::numeric_limits<TypeParam>;
  constexpr TypeParam pi = std::numbers::pi_v<TypeParam>;
  EXPECT_EQ((device::arc<TypeParam, 1>(0)), 0);
  EXPECT_EQ((device::arc<TypeParam, 1>(2)), pi / 2);
  EXPECT_EQ((device::arc<TypeParam, 1>(limits::max())), pi);
  EXPECT_TRUE(std::isnan(device::arc<TypeParam, 1>(limits::quiet_NaN())));
  EXPECT_EQ(device::reduced_arc<TypeParam>(0), 0);
  EXPECT_EQ(device::reduced_arc<TypeParam>(pi), limits::max());
  EXPECT_EQ(device::reduced_arc<TypeParam>(4), limits::max());
  EXPECT_EQ(device::reduced_arc<TypeParam>(limits::infinity()), limits::max());
  EXPECT_TRUE(std::isnan(device::reduced_arc<TypeParam>(limits::quiet_NaN())));
}

TYPED_TEST(vector_arc, reduced_arc_is_the_inverse) {
  const TypeParam most = TypeParam(std::numbers::pi) - 8 * std::numeric_limits<TypeParam>::epsilon();
  double worst = 0;
  for (TypeParam angle = TypeParam(1e-12); angle < most; angle *= TypeParam(1.003)) {
    const TypeParam back = device::arc<TypeParam, 1>(device::reduced_arc<TypeParam>(angle));
    worst = std::max(worst, ulps<TypeParam>(back, angle));
  }
  expect_error_within("reduced_arc", worst, 4);
}

}  // namespace
}  // namespace quintet::test
