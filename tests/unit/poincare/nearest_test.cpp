#include "quintet/poincare/nearest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/ball_points.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/near.hpp"
#include "support/real_types.hpp"

namespace quintet::test {
namespace {

template <class Real>
class poincare_nearest : public ::testing::Test {};
TYPED_TEST_SUITE(poincare_nearest, real_types);

/// Sorts rows of the matrix of distances. Reduced distances may differ where distances do not, so only distances
/// compare.
template <class Real>
std::vector<Real> smallest_distances(const point_set<Real>& x, const point_set<Real>& y, std::int64_t k, double c,
                                     bool exclude_self) {
  std::vector<Real> d(x.n * y.n), result;
  poincare::distances(x.view(), y.view(), {d.data(), x.n, y.n}, {.curvature = -c}, Device::host());
  for (std::int64_t i = 0; i < x.n; ++i) {
    std::vector<Real> row;
    for (std::int64_t j = 0; j < y.n; ++j)
      if (!(exclude_self && i == j) && !std::isnan(d[i * y.n + j])) row.push_back(d[i * y.n + j]);
    std::sort(row.begin(), row.end());
    row.resize(k, std::numeric_limits<Real>::quiet_NaN());
    result.insert(result.end(), row.begin(), row.end());
  }
  return result;
}

TYPED_TEST(poincare_nearest, are_the_smallest_distances) {
  for (const double c : {1.0, 0.3, 0.0})
    for (const std::int64_t dim : {3, 16, 40}) {
      const auto x = ball_points<TypeParam>(60, dim, 0, 0.9, 1, 1), y = ball_points<TypeParam>(420, dim, 0, 0.9, 1, 2);
      const auto expected = smallest_distances(x, y, 7, c, false);
      const auto host = poincare::nearest(x.view(), y.view(), 7, {.curvature = -c}, Device::host());
      expect_same_bits(host.distance, expected);
      on_other_devices([&](const Device& device) {
        const auto found = poincare::nearest(x.view(), y.view(), 7, {.curvature = -c}, device);
        expect_same_bits(found.distance, expected);
        EXPECT_EQ(found.index, host.index);
      });
    }
}

TYPED_TEST(poincare_nearest, any_budget_and_threads) {
  auto y = ball_points<TypeParam>(900, 6, 0, 0.95, 1, 3);
  for (std::int64_t k = 0; k < 6; ++k) y(700, k) = y(10, k);
  const auto once = poincare::nearest(y.view(), y.view(), 5, {.exclude_self = true}, Device::host());
  expect_same_bits(once.distance, smallest_distances(y, y, 5, 1, true));
  EXPECT_EQ(once.index[10 * 5], 700);
  EXPECT_EQ(once.index[700 * 5], 10);
  EXPECT_EQ(once.distance[700 * 5], 0);
  for (const int threads : {1, 3}) {
    set_threads(threads);
    const auto pieces =
        poincare::nearest(y.view(), y.view(), 5, {.exclude_self = true, .budget_bytes = 0}, Device::host());
    EXPECT_EQ(pieces.index, once.index);
    expect_same_bits(pieces.distance, once.distance);
  }
  set_threads(0);
}

// 1100 queries look for their neighbours in a tree of the points, 550 among all of them.
TYPED_TEST(poincare_nearest, many_queries_in_few_dimensions_have_the_bits_of_few) {
  for (const double c : {1.0, 0.0}) {
    auto x = ball_points<TypeParam>(1100, 2, 0, 0.99, 1, 5), y = ball_points<TypeParam>(5000, 2, 0, 0.99, 1, 6);
    for (std::int64_t k = 0; k < 2; ++k) y(3000, k) = y(10, k);
    x(7, 0) = y(4000, 1) = std::numeric_limits<TypeParam>::quiet_NaN();
    const auto all = poincare::nearest(x.view(), y.view(), 6, {.curvature = -c}, Device::host());
    for (const std::int64_t first : {0, 550}) {
      const auto some =
          poincare::nearest(x.view().slice(first, first + 550), y.view(), 6, {.curvature = -c}, Device::host());
      const auto begin = first * 6, end = (first + 550) * 6;
      EXPECT_EQ(some.index, std::vector<std::int64_t>(all.index.begin() + begin, all.index.begin() + end));
      expect_same_bits(some.distance, std::vector<TypeParam>(all.distance.begin() + begin, all.distance.begin() + end));
    }
    on_other_devices([&](const Device& device) {
      const auto found = poincare::nearest(x.view(), y.view(), 6, {.curvature = -c}, device);
      EXPECT_EQ(found.index, all.index);
      expect_same_bits(found.distance, all.distance);
    });
    const auto others =
        poincare::nearest(y.view(), y.view(), 3, {.curvature = -c, .exclude_self = true}, Device::host());
    EXPECT_EQ(others.index[10 * 3], 3000);
    EXPECT_EQ(others.index[3000 * 3], 10);
    const auto pieces = poincare::nearest(
        y.view(), y.view(), 3, {.curvature = -c, .exclude_self = true, .budget_bytes = 3000 * 80}, Device::host());
    EXPECT_EQ(pieces.index, others.index);
    expect_same_bits(pieces.distance, others.distance);
  }
}

TYPED_TEST(poincare_nearest, ties_go_to_the_smaller_index) {
  point_set<TypeParam> same(300, 2), query(1, 2);
  for (TypeParam& x : same.data) x = TypeParam(0.25);
  query(0, 0) = query(0, 1) = 0;
  on_every_device([&](const Device& device) {
    const auto found = poincare::nearest(query.view(), same.view(), 4, {.budget_bytes = 0}, device);
    EXPECT_EQ(found.index, (std::vector<std::int64_t>{0, 1, 2, 3}));
  });
}

/// Indices of rows of the matrix of distances in the order of (distance, index).
template <class Real>
std::vector<std::int64_t> nearest_indices(const point_set<Real>& x, const point_set<Real>& y, std::int64_t k, double c,
                                          bool exclude_self) {
  std::vector<Real> d(x.n * y.n);
  std::vector<std::int64_t> result;
  poincare::distances(x.view(), y.view(), {d.data(), x.n, y.n}, {.curvature = -c}, Device::host());
  for (std::int64_t i = 0; i < x.n; ++i) {
    std::vector<std::int64_t> row;
    for (std::int64_t j = 0; j < y.n; ++j)
      if (!(exclude_self && i == j)) row.push_back(j);
    std::stable_sort(row.begin(), row.end(),
                     [&](std::int64_t a, std::int64_t b) { return d[i * y.n + a] < d[i * y.n + b]; });
    result.insert(result.end(), row.begin(), row.begin() + k);
  }
  return result;
}

// Rounding makes several reduced distances of a grid one distance, also where a list ends.
TYPED_TEST(poincare_nearest, equal_distances_are_ordered_by_index) {
  for (const double c : {1.0, 0.3, 0.0})
    for (const std::int64_t side : {12, 36}) {  // 36 x 36: by a tree
      point_set<TypeParam> grid(side * side, 2);
      for (std::int64_t i = 0; i < grid.n; ++i) {
        // Rows in another order, so that neighbours do not ascend.
        const std::int64_t at = i * 595 % grid.n;
        grid(i, 0) = TypeParam(double(at / side - side / 2) * 0.03);
        grid(i, 1) = TypeParam(double(at % side - side / 2) * 0.03);
      }
      const auto rows = grid.view();
      for (const std::int64_t k : {1, 3, 6})
        for (const bool exclude_self : {false, true}) {
          const auto expected = nearest_indices(grid, grid, k, c, exclude_self);
          for (const std::int64_t budget : {std::int64_t(0), std::int64_t(256) << 20}) {
            const poincare::nearest_options options{-c, false, exclude_self, budget};
            EXPECT_EQ(poincare::nearest(rows, rows, k, options, Device::host()).index, expected)
                << "c " << c << ", side " << side << ", k " << k << ", budget " << budget;
          }
          if (side < 20)
            on_other_devices([&](const Device& device) {
              EXPECT_EQ(poincare::nearest(rows, rows, k, {.curvature = -c, .exclude_self = exclude_self}, device).index,
                        expected);
            });
        }
    }
}

// Squares of these differences have left the range of the type, and differ where the numbers do.
TYPED_TEST(poincare_nearest, of_points_of_any_size) {
  const double smallest = std::numeric_limits<TypeParam>::denorm_min();
  for (const double c : {1.0, 0.0}) {
    point_set<TypeParam> y(40, 2), x(3, 2);
    for (std::int64_t i = 0; i < y.n; ++i) {
      y(i, 0) = TypeParam(smallest * double((i * 27) % 40 + 1));
      y(i, 1) = TypeParam(i < 20 ? 0 : smallest * 3);
    }
    std::fill(x.data.begin(), x.data.end(), TypeParam(0));
    x(1, 0) = TypeParam(smallest * 7);
    x(2, 0) = TypeParam(0.5);
    const auto expected = nearest_indices(x, y, 9, c, false);
    on_every_device([&](const Device& device) {
      const auto found = poincare::nearest(x.view(), y.view(), 9, {.curvature = -c}, device);
      EXPECT_EQ(found.index, expected);
      expect_same_bits(found.distance, smallest_distances(x, y, 9, c, false));
    });
    EXPECT_EQ(expected[0], 0);
  }
}

TYPED_TEST(poincare_nearest, invalid_points_are_nobodys_neighbours) {
  auto y = ball_points<TypeParam>(8, 2, 0, 0.9, 1, 4);
  y(2, 0) = 3;
  y(5, 1) = std::numeric_limits<TypeParam>::quiet_NaN();
  const auto found = poincare::nearest(y.view(), y.view(), 7, {.exclude_self = true}, Device::host());
  for (std::int64_t i = 0; i < 8; ++i) {
    const bool invalid = i == 2 || i == 5;
    for (std::int64_t e = 0; e < 7; ++e) {
      EXPECT_EQ(found.index[i * 7 + e] < 0, invalid || e >= 5);
      EXPECT_EQ(std::isnan(found.distance[i * 7 + e]), invalid || e >= 5);
      EXPECT_NE(found.index[i * 7 + e], 2);
    }
  }
  EXPECT_EQ(found.report.points[2], poincare::point_status::outside);
}

TYPED_TEST(poincare_nearest, errors_and_workspace) {
  const auto y = ball_points<TypeParam>(8, 2, 0, 0.9, 1, 4);
  const auto call = [&](std::int64_t k, double curvature) {
    poincare::nearest(y.view(), y.view(), k, {.curvature = curvature, .exclude_self = true}, Device::host());
  };
  expect_invalid([&] { call(8, -1); }, "k must be in [1, 7] (k=8)");
  expect_invalid([&] { call(0, -1); }, "k must be in [1, 7]");
  expect_invalid([&] { call(3, 2); }, "curvature must be 0 (Euclidean) or negative");
  const auto workspace = [](std::int64_t queries, std::int64_t points, std::int64_t dim) {
    poincare::nearest_workspace_bytes(scalar_type_of<TypeParam>(), queries, points, dim, 1, {}, Device::host());
  };
  expect_invalid([&] { workspace(-1, 5, 2); }, "queries must be in [0, 2147482623] (queries=-1)");
  expect_invalid([&] { workspace(5, std::int64_t(1) << 40, 2); }, "points must be in");
  expect_invalid([&] { workspace(5, 5, 0); }, "dim must be >= 1 (dim=0)");
  expect_invalid([&] { workspace(5, 5, INT64_MAX); }, "dim and k must be small enough");
  const auto bytes =
      poincare::nearest_workspace_bytes(scalar_type_of<TypeParam>(), 10000, 1000000, 64, 10, {}, Device::host());
  EXPECT_GT(bytes, std::int64_t(250) << 20);
  EXPECT_LT(bytes, std::int64_t(300) << 20);
}

}  // namespace
}  // namespace quintet::test
