#include "quintet/hdbscan/prediction.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "quintet/hdbscan/membership.hpp"
#include "reference/prediction_reference.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/near.hpp"
#include "support/real_types.hpp"
#include "support/split_points.hpp"

namespace quintet::hdbscan {
namespace {

template <class Real>
class approximate_prediction : public ::testing::Test {};
TYPED_TEST_SUITE(approximate_prediction, test::real_types);

template <class Real>
constexpr Real not_a_number = std::numeric_limits<Real>::quiet_NaN();

using indices = std::vector<std::int64_t>;

void expect_same(const prediction& found, const prediction& expected) {
  EXPECT_EQ(found.labels, expected.labels);
  EXPECT_EQ(found.neighbours, expected.neighbours);
  test::expect_same_bits(found.probabilities, expected.probabilities);
  test::expect_same_bits(found.outlier_scores, expected.outlier_scores);
  test::expect_same_bits(found.lambdas, expected.lambdas);
}

/// Lambdas, labels and probabilities of the plain reference. Labels are compared unless the point is, to the precision
/// of the type, at a height where something merges.
template <class Real>
void expect_reference(const cluster_options& options, std::uint64_t seed) {
  const auto points = test::split_clustered_points<Real>(260, 200, 7, seed);
  const cluster_result model = cluster(points.fit.view(), options);
  const prediction found = approximate_predict(model, points.fit.view(), points.unseen.view());
  const reference::plain_tree tree(model);
  std::int64_t other_labels = 0;
  for (std::int64_t i = 0; i < points.unseen.n; ++i) {
    const auto distances = test::distances_to(points.unseen, i, points.fit);
    const auto joined = reference::join(distances, model.core_distances, model.neighbours, options.alpha, false);
    EXPECT_NEAR(found.lambdas[i] / joined.lambda, 1, test::data_bound<Real>) << i;
    const auto expected = reference::predict(tree, joined);
    other_labels += found.labels[i] != expected.label;
    if (found.labels[i] == expected.label) {
      EXPECT_NEAR(found.probabilities[i], expected.probability, test::data_bound<Real>) << i;
    }
  }
  EXPECT_LE(other_labels, sizeof(Real) == 4 ? 2 : 0);
}

TYPED_TEST(approximate_prediction, plain_reference) {
  expect_reference<TypeParam>({.min_cluster_size = 5, .min_samples = 5}, 1);
  expect_reference<TypeParam>({.min_cluster_size = 10, .method = selection::leaf, .min_samples = 3}, 2);
  expect_reference<TypeParam>({.min_cluster_size = 8, .min_samples = 4, .count_self = true, .alpha = 1.4}, 3);
}

// With k = 1 the two nearest points often have core distances that keep the query from joining them.
TYPED_TEST(approximate_prediction, the_search_goes_on_beyond_2k_neighbours) {
  expect_reference<TypeParam>({.min_cluster_size = 5, .min_samples = 1}, 4);
  expect_reference<TypeParam>({.min_cluster_size = 5, .min_samples = 1, .alpha = 0.2}, 5);
  expect_reference<TypeParam>({.min_cluster_size = 5, .min_samples = 1, .count_self = true}, 6);
}

TYPED_TEST(approximate_prediction, same_bits_on_every_device_and_for_one_row_alone) {
  for (const metric kind : {metric::euclidean, metric::cosine}) {
    const auto points = test::split_clustered_points<TypeParam>(240, 200, 20, 7);
    const cluster_result model =
        cluster(points.fit.view(), {.min_cluster_size = 6, .min_samples = 4, .distance = kind});
    const auto all = approximate_predict(model, points.fit.view(), points.unseen.view(), Device::host());
    EXPECT_GT(model.clusters(), 1);
    test::on_other_devices([&](const Device& device) {
      expect_same(approximate_predict(model, points.fit.view(), points.unseen.view(), device), all);
    });
    for (const std::int64_t i : {0, 17, 39}) {
      const auto one = test::reordered(points.unseen, {i});
      const auto alone = approximate_predict(model, points.fit.view(), one.view());
      EXPECT_EQ(alone.labels[0], all.labels[i]);
      EXPECT_EQ(alone.lambdas[0], all.lambdas[i]);
    }
  }
}

// 1100 queries are searched for in a tree of the points, 550 at a time among all of them.
TYPED_TEST(approximate_prediction, many_queries_in_few_dimensions_have_the_bits_of_few) {
  for (const point_metric& distance : {point_metric(metric::euclidean), point_metric(metric::manhattan)})
    for (const std::int64_t min_samples : {1, 5}) {
      auto points = test::split_clustered_points<TypeParam>(6100, 5000, 2, 11);
      points.unseen(3, 1) = not_a_number<TypeParam>;
      const cluster_result model =
          cluster(points.fit.view(), {.min_cluster_size = 20, .min_samples = min_samples, .distance = distance},
                  Device::host());
      const auto unseen = points.unseen.view();
      const auto all = approximate_predict(model, points.fit.view(), unseen, Device::host());
      EXPECT_GT(model.clusters(), 1);
      for (const std::int64_t first : {0, 550}) {
        const auto some =
            approximate_predict(model, points.fit.view(), unseen.slice(first, first + 550), Device::host());
        for (std::int64_t i = 0; i < 550; ++i) {
          ASSERT_EQ(some.labels[i], all.labels[first + i]);
          ASSERT_EQ(some.neighbours[i], all.neighbours[first + i]);
          ASSERT_EQ(some.lambdas[i], all.lambdas[first + i]);
          ASSERT_EQ(some.probabilities[i], all.probabilities[first + i]);
        }
        const auto soft =
            membership_vectors(model, points.fit.view(), unseen.slice(first, first + 550), Device::host());
        const auto soft_all = membership_vectors(model, points.fit.view(), unseen, Device::host());
        test::expect_same_bits(soft, std::vector<double>(soft_all.begin() + first * model.clusters(),
                                                         soft_all.begin() + (first + 550) * model.clusters()));
      }
      test::on_other_devices([&](const Device& device) {
        expect_same(approximate_predict(model, points.fit.view(), unseen, device), all);
      });
    }
}

// A copy of a fitted point is no deeper than its original and gets the same label.
TYPED_TEST(approximate_prediction, fitted_points_keep_their_labels) {
  for (const bool count_self : {false, true}) {
    const auto points = test::clustered_points<TypeParam>(300, 5, 8);
    const cluster_result model =
        cluster(points.view(), {.min_cluster_size = 8, .min_samples = 5, .count_self = count_self});
    const auto found = approximate_predict(model, points.view(), points.view());
    for (std::int64_t i = 0; i < points.n; ++i) {
      if (model.labels[i] < 0) continue;
      EXPECT_EQ(found.labels[i], model.labels[i]) << i;
      EXPECT_GE(found.probabilities[i], model.probabilities[i] * (1 - 1e-6)) << i;
    }
  }
}

TYPED_TEST(approximate_prediction, the_unit_of_length_does_not_matter) {
  const auto points = test::split_clustered_points<TypeParam>(240, 200, 6, 9);
  const cluster_options options{.min_cluster_size = 6};
  const cluster_result model = cluster(points.fit.view(), options);
  const auto expected = approximate_predict(model, points.fit.view(), points.unseen.view());
  for (const double factor : {std::ldexp(1.0, -90), std::ldexp(1.0, 90)}) {
    const auto fit = test::scaled(points.fit, TypeParam(factor)),
               unseen = test::scaled(points.unseen, TypeParam(factor));
    const auto found = approximate_predict(cluster(fit.view(), options), fit.view(), unseen.view());
    EXPECT_EQ(found.labels, expected.labels);
    test::expect_near(found.probabilities, expected.probabilities, 1e-6, 1);
  }
}

TYPED_TEST(approximate_prediction, far_points_and_a_point_at_zero) {
  auto points = test::split_clustered_points<TypeParam>(204, 200, 6, 10);
  const auto huge = std::numeric_limits<TypeParam>::max() / 4;
  for (std::int64_t d = 0; d < 6; ++d) points.unseen(0, d) = huge, points.unseen(1, d) = 0;
  const cluster_result model = cluster(points.fit.view(), {.min_cluster_size = 6});
  const auto found = approximate_predict(model, points.fit.view(), points.unseen.view());
  EXPECT_EQ(found.labels[0], -1);
  EXPECT_GE(found.lambdas[0], 0);
  // Nothing but zeros tells no scale; tiny points must not vanish beside it.
  const auto tiny = test::scaled(points.fit, TypeParam(std::ldexp(1.0, -90)));
  test::point_set<TypeParam> zero(1, 6);
  zero.data.assign(6, 0);
  const auto at_zero = approximate_predict(cluster(tiny.view(), {.min_cluster_size = 6}), tiny.view(), zero.view());
  const auto same = approximate_predict(model, points.fit.view(), zero.view());
  EXPECT_EQ(at_zero.neighbours, same.neighbours);
  EXPECT_EQ(at_zero.labels, same.labels);
}

TYPED_TEST(approximate_prediction, duplicates_make_infinite_densities_and_no_nan) {
  const auto points = test::two_groups_of_duplicates<TypeParam>();
  const cluster_result model = cluster(points.view(), {.min_cluster_size = 5});
  ASSERT_EQ(model.clusters(), 2);
  test::point_set<TypeParam> unseen(4, 1);
  unseen(0, 0) = 0, unseen(1, 0) = 10, unseen(2, 0) = 1, unseen(3, 0) = 100;
  const auto found = approximate_predict(model, points.view(), unseen.view());
  EXPECT_EQ(found.labels, (indices{0, 1, 0, -1}));
  // One by one: g++ 12 makes {1, 1, 1, 1} of std::vector<double>{1, 1, 0, 0} here.
  for (std::int64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(found.probabilities[i], i < 2 ? 1 : 0) << i;
    // The groups part at 10, and the last point is 90 away.
    EXPECT_NEAR(found.outlier_scores[i], i < 2 ? 0 : i == 2 ? 1 : 1 - 10.0 / 90, 1e-12) << i;
  }
  EXPECT_EQ(found.lambdas[0], std::numeric_limits<double>::infinity());
}

TYPED_TEST(approximate_prediction, without_clusters_all_is_noise) {
  const auto points = test::clustered_points<TypeParam>(30, 3, 11);
  const cluster_result model = cluster(points.view(), {.min_cluster_size = 31});
  const auto found = approximate_predict(model, points.view(), points.view());
  EXPECT_EQ(found.labels, indices(30, -1));
  EXPECT_EQ(found.probabilities, std::vector<double>(30, 0));
}

TYPED_TEST(approximate_prediction, one_cluster_sheds_what_is_less_dense_than_its_noise) {
  const auto points = test::clustered_points<TypeParam>(100, 3, 12);
  const cluster_result model = cluster(points.view(), {.min_cluster_size = 60, .allow_single_cluster = true});
  ASSERT_EQ(model.clusters(), 1);
  test::point_set<TypeParam> far(1, 3);
  far.data.assign(3, 1000);
  EXPECT_EQ(approximate_predict(model, points.view(), far.view()).labels, indices{-1});
  const auto found = approximate_predict(model, points.view(), points.view());
  for (std::int64_t i = 0; i < points.n; ++i)
    if (model.labels[i] == 0) {
      EXPECT_EQ(found.labels[i], 0) << i;
    }
}

TYPED_TEST(approximate_prediction, rows_with_nan) {
  auto points = test::split_clustered_points<TypeParam>(210, 200, 5, 13);
  points.fit(3, 2) = not_a_number<TypeParam>;
  points.unseen(0, 0) = not_a_number<TypeParam>;
  points.unseen(9, 4) = std::numeric_limits<TypeParam>::infinity();
  const cluster_result model = cluster(points.fit.view(), {.min_cluster_size = 6});
  const auto found = approximate_predict(model, points.fit.view(), points.unseen.view());
  for (const std::int64_t i : {0, 9}) {
    EXPECT_EQ(found.labels[i], -1);
    EXPECT_EQ(found.probabilities[i], 0);
    EXPECT_EQ(found.outlier_scores[i], 1);
    EXPECT_EQ(found.neighbours[i], -1);
  }
  for (std::int64_t i = 1; i < 9; ++i) {
    EXPECT_NE(found.neighbours[i], 3);
    EXPECT_GE(found.neighbours[i], 0);
  }
}

TYPED_TEST(approximate_prediction, few_points) {
  const auto unseen = test::clustered_points<TypeParam>(3, 2, 14);
  for (const std::int64_t n : {0, 1, 2}) {
    const auto points = test::clustered_points<TypeParam>(n, 2, 15);
    const cluster_result model = cluster(points.view(), {.min_cluster_size = 2, .min_samples = 5});
    const auto found = approximate_predict(model, points.view(), unseen.view());
    EXPECT_EQ(found.labels, indices(3, -1)) << n;
    EXPECT_EQ(approximate_predict(model, points.view(), matrix_view<const TypeParam>()).labels.size(), 0u);
  }
}

TYPED_TEST(approximate_prediction, errors) {
  const auto points = test::clustered_points<TypeParam>(20, 3, 16),
             other = test::clustered_points<TypeParam>(20, 4, 16), fewer = test::clustered_points<TypeParam>(19, 3, 16);
  cluster_result model = cluster(points.view());
  expect_invalid([&] { approximate_predict(model, fewer.view(), points.view()); },
                 "points.rows must be the number of points of the model, 20 (points.rows=19)");
  expect_invalid([&] { approximate_predict(model, points.view(), other.view()); },
                 "new_points.cols must be points.cols=3 (new_points.cols=4)");
  model.core_distances[7] = -1;
  expect_invalid([&] { approximate_predict(model, points.view(), points.view()); },
                 "model.core_distances[7] must be >= 0");
}

TEST(approximate_predict, models_from_elsewhere_are_checked) {
  const auto points = test::clustered_points<double>(80, 2, 17);
  const cluster_result right = cluster(points.view(), {.min_cluster_size = 5});
  ASSERT_GT(right.clusters(), 1);
  const auto expect_refused = [&](auto change, const std::string& message) {
    cluster_result model = right;
    change(model);
    expect_invalid([&] { approximate_predict(model, points.view(), points.view()); }, message);
    expect_invalid([&] { all_points_membership_vectors(model, points.view()); }, message);
    expect_invalid([&] { membership_vectors(model, points.view(), points.view()); }, message);
  };
  expect_refused([](auto& m) { m.condensed.points = 79; }, "model.condensed.points must be points.rows=80");
  expect_refused([](auto& m) { m.condensed.rows.back().parent = 1 << 20; }, "the parent is no cluster");
  expect_refused([](auto& m) { m.condensed.rows[3].child ^= std::int64_t(1) << 50; }, "rows[3]");
  expect_refused([](auto& m) { m.selected[0] = 79; }, "model.selected must be clusters, >= N=80");
  expect_refused([](auto& m) { m.selected.back() = 1 << 20; }, "selected[");
  expect_refused([](auto& m) { std::swap(m.selected[0], m.selected[1]); }, "selected[1]");
  expect_refused([](auto& m) { m.exemplars.offsets.pop_back(); }, "exemplars.offsets.size");
  expect_refused([](auto& m) { m.exemplars.offsets[1] = 1 << 20; }, "exemplars.offsets[1]");
  expect_refused([](auto& m) { m.exemplars.offsets.back() += 1; }, "exemplars.offsets[");
  expect_refused([](auto& m) { m.exemplars.points[0] = -1; }, "exemplars.points[0]");
  expect_refused([](auto& m) { m.exemplars.points[0] = 80; }, "exemplars.points[0]");
  expect_refused([](auto& m) { m.neighbours = -1; }, "model.neighbours must be >= 0");
  expect_refused([](auto& m) { m.options.epsilon = -1; }, "epsilon must be >= 0");
}

}  // namespace
}  // namespace quintet::hdbscan
