// What every kernel's test does: compare with a plain reference, with itself on every device, and try the edges.
#include "row_dots.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/near.hpp"
#include "support/points.hpp"
#include "support/real_types.hpp"

namespace quintet::skeleton {
namespace {

template <class Real>
class row_dots_of : public ::testing::Test {};
TYPED_TEST_SUITE(row_dots_of, test::real_types);

using test::clustered_points;

TYPED_TEST(row_dots_of, rows_is_accurate) {
  double error = 0;
  for (const std::int64_t dim : {0, 1, 15, 16, 17, 100, 1000}) {
    const auto x = clustered_points<TypeParam>(70, dim, 1, 3), y = clustered_points<TypeParam>(70, dim, 2);
    const auto found = row_dots(x.view(), y.view(), Device::host());
    for (std::int64_t i = 0; i < x.n; ++i) {
      long double sum = 0, size = 0;
      for (std::int64_t k = 0; k < dim; ++k) {
        const long double product = static_cast<long double>(x(i, k)) * y(i, k);
        sum += product;
        size += std::fabs(product);
      }
      const long double bound = (double(dim) / 16 + 16) * std::numeric_limits<TypeParam>::epsilon() * size;
      // Without a bound the sum is empty.
      error = std::max(error, bound > 0 ? double(std::fabs(found[i] - sum) / bound) : std::fabs(double(found[i])));
    }
  }
  test::expect_error_within("share_of_the_bound", error, 1);
}

TYPED_TEST(row_dots_of, rows_has_the_same_bits_on_every_device_and_with_any_number_of_threads) {
  for (const std::int64_t n : {0, 1, 31, 32, 33, 200})
    for (const std::int64_t dim : {1, 7, 16, 50}) {
      SCOPED_TRACE(::testing::Message() << n << " x " << dim);
      const auto x = clustered_points<TypeParam>(n, dim, 3, 2), y = clustered_points<TypeParam>(n, dim, 4, 5);
      const auto expected = row_dots(x.view(), y.view(), Device::host());
      for (const int count : {1, 2, 5}) {
        set_threads(count);
        test::expect_same_bits(row_dots(x.view(), y.view(), Device::host()), expected);
      }
      set_threads(0);
      test::on_other_devices(
          [&](const Device& device) { test::expect_same_bits(row_dots(x.view(), y.view(), device), expected); });
    }
}

TYPED_TEST(row_dots_of, rows_lets_nan_and_infinity_through) {
  auto x = clustered_points<TypeParam>(3, 20, 5), y = x;
  x(0, 19) = std::numeric_limits<TypeParam>::quiet_NaN();
  x(1, 2) = y(1, 2) = std::numeric_limits<TypeParam>::infinity();
  test::on_every_device([&](const Device& device) {
    const auto found = row_dots(x.view(), y.view(), device);
    EXPECT_TRUE(std::isnan(found[0]));
    EXPECT_EQ(found[1], std::numeric_limits<TypeParam>::infinity());
    EXPECT_TRUE(std::isfinite(found[2]));
  });
}

TEST(row_dots, shapes_must_agree) {
  const auto x = clustered_points<float>(4, 3, 6);
  expect_invalid([&] { row_dots(x.view(), clustered_points<float>(5, 3, 6).view()); },
                 "y.rows must be x.rows=4 (y.rows=5)");
  expect_invalid([&] { row_dots(x.view(), clustered_points<float>(4, 2, 6).view()); },
                 "y.cols must be x.cols=3 (y.cols=2)");
}

}  // namespace
}  // namespace quintet::skeleton
