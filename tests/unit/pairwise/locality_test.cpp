#include "pairwise/locality.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "support/devices.hpp"
#include "support/points.hpp"

namespace quintet::pairwise {
namespace {

std::vector<std::int32_t> order_of(const test::point_set<float>& points, const Device& device = Device::host()) {
  return locality_order(scanned_points<float>(points.view(), metric::euclidean, device));
}

TEST(locality, the_order_holds_every_valid_point_once) {
  for (const std::int64_t n : {0, 1, 500, 1024, 3000}) {
    auto points = test::clustered_points<float>(n, 4, 1);
    std::vector<std::int32_t> expected;
    for (std::int64_t i = 0; i < n; ++i)
      if (i % 100 == 7)
        points(i, 3) = std::numeric_limits<float>::quiet_NaN();
      else
        expected.push_back(std::int32_t(i));
    std::vector<std::int32_t> order = order_of(points);
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, expected);
  }
}

TEST(locality, the_order_does_not_depend_on_threads_or_device) {
  const auto points = test::clustered_points<float>(1500, 4, 2);
  const auto expected = order_of(points);
  for (const int count : {1, 2, 5}) {
    set_threads(count);
    EXPECT_EQ(order_of(points), expected);
  }
  set_threads(0);
  test::on_other_devices([&](const Device& device) { EXPECT_EQ(order_of(points, device), expected); });
}

// Groups on a line, mixed: in the order, hardly any neighbours are from different groups.
TEST(locality, groups_stay_together) {
  constexpr std::int64_t groups = 12;
  test::point_set<float> points(3000, 2);
  std::mt19937_64 random(3);
  for (std::int64_t i = 0; i < points.n; ++i) {
    points(i, 0) = float(100 * (i % groups)) + float(random() % 1000) / 1000;
    points(i, 1) = float(random() % 1000) / 1000;
  }
  const auto order = order_of(points);
  int changes = 0;
  for (std::size_t i = 1; i < order.size(); ++i) changes += order[i] % groups != order[i - 1] % groups;
  EXPECT_LT(changes, 2 * groups);
}

}  // namespace
}  // namespace quintet::pairwise
