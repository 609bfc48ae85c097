// Inverses from estimates to the accuracy they state, and packs transposed.
#include "device/inverse.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "device/transpose.hpp"

namespace quintet {
namespace {

template <class Pack>
class inverse : public ::testing::Test {};
using packs = ::testing::Types<device::pack<float, 16>, device::pack<double, 8>, device::pack<float, 8>,
                               device::pack<double, 4>, device::pack<float, 4>>;
TYPED_TEST_SUITE(inverse, packs);

TYPED_TEST(inverse, errors) {
  TypeParam x{};
  constexpr int lanes = sizeof(x) / sizeof(x[0]);
  constexpr bool is_float = sizeof(x[0]) == sizeof(float);
  long double rough = 0, near = 0, full = 0, quotient = 0, rough_quotient = 0, full_quotient = 0;
  for (double base = 1e-30; base < 1e30; base *= 1.37) {
    for (int l = 0; l < lanes; ++l) x[l] = base * (1 + 0.01 * l);
    const TypeParam a = device::rough_inverse_root(x), b = device::near_inverse_root(x), c = device::inverse_root(x);
    const TypeParam d = device::near_inverse(x), e = device::rough_inverse(x), f = device::inverse(x);
    for (int l = 0; l < lanes; ++l) {
      const long double root = std::sqrt((long double)(x[l]));
      rough = std::max(rough, std::fabs(a[l] * root - 1));
      near = std::max(near, std::fabs(b[l] * root - 1));
      full = std::max(full, std::fabs(c[l] * root - 1));
      quotient = std::max(quotient, std::fabs(d[l] * (long double)(x[l]) - 1));
      rough_quotient = std::max(rough_quotient, std::fabs(e[l] * (long double)(x[l]) - 1));
      full_quotient = std::max(full_quotient, std::fabs(f[l] * (long double)(x[l]) - 1));
    }
  }
  EXPECT_LE(rough, 0x1p-13);
  EXPECT_LE(near, is_float ? 0x1p-23 : 0x1p-27);
  EXPECT_LE(full, is_float ? 0x1p-23 : 0x1p-52);
  EXPECT_LE(quotient, is_float ? 0x1p-23 : 0x1p-27);
  EXPECT_LE(rough_quotient, 0x1p-13);
  EXPECT_LE(full_quotient, is_float ? 0x1p-23 : 0x1p-52);
}

TYPED_TEST(inverse, transposed_packs) {
  constexpr int lanes = sizeof(TypeParam) / sizeof(TypeParam{}[0]);
  TypeParam rows[lanes];
  for (int i = 0; i < lanes; ++i)
    for (int l = 0; l < lanes; ++l) rows[i][l] = 100 * i + l;
  device::transpose_packs<lanes>(rows);
  for (int i = 0; i < lanes; ++i)
    for (int l = 0; l < lanes; ++l) EXPECT_EQ(rows[i][l], 100 * l + i);
}

}  // namespace
}  // namespace quintet
