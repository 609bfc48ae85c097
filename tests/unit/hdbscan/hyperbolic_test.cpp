// HDBSCAN in the Poincare ball, against distances computed one by one in long double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "quintet/hdbscan/core_and_reachability.hpp"
#include "quintet/hdbscan/hdbscan.hpp"
#include "quintet/hdbscan/medoids.hpp"
#include "quintet/hdbscan/membership.hpp"
#include "quintet/hdbscan/precomputed.hpp"
#include "quintet/hdbscan/prediction.hpp"
#include "quintet/hdbscan/validity.hpp"
#include "reference/pairwise_reference.hpp"
#include "reference/prediction_reference.hpp"
#include "reference/spanning_tree_reference.hpp"
#include "reference/validity_reference.hpp"
#include "support/ball_data.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/near.hpp"
#include "support/partition.hpp"
#include "support/points.hpp"
#include "support/real_types.hpp"

namespace quintet::hdbscan {
namespace {

template <class Real>
class hyperbolic : public ::testing::Test {};
TYPED_TEST_SUITE(hyperbolic, test::real_types);

using test::point_set;
using indices = std::vector<std::int64_t>;

/// Groups of points, brought into the ball of curvature -c: sqrt(c) |x| becomes tanh(|x| / 3), up to 0.99 or so.
template <class Real>
point_set<Real> clusters_in_ball(std::int64_t n, std::int64_t dim, std::uint64_t seed, double c = 1) {
  auto points = test::clustered_points<Real>(n, dim, seed, 3);
  for (std::int64_t i = 0; i < n; ++i) {
    double square = 0;
    for (std::int64_t k = 0; k < dim; ++k) square += double(points(i, k)) * double(points(i, k));
    const double factor = std::tanh(std::sqrt(square) / 3) / std::sqrt(square * c);
    for (std::int64_t k = 0; k < dim; ++k) points(i, k) = Real(points(i, k) * factor);
  }
  return points;
}

template <class Real>
reference::matrix plain_distances(const point_set<Real>& points, double curvature = -1) {
  return reference::distances(reference::widened(points.view()), {metric::poincare, curvature});
}

template <class Real>
std::vector<Real> dense(const point_set<Real>& points, std::span<const Real> core, const reachability_options& options,
                        const Device& device = Device::host()) {
  std::vector<Real> matrix(points.n * points.n);
  mutual_reachability(points.view(), core, {matrix.data(), points.n, points.n}, options, device);
  return matrix;
}

double largest_relative_error(const auto& found, const reference::matrix& expected) {
  double worst = 0;
  for (std::int64_t i = 0; i < expected.rows(); ++i)
    for (std::int64_t j = 0; j < expected.cols(); ++j) {
      const long double value = expected(i, j), difference = std::fabs(found[i * expected.cols() + j] - value);
      worst = std::max(worst, double(value == 0 ? difference : difference / value));
    }
  return worst;
}

// The bounds are those of poincare::distances for points away from the boundary.
template <class Real>
constexpr double distance_bound = sizeof(Real) == 4 ? 5e-7 : 1e-13;

TYPED_TEST(hyperbolic, matrix_core_distances_and_pairs_are_those_of_the_reference) {
  for (const double curvature : {-1.0, -0.3, -16.0})
    for (const std::int64_t dim : {2, 10, 64, 384}) {
      SCOPED_TRACE(::testing::Message() << dim << ", curvature " << curvature);
      const point_metric ball(metric::poincare, curvature);
      const auto points = clusters_in_ball<TypeParam>(150, dim, 1, -curvature);
      const reference::matrix distances = plain_distances(points, curvature);
      const auto core = core_distances(points.view(), {.min_samples = 4, .distance = ball});
      const std::vector<long double> plain_core = reference::core_distances(distances, 4);
      for (std::int64_t i = 0; i < points.n; ++i)
        ASSERT_NEAR(core.distances[i] / plain_core[i], 1, distance_bound<TypeParam>) << i;
      const auto found = dense<TypeParam>(points, core.distances, {.distance = ball});
      test::expect_error_within("mutual_reachability" + std::to_string(dim),
                                largest_relative_error(found, reference::mutual_reachability(distances, plain_core, 1)),
                                distance_bound<TypeParam>);
      std::vector<std::int64_t> all_pairs;
      for (std::int64_t i = 0; i < points.n; ++i)
        for (std::int64_t j = 0; j < points.n; ++j) all_pairs.insert(all_pairs.end(), {i, j});
      test::expect_same_bits(
          mutual_reachability_pairs<TypeParam>(points.view(), core.distances,
                                               {all_pairs.data(), points.n * points.n, 2}, {.distance = ball}),
          found);
    }
}

TYPED_TEST(hyperbolic, every_way_to_the_matrix_has_the_same_bits) {
  const core_options options{.min_samples = 5, .distance = metric::poincare};
  const auto points = clusters_in_ball<TypeParam>(210, 17, 2);
  const auto core = core_distances(points.view(), options, Device::host());
  const reachability_options reachability{.alpha = 0.7, .core_on_diagonal = true, .distance = metric::poincare};
  const auto expected = dense<TypeParam>(points, core.distances, reachability);
  std::vector<TypeParam> fused(expected.size()), streamed;
  core_and_reachability<TypeParam>(points.view(), options, {fused.data(), points.n, points.n}, reachability);
  test::expect_same_bits(fused, expected);
  mutual_reachability_rows<TypeParam>(
      points.view(), core.distances,
      [&](std::int64_t, matrix_view<const TypeParam> rows) {
        streamed.insert(streamed.end(), rows.data(), rows.data() + rows.rows() * rows.cols());
        return true;
      },
      0, reachability);
  test::expect_same_bits(streamed, expected);
  test::on_other_devices([&](const Device& device) {
    test::expect_same_bits(core_distances(points.view(), options, device).distances, core.distances);
    test::expect_same_bits(dense<TypeParam>(points, core.distances, reachability, device), expected);
  });
}

/// The clustering of distances that were computed one by one.
template <class Real>
cluster_result brute_force(const point_set<Real>& points, const cluster_options& options) {
  const reference::matrix distances = plain_distances(points, options.distance.curvature);
  const std::vector<double> rounded(distances.data(), distances.data() + distances.size());
  return cluster_distances({rounded.data(), points.n, points.n}, options);
}

TYPED_TEST(hyperbolic, clusters_are_those_of_brute_force) {
  for (const double alpha : {1.0, 1.3})
    for (const double curvature : {-1.0, -4.0}) {
      const cluster_options options{.min_cluster_size = 6,
                                    .min_samples = 4,
                                    .alpha = alpha,
                                    .distance = point_metric(metric::poincare, curvature)};
      const auto points = clusters_in_ball<TypeParam>(500, 10, 3, -curvature);
      const auto found = cluster(points.view(), options), expected = brute_force(points, options);
      ASSERT_GT(expected.clusters(), 2);
      EXPECT_EQ(test::canonical_labels(found.labels), test::canonical_labels(expected.labels));
      test::expect_near(found.probabilities, expected.probabilities, test::data_bound<TypeParam>, 1);
      test::expect_near(found.outlier_scores, expected.outlier_scores, test::data_bound<TypeParam>, 1);
      EXPECT_NEAR(found.spanning_tree_weight() / expected.spanning_tree_weight(), 1, test::data_bound<TypeParam>);
    }
}

// More than 1024 points are put into an order of their own first.
TYPED_TEST(hyperbolic, the_spanning_tree_is_the_unique_one_on_every_device) {
  const auto points = clusters_in_ball<TypeParam>(1300, 5, 4);
  const spanning_tree_options options{.min_samples = 3, .distance = metric::poincare};
  const auto found = spanning_tree(points.view(), options, Device::host());
  const auto matrix =
      dense<TypeParam>(points, std::vector<TypeParam>(found.core_distances.begin(), found.core_distances.end()),
                       {.distance = metric::poincare});
  indices all(points.n);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(found.edges,
            reference::spanning_tree(all, [&](std::int64_t i, std::int64_t j) { return matrix[i * points.n + j]; }));
  test::on_other_devices(
      [&](const Device& device) { EXPECT_EQ(spanning_tree(points.view(), options, device).edges, found.edges); });
}

TYPED_TEST(hyperbolic, prediction_and_membership_are_those_of_the_reference) {
  const auto all = clusters_in_ball<TypeParam>(460, 6, 5);
  indices first(400), last(60);
  std::iota(first.begin(), first.end(), 0);
  std::iota(last.begin(), last.end(), 400);
  const auto fit = test::reordered(all, first), unseen = test::reordered(all, last);
  const cluster_result model =
      cluster(fit.view(), {.min_cluster_size = 6, .min_samples = 4, .distance = metric::poincare});
  ASSERT_GT(model.clusters(), 2);
  const auto found = approximate_predict(model, fit.view(), unseen.view());
  const auto vectors = membership_vectors(model, fit.view(), unseen.view());
  const reference::matrix distances = plain_distances(all);
  const reference::plain_tree tree(model);
  for (std::int64_t q = 0; q < unseen.n; ++q) {
    const std::vector<double> row(&distances(400 + q, 0), &distances(400 + q, 0) + 400);
    const auto joined = reference::join(row, model.core_distances, model.neighbours, 1, false);
    EXPECT_NEAR(found.lambdas[q] / joined.lambda, 1, test::data_bound<TypeParam>) << q;
    EXPECT_EQ(found.labels[q], reference::predict(tree, joined).label) << q;
    std::vector<double> nearest(model.clusters(), std::numeric_limits<double>::infinity());
    for (std::int64_t k = 0; k < model.clusters(); ++k)
      for (std::int64_t e = model.exemplars.offsets[k]; e < model.exemplars.offsets[k + 1]; ++e)
        nearest[k] = std::min(nearest[k], row[model.exemplars.points[e]]);
    const condensed_row place = tree.place(joined);
    const auto expected = reference::membership(tree, place.parent, place.lambda, nearest, true, false);
    test::expect_near(
        std::vector<double>(&vectors[q * model.clusters()], &vectors[q * model.clusters()] + expected.size()), expected,
        1e-5, 1);
  }
}

TYPED_TEST(hyperbolic, validity_and_medoids_are_those_of_the_reference) {
  const auto points = clusters_in_ball<TypeParam>(260, 4, 6);
  const indices labels = cluster(points.view(), {.min_cluster_size = 6, .distance = metric::poincare}).labels;
  const reference::matrix distances = plain_distances(points);
  const auto found = validity_index(points.view(), labels, {.distance = metric::poincare});
  EXPECT_NEAR(found.index, reference::validity_index(distances, labels, 4).index, test::data_bound<TypeParam>);
  const indices medoid = medoids(points.view(), labels, {}, metric::poincare);
  for (std::size_t k = 0; k < medoid.size(); ++k) {
    const auto total = [&](std::int64_t i) {
      long double sum = 0;
      for (std::int64_t j = 0; j < points.n; ++j) sum += labels[j] == std::int64_t(k) ? distances(i, j) : 0;
      return sum;
    };
    for (std::int64_t i = 0; i < points.n; ++i)
      EXPECT_TRUE(labels[i] != std::int64_t(k) || total(i) >= total(medoid[k]) * (1 - 1e-6)) << i;
  }
}

// c is a unit of length: points divided by sqrt(c) are sqrt(c) times nearer to each other.
TYPED_TEST(hyperbolic, curvature_is_a_unit_of_length) {
  const auto points = clusters_in_ball<TypeParam>(300, 8, 7), half_size = test::scaled(points, TypeParam(0.5));
  cluster_options options{.min_cluster_size = 6, .distance = metric::poincare};
  const auto expected = cluster(points.view(), options);
  options.distance.curvature = -4;
  const auto found = cluster(half_size.view(), options);
  EXPECT_EQ(found.labels, expected.labels);
  for (std::int64_t i = 0; i < points.n; ++i) EXPECT_EQ(2 * found.core_distances[i], expected.core_distances[i]) << i;
}

TYPED_TEST(hyperbolic, points_outside_the_ball_are_left_out) {
  auto points = clusters_in_ball<TypeParam>(200, 3, 8);
  points(7, 0) = 1, points(7, 1) = 0, points(7, 2) = 0;
  points(30, 1) = std::numeric_limits<TypeParam>::quiet_NaN();
  points(199, 2) = std::numeric_limits<TypeParam>::max();
  const auto found = cluster(points.view(), {.min_cluster_size = 6, .distance = metric::poincare});
  EXPECT_EQ(found.invalid_rows, (indices{7, 30, 199}));
  for (const std::int64_t i : found.invalid_rows) {
    EXPECT_EQ(found.labels[i], -1);
    EXPECT_EQ(found.outlier_scores[i], 1);
  }
  const auto matrix = dense<TypeParam>(points, {}, {.distance = metric::poincare});
  for (std::int64_t i = 0; i < points.n; ++i)
    for (const std::int64_t j : found.invalid_rows) ASSERT_TRUE(std::isnan(matrix[i * points.n + j])) << i;
}

TYPED_TEST(hyperbolic, wrong_arguments) {
  const auto points = clusters_in_ball<TypeParam>(20, 3, 9);
  for (const double curvature : {0.0, 1.0, -std::numeric_limits<double>::infinity()})
    expect_invalid(
        [&] { core_distances(points.view(), {.min_samples = 2, .distance = {metric::poincare, curvature}}); },
        "curvature must be < 0 and finite");
  expect_invalid(
      [&] {
        cluster(points.view(), {.min_cluster_size = 2, .min_samples = 2, .alpha = 1e6, .distance = metric::poincare});
      },
      "alpha must be smaller");
}

// Mammals of one family are near each other: an embedding of the WordNet nouns below "mammal".
TYPED_TEST(hyperbolic, mammals) {
  QUINTET_SKIP_WITHOUT(test::hyperbolic_folder());
  const auto points = test::mammals<TypeParam>();
  const cluster_options options{
      .min_cluster_size = 5, .method = selection::leaf, .min_samples = 3, .distance = metric::poincare};
  const auto found = cluster(points.view(), options), expected = brute_force(points, options);
  EXPECT_GT(expected.clusters(), 1);
  EXPECT_NEAR(found.spanning_tree_weight() / expected.spanning_tree_weight(), 1, test::data_bound<TypeParam>);
  EXPECT_EQ(test::canonical_labels(found.labels), test::canonical_labels(expected.labels));
}

}  // namespace
}  // namespace quintet::hdbscan
