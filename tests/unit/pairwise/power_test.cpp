#include "device/power.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "support/near.hpp"
#include "support/pack_errors.hpp"
#include "support/real_types.hpp"

namespace quintet::test {
namespace {

template <class Real>
class vector_power : public ::testing::Test {};
TYPED_TEST_SUITE(vector_power, real_types);

// Exponents as metrics have them; results stay normal.
TYPED_TEST(vector_power, error) {
  constexpr int lanes = device::host_lanes<TypeParam>();
  const double most = std::numeric_limits<TypeParam>::max_exponent - 3;
  for (const double p : {1.0, 1.1, 1.5, 2.0, 3.0, 7.3, 8.0, 31.0, 64.0}) {
    if (p > 8 && sizeof(TypeParam) == 4) continue;
    const TypeParam exponent = TypeParam(p);
    const long double exact = exponent;
    double power = 0, root = 0;
    for (const double range : {most, 4.0, 0.01}) {
      power = std::max(
          power, test::worst_ulps<TypeParam>(
                     20000, -range / p, range / p, [&](auto v) { return device::power<TypeParam, lanes>(v, exponent); },
                     [&](TypeParam v) { return device::power<TypeParam, 1>(v, exponent); },
                     [&](long double v) { return std::pow(v, exact); }));
      root = std::max(root,
                      test::worst_ulps<TypeParam>(
                          20000, -range, range, [&](auto v) { return device::nth_root<TypeParam, lanes>(v, exponent); },
                          [&](TypeParam v) { return device::nth_root<TypeParam, 1>(v, exponent); },
                          [&](long double v) { return std::pow(v, 1 / exact); }));
    }
    expect_error_within("power_" + std::to_string(p), power, p + 2);
    expect_error_within("root_" + std::to_string(p), root, 2);
  }
}

TYPED_TEST(vector_power, whole_exponents) {
  const double most = std::numeric_limits<TypeParam>::max_exponent - 3;
  for (const int p : {1, 2, 3, 4, 5, 7, 8, 31, 64}) {
    if (p > 8 && sizeof(TypeParam) == 4) continue;
    const double error = test::worst_ulps<TypeParam>(
        20000, -most / p, most / p, [&](auto v) { return device::whole_power(v, p); },
        [&](TypeParam v) { return device::whole_power(v, p); },
        [&](long double v) { return std::pow(v, (long double)p); });
    expect_error_within("whole_power_" + std::to_string(p), error, p == 1 ? 0.001 : 0.75 * p);
    EXPECT_EQ(device::whole_power(TypeParam(3), 5), 243);
    EXPECT_TRUE(std::isnan(device::whole_power(std::numeric_limits<TypeParam>::quiet_NaN(), p)));
  }
}

TYPED_TEST(vector_power, ends_of_the_range) {
  using limits = std::numeric_limits<TypeParam>;
  for (const TypeParam p : {TypeParam(1), TypeParam(1.25), TypeParam(3), TypeParam(8)}) {
    EXPECT_EQ((device::power<TypeParam, 1>(0, p)), 0);
    EXPECT_EQ((device::nth_root<TypeParam, 1>(0, p)), 0);
    EXPECT_EQ((device::power<TypeParam, 1>(1, p)), 1);
    EXPECT_EQ((device::nth_root<TypeParam, 1>(1, p)), 1);
    EXPECT_EQ((device::power<TypeParam, 1>(limits::infinity(), p)), limits::infinity());
    EXPECT_EQ((device::nth_root<TypeParam, 1>(limits::infinity(), p)), limits::infinity());
    EXPECT_TRUE(std::isnan(device::power<TypeParam, 1>(limits::quiet_NaN(), p)));
    EXPECT_TRUE(std::isnan(device::nth_root<TypeParam, 1>(limits::quiet_NaN(), p)));
    if (p > 1) {
      EXPECT_EQ((device::power<TypeParam, 1>(limits::min(), p)), 0);
    }
  }
}

}  // namespace
}  // namespace quintet::test
