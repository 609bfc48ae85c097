// Neighbours and clusters in the Lorentz model: against values of 130 digits to radius 40, and against distances
// computed one by one in long double nearer to the origin.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "quintet/hdbscan/hdbscan.hpp"
#include "quintet/hdbscan/medoids.hpp"
#include "quintet/hdbscan/mutual_reachability.hpp"
#include "quintet/hdbscan/prediction.hpp"
#include "quintet/hdbscan/validity.hpp"
#include "quintet/neighbours/index.hpp"
#include "reference/pairwise_reference.hpp"
#include "reference/prediction_reference.hpp"
#include "reference/spanning_tree_reference.hpp"
#include "reference/validity_reference.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/index_answers.hpp"
#include "support/listed_points.hpp"
#include "support/near.hpp"
#include "support/partition.hpp"
#include "support/points.hpp"

namespace quintet::hdbscan {
namespace {

using sheet_points = test::point_set<double>;

/// Groups of points of the sheet of curvature -c, of radii up to `radius` / sqrt(c).
sheet_points clusters_on_sheet(std::int64_t n, std::int64_t dim, std::uint64_t seed, double radius, double c = 1) {
  auto points = test::clustered_points<double>(n, dim, seed, 3);
  double largest = 0;
  const auto norm_of = [&](std::int64_t i) {
    double square = 0;
    for (std::int64_t k = 0; k < dim; ++k) square += points(i, k) * points(i, k);
    return std::sqrt(square);
  };
  for (std::int64_t i = 0; i < n; ++i) largest = std::max(largest, norm_of(i));
  for (std::int64_t i = 0; i < n; ++i) {
    const double norm = norm_of(i), factor = std::sinh(norm / largest * radius) / (norm * std::sqrt(c));
    for (std::int64_t k = 0; k < dim; ++k) points(i, k) *= factor;
  }
  return points;
}

std::vector<double> distance_matrix(const sheet_points& points, double curvature,
                                    const Device& device = Device::host()) {
  std::vector<double> matrix(points.n * points.n);
  mutual_reachability(points.view(), {}, {matrix.data(), points.n, points.n},
                      {.distance = {metric::lorentz, curvature}}, device);
  return matrix;
}

// 500 points of radii to 40 in groups: some a few roundings apart, some in the same direction.
TEST(lorentz_metric, neighbours_and_tree_of_the_data_to_radius_40) {
  const auto folder = test::data_folder("lorentz_sets");
  QUINTET_SKIP_WITHOUT(folder);
  const test::listed_points far(folder, 4);
  far.expect_neighbours(metric::lorentz, 6.5);
  far.expect_tree_everywhere(metric::lorentz);
}

TEST(lorentz_metric, every_search_of_an_index_has_the_same_bits) {
  const auto points = clusters_on_sheet(3000, 3, 11, 14), queries = clusters_on_sheet(200, 3, 12, 15);
  const auto lists = neighbours::nearest(queries.view(), points.view(), 7, {metric::lorentz}, Device::host());
  const double farthest = *std::max_element(lists.distance.begin(), lists.distance.end());
  test::expect_index_answers(queries.view(), points.view(), 7, metric::lorentz, farthest);
}

TEST(lorentz_metric, matrix_and_pairs_are_those_of_the_reference) {
  for (const double curvature : {-1.0, -0.3, -16.0})
    for (const std::int64_t dim : {1, 2, 10, 65}) {
      SCOPED_TRACE(::testing::Message() << dim << ", curvature " << curvature);
      const auto points = clusters_on_sheet(150, dim, 1, 8, -curvature);
      const reference::matrix expected =
          reference::distances(reference::widened(points.view()), {metric::lorentz, curvature});
      const auto found = distance_matrix(points, curvature);
      double worst = 0;
      for (std::size_t e = 0; e < found.size(); ++e)
        worst =
            std::max(worst, double(std::fabs(found[e] - expected.data()[e]) / std::fmax(expected.data()[e], 1e-3L)));
      test::expect_error_within("distances" + std::to_string(dim), worst, 1e-14);
      std::vector<std::int64_t> pairs;
      for (std::int64_t i = 0; i < points.n; ++i)
        for (std::int64_t j = 0; j < points.n; ++j) pairs.insert(pairs.end(), {i, j});
      test::expect_same_bits(
          mutual_reachability_pairs<double>(points.view(), {}, {pairs.data(), points.n * points.n, 2},
                                            {.distance = {metric::lorentz, curvature}}),
          found);
      test::on_other_devices(
          [&](const Device& device) { test::expect_same_bits(distance_matrix(points, curvature, device), found); });
    }
}

// More than 1024 points are put into an order of their own first; in few dimensions there is a tree of blocks.
TEST(lorentz_metric, the_spanning_tree_is_the_unique_one_on_every_device) {
  for (const auto& [n, dim] : {std::pair<std::int64_t, std::int64_t>{1100, 3}, {1100, 40}}) {
    const auto points = clusters_on_sheet(n, dim, 4, 12);
    const spanning_tree_options options{.min_samples = 3, .distance = metric::lorentz};
    const auto found = spanning_tree(points.view(), options, Device::host());
    const auto distances = distance_matrix(points, -1);
    std::vector<std::int64_t> all(points.n);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(found.edges, reference::spanning_tree(all, [&](std::int64_t i, std::int64_t j) {
                return std::max({found.core_distances[i], found.core_distances[j], distances[i * points.n + j]});
              }));
    test::on_other_devices(
        [&](const Device& device) { EXPECT_EQ(spanning_tree(points.view(), options, device).edges, found.edges); });
  }
}

TEST(lorentz_metric, prediction_validity_and_medoids_are_those_of_the_reference) {
  const auto all = clusters_on_sheet(460, 6, 5, 7);
  std::vector<std::int64_t> first(400), last(60);
  std::iota(first.begin(), first.end(), 0);
  std::iota(last.begin(), last.end(), 400);
  const auto fit = test::reordered(all, first), unseen = test::reordered(all, last);
  const cluster_result model =
      cluster(fit.view(), {.min_cluster_size = 6, .min_samples = 4, .distance = metric::lorentz});
  ASSERT_GT(model.clusters(), 2);
  const reference::matrix distances = reference::distances(reference::widened(all.view()), metric::lorentz);
  const auto found = approximate_predict(model, fit.view(), unseen.view());
  const reference::plain_tree tree(model);
  for (std::int64_t q = 0; q < unseen.n; ++q) {
    const std::vector<double> row(&distances(400 + q, 0), &distances(400 + q, 0) + 400);
    const auto joined = reference::join(row, model.core_distances, model.neighbours, 1, false);
    EXPECT_NEAR(found.lambdas[q] / joined.lambda, 1, 1e-12) << q;
    EXPECT_EQ(found.labels[q], reference::predict(tree, joined).label) << q;
  }
  const reference::matrix of_fit = reference::distances(reference::widened(fit.view()), metric::lorentz);
  EXPECT_NEAR(validity_index(fit.view(), model.labels, {.distance = metric::lorentz}).index,
              reference::validity_index(of_fit, model.labels, 6).index, 1e-9);
  const auto medoid = medoids(fit.view(), model.labels, {}, metric::lorentz);
  for (std::size_t k = 0; k < medoid.size(); ++k) {
    const auto total = [&](std::int64_t i) {
      long double sum = 0;
      for (std::int64_t j = 0; j < fit.n; ++j) sum += model.labels[j] == std::int64_t(k) ? of_fit(i, j) : 0;
      return sum;
    };
    for (std::int64_t i = 0; i < fit.n; ++i)
      EXPECT_TRUE(model.labels[i] != std::int64_t(k) || total(i) >= total(medoid[k]) * (1 - 1e-12)) << i;
  }
}

TEST(lorentz_metric, points_that_cannot_be_used) {
  auto points = clusters_on_sheet(200, 3, 8, 6);
  points(7, 0) = std::numeric_limits<double>::quiet_NaN();
  points(30, 1) = std::numeric_limits<double>::infinity();
  const auto found = cluster(points.view(), {.min_cluster_size = 6, .distance = metric::lorentz});
  EXPECT_EQ(found.invalid_rows, (std::vector<std::int64_t>{7, 30}));
  for (const double far : {0x1.2p64, 1e200, std::numeric_limits<double>::max()}) {
    points(9, 2) = far;
    expect_invalid([&] { cluster(points.view(), {.distance = metric::lorentz}); }, "points[9] must be of norm <= 1.8");
  }
  const auto rounded = test::clustered_points<float>(20, 3, 1);
  expect_invalid([&] { cluster(rounded.view(), {.distance = metric::lorentz}); },
                 "points must be double with metric lorentz (points=float32)");
  expect_invalid([&] { neighbours::index<float>(rounded.view(), {.distance = metric::lorentz}); },
                 "points must be double with metric lorentz (points=float32)");
  for (const double curvature : {0.0, 1.0, -std::numeric_limits<double>::infinity()})
    expect_invalid([&] { cluster(points.view(), {.distance = {metric::lorentz, curvature}}); },
                   "curvature must be < 0 and finite");
}

}  // namespace
}  // namespace quintet::hdbscan
