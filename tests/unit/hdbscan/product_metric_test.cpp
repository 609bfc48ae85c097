// Neighbours and clusters in products of spaces: against values of 110 digits, with lorentz parts to radius 40, and
// against distances computed one by one in 113 bits nearer to the origin.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "quintet/hdbscan/hdbscan.hpp"
#include "quintet/hdbscan/medoids.hpp"
#include "quintet/hdbscan/mutual_reachability.hpp"
#include "quintet/hdbscan/prediction.hpp"
#include "quintet/hdbscan/sweep.hpp"
#include "quintet/hdbscan/validity.hpp"
#include "quintet/neighbours/index.hpp"
#include "quintet/poincare/product.hpp"
#include "reference/pairwise_reference.hpp"
#include "reference/prediction_reference.hpp"
#include "reference/spanning_tree_reference.hpp"
#include "reference/validity_reference.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/index_answers.hpp"
#include "support/listed_points.hpp"
#include "support/near.hpp"
#include "support/points.hpp"

namespace quintet::hdbscan {
namespace {

using product::geometry;
using product_points = test::point_set<double>;

/// Of points of 14 numbers.
const product_space five_factors{{geometry::stereographic, 3, -1.5, 1},
                                 {geometry::lorentz, 4, -1, 0.25},
                                 {geometry::sphere, 3, 0.5, 2},
                                 {geometry::euclidean, 2, 0, 0.5},
                                 {geometry::stereographic, 2, 0.8, 1}};

const std::vector<product_space> product_spaces{
    five_factors,
    {{geometry::euclidean, 3}},
    {{geometry::sphere, 4, 2.5}},
    {{geometry::stereographic, 3, 0, 3}},
    {{geometry::stereographic, 2, 1e-3}, {geometry::stereographic, 2, -1e-3}},
    {{geometry::lorentz, 33, -0.3, 1e-3}, {geometry::lorentz, 1, -9, 50}},
};

std::int64_t columns_of(const product_space& space) {
  std::int64_t sum = 0;
  for (const product::factor& f : space.factors()) sum += f.dim;
  return sum;
}

/// Groups of points in every factor.
product_points clusters_in_product(const product_space& space, std::int64_t n, std::uint64_t seed) {
  auto points = test::clustered_points<double>(n, columns_of(space), seed, 3);
  std::int64_t first = 0;
  for (const product::factor& f : space.factors()) {
    double largest = 0;
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t k = 0; k < f.dim; ++k) largest = std::max(largest, std::fabs(points(i, first + k)));
    // Inside the ball for certain; of radius up to some 8 on the hyperboloid.
    const double root = f.curvature == 0 ? 1 : std::sqrt(std::fabs(f.curvature));
    const double size = f.kind == geometry::lorentz ? 1500 : 0.95 / std::sqrt(double(f.dim));
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t k = 0; k < f.dim; ++k) points(i, first + k) *= size / (largest * root);
    first += f.dim;
  }
  return points;
}

std::vector<double> product_matrix(const product_points& points, const product_space& space,
                                   const Device& device = Device::host()) {
  std::vector<double> matrix(points.n * points.n);
  mutual_reachability(points.view(), {}, {matrix.data(), points.n, points.n}, {.distance = space}, device);
  return matrix;
}

TEST(product_metric, neighbours_and_tree_of_the_data_to_radius_40) {
  const auto folder = test::data_folder("product_sets");
  QUINTET_SKIP_WITHOUT(folder);
  const test::listed_points far(folder, 14);
  far.expect_neighbours(five_factors, 1.5);
  far.expect_tree_everywhere(five_factors);
}

TEST(product_metric, matrix_and_pairs_are_those_of_the_reference) {
  for (std::size_t s = 0; s < product_spaces.size(); ++s) {
    SCOPED_TRACE(to_string(product_spaces[s]));
    const auto points = clusters_in_product(product_spaces[s], 130, 1 + s);
    const reference::matrix expected = reference::distances(reference::widened(points.view()), product_spaces[s]);
    const auto found = product_matrix(points, product_spaces[s]);
    double worst = 0;
    for (std::size_t e = 0; e < found.size(); ++e)
      worst = std::max(worst, double(std::fabs(found[e] - expected.data()[e]) / std::fmax(expected.data()[e], 1e-3L)));
    test::expect_error_within("distances" + std::to_string(s), worst, 2e-15);
    std::vector<std::int64_t> pairs;
    for (std::int64_t i = 0; i < points.n; ++i)
      for (std::int64_t j = 0; j < points.n; ++j) pairs.insert(pairs.end(), {i, j});
    test::expect_same_bits(mutual_reachability_pairs<double>(points.view(), {}, {pairs.data(), points.n * points.n, 2},
                                                             {.distance = product_spaces[s]}),
                           found);
    test::on_other_devices([&](const Device& device) {
      test::expect_same_bits(product_matrix(points, product_spaces[s], device), found);
    });
  }
}

TEST(product_metric, every_search_of_an_index_has_the_same_bits) {
  const auto points = clusters_in_product(five_factors, 700, 11), queries = clusters_in_product(five_factors, 130, 12);
  const auto lists = neighbours::nearest(queries.view(), points.view(), 7, {five_factors}, Device::host());
  const double farthest = *std::max_element(lists.distance.begin(), lists.distance.end());
  test::expect_index_answers(queries.view(), points.view(), 7, five_factors, farthest);
}

TEST(product_metric, points_of_one_factor_have_its_neighbours) {
  const auto points = test::clustered_points<double>(300, 5, 3, 3);
  for (const auto& [space, other] :
       {std::pair<product_space, point_metric>{{{geometry::euclidean, 5}}, metric::euclidean},
        {{{geometry::sphere, 5, 1}}, metric::cosine},
        {{{geometry::lorentz, 5, -2}}, {metric::lorentz, -2}}}) {
    const auto found = neighbours::nearest(points.view(), 5, {space}, Device::host());
    EXPECT_EQ(found.index, neighbours::nearest(points.view(), 5, {other}, Device::host()).index) << to_string(space);
  }
}

// More than 1024 points are put into an order of their own first.
TEST(product_metric, the_spanning_tree_is_the_unique_one_on_every_device) {
  const auto points = clusters_in_product(five_factors, 1100, 4);
  const spanning_tree_options options{.min_samples = 3, .distance = five_factors};
  const auto found = spanning_tree(points.view(), options, Device::host());
  const auto distances = product_matrix(points, five_factors);
  std::vector<std::int64_t> all(points.n);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(found.edges, reference::spanning_tree(all, [&](std::int64_t i, std::int64_t j) {
              return std::max({found.core_distances[i], found.core_distances[j], distances[i * points.n + j]});
            }));
  test::on_other_devices(
      [&](const Device& device) { EXPECT_EQ(spanning_tree(points.view(), options, device).edges, found.edges); });
}

TEST(product_metric, prediction_validity_medoids_and_sweep_are_those_of_the_reference) {
  const auto all = clusters_in_product(five_factors, 360, 5);
  std::vector<std::int64_t> first(300), last(60);
  std::iota(first.begin(), first.end(), 0);
  std::iota(last.begin(), last.end(), 300);
  const auto fit = test::reordered(all, first), unseen = test::reordered(all, last);
  const cluster_result model = cluster(fit.view(), {.min_cluster_size = 6, .min_samples = 4, .distance = five_factors});
  ASSERT_GT(model.clusters(), 2);
  const reference::matrix distances = reference::distances(reference::widened(all.view()), five_factors);
  const auto found = approximate_predict(model, fit.view(), unseen.view());
  const reference::plain_tree tree(model);
  for (std::int64_t q = 0; q < unseen.n; ++q) {
    const std::vector<double> row(&distances(300 + q, 0), &distances(300 + q, 0) + 300);
    const auto joined = reference::join(row, model.core_distances, model.neighbours, 1, false);
    EXPECT_NEAR(found.lambdas[q] / joined.lambda, 1, 1e-12) << q;
    EXPECT_EQ(found.labels[q], reference::predict(tree, joined).label) << q;
  }
  const reference::matrix of_fit = reference::distances(reference::widened(fit.view()), five_factors);
  EXPECT_NEAR(validity_index(fit.view(), model.labels, {.distance = five_factors}).index,
              reference::validity_index(of_fit, model.labels, 14).index, 1e-9);
  const auto medoid = medoids(fit.view(), model.labels, {}, five_factors);
  for (std::size_t k = 0; k < medoid.size(); ++k) {
    const auto total = [&](std::int64_t i) {
      long double sum = 0;
      for (std::int64_t j = 0; j < fit.n; ++j) sum += model.labels[j] == std::int64_t(k) ? of_fit(i, j) : 0;
      return sum;
    };
    for (std::int64_t i = 0; i < fit.n; ++i)
      EXPECT_TRUE(model.labels[i] != std::int64_t(k) || total(i) >= total(medoid[k]) * (1 - 1e-12)) << i;
  }
  const auto swept = sweep(fit.view(), {.min_samples = {4}, .min_cluster_size = {6}, .distance = five_factors});
  EXPECT_TRUE(std::equal(swept.labels.begin(), swept.labels.end(), model.labels.begin(), model.labels.end()));
}

TEST(product_metric, points_that_cannot_be_used) {
  auto points = clusters_in_product(five_factors, 100, 8);
  points(7, 0) = std::numeric_limits<double>::quiet_NaN();
  points(30, 11) = std::numeric_limits<double>::infinity();
  points(31, 1) = 5;
  for (const std::int64_t k : {7, 8, 9}) points(40, k) = 0;
  const auto found = cluster(points.view(), {.min_cluster_size = 6, .distance = five_factors});
  EXPECT_EQ(found.invalid_rows, (std::vector<std::int64_t>{7, 30, 31, 40}));
  for (const std::int64_t k : {4, 10, 13}) {
    auto far = points;
    far(9, k) = 1e200;
    expect_invalid([&] { cluster(far.view(), {.distance = five_factors}); }, "points[9] must be within 2^64");
  }
  expect_invalid([&] { cluster(points.view(), {.distance = product_space{{geometry::sphere, 13, 1}}}); },
                 "points.cols must be the sum of the dimensions, 13 (points.cols=14)");
  expect_invalid([&] { cluster(points.view(), {.distance = metric::product}); }, "space.size must be >= 1");
  expect_invalid([&] { cluster(points.view(), {.distance = product_space{{geometry::lorentz, 14, 1}}}); },
                 "space[0].curvature must be negative");
  expect_invalid([&] { cluster(points.view(), {.distance = product_space{{geometry::euclidean, 14, 0, 1e31}}}); },
                 "space[0].weight must be in [1e-30, 1e30] with metric product");
  expect_invalid([] { product_space(std::vector<product::factor>(17, {geometry::euclidean, 1})); },
                 "factors.size must be at most 16");
  expect_invalid([&] { weighted_centroids(points.view(), found.labels, {}, five_factors); },
                 "points of products have no mean: medoids() chooses among them");
  const auto rounded = test::clustered_points<float>(20, 14, 1);
  expect_invalid([&] { cluster(rounded.view(), {.distance = five_factors}); },
                 "points must be double with metric product (points=float32)");
}

}  // namespace
}  // namespace quintet::hdbscan
