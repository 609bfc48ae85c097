#include "device/log1p.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "device/asinh.hpp"
#include "device/sinh.hpp"
#include "support/near.hpp"
#include "support/pack_errors.hpp"
#include "support/real_types.hpp"

namespace quintet::test {
namespace {

template <class Real>
class vector_logarithm : public ::testing::Test {};
TYPED_TEST_SUITE(vector_logarithm, real_types);

TYPED_TEST(vector_logarithm, error_of_log1p) {
  constexpr int lanes = device::host_lanes<TypeParam>();
  const double min = sizeof(TypeParam) == 4 ? -120 : -1000, max = sizeof(TypeParam) == 4 ? 125 : 1000;
  for (const auto& [from, to] : {std::pair{min, max}, std::pair{-4.0, 4.0}, std::pair{-1.3, -1.2}})
    expect_error_within(
        "log1p_ulp",
        test::worst_ulps<TypeParam>(
            300000, from, to, [](auto v) { return device::log1p<TypeParam, lanes>(v); },
            [](TypeParam v) { return device::log1p<TypeParam, 1>(v); }, [](long double v) { return std::log1p(v); }),
        sizeof(TypeParam) == 4 ? 1.6 : 2.0);
}

TYPED_TEST(vector_logarithm, error_of_asinh) {
  constexpr int lanes = device::host_lanes<TypeParam>();
  const double min = sizeof(TypeParam) == 4 ? -120 : -1000, max = sizeof(TypeParam) == 4 ? 125 : 1000;
  const long double unscale = std::ldexp(1.0L, -device::asinh_scale_exponent);
  for (const auto& [from, to] : {std::pair{min, max}, std::pair{30.0, 50.0}})
    expect_error_within("asinh_ulp",
                        test::worst_ulps<TypeParam>(
                            300000, from, to, [](auto v) { return device::twice_asinh_root<TypeParam, lanes>(v); },
                            [](TypeParam v) { return device::twice_asinh_root<TypeParam, 1>(v); },
                            [=](long double v) { return 2 * std::asinh(std::sqrt(v * unscale)); }),
                        3.5);
}

TEST(vector_sinh, error) {
  constexpr int lanes = device::host_lanes<double>();
  for (const auto& [from, to] : {std::pair{-1000.0, 9.4}, std::pair{-2.0, 1.0}})
    expect_error_within("sinh_ulp",
                        test::worst_ulps<double>(
                            300000, from, to, [](auto v) { return device::sinh<lanes>(v); },
                            [](double v) { return device::sinh<1>(v); }, [](long double v) { return std::sinh(v); }),
                        4);
  EXPECT_EQ(device::sinh<1>(0.0), 0);
  EXPECT_EQ(device::sinh<1>(1e300), device::sinh<1>(700.0));
  EXPECT_TRUE(std::isnan(device::sinh<1>(std::numeric_limits<double>::quiet_NaN())));
}

TYPED_TEST(vector_logarithm, ends_of_the_range) {
  const auto infinity = std::numeric_limits<TypeParam>::infinity(), nan = std::numeric_limits<TypeParam>::quiet_NaN();
  EXPECT_EQ((device::log1p<TypeParam, 1>(0)), 0);
  EXPECT_EQ((device::log1p<TypeParam, 1>(infinity)), infinity);
  EXPECT_TRUE(std::isnan(device::log1p<TypeParam, 1>(nan)));
  EXPECT_EQ((device::twice_asinh_root<TypeParam, 1>(0)), 0);
  EXPECT_EQ((device::twice_asinh_root<TypeParam, 1>(infinity)), infinity);
  EXPECT_TRUE(std::isnan(device::twice_asinh_root<TypeParam, 1>(nan)));
}

}  // namespace
}  // namespace quintet::test
