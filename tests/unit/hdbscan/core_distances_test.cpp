// Core distances: error against the reference, edge cases, the same bits whatever computes them.
#include "quintet/hdbscan/core_distances.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "reference/pairwise_reference.hpp"
#include "support/dense_matrix.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/near.hpp"
#include "support/points.hpp"
#include "support/random_tree.hpp"
#include "support/real_types.hpp"
#include "support/sanitized.hpp"

namespace quintet::hdbscan {
namespace {

template <class Real>
class core_distances_of : public ::testing::Test {};
TYPED_TEST_SUITE(core_distances_of, test::real_types);

using test::clustered_points;
using test::grid_points;
using test::point_set;
using rows = std::vector<std::int64_t>;

TYPED_TEST(core_distances_of, points_of_all_dimensions_are_accurate) {
  const std::int64_t n = test::sized(150, 60);
  for (const std::int64_t dim : {1, 3, 16, 17, 64, 384, 512, 768, 1536})
    for (const metric kind : {metric::euclidean, metric::cosine}) {
      const auto points = clustered_points<TypeParam>(n, dim, 1, 2);
      const reference::matrix distances = reference::distances(reference::widened(points.view()), kind);
      for (const std::int64_t k : {std::int64_t(1), std::int64_t(5), std::int64_t(20), n - 1}) {
        const auto found = core_distances(points.view(), {k, false, kind});
        EXPECT_EQ(found.neighbours, k);
        EXPECT_FALSE(found.clamped);
        EXPECT_TRUE(found.invalid_rows.empty());
        const std::string title = "dim" + std::to_string(dim) + "_k" + std::to_string(k) + "_";
        // In one dimension all cosine distances are 0 or 2, with the rounding of unit vectors: no relative error.
        test::expect_error_within(
            title + std::string(to_string(kind)),
            test::largest_error(found.distances, reference::core_distances(distances, k), dim == 1 ? 1 : 0),
            test::data_bound<TypeParam>);
      }
    }
}

// Grids: nearly all distances are tied, many points are duplicates. Squares are integers, so the root decides.
TYPED_TEST(core_distances_of, grids_are_correctly_rounded) {
  for (const std::int64_t values : {1, 2, 4}) {
    const auto points = grid_points<TypeParam>(200, 3, values, 2);
    const reference::matrix distances = reference::distances(reference::widened(points.view()), metric::euclidean);
    for (const std::int64_t k : {1, 7, 60}) {
      std::vector<TypeParam> expected;
      for (const long double d : reference::core_distances(distances, k)) expected.push_back(TypeParam(d));
      test::on_every_device([&](const Device& device) {
        test::expect_same_bits(core_distances(points.view(), {k}, device).distances, expected);
      });
    }
  }
}

// Enough points in few dimensions for a tree of blocks: the bits are those of sorted rows of the matrix.
TYPED_TEST(core_distances_of, many_points_in_few_dimensions_are_those_of_all_pairs) {
  for (const point_metric& distance : {point_metric(metric::euclidean), point_metric(metric::cosine),
                                       point_metric(metric::chebyshev), point_metric(metric::haversine)}) {
    auto points = distance.kind == metric::haversine ? test::sphere_points<TypeParam>(3500, 6)
                                                     : clustered_points<TypeParam>(3500, 2, 6, 2);
    points(11, 0) = std::numeric_limits<TypeParam>::quiet_NaN();
    const auto matrix = test::dense_matrix(points.view(), {}, {.distance = distance});
    std::vector<TypeParam> expected;
    rows invalid;
    for (std::int64_t i = 0; i < points.n; ++i) {
      std::vector<TypeParam> row(matrix.begin() + i * points.n, matrix.begin() + (i + 1) * points.n);
      if (std::isnan(row[i])) invalid.push_back(i);
      row.erase(row.begin() + i);
      std::erase_if(row, [](TypeParam d) { return d != d; });
      if (!row.empty()) std::nth_element(row.begin(), row.begin() + 6, row.end());
      expected.push_back(row.empty() ? std::numeric_limits<TypeParam>::quiet_NaN() : row[6]);
    }
    test::on_every_device([&](const Device& device) {
      const auto found = core_distances(points.view(), {7, false, distance}, device);
      test::expect_same_bits(found.distances, expected);
      EXPECT_EQ(found.invalid_rows, invalid);
    });
    EXPECT_NE(std::find(invalid.begin(), invalid.end(), 11), invalid.end());
  }
}

TYPED_TEST(core_distances_of, every_device_and_number_of_threads_gives_the_same_bits) {
  for (const std::int64_t n : {2, 64, 65, 97, 300}) {
    const auto points = clustered_points<TypeParam>(n, 20, 3, 1);
    const auto expected = core_distances(points.view(), {5}, Device::host()).distances;
    for (const int count : {1, 2, 5}) {
      set_threads(count);
      test::expect_same_bits(core_distances(points.view(), {5}, Device::host()).distances, expected);
    }
    set_threads(0);
    test::on_other_devices([&](const Device& device) {
      test::expect_same_bits(core_distances(points.view(), {5}, device).distances, expected);
    });
  }
}

TYPED_TEST(core_distances_of, permuted_points_are_permuted_core_distances) {
  std::mt19937_64 random(4);
  for (const auto& points : {clustered_points<TypeParam>(250, 7, 4), grid_points<TypeParam>(250, 3, 5, 4)}) {
    const rows order = test::random_permutation(points.n, random);
    const auto found = core_distances(test::reordered(points, order).view(), {6}).distances;
    const auto expected = core_distances(points.view(), {6}).distances;
    for (std::size_t i = 0; i < order.size(); ++i) ASSERT_EQ(found[i], expected[order[i]]);
  }
}

TYPED_TEST(core_distances_of, powers_of_two_scale_exactly) {
  const auto points = clustered_points<TypeParam>(50, 9, 5);
  const auto expected = core_distances(points.view(), {3}).distances;
  for (const int exponent : {100, -100}) {
    const TypeParam factor = std::ldexp(TypeParam(1), exponent);
    auto found = core_distances(test::scaled(points, factor).view(), {3}).distances;
    for (TypeParam& d : found) d /= factor;
    test::expect_same_bits(found, expected);
  }
}

TYPED_TEST(core_distances_of, few_points) {
  const auto none = core_distances<TypeParam>({nullptr, 0, 3}, {5});
  EXPECT_TRUE(none.distances.empty());
  EXPECT_EQ(none.neighbours, 0);
  EXPECT_TRUE(none.clamped);

  point_set<TypeParam> points(2, 2);
  points.data = {0, 0, 3, 4};
  test::on_every_device([&](const Device& device) {
    point_set<TypeParam> first = points;
    first.n = 1;
    const auto one = core_distances(first.view(), {5}, device);
    test::expect_same_bits(one.distances, std::vector<TypeParam>{0});
    EXPECT_EQ(one.neighbours, 0);
    EXPECT_TRUE(one.clamped);

    const auto two = core_distances(points.view(), {5}, device);
    test::expect_same_bits(two.distances, std::vector<TypeParam>{5, 5});
    EXPECT_EQ(two.neighbours, 1);
    EXPECT_TRUE(two.clamped);
  });
}

TYPED_TEST(core_distances_of, k_is_clamped_to_the_other_points_and_that_is_reported) {
  const auto points = clustered_points<TypeParam>(20, 4, 6);
  const auto farthest = core_distances(points.view(), {19});
  EXPECT_FALSE(farthest.clamped);
  for (const std::int64_t k : {std::int64_t(20), std::int64_t(1000), std::numeric_limits<std::int64_t>::max()}) {
    const auto found = core_distances(points.view(), {k});
    EXPECT_TRUE(found.clamped);
    EXPECT_EQ(found.neighbours, 19);
    test::expect_same_bits(found.distances, farthest.distances);
  }
}

TYPED_TEST(core_distances_of, counting_the_point_itself_is_one_neighbour_less) {
  const auto points = clustered_points<TypeParam>(60, 4, 7);
  for (const std::int64_t k : {1, 2, 6, 60}) {
    const auto with_self = core_distances(points.view(), {k, true}), without = core_distances(points.view(), {k - 1});
    EXPECT_EQ(with_self.neighbours, k - 1);
    EXPECT_FALSE(with_self.clamped);
    test::expect_same_bits(with_self.distances, without.distances);
  }
  EXPECT_TRUE(core_distances(points.view(), {61, true}).clamped);
}

TYPED_TEST(core_distances_of, no_neighbours_is_zero) {
  auto points = clustered_points<TypeParam>(30, 4, 8);
  const auto found = core_distances(points.view(), {0});
  test::expect_same_bits(found.distances, std::vector<TypeParam>(30, 0));
  EXPECT_FALSE(found.clamped);
  points(11, 2) = std::numeric_limits<TypeParam>::infinity();
  EXPECT_TRUE(std::isnan(core_distances(points.view(), {0}).distances[11]));
}

TYPED_TEST(core_distances_of, rows_that_are_not_finite_are_listed_and_are_nobodys_neighbours) {
  const auto clean = clustered_points<TypeParam>(100, 5, 9);
  const rows bad{0, 63, 64, 99};
  rows good;
  auto points = clean;
  for (std::int64_t i = 0; i < 100; ++i)
    if (std::find(bad.begin(), bad.end(), i) == bad.end()) good.push_back(i);
  points(0, 4) = std::numeric_limits<TypeParam>::quiet_NaN();
  points(63, 0) = std::numeric_limits<TypeParam>::infinity();
  points(64, 2) = -std::numeric_limits<TypeParam>::infinity();
  for (std::int64_t k = 0; k < 5; ++k) points(99, k) = std::numeric_limits<TypeParam>::quiet_NaN();
  const auto expected = core_distances(test::reordered(clean, good).view(), {4}).distances;
  test::on_every_device([&](const Device& device) {
    const auto found = core_distances(points.view(), {4}, device);
    EXPECT_EQ(found.invalid_rows, bad);
    for (const std::int64_t i : bad) EXPECT_TRUE(std::isnan(found.distances[i]));
    for (std::size_t i = 0; i < good.size(); ++i) ASSERT_EQ(found.distances[good[i]], expected[i]);
    // The bad rows do not count when k is clamped.
    EXPECT_EQ(core_distances(points.view(), {98}, device).neighbours, 95);
    EXPECT_TRUE(core_distances(points.view(), {98}, device).clamped);
  });
}

TYPED_TEST(core_distances_of, no_valid_row_or_one) {
  point_set<TypeParam> points(3, 2);
  test::on_every_device([&](const Device& device) {
    const auto none = core_distances(points.view(), {2}, device);
    EXPECT_EQ(none.invalid_rows, (rows{0, 1, 2}));
    EXPECT_TRUE(std::isnan(none.distances[0]) && std::isnan(none.distances[1]) && std::isnan(none.distances[2]));
    auto one_valid = points;
    one_valid(1, 0) = one_valid(1, 1) = 7;
    const auto one = core_distances(one_valid.view(), {2}, device);
    EXPECT_EQ(one.distances[1], 0);
    EXPECT_EQ(one.invalid_rows, (rows{0, 2}));
  });
}

TYPED_TEST(core_distances_of, a_zero_row_is_invalid_for_cosine_only) {
  auto points = clustered_points<TypeParam>(20, 3, 10);
  for (std::int64_t k = 0; k < 3; ++k) points(8, k) = 0;
  EXPECT_EQ(core_distances(points.view(), {2, false, metric::cosine}).invalid_rows, (rows{8}));
  EXPECT_TRUE(core_distances(points.view(), {2}).invalid_rows.empty());
}

TEST(core_distances, bad_arguments_are_named) {
  const auto points = clustered_points<float>(10, 3, 11);
  expect_invalid([&] { core_distances(points.view(), {-1}); }, "min_samples must be >= 0 (min_samples=-1)");
  expect_invalid([&] { core_distances(points.view(), {0, true}); }, "min_samples must be >= 1 (min_samples=0)");
  expect_invalid([&] { core_distances<float>({points.data.data(), 10, 0}, {}); },
                 "points.cols must be >= 1 (points.cols=0)");
  expect_invalid([&] { core_distances<float>({points.data.data(), std::int64_t(1) << 31, 0}, {}); }, "points.rows");
  expect_invalid([&] { core_distances<float>({points.data.data(), 10, 3, 2}, {}); },
                 "stride must be >= cols=3 (stride=2)");
  expect_invalid([&] { core_distances<float>({nullptr, 10, 3}, {}); }, "data must not be null");
  expect_invalid([&] { core_distances<float>({points.data.data(), -1, 3}, {}); }, "rows must be >= 0 (rows=-1)");
}

}  // namespace
}  // namespace quintet::hdbscan
