#include "quintet/hdbscan/medoids.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "quintet/hdbscan/hdbscan.hpp"
#include "reference/pairwise_reference.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/near.hpp"
#include "support/points.hpp"
#include "support/real_types.hpp"

namespace quintet::hdbscan {
namespace {

using indices = std::vector<std::int64_t>;

template <class Real>
class medoid : public ::testing::Test {};
TYPED_TEST_SUITE(medoid, test::real_types);

/// The weighted total distance of point i to its cluster.
long double total(const reference::matrix& distances, const indices& labels, const std::vector<double>& weights,
                  std::int64_t i) {
  long double sum = 0;
  for (std::size_t j = 0; j < labels.size(); ++j)
    if (labels[j] == labels[i] && !std::isnan(distances(i, j))) sum += weights[j] * distances(i, j);
  return sum;
}

TYPED_TEST(medoid, no_member_has_a_smaller_total_distance) {
  for (const metric kind : {metric::euclidean, metric::cosine}) {
    const auto points = test::clustered_points<TypeParam>(300, 9, 40);
    const cluster_result model = cluster(points.view(), {.min_cluster_size = 6, .distance = kind});
    const auto distances = reference::distances(reference::widened(points.view()), kind);
    const auto found = medoids(points.view(), model.labels, model.probabilities, kind);
    ASSERT_EQ(std::int64_t(found.size()), model.clusters());
    for (std::int64_t i = 0; i < points.n; ++i) {
      if (model.labels[i] < 0) continue;
      const std::int64_t best = found[model.labels[i]];
      EXPECT_EQ(model.labels[best], model.labels[i]);
      EXPECT_LE(total(distances, model.labels, model.probabilities, best),
                total(distances, model.labels, model.probabilities, i) * (1 + test::data_bound<TypeParam>));
    }
    test::on_other_devices([&](const Device& device) {
      EXPECT_EQ(medoids(points.view(), model.labels, model.probabilities, kind, device), found);
    });
  }
}

TYPED_TEST(medoid, weights_and_ties) {
  test::point_set<TypeParam> points(5, 1);
  for (std::int64_t i = 0; i < 5; ++i) points(i, 0) = TypeParam(i);
  const indices labels(5, 0);
  EXPECT_EQ(medoids(points.view(), labels), indices{2});
  EXPECT_EQ(medoids(points.view(), labels, std::vector<double>{0, 0, 0, 0, 1}), indices{4});
  EXPECT_EQ(medoids(points.view(), labels, std::vector<double>(5, 0)), indices{2});
  // 1 and 2 have the same total; the first counts.
  EXPECT_EQ(medoids(points.view(), indices{-1, 0, 0, -1, -1}), indices{1});
}

TYPED_TEST(medoid, labels_without_valid_rows) {
  auto points = test::clustered_points<TypeParam>(6, 2, 41);
  points(0, 0) = std::numeric_limits<TypeParam>::quiet_NaN();
  const indices labels{0, -1, 2, 2, 2, 3};
  const auto found = medoids(points.view(), labels);
  EXPECT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0], -1);
  EXPECT_EQ(found[1], -1);
  EXPECT_EQ(found[3], 5);
  const auto centroids = weighted_centroids(points.view(), labels);
  EXPECT_TRUE(std::isnan(centroids[0]) && std::isnan(centroids[2]));
  EXPECT_EQ(centroids[6], double(points(5, 0)));
  EXPECT_TRUE(medoids(points.view(), indices(6, -1)).empty());
  EXPECT_TRUE(medoids({}, indices{}).empty());
}

TYPED_TEST(medoid, centroids_are_weighted_means) {
  test::point_set<TypeParam> points(4, 2, 3);
  const double at[4][2] = {{0, 2}, {4, 6}, {1, 1}, {100, 100}};
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t d = 0; d < 2; ++d) points(i, d) = TypeParam(at[i][d]);
  const auto found = weighted_centroids(points.view(), indices{0, 0, 1, -1}, std::vector<double>{3, 1, 0, 1});
  EXPECT_EQ(found, (std::vector<double>{1, 3, 1, 1}));
}

// Across the date line, and around a pole, where means of longitudes are far away.
TYPED_TEST(medoid, centroids_on_a_sphere_are_directions_of_mean_vectors) {
  const double at[8][2] = {{10, 179}, {10, -179}, {80, 0}, {80, 120}, {80, -120}, {0, 0}, {0, 90}, {0, 180}};
  test::point_set<TypeParam> points(8, 2);
  for (std::int64_t i = 0; i < 8; ++i)
    for (std::int64_t d = 0; d < 2; ++d) points(i, d) = TypeParam(at[i][d]);
  const indices labels{0, 0, 1, 1, 1, 2, 2, -1};
  const double eps = 100 * std::numeric_limits<TypeParam>::epsilon();
  auto found = weighted_centroids(points.view(), labels, {}, metric::haversine);
  EXPECT_NEAR(found[0], 10.00149, 1e-5);
  EXPECT_NEAR(std::fabs(found[1]), 180, eps);
  EXPECT_NEAR(found[2], 90, eps);
  EXPECT_NEAR(found[4], 0, eps);
  EXPECT_NEAR(found[5], 45, eps);
  found = weighted_centroids(points.view(), indices{-1, -1, -1, -1, -1, 0, 0, -1},
                             std::vector<double>{1, 1, 1, 1, 1, 3, 1, 1}, metric::haversine);
  EXPECT_NEAR(found[1], std::atan2(1.0, 3.0) * 180 / std::numbers::pi, eps);
  expect_invalid(
      [&] { weighted_centroids(points.view(), indices{-1, -1, -1, -1, -1, 0, -1, 0}, {}, metric::haversine); },
      "the points of a label must have a mean on one side of the sphere (label=0, length of the mean=0)");
  EXPECT_EQ(medoids(points.view(), labels, {}, metric::haversine), (indices{0, 2, 5}));
}

TYPED_TEST(medoid, errors) {
  const auto points = test::clustered_points<TypeParam>(4, 2, 42);
  const indices labels(4, 0);
  expect_invalid([&] { medoids(points.view(), labels, std::vector<double>(3, 1)); },
                 "weights.size must be 0 or points.rows=4 (weights.size=3)");
  expect_invalid([&] { weighted_centroids(points.view(), labels, std::vector<double>{1, -1, 1, 1}); },
                 "weights[1] must be finite and >= 0 (weights[1]=-1)");
  expect_invalid([&] { medoids(points.view(), indices{0, 0, 0, 4}); }, "labels[3] must be in [-1, N=4)");
}

}  // namespace
}  // namespace quintet::hdbscan
