// The exact spanning tree: against Prim's algorithm, on ties, on rows that are left out, whatever computes it.
#include "quintet/hdbscan/spanning_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "pairwise/pairs.hpp"
#include "reference/pairwise_reference.hpp"
#include "reference/spanning_tree_reference.hpp"
#include "support/dense_matrix.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/near.hpp"
#include "support/points.hpp"
#include "support/random_tree.hpp"
#include "support/real_types.hpp"

namespace quintet::hdbscan {
namespace {

template <class Real>
class spanning_tree_of : public ::testing::Test {};
TYPED_TEST_SUITE(spanning_tree_of, test::real_types);

using test::clustered_points;
using test::grid_points;
using test::point_set;
using rows = std::vector<std::int64_t>;

spanning_tree_options neighbours(std::int64_t k, metric kind = metric::euclidean, double alpha = 1) {
  return {.min_samples = k, .distance = kind, .alpha = alpha};
}

rows rows_without(std::int64_t n, const rows& left_out) {
  rows kept;
  for (std::int64_t i = 0; i < n; ++i)
    if (std::find(left_out.begin(), left_out.end(), i) == left_out.end()) kept.push_back(i);
  return kept;
}

std::vector<double> weights_of(const std::vector<edge>& edges) {
  std::vector<double> weights;
  for (const edge& e : edges) weights.push_back(e.weight);
  return weights;
}

std::vector<edge> tree_of(const reference::matrix& weights, const rows& vertices) {
  return reference::spanning_tree(vertices, [&](std::int64_t i, std::int64_t j) { return weights(i, j); });
}

// A minimum spanning tree of the matrix that mutual_reachability() gives.
template <class Real>
std::vector<edge> tree_of_matrix(const point_set<Real>& points, const spanning_tree_options& options) {
  const auto core = core_distances(points.view(), options, Device::host()).distances;
  const auto matrix = test::dense_matrix(points.view(), core, {.alpha = options.alpha, .distance = options.distance});
  return tree_of(reference::widened(matrix_view<const Real>(matrix.data(), points.n, points.n)),
                 rows_without(points.n, {}));
}

// The reduced distances of all pairs: what distances are made of, and what decides between edges (pairwise/metric.hpp).
template <class Real>
reference::matrix all_reduced_distances(const point_set<Real>& points, const pairwise::scanned_points<Real>& scan) {
  rows pairs;
  for (std::int64_t i = 0; i < points.n; ++i)
    for (std::int64_t j = 0; j < points.n; ++j) pairs.insert(pairs.end(), {i, j});
  std::vector<Real> values(pairs.size() / 2);
  pairwise::reduced_pairs<Real>(scan, {pairs.data(), std::int64_t(values.size()), 2}, values.data());
  return reference::widened(matrix_view<const Real>(values.data(), points.n, points.n));
}

// The tree that is unique under the order (reduced distance, u, v), for alpha = 1, with the weights of distances.
template <class Real>
std::vector<edge> unique_tree(const point_set<Real>& points, const spanning_tree_options& options) {
  const pairwise::scanned_points<Real> scan(points.view(), options.distance, Device::host());
  const reference::matrix reduced = all_reduced_distances(points, scan);
  rows valid;
  for (std::int64_t i = 0; i < points.n; ++i)
    if (scan.valid(i)) valid.push_back(i);
  const std::int64_t k = std::min(options.min_samples, std::int64_t(valid.size()) - 1);
  std::vector<edge> edges =
      tree_of(reference::mutual_reachability(reduced, reference::core_distances(reduced, k), 1), valid);
  for (edge& e : edges) e.weight = scan.measure.distance(Real(e.weight));
  std::sort(edges.begin(), edges.end());
  return edges;
}

// The same in long double from the points alone.
template <class Real>
std::vector<edge> reference_tree(const point_set<Real>& points, const spanning_tree_options& options) {
  const auto distances = reference::distances(reference::widened(points.view()), options.distance);
  const auto core = reference::core_distances(distances, std::min(options.min_samples, points.n - 1));
  const auto matrix = reference::mutual_reachability(distances, core, options.alpha);
  return tree_of(matrix, rows_without(points.n, {}));
}

// Edges, order, weights, total: everything at once.
template <class Real>
void expect_unique_tree(const point_set<Real>& points, const spanning_tree_options& options,
                        const Device& device = Device::host()) {
  EXPECT_EQ(spanning_tree(points.view(), options, device).edges, unique_tree(points, options));
}

TYPED_TEST(spanning_tree_of, points_has_the_weights_of_the_reference) {
  for (const std::int64_t dim : {1, 3, 17, 64, 384, 512, 768, 1536})
    for (const metric kind : {metric::euclidean, metric::cosine}) {
      if (dim == 1 && kind == metric::cosine) continue;  // all distances are 0 or 2
      SCOPED_TRACE(::testing::Message() << dim << " " << to_string(kind));
      const auto points = clustered_points<TypeParam>(130, dim, 1, 4);
      for (const std::int64_t k : {0, 5}) {
        const auto found = spanning_tree(points.view(), neighbours(k, kind));
        const auto expected = reference_tree(points, neighbours(k, kind));
        const std::string title = std::string(to_string(kind)) + std::to_string(dim) + "_k" + std::to_string(k);
        test::expect_error_within(title, test::largest_error(weights_of(found.edges), weights_of(expected)),
                                  test::data_bound<TypeParam>);
        double total = 0;
        for (const edge& e : expected) total += e.weight;
        EXPECT_NEAR(found.total_weight() / total, 1, test::data_bound<TypeParam>);
      }
    }
}

TYPED_TEST(spanning_tree_of, points_on_a_sphere_has_the_weights_of_the_reference) {
  const auto all = test::sphere_points<TypeParam>(130, 2);
  std::vector<std::int64_t> on_sphere;
  for (std::int64_t i = 0; i < all.n; ++i)
    if (std::fabs(all(i, 0)) <= 90 && std::fabs(all(i, 1)) <= 360) on_sphere.push_back(i);
  const auto points = test::reordered(all, on_sphere);
  for (const double alpha : {1.0, 1.3}) {
    const spanning_tree_options options{.min_samples = 5, .distance = {metric::haversine, 6371}, .alpha = alpha};
    EXPECT_EQ(spanning_tree(all.view(), options).invalid_rows.size(), std::size_t(all.n - points.n));
    const auto found = spanning_tree(points.view(), options);
    test::expect_error_within("haversine",
                              test::largest_error(weights_of(found.edges), weights_of(reference_tree(points, options))),
                              8 * std::numeric_limits<TypeParam>::epsilon());
  }
}

TYPED_TEST(spanning_tree_of, points_in_any_norm_has_the_weights_of_the_reference) {
  for (const point_metric& distance : {point_metric(metric::manhattan), point_metric(metric::chebyshev),
                                       point_metric(metric::minkowski, 1.5), point_metric(metric::minkowski, 4)})
    for (const std::int64_t dim : {2, 40}) {
      SCOPED_TRACE(to_string(distance));
      const auto points = clustered_points<TypeParam>(130, dim, 1, 4);
      for (const double alpha : {1.0, 1.3}) {
        const spanning_tree_options options{.min_samples = 5, .distance = distance, .alpha = alpha};
        const auto found = spanning_tree(points.view(), options);
        test::expect_error_within(
            to_string(distance),
            test::largest_error(weights_of(found.edges), weights_of(reference_tree(points, options))),
            test::data_bound<TypeParam>);
        if (alpha == 1) expect_unique_tree(points, options);
      }
    }
}

TYPED_TEST(spanning_tree_of, points_is_the_unique_one) {
  for (const std::int64_t n : {2, 3, 64, 95, 96, 97, 193, 400})
    for (const std::int64_t k : {0, 1, 5, 30}) {
      SCOPED_TRACE(::testing::Message() << n << ", k = " << k);
      expect_unique_tree(clustered_points<TypeParam>(n, 2, 2), neighbours(k));
      expect_unique_tree(clustered_points<TypeParam>(n, 20, 3, 1), neighbours(k, metric::cosine));
    }
}

// Grids, where all is tied, and duplicates: the order of indices decides.
TYPED_TEST(spanning_tree_of, ties_is_the_unique_one) {
  for (const std::int64_t n : {10, 97, 300})
    for (const std::int64_t values : {1, 2, 3, 6, 20})
      for (const std::int64_t k : {0, 1, 4, 40})
        for (const std::int64_t dim : {1, 2, 5}) {
          SCOPED_TRACE(::testing::Message() << n << " x " << dim << " of " << values << " values, k = " << k);
          expect_unique_tree(grid_points<TypeParam>(n, dim, values, 4), neighbours(k));
        }
}

// From 1024 points on they are reordered, and rounds prune tiles.
TYPED_TEST(spanning_tree_of, many_points_is_the_unique_one) {
  for (const std::int64_t k : {0, 5}) {
    expect_unique_tree(clustered_points<TypeParam>(1200, 4, 5), neighbours(k));
    expect_unique_tree(grid_points<TypeParam>(1100, 3, 9, 5), neighbours(k));
  }
}

TYPED_TEST(spanning_tree_of, a_line_of_far_groups_is_the_unique_one) {
  // Groups larger than a list, ever farther apart: each edge between groups is outside all lists.
  point_set<TypeParam> points(40 * 30, 2);
  std::mt19937_64 random(6);
  for (std::int64_t i = 0; i < points.n; ++i) {
    points(i, 0) = TypeParam((i % 40) * (i % 40) * 50 + std::int64_t(random() % 16));
    points(i, 1) = TypeParam(random() % 16);
  }
  for (const std::int64_t k : {0, 5}) expect_unique_tree(points, neighbours(k));
}

TYPED_TEST(spanning_tree_of, all_points_equal_is_the_chain_of_ties) {
  const auto points = grid_points<TypeParam>(150, 3, 1, 7);
  std::vector<edge> expected;
  for (std::int64_t i = 1; i < 150; ++i) expected.push_back({0, i, 0});
  test::on_every_device(
      [&](const Device& device) { EXPECT_EQ(spanning_tree(points.view(), neighbours(5), device).edges, expected); });
}

// Two squares of distances whose roots are the same float: the smaller square wins, the weight is the same.
TEST(spanning_tree, weights_that_differ_only_before_the_root) {
  std::mt19937_64 random(8);
  std::uniform_real_distribution<float> near_one(0.999999f, 1.000001f);
  int seen = 0;
  for (int attempt = 0; attempt < 2000; ++attempt) {
    // A triangle with two long sides of nearly one length.
    point_set<float> points(3, 2);
    points.data = {0, 0, 0.3f, near_one(random), -0.3f, near_one(random)};
    const auto found = spanning_tree(points.view(), neighbours(0)).edges;
    ASSERT_EQ(found, unique_tree(points, neighbours(0)));
    ASSERT_EQ(weights_of(found), weights_of(tree_of_matrix(points, neighbours(0))));
    seen += found != tree_of_matrix(points, neighbours(0));
  }
  EXPECT_GT(seen, 0);
}

TYPED_TEST(spanning_tree_of, alpha_is_minimal) {
  for (const double alpha : {0.5, 1.3, 10.0})
    for (const metric kind : {metric::euclidean, metric::cosine}) {
      SCOPED_TRACE(::testing::Message() << alpha << " " << to_string(kind));
      const auto points = clustered_points<TypeParam>(300, 6, 9);
      const auto options = neighbours(5, kind, alpha);
      const auto found = spanning_tree(points.view(), options);
      test::expect_near(weights_of(found.edges), weights_of(tree_of_matrix(points, options)),
                        4 * std::numeric_limits<TypeParam>::epsilon());
      test::expect_near(weights_of(found.edges), weights_of(reference_tree(points, options)),
                        test::data_bound<TypeParam>);
    }
}

// Weights are what the matrix holds, also for alpha != 1.
TYPED_TEST(spanning_tree_of, weights_have_the_bits_of_the_matrix) {
  for (const double alpha : {1.0, 0.7, 3.0}) {
    const auto points = clustered_points<TypeParam>(150, 5, 10);
    const auto options = neighbours(4, metric::euclidean, alpha);
    const auto matrix =
        test::dense_matrix(points.view(), core_distances(points.view(), options).distances, {.alpha = alpha});
    for (const edge& e : spanning_tree(points.view(), options).edges) ASSERT_EQ(e.weight, matrix[e.u * points.n + e.v]);
  }
}

TYPED_TEST(spanning_tree_of, every_device_is_the_same) {
  test::on_other_devices([](const Device& device) {
    for (const std::int64_t n : {2, 65, 200})
      for (const metric kind : {metric::euclidean, metric::cosine}) {
        expect_unique_tree(clustered_points<TypeParam>(n, 5, 11, 2), neighbours(3, kind), device);
        expect_unique_tree(grid_points<TypeParam>(n, 3, 4, 11), neighbours(3), device);
      }
  });
}

TYPED_TEST(spanning_tree_of, many_points_on_another_device_is_the_same) {
  const auto points = clustered_points<TypeParam>(1100, 3, 12);
  const auto expected = spanning_tree(points.view(), neighbours(4), Device::host());
  test::on_other_devices([&](const Device& device) {
    const auto found = spanning_tree(points.view(), neighbours(4), device);
    EXPECT_EQ(found.edges, expected.edges);
    test::expect_same_bits(found.core_distances, expected.core_distances);
  });
}

TYPED_TEST(spanning_tree_of, any_number_of_threads_is_the_same) {
  for (const auto& points : {clustered_points<TypeParam>(1200, 8, 13), grid_points<TypeParam>(1200, 3, 8, 13)}) {
    const auto expected = spanning_tree(points.view(), neighbours(5), Device::host());
    for (const int count : {1, 2, 5}) {
      set_threads(count);
      const auto found = spanning_tree(points.view(), neighbours(5), Device::host());
      EXPECT_EQ(found.edges, expected.edges);
      test::expect_same_bits(found.core_distances, expected.core_distances);
    }
    set_threads(0);
  }
}

TYPED_TEST(spanning_tree_of, permuted_points_has_the_same_weights) {
  std::mt19937_64 random(14);
  for (const auto& points : {clustered_points<TypeParam>(300, 4, 14), grid_points<TypeParam>(300, 3, 5, 14)}) {
    const auto expected = spanning_tree(points.view(), neighbours(5));
    const auto found =
        spanning_tree(test::reordered(points, test::random_permutation(points.n, random)).view(), neighbours(5));
    test::expect_same_bits(weights_of(found.edges), weights_of(expected.edges));
  }
}

TYPED_TEST(spanning_tree_of, core_distances_are_those_of_core_distances) {
  auto points = clustered_points<TypeParam>(1100, 5, 15);
  points(7, 0) = std::numeric_limits<TypeParam>::quiet_NaN();
  for (const metric kind : {metric::euclidean, metric::cosine}) {
    const auto expected = core_distances(points.view(), neighbours(6, kind));
    const auto found = spanning_tree(points.view(), neighbours(6, kind));
    test::expect_same_bits(found.core_distances,
                           std::vector<double>(expected.distances.begin(), expected.distances.end()));
    EXPECT_EQ(found.neighbours, 6);
    EXPECT_EQ(found.invalid_rows, (rows{7}));
  }
}

TYPED_TEST(spanning_tree_of, rows_that_are_not_finite_are_left_out) {
  auto points = clustered_points<TypeParam>(200, 5, 16);
  points(0, 4) = std::numeric_limits<TypeParam>::quiet_NaN();
  points(96, 0) = std::numeric_limits<TypeParam>::infinity();
  points(199, 2) = -std::numeric_limits<TypeParam>::infinity();
  test::on_every_device([&](const Device& device) {
    const auto found = spanning_tree(points.view(), neighbours(5), device);
    EXPECT_EQ(found.invalid_rows, (rows{0, 96, 199}));
    EXPECT_EQ(found.edges.size(), 196u);
    EXPECT_EQ(found.edges, unique_tree(points, neighbours(5)));
  });
}

TYPED_TEST(spanning_tree_of, few_points) {
  test::on_every_device([](const Device& device) {
    const auto none = spanning_tree(matrix_view<const TypeParam>(nullptr, 0, 3), neighbours(5), device);
    EXPECT_TRUE(none.edges.empty());
    EXPECT_TRUE(none.core_distances.empty());
    point_set<TypeParam> points(3, 1);
    points.data = {5, std::numeric_limits<TypeParam>::quiet_NaN(), 7};
    points.n = 1;
    EXPECT_TRUE(spanning_tree(points.view(), neighbours(5), device).edges.empty());
    points.n = 2;
    EXPECT_TRUE(spanning_tree(points.view(), neighbours(5), device).edges.empty());
    points.n = 3;
    const auto two = spanning_tree(points.view(), neighbours(5), device);
    EXPECT_EQ(two.edges, (std::vector<edge>{{0, 2, 2}}));
    EXPECT_EQ(two.neighbours, 1);
    EXPECT_TRUE(two.clamped);
    EXPECT_EQ(two.total_weight(), 2);
  });
}

TYPED_TEST(spanning_tree_of, more_neighbours_than_points_is_clamped) {
  const auto points = clustered_points<TypeParam>(50, 3, 17);
  const auto max = spanning_tree(points.view(), neighbours(49)), more = spanning_tree(points.view(), neighbours(50));
  EXPECT_FALSE(max.clamped);
  EXPECT_TRUE(more.clamped);
  EXPECT_EQ(more.neighbours, 49);
  EXPECT_EQ(more.edges, max.edges);
  expect_unique_tree(points, neighbours(49));
  const auto with_self = spanning_tree(points.view(), {.min_samples = 50, .count_self = true});
  EXPECT_FALSE(with_self.clamped);
  EXPECT_EQ(with_self.edges, max.edges);
}

TYPED_TEST(spanning_tree_of, powers_of_two_scale_exactly) {
  const auto points = clustered_points<TypeParam>(150, 4, 18);
  const auto expected = spanning_tree(points.view(), neighbours(5)).edges;
  for (const int exponent : {100, -100}) {
    auto found = spanning_tree(test::scaled(points, std::ldexp(TypeParam(1), exponent)).view(), neighbours(5)).edges;
    for (edge& e : found) e.weight = std::ldexp(e.weight, -exponent);
    EXPECT_EQ(found, expected);
  }
}

TYPED_TEST(spanning_tree_of, work_is_counted) {
  const auto points = clustered_points<TypeParam>(1500, 16, 19);
  const auto found = spanning_tree(points.view(), neighbours(5), Device::host());
  EXPECT_GE(found.counters.rounds, 1);
  EXPECT_EQ(found.counters.tiles, 16 * 17 / 2);
  EXPECT_GE(found.counters.passes, 1);
  EXPECT_LT(found.counters.passes, 2);
}

// Every pair for the neighbours, and at most one pass more: all N^2 / 2 pairs twice. In few dimensions there is a tree,
// and no pass.
TYPED_TEST(spanning_tree_of, clustered_points_takes_at_most_two_passes) {
  for (const metric kind : {metric::euclidean, metric::cosine})
    for (const std::int64_t dim : {2, 8, 96}) {
      const auto points = clustered_points<TypeParam>(3000, dim, std::uint64_t(21 + dim));
      const auto found = spanning_tree(points.view(), neighbours(5, kind), Device::host()).counters;
      this->RecordProperty(std::string(to_string(kind)) + std::to_string(dim), std::to_string(found.passes));
      EXPECT_LE(found.passes, 2) << to_string(kind) << " " << dim;
      if (dim == 96) EXPECT_EQ(found.pairs_evaluated, points.n * (points.n - 1) / 2 + found.tiles_scanned * 96 * 96);
    }
}

TEST(spanning_tree, can_be_cancelled) {
  const auto points = clustered_points<float>(200, 3, 20);
  const progress_callback stop = [](std::string_view, double) { return false; };
  EXPECT_THROW(spanning_tree(points.view(), {}, Device::host(), stop), Cancelled);
}

TEST(spanning_tree, bad_arguments_are_named) {
  const auto points = clustered_points<float>(10, 3, 21);
  expect_invalid([&] { spanning_tree(points.view(), neighbours(-1)); }, "min_samples must be >= 0 (min_samples=-1)");
  expect_invalid([&] { spanning_tree(points.view(), {.min_samples = 0, .count_self = true}); },
                 "min_samples must be >= 1 (min_samples=0)");
  expect_invalid([&] { spanning_tree(points.view(), neighbours(1, metric::euclidean, 0)); },
                 "alpha must be > 0 and finite (alpha=0)");
  expect_invalid([&] { spanning_tree(points.view(), neighbours(1, metric::euclidean, 1e-60)); }, "(alpha=1e-60)");
  expect_invalid([&] { spanning_tree({points.data.data(), 10, 0}); }, "points.cols must be >= 1 (points.cols=0)");
}

// Points of which every `step`-th lies in one of `places`; more than 512, as piles count from there on.
template <class Real>
point_set<Real> piled_points(std::int64_t dim, std::int64_t places, std::int64_t step, std::uint64_t seed) {
  auto points = clustered_points<Real>(600, dim, seed);
  for (std::int64_t i = 0; i < points.n; i += step)
    for (std::int64_t k = 0; k < dim; ++k) points.data[i * dim + k] = points.data[i / step % places * step * dim + k];
  return points;
}

// Copies have edges of weight 0 to the first of them; which of several equal edges is in the tree depends on indices.
TYPED_TEST(spanning_tree_of, piles_of_copies) {
  const auto expect_merged = [](const point_set<TypeParam>& points, const spanning_tree_options& options) {
    SCOPED_TRACE(::testing::Message() << points.dim << " " << options.min_samples << to_string(options.distance));
    const auto tree = spanning_tree(points.view(), options, Device::host());
    const auto core = core_distances(points.view(), options, Device::host()).distances;
    EXPECT_EQ(tree.core_distances, std::vector<double>(core.begin(), core.end()));
    EXPECT_EQ(tree.neighbours, options.min_samples);
    EXPECT_LT(tree.counters.tiles, 28);  // those of 600 points in blocks of 96
    if (options.alpha == 1)
      EXPECT_EQ(tree.edges, unique_tree(points, options));
    else
      EXPECT_EQ(weights_of(tree.edges), weights_of(tree_of_matrix(points, options)));
  };
  for (const auto kind : {metric::euclidean, metric::cosine, metric::manhattan})
    for (const double alpha : {1.0, 0.5}) {
      expect_merged(piled_points<TypeParam>(3, 5, 2, 7), neighbours(4, kind, alpha));
      expect_merged(piled_points<TypeParam>(40, 2, 2, 8), neighbours(6, kind, alpha));
    }
  // Few values in few dimensions: nothing but piles, and with larger k some places hold too few points for one.
  for (const std::int64_t k : {0, 1, 5, 12}) expect_merged(grid_points<TypeParam>(600, 2, 7, 5), neighbours(k));
  expect_merged(grid_points<TypeParam>(600, 3, 1, 5), neighbours(3));
}

// Two places whose difference is lost are at distance 0: the tree is that of all points.
TYPED_TEST(spanning_tree_of, piles_at_distance_0) {
  auto points = piled_points<TypeParam>(2, 2, 2, 11);
  const auto tiny = std::numeric_limits<TypeParam>::min();
  for (std::int64_t i = 0; i < points.n; i += 2) {
    points.data[2 * i] = i % 4 == 0 ? TypeParam(0) : tiny;
    points.data[2 * i + 1] = 0;
  }
  expect_unique_tree(points, neighbours(3));
}

// Rows that are left out.
TYPED_TEST(spanning_tree_of, piles_and_rows_with_nan) {
  auto points = piled_points<TypeParam>(3, 5, 2, 13);
  for (const std::int64_t row : {0, 7, 300}) points.data[3 * row] = std::numeric_limits<TypeParam>::quiet_NaN();
  expect_unique_tree(points, neighbours(4));
  EXPECT_EQ(spanning_tree(points.view(), neighbours(4)).invalid_rows, (rows{0, 7, 300}));
}

}  // namespace
}  // namespace quintet::hdbscan
