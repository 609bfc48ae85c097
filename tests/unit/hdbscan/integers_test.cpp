// Clustering of rows of integers: against whole matrices of distances, and against the same numbers as double.
#include "quintet/pairwise/packed_integers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "quintet/hdbscan/core_distances.hpp"
#include "quintet/hdbscan/hdbscan.hpp"
#include "quintet/hdbscan/medoids.hpp"
#include "quintet/hdbscan/membership.hpp"
#include "quintet/hdbscan/mutual_reachability.hpp"
#include "quintet/hdbscan/precomputed.hpp"
#include "quintet/hdbscan/prediction.hpp"
#include "quintet/hdbscan/predictor.hpp"
#include "quintet/hdbscan/sweep.hpp"
#include "quintet/hdbscan/validity.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/integer_rows.hpp"

namespace quintet::hdbscan {
namespace {

using test::clustered_integers;
using test::integer_set;

constexpr metric distances_of_integers[] = {metric::integer_euclidean, metric::integer_cosine};

/// Distances as the library has them, which others are compared with bit by bit; checked against plain ones.
std::vector<double> matrix_of(const integer_set& rows, metric kind) {
  std::vector<double> d(rows.n * rows.n);
  mutual_reachability(rows.points(), {}, {d.data(), rows.n, rows.n}, {.distance = rows.packed.distance(kind)},
                      Device::host());
  for (std::int64_t i = 0; i < rows.n; ++i)
    for (std::int64_t j = 0; j < rows.n; ++j) {
      const double expected = i == j ? 0 : test::integer_distance(rows, i, rows, j, kind);
      EXPECT_NEAR(d[i * rows.n + j], expected, 3e-16 * expected) << i << ", " << j;
    }
  return d;
}

TEST(integer_clustering, clusters_are_those_of_the_matrix) {
  for (const std::int64_t n : {150, 1100}) {
    const integer_set rows = clustered_integers(n, 21, 11);
    for (const metric kind : distances_of_integers) {
      const std::vector<double> d = matrix_of(rows, kind);
      const cluster_options settings{.min_cluster_size = 8, .min_samples = 4, .distance = rows.packed.distance(kind)};
      cluster_options of_matrix = settings;
      of_matrix.distance = metric::euclidean;
      of_matrix.tie_tolerance = 0;
      const auto expected = cluster_distances(matrix_view<const double>(d.data(), n, n), of_matrix);
      ASSERT_GT(expected.clusters(), 2);
      test::on_every_device([&](const Device& device) {
        const auto found = cluster(rows.points(), settings, device);
        EXPECT_EQ(found.labels, expected.labels);
        EXPECT_EQ(found.probabilities, expected.probabilities);
        EXPECT_EQ(found.outlier_scores, expected.outlier_scores);
        EXPECT_EQ(found.core_distances, expected.core_distances);
      });
      for (const int threads : {1, 3}) {
        set_threads(threads);
        EXPECT_EQ(cluster(rows.points(), settings, Device::host()).labels, expected.labels);
      }
      set_threads(0);
    }
  }
}

TEST(integer_clustering, euclidean_results_are_those_of_double) {
  const integer_set rows = clustered_integers(420, 18, 3, 5);
  const std::vector<double> numbers(rows.values.begin(), rows.values.end());
  const matrix_view<const double> points(numbers.data(), rows.n, rows.dim);
  const point_metric distance = rows.packed.distance(metric::integer_euclidean);
  const auto of_double = [&](auto options) {
    options.distance = metric::euclidean;
    options.tie_tolerance = 0;
    return options;
  };
  const cluster_options settings{.min_cluster_size = 6, .min_samples = 4, .distance = distance};
  const auto fit = rows.points(0, 400), unseen = rows.points(400, 420);
  const cluster_result model = cluster(fit, settings);
  const cluster_result expected = cluster(points.slice(0, 400), of_double(settings));
  ASSERT_GT(model.clusters(), 2);
  EXPECT_EQ(model.labels, expected.labels);
  EXPECT_EQ(model.core_distances, expected.core_distances);
  EXPECT_EQ(approximate_predict(model, fit, unseen).labels,
            approximate_predict(expected, points.slice(0, 400), points.slice(400, 420)).labels);
  EXPECT_EQ(predictor(model, fit).predict(unseen).lambdas, approximate_predict(model, fit, unseen).lambdas);
  EXPECT_EQ(membership_vectors(model, fit, unseen),
            membership_vectors(expected, points.slice(0, 400), points.slice(400, 420)));
  EXPECT_EQ(medoids(fit, model.labels, {}, distance), medoids(points.slice(0, 400), model.labels));
  EXPECT_EQ(weighted_centroids(fit, model.labels, {}, distance),
            weighted_centroids(points.slice(0, 400), model.labels));
  EXPECT_EQ(validity_index(fit, model.labels, {.distance = distance}).index,
            validity_index(points.slice(0, 400), model.labels, {}).index);
  const auto swept = sweep(fit, {.min_samples = {2, 5}, .min_cluster_size = {5, 12}, .distance = distance});
  EXPECT_EQ(swept.labels, sweep(points.slice(0, 400), {.min_samples = {2, 5}, .min_cluster_size = {5, 12}}).labels);
}

TEST(integer_clustering, rows_of_zeros_have_no_cosine) {
  std::vector<std::int8_t> values = clustered_integers(200, 12, 4).values;
  std::fill_n(values.begin() + 30 * 12, 12, std::int8_t(0));
  const integer_set rows(std::move(values), 12);
  const auto found = cluster(rows.points(), {.distance = rows.packed.distance(metric::integer_cosine)});
  EXPECT_EQ(found.invalid_rows, std::vector<std::int64_t>{30});
  EXPECT_EQ(found.labels[30], -1);
}

TEST(integer_clustering, inner_products_are_no_distances) {
  const integer_set rows = clustered_integers(50, 12, 4);
  const point_metric distance = rows.packed.distance(metric::integer_inner_product);
  const std::string refused =
      "metric must be a distance here (metric=integer_inner_product): integer_inner_product is for "
      "neighbours alone";
  const std::vector<std::int64_t> labels(50, 0);
  std::vector<double> out(50 * 50);
  expect_invalid([&] { cluster(rows.points(), {.distance = distance}); }, refused);
  expect_invalid([&] { sweep(rows.points(), {.min_samples = {2}, .distance = distance}); }, refused);
  expect_invalid([&] { core_distances(rows.points(), {.distance = distance}); }, refused);
  expect_invalid([&] { medoids(rows.points(), labels, {}, distance); }, refused);
  expect_invalid([&] { weighted_centroids(rows.points(), labels, {}, distance); }, refused);
  expect_invalid([&] { validity_index(rows.points(), labels, {.distance = distance}); }, refused);
  expect_invalid([&] { mutual_reachability(rows.points(), {}, {out.data(), 50, 50}, {.distance = distance}); },
                 refused);
}

}  // namespace
}  // namespace quintet::hdbscan
