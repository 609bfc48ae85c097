#include "quintet/hdbscan/membership.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "reference/prediction_reference.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/near.hpp"
#include "support/real_types.hpp"
#include "support/split_points.hpp"

namespace quintet::hdbscan {
namespace {

template <class Real>
class soft_membership : public ::testing::Test {};
TYPED_TEST_SUITE(soft_membership, test::real_types);

std::vector<double> nearest_exemplars(const cluster_result& model, const std::vector<double>& distances) {
  std::vector<double> nearest(model.clusters(), std::numeric_limits<double>::infinity());
  for (std::int64_t k = 0; k < model.clusters(); ++k)
    for (std::int64_t e = model.exemplars.offsets[k]; e < model.exemplars.offsets[k + 1]; ++e)
      nearest[k] = std::min(nearest[k], distances[model.exemplars.points[e]]);
  return nearest;
}

/// All in [0, 1], sums too.
void expect_memberships(const std::vector<double>& values, std::int64_t clusters) {
  for (std::size_t i = 0; i < values.size(); i += clusters) {
    double sum = 0;
    for (std::int64_t k = 0; k < clusters; ++k) {
      EXPECT_TRUE(values[i + k] >= 0 && values[i + k] <= 1) << values[i + k];
      sum += values[i + k];
    }
    EXPECT_LE(sum, 1 + 1e-12);
  }
}

TEST(membership, plain_reference) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto points = test::split_clustered_points<double>(260, 200, 6, seed);
    const cluster_result model = cluster(points.fit.view(), {.min_cluster_size = 6, .min_samples = 4});
    const std::int64_t clusters = model.clusters();
    ASSERT_GT(clusters, 2);
    const reference::plain_tree tree(model);
    const auto found = all_points_membership_vectors(model, points.fit.view());
    for (std::int64_t i = 0; i < points.fit.n; ++i) {
      const auto& row = tree.row_of(i);
      const auto nearest = nearest_exemplars(model, test::distances_to(points.fit, i, points.fit));
      const auto expected = reference::membership(tree, row.parent, row.lambda, nearest, false, false);
      test::expect_near(std::vector<double>(&found[i * clusters], &found[i * clusters] + clusters), expected, 1e-10, 1);
    }
    const auto unseen = membership_vectors(model, points.fit.view(), points.unseen.view());
    for (std::int64_t i = 0; i < points.unseen.n; ++i) {
      const auto distances = test::distances_to(points.unseen, i, points.fit);
      const auto place = tree.place(reference::join(distances, model.core_distances, model.neighbours, 1, false));
      const auto expected =
          reference::membership(tree, place.parent, place.lambda, nearest_exemplars(model, distances), true, false);
      test::expect_near(std::vector<double>(&unseen[i * clusters], &unseen[i * clusters] + clusters), expected, 1e-6,
                        1);
    }
    expect_memberships(found, clusters);
    expect_memberships(unseen, clusters);
  }
}

TYPED_TEST(soft_membership, members_belong_most_to_their_own_cluster) {
  const auto points = test::clustered_points<TypeParam>(400, 8, 4);
  const cluster_result model = cluster(points.view(), {.min_cluster_size = 10});
  const std::int64_t clusters = model.clusters();
  const auto found = all_points_membership_vectors(model, points.view());
  for (std::int64_t i = 0; i < points.n; ++i) {
    if (model.labels[i] < 0) continue;
    const double* row = &found[i * clusters];
    EXPECT_EQ(std::max_element(row, row + clusters) - row, model.labels[i]) << i;
    EXPECT_NEAR(std::accumulate(row, row + clusters, 0.0), model.probabilities[i], 1e-12) << i;
  }
}

TYPED_TEST(soft_membership, same_bits_on_every_device_and_for_any_budget) {
  for (const metric kind : {metric::euclidean, metric::cosine}) {
    const auto points = test::split_clustered_points<TypeParam>(400, 300, 17, 5);
    const cluster_result model =
        cluster(points.fit.view(), {.min_cluster_size = 6, .min_samples = 4, .distance = kind});
    const auto fitted = all_points_membership_vectors(model, points.fit.view(), Device::host());
    const auto unseen = membership_vectors(model, points.fit.view(), points.unseen.view(), Device::host());
    expect_memberships(fitted, model.clusters());
    expect_memberships(unseen, model.clusters());
    test::on_other_devices([&](const Device& device) {
      test::expect_same_bits(all_points_membership_vectors(model, points.fit.view(), device), fitted);
      test::expect_same_bits(membership_vectors(model, points.fit.view(), points.unseen.view(), device), unseen);
    });
    std::vector<double> streamed;
    std::int64_t blocks = 0;
    EXPECT_TRUE(all_points_membership_rows(
        model, points.fit.view(),
        [&](std::int64_t first, matrix_view<const double> rows) {
          EXPECT_EQ(first * model.clusters(), std::int64_t(streamed.size()));
          EXPECT_LE(rows.rows(), 64);
          streamed.insert(streamed.end(), rows.data(), rows.data() + rows.rows() * rows.cols());
          return ++blocks > 0;
        },
        0));
    EXPECT_EQ(blocks, 5);
    test::expect_same_bits(streamed, fitted);
  }
}

TYPED_TEST(soft_membership, the_callback_can_stop) {
  const auto points = test::clustered_points<TypeParam>(300, 4, 6);
  const cluster_result model = cluster(points.view(), {.min_cluster_size = 6});
  std::int64_t calls = 0;
  const auto stop = [&](std::int64_t, matrix_view<const double>) { return ++calls < 2; };
  EXPECT_FALSE(all_points_membership_rows(model, points.view(), stop, 0));
  EXPECT_FALSE(membership_rows(model, points.view(), points.view(), stop, 0));
  EXPECT_EQ(calls, 3);
}

TYPED_TEST(soft_membership, without_clusters_there_are_no_columns) {
  const auto points = test::clustered_points<TypeParam>(30, 3, 7);
  const cluster_result model = cluster(points.view(), {.min_cluster_size = 31});
  const auto never = [](std::int64_t, matrix_view<const double>) { return false; };
  EXPECT_TRUE(all_points_membership_rows(model, points.view(), never));
  EXPECT_TRUE(all_points_membership_vectors(model, points.view()).empty());
  EXPECT_TRUE(membership_vectors(model, points.view(), points.view()).empty());
}

TYPED_TEST(soft_membership, one_cluster) {
  const auto points = test::clustered_points<TypeParam>(100, 3, 8);
  const cluster_result model = cluster(points.view(), {.min_cluster_size = 60, .allow_single_cluster = true});
  ASSERT_EQ(model.clusters(), 1);
  const auto found = all_points_membership_vectors(model, points.view());
  for (std::int64_t i = 0; i < points.n; ++i)
    if (model.labels[i] == 0) {
      EXPECT_NEAR(found[i], model.probabilities[i], 1e-12);
    }
  expect_memberships(found, 1);
}

TYPED_TEST(soft_membership, duplicates_make_infinite_densities_and_no_nan) {
  const auto points = test::two_groups_of_duplicates<TypeParam>();
  const cluster_result model = cluster(points.view(), {.min_cluster_size = 5});
  ASSERT_EQ(model.clusters(), 2);
  const auto found = all_points_membership_vectors(model, points.view());
  for (std::int64_t i = 0; i < 12; ++i) {
    EXPECT_EQ(found[2 * i + (i < 6 ? 0 : 1)], 1) << i;
    EXPECT_EQ(found[2 * i + (i < 6 ? 1 : 0)], 0) << i;
  }
  test::point_set<TypeParam> unseen(3, 1);
  unseen(0, 0) = 0, unseen(1, 0) = 1, unseen(2, 0) = 100;
  const auto of_new = membership_vectors(model, points.view(), unseen.view());
  EXPECT_EQ(of_new[0], 1);
  EXPECT_EQ(of_new[1], 0);
  expect_memberships(of_new, 2);
}

TYPED_TEST(soft_membership, rows_with_nan_are_zero) {
  auto points = test::split_clustered_points<TypeParam>(310, 300, 5, 9);
  points.fit(3, 2) = std::numeric_limits<TypeParam>::quiet_NaN();
  points.unseen(4, 0) = std::numeric_limits<TypeParam>::infinity();
  const cluster_result model = cluster(points.fit.view(), {.min_cluster_size = 6});
  const std::int64_t clusters = model.clusters();
  const auto fitted = all_points_membership_vectors(model, points.fit.view());
  const auto unseen = membership_vectors(model, points.fit.view(), points.unseen.view());
  expect_memberships(fitted, clusters);
  expect_memberships(unseen, clusters);
  for (std::int64_t k = 0; k < clusters; ++k) {
    EXPECT_EQ(fitted[3 * clusters + k], 0);
    EXPECT_EQ(unseen[4 * clusters + k], 0);
  }
}

// As many copies as make a cluster, with other members around them.
TYPED_TEST(soft_membership, copies_leave_something_for_the_others) {
  auto points = test::clustered_points<TypeParam>(80, 2, 12);
  for (std::int64_t i = 1; i < 12; ++i)
    for (std::int64_t d = 0; d < 2; ++d) points(i, d) = points(0, d);
  const cluster_result model = cluster(points.view(), {.min_cluster_size = 8, .min_samples = 4});
  const std::int64_t clusters = model.clusters();
  ASSERT_GT(clusters, 1);
  const auto vectors = all_points_membership_vectors(model, points.view());
  std::int64_t others = 0;
  for (std::int64_t i = 0; i < 80; ++i) {
    if (model.labels[i] < 0) continue;
    EXPECT_GT(model.probabilities[i], 0) << i;
    EXPECT_LT(model.outlier_scores[i], 1) << i;
    const double* row = vectors.data() + i * clusters;
    EXPECT_GT(std::accumulate(row, row + clusters, 0.0), 0) << i;
    if (model.labels[i] != model.labels[0] || i < 12) continue;
    ++others;
    EXPECT_EQ(std::max_element(row, row + clusters) - row, model.labels[i]) << i;
  }
  EXPECT_GT(others, 0) << "otherwise this shows nothing";
}

TYPED_TEST(soft_membership, errors) {
  const auto points = test::clustered_points<TypeParam>(50, 3, 10),
             fewer = test::clustered_points<TypeParam>(49, 3, 10);
  const cluster_result model = cluster(points.view());
  const auto ignore = [](std::int64_t, matrix_view<const double>) { return true; };
  expect_invalid([&] { all_points_membership_vectors(model, fewer.view()); }, "(points.rows=49)");
  expect_invalid([&] { all_points_membership_rows(model, points.view(), ignore, -1); },
                 "budget_bytes must be >= 0 (budget_bytes=-1)");
  expect_invalid([&] { all_points_membership_rows(model, points.view(), {}); }, "receive must not be empty");
  expect_invalid([&] { membership_rows(model, points.view(), points.view(), {}); }, "receive must not be empty");
}

}  // namespace
}  // namespace quintet::hdbscan
