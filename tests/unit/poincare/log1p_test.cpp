#include "device/log1p.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "device/asinh.hpp"
#include "support/near.hpp"
#include "support/real_types.hpp"

namespace quintet::test {
namespace {

template <class Real>
class vector_logarithm : public ::testing::Test {};
TYPED_TEST_SUITE(vector_logarithm, real_types);

template <class Real>
double ulps(Real found, long double exact) {
  const Real near = Real(exact);
  const Real step = std::nextafter(near, std::numeric_limits<Real>::infinity()) - near;
  return double(std::fabs((long double)found - exact) / (long double)step);
}

/// Arguments 2^u, u uniform in [least, most], in packs of the host's width and alone: f(pack) and the exact value.
template <class Real, class Pack, class One, class Exact>
double worst_ulps(double min, double max, Pack of_pack, One of_one, Exact exact) {
  constexpr int lanes = device::host_lanes<Real>();
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(min, max);
  double worst = 0;
  for (int i = 0; i < 300000 / lanes; ++i) {
    Real in[lanes], out[lanes];
    for (Real& x : in) x = Real(std::exp2(exponent(random)));
    device::store_pack(out, of_pack(device::load_pack<device::pack<Real, lanes>>(in)));
    for (int lane = 0; lane < lanes; ++lane) {
      EXPECT_EQ(out[lane], of_one(in[lane]));
      worst = std::max(worst, ulps(out[lane], exact((long double)in[lane])));
    }
  }
  return worst;
}

TYPED_TEST(vector_logarithm, error_of_log1p) {
  constexpr int lanes = device::host_lanes<TypeParam>();
  const double min = sizeof(TypeParam) == 4 ? -120 : -1000, max = sizeof(TypeParam) == 4 ? 125 : 1000;
  for (const auto& [from, to] : {std::pair{min, max}, std::pair{-4.0, 4.0}, std::pair{-1.3, -1.2}})
    expect_error_within(
        "log1p_ulp",
        worst_ulps<TypeParam>(
            from, to, [](auto v) { return device::log1p<TypeParam, lanes>(v); },
            [](TypeParam v) { return device::log1p<TypeParam, 1>(v); }, [](long double v) { return std::log1p(v); }),
        sizeof(TypeParam) == 4 ? 1.6 : 2.0);
}

TYPED_TEST(vector_logarithm, error_of_asinh) {
  constexpr int lanes = device::host_lanes<TypeParam>();
  const double min = sizeof(TypeParam) == 4 ? -120 : -1000, max = sizeof(TypeParam) == 4 ? 125 : 1000;
  const long double unscale = std::ldexp(1.0L, -device::asinh_scale_exponent);
  for (const auto& [from, to] : {std::pair{min, max}, std::pair{30.0, 50.0}})
    expect_error_within("asinh_ulp",
                        worst_ulps<TypeParam>(
                            from, to, [](auto v) { return device::twice_asinh_root<TypeParam, lanes>(v); },
                            [](TypeParam v) { return device::twice_asinh_root<TypeParam, 1>(v); },
                            [=](long double v) { return 2 * std::asinh(std::sqrt(v * unscale)); }),
                        3.5);
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
