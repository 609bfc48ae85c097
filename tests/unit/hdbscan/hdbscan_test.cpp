// Clustering from points to labels: edge cases, and what the result may not depend on.
#include "quintet/hdbscan/hdbscan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/near.hpp"
#include "support/partition.hpp"
#include "support/points.hpp"
#include "support/random_tree.hpp"
#include "support/real_types.hpp"

namespace quintet::hdbscan {
namespace {

template <class Real>
class clustering_of : public ::testing::Test {};
TYPED_TEST_SUITE(clustering_of, test::real_types);

using test::clustered_points;
using test::grid_points;
using test::point_set;
using indices = std::vector<std::int64_t>;
using values = std::vector<double>;

// Sets the number of host threads and gives the default back.
struct with_threads {
  explicit with_threads(int count) { set_threads(count); }
  ~with_threads() { set_threads(0); }
};

cluster_options sized(std::int64_t min_cluster_size, bool allow_single_cluster = false) {
  cluster_options options;
  options.min_cluster_size = min_cluster_size;
  options.allow_single_cluster = allow_single_cluster;
  return options;
}

void expect_all_noise(const cluster_result& found, std::size_t n, double score) {
  EXPECT_EQ(found.labels, indices(n, -1));
  EXPECT_EQ(found.probabilities, values(n, 0));
  EXPECT_EQ(found.outlier_scores, values(n, score));
  EXPECT_EQ(found.clusters(), 0);
}

// Everything but counters and times.
void expect_same_result(const cluster_result& found, const cluster_result& expected) {
  EXPECT_EQ(found.labels, expected.labels);
  test::expect_same_bits(found.probabilities, expected.probabilities);
  test::expect_same_bits(found.outlier_scores, expected.outlier_scores);
  test::expect_same_bits(found.persistence, expected.persistence);
  test::expect_same_bits(found.core_distances, expected.core_distances);
  EXPECT_EQ(found.spanning_tree, expected.spanning_tree);
  EXPECT_EQ(found.condensed.rows, expected.condensed.rows);
  EXPECT_EQ(found.selected, expected.selected);
  EXPECT_EQ(found.invalid_rows, expected.invalid_rows);
}

// Clustered and tied points, and every kind of option.
template <class Use>
void for_many_options(Use use) {
  for (const auto method : {selection::eom, selection::leaf})
    for (const auto mode : {ties::canonical, ties::binary})
      for (const auto kind : {metric::euclidean, metric::cosine}) {
        cluster_options options;
        options.min_samples = 4;
        options.method = method;
        options.tie_mode = mode;
        options.distance = kind;
        SCOPED_TRACE(::testing::Message() << int(method) << int(mode) << to_string(kind));
        use(options);
      }
}

template <class Real>
std::vector<point_set<Real>> many_points(std::int64_t n) {
  // The last has rows that are left out, and a zero row, which cosine leaves out.
  std::vector<point_set<Real>> sets{clustered_points<Real>(n, 12, 1, 1), grid_points<Real>(n, 3, 5, 2),
                                    clustered_points<Real>(n, 3, 3)};
  sets[2](0, 1) = std::numeric_limits<Real>::quiet_NaN();
  sets[2](n / 2, 0) = std::numeric_limits<Real>::infinity();
  for (std::int64_t k = 0; k < 3; ++k) sets[2](n - 1, k) = 0;
  return sets;
}

TYPED_TEST(clustering_of, any_number_of_threads_gives_the_same_result) {
  for (const auto& points : many_points<TypeParam>(300))
    for_many_options([&](const cluster_options& options) {
      const cluster_result expected = cluster(points.view(), options, Device::host());
      for (const int count : {1, 2, 5}) {
        const with_threads set(count);
        expect_same_result(cluster(points.view(), options, Device::host()), expected);
      }
    });
}

TYPED_TEST(clustering_of, every_device_gives_the_same_result) {
  for (const auto& points : many_points<TypeParam>(150))
    for_many_options([&](const cluster_options& options) {
      const cluster_result expected = cluster(points.view(), options, Device::host());
      test::on_other_devices(
          [&](const Device& device) { expect_same_result(cluster(points.view(), options, device), expected); });
    });
}

// Canonical: a function of the set of points. Clusters of one size at one place in the tree are numbered by their
// points, so the labels agree as a partition.
TYPED_TEST(clustering_of, permuted_points_gives_the_permuted_result) {
  std::mt19937_64 random(4);
  for (const auto& points : many_points<TypeParam>(300))
    for_many_options([&](const cluster_options& options) {
      if (options.tie_mode != ties::canonical) return;
      const indices order = test::random_permutation(points.n, random);
      const cluster_result found = cluster(test::reordered(points, order).view(), options);
      const cluster_result original = cluster(points.view(), options);
      indices labels;
      values probabilities, scores, core;
      for (const std::int64_t i : order) {
        labels.push_back(original.labels[i]);
        probabilities.push_back(original.probabilities[i]);
        scores.push_back(original.outlier_scores[i]);
        core.push_back(original.core_distances[i]);
      }
      EXPECT_EQ(test::canonical_labels(found.labels), test::canonical_labels(labels));
      test::expect_same_bits(found.probabilities, probabilities);
      test::expect_same_bits(found.outlier_scores, scores);
      test::expect_same_bits(found.core_distances, core);
      values persistence = found.persistence, expected = original.persistence;
      std::sort(persistence.begin(), persistence.end());
      std::sort(expected.begin(), expected.end());
      test::expect_same_bits(persistence, expected);
    });
}

TYPED_TEST(clustering_of, groups_finds_them) {
  // Five groups far apart in 384 dimensions; a tenth of the points lies anywhere.
  const auto points = clustered_points<TypeParam>(400, 384, 5);
  const cluster_result found = cluster(points.view(), sized(10));
  EXPECT_EQ(found.clusters(), 5);
  EXPECT_GT(std::count(found.labels.begin(), found.labels.end(), -1), 10);
  EXPECT_EQ(found.neighbours, 10);
}

TYPED_TEST(clustering_of, no_points) {
  test::on_every_device([](const Device& device) {
    const cluster_result found = cluster(matrix_view<const TypeParam>(nullptr, 0, 3), {}, device);
    expect_all_noise(found, 0, 0);
    EXPECT_TRUE(found.core_distances.empty());
    EXPECT_TRUE(found.spanning_tree.empty());
  });
}

TYPED_TEST(clustering_of, one_point_is_noise) {
  const auto points = clustered_points<TypeParam>(1, 3, 6);
  test::on_every_device([&](const Device& device) {
    for (const bool allow_single_cluster : {false, true}) {
      const cluster_result found = cluster(points.view(), sized(2, allow_single_cluster), device);
      expect_all_noise(found, 1, 0);
      EXPECT_EQ(found.core_distances, values{0});
      EXPECT_TRUE(found.spanning_tree.empty());
    }
  });
}

TYPED_TEST(clustering_of, two_points_are_noise_unless_the_root_may_be_taken) {
  const auto points = clustered_points<TypeParam>(2, 3, 7);
  EXPECT_EQ(cluster(points.view(), sized(2)).labels, (indices{-1, -1}));
  EXPECT_EQ(cluster(points.view(), sized(2, true)).labels, (indices{0, 0}));
}

TYPED_TEST(clustering_of, clusters_larger_than_the_set_are_none_unless_the_root_may_be_taken) {
  const auto points = clustered_points<TypeParam>(20, 3, 8);
  const cluster_result none = cluster(points.view(), sized(21));
  EXPECT_EQ(none.labels, indices(20, -1));
  EXPECT_EQ(none.probabilities, values(20, 0));
  const cluster_result one = cluster(points.view(), sized(21, true));
  EXPECT_EQ(one.labels, indices(20, 0));
  EXPECT_EQ(one.probabilities, values(20, 1));
}

TYPED_TEST(clustering_of, equal_points_are_noise_unless_the_root_may_be_taken) {
  const auto points = grid_points<TypeParam>(30, 4, 1, 9);
  test::on_every_device([&](const Device& device) {
    for (const auto mode : {ties::canonical, ties::binary}) {
      cluster_options options = sized(5);
      options.tie_mode = mode;
      expect_all_noise(cluster(points.view(), options, device), 30, 0);
      options.allow_single_cluster = true;
      const cluster_result one = cluster(points.view(), options, device);
      EXPECT_EQ(one.labels, indices(30, 0));
      EXPECT_EQ(one.probabilities, values(30, 1));
      EXPECT_EQ(one.outlier_scores, values(30, 0));
    }
  });
}

TYPED_TEST(clustering_of, two_groups_of_duplicates_are_two_certain_clusters) {
  point_set<TypeParam> points(12, 2);
  for (std::int64_t i = 0; i < 12; ++i) points(i, 0) = points(i, 1) = TypeParam(i % 2);
  for (const auto mode : {ties::canonical, ties::binary}) {
    cluster_options options = sized(5);
    options.tie_mode = mode;
    const cluster_result found = cluster(points.view(), options);
    EXPECT_EQ(test::canonical_labels(found.labels), (indices{0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1}));
    EXPECT_EQ(found.probabilities, values(12, 1));
    EXPECT_EQ(found.outlier_scores, values(12, 0));
    EXPECT_EQ(found.persistence, values(2, 1));
    EXPECT_EQ(found.core_distances, values(12, 0));
  }
}

// Many duplicates beside points at finite densities: infinity minus infinity is nowhere.
TYPED_TEST(clustering_of, duplicates_among_others_make_no_nan) {
  auto points = clustered_points<TypeParam>(120, 3, 10);
  for (std::int64_t i = 40; i < 60; ++i)
    for (std::int64_t k = 0; k < 3; ++k) points(i, k) = points(40, k);
  for_many_options([&](const cluster_options& options) {
    const cluster_result found = cluster(points.view(), options);
    for (const values* numbers : {&found.probabilities, &found.outlier_scores})
      for (const double x : *numbers) EXPECT_TRUE(x >= 0 && x <= 1) << x;
    for (const double x : found.persistence) EXPECT_FALSE(std::isnan(x));
  });
}

TYPED_TEST(clustering_of, rows_that_are_not_finite_are_noise_with_score_one) {
  const auto clean = clustered_points<TypeParam>(150, 6, 11);
  const indices bad{0, 70, 149};
  auto points = clean;
  points(0, 3) = std::numeric_limits<TypeParam>::quiet_NaN();
  points(70, 0) = std::numeric_limits<TypeParam>::infinity();
  points(149, 5) = -std::numeric_limits<TypeParam>::infinity();
  indices good;
  for (std::int64_t i = 0; i < 150; ++i)
    if (std::find(bad.begin(), bad.end(), i) == bad.end()) good.push_back(i);
  const cluster_result expected = cluster(test::reordered(clean, good).view(), sized(5));
  ASSERT_GT(expected.clusters(), 1);
  test::on_every_device([&](const Device& device) {
    const cluster_result found = cluster(points.view(), sized(5), device);
    EXPECT_EQ(found.invalid_rows, bad);
    for (const std::int64_t i : bad) {
      EXPECT_EQ(found.labels[i], -1);
      EXPECT_EQ(found.probabilities[i], 0);
      EXPECT_EQ(found.outlier_scores[i], 1);
      EXPECT_TRUE(std::isnan(found.core_distances[i]));
    }
    for (std::size_t i = 0; i < good.size(); ++i) {
      EXPECT_EQ(found.labels[good[i]], expected.labels[i]);
      EXPECT_EQ(found.probabilities[good[i]], expected.probabilities[i]);
      EXPECT_EQ(found.outlier_scores[good[i]], expected.outlier_scores[i]);
      EXPECT_EQ(found.core_distances[good[i]], expected.core_distances[i]);
    }
    EXPECT_EQ(found.spanning_tree.size(), good.size() - 1);
    EXPECT_EQ(found.single_linkage.rows.size(), 149u);
  });
}

TYPED_TEST(clustering_of, nothing_but_rows_that_are_not_finite_is_noise_with_score_one) {
  const point_set<TypeParam> points(4, 2);  // all NaN
  test::on_every_device([&](const Device& device) {
    const cluster_result found = cluster(points.view(), sized(2), device);
    expect_all_noise(found, 4, 1);
    EXPECT_EQ(found.invalid_rows, (indices{0, 1, 2, 3}));
  });
  auto one_valid = points;
  one_valid(2, 0) = one_valid(2, 1) = 1;
  const cluster_result found = cluster(one_valid.view(), sized(2, true));
  EXPECT_EQ(found.labels, indices(4, -1));
  EXPECT_EQ(found.core_distances[2], 0);
}

TYPED_TEST(clustering_of, min_samples_defaults_to_min_cluster_size_and_is_clamped) {
  const auto points = clustered_points<TypeParam>(40, 4, 12);
  cluster_options options = sized(7);
  EXPECT_EQ(cluster(points.view(), options).neighbours, 7);
  options.min_samples = 3;
  EXPECT_EQ(cluster(points.view(), options).neighbours, 3);
  options.count_self = true;
  EXPECT_EQ(cluster(points.view(), options).neighbours, 2);
  options.min_samples = 40;
  EXPECT_FALSE(cluster(points.view(), options).clamped);
  options.count_self = false;
  const cluster_result found = cluster(points.view(), options);
  EXPECT_TRUE(found.clamped);
  EXPECT_EQ(found.neighbours, 39);
}

TYPED_TEST(clustering_of, counting_the_point_itself_is_one_neighbour_less) {
  const auto points = clustered_points<TypeParam>(100, 4, 13);
  cluster_options with_self = sized(5), without = sized(5);
  with_self.count_self = true;
  with_self.min_samples = 6;
  without.min_samples = 5;
  expect_same_result(cluster(points.view(), with_self), cluster(points.view(), without));
}

// (infinity, huge, tiny) Scaling changes heights only; by a power of two, exactly.
TYPED_TEST(clustering_of, huge_and_tiny_coordinates_are_clustered_alike) {
  const auto points = clustered_points<TypeParam>(200, 5, 14);
  const cluster_result expected = cluster(points.view(), sized(5));
  for (const int exponent : {100, -100}) {
    const cluster_result found = cluster(test::scaled(points, std::ldexp(TypeParam(1), exponent)).view(), sized(5));
    EXPECT_EQ(found.labels, expected.labels);
    test::expect_near(found.probabilities, expected.probabilities, 1e-14);
    EXPECT_DOUBLE_EQ(std::ldexp(found.spanning_tree_weight(), -exponent), expected.spanning_tree_weight());
  }
}

TYPED_TEST(clustering_of, distances_of_1e30_are_clustered_like_those_of_1) {
  const auto points = clustered_points<TypeParam>(200, 5, 15);
  for (const TypeParam factor : {TypeParam(1e30), TypeParam(1e-30)}) {
    const cluster_result found = cluster(test::scaled(points, factor).view(), sized(5));
    EXPECT_GT(test::adjusted_rand_index(found.labels, cluster(points.view(), sized(5)).labels), 0.99);
  }
}

// The points of a grid with `side` values of each coordinate.
template <class Real>
point_set<Real> full_grid(std::int64_t side, std::int64_t dim) {
  std::int64_t n = 1;
  for (std::int64_t k = 0; k < dim; ++k) n *= side;
  point_set<Real> points(n, dim);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = 0, rest = i; k < dim; ++k, rest /= side) points.data[i * dim + k] = Real(rest % side);
  return points;
}

// Coordinates as decimals give them: whole numbers of units, rounded.
template <class Real>
point_set<Real> in_units(const point_set<Real>& points, double unit) {
  point_set<Real> result = points;
  for (std::size_t i = 0; i < result.data.size(); ++i) result.data[i] = Real(double(points.data[i]) * unit);
  return result;
}

constexpr double units[] = {0.1, 0.01, 0.001, 1.0 / 3, 0.7, 1e-5, 2.54, 3.141592653589793};

// Whole numbers have exact squares of distances: there equal bits are equal distances.
TYPED_TEST(clustering_of, rounding_does_not_decide_about_equal_distances) {
  for (const auto& [side, dim] : {std::pair<int, int>{20, 2}, {60, 1}, {8, 3}, {5, 4}}) {
    const auto grid = full_grid<TypeParam>(side, dim);
    for (const std::int64_t samples : {1, 3, 4, 5, 8}) {
      SCOPED_TRACE(::testing::Message() << side << " " << dim << " " << samples);
      cluster_options options{.min_cluster_size = 5, .min_samples = samples};
      for (const double unit : units) EXPECT_EQ(cluster(in_units(grid, unit).view(), options).clusters(), 0) << unit;
    }
  }
  const auto points = grid_points<TypeParam>(150, 4, 40, 3);
  for (const auto method : {selection::eom, selection::leaf})
    for (const std::int64_t size : {3, 5, 10}) {
      cluster_options options{.min_cluster_size = size, .tie_tolerance = 0, .method = method, .min_samples = 3};
      const indices expected = cluster(points.view(), options).labels;
      options.tie_tolerance.reset();
      for (const double unit : units) EXPECT_EQ(cluster(in_units(points, unit).view(), options).labels, expected);
    }
}

TYPED_TEST(clustering_of, the_tie_tolerance_comes_with_the_result) {
  const auto points = in_units(grid_points<TypeParam>(150, 4, 40, 3), 0.1);
  const cluster_options options{.min_cluster_size = 3, .min_samples = 3};
  const cluster_result whole = cluster(points.view(), options);
  const double usual = default_tie_tolerance(scalar_type_of<TypeParam>(), 4);
  EXPECT_EQ(whole.options.tie_tolerance, usual);
  EXPECT_EQ(cluster(points.view(), {.tie_tolerance = 0.25}).options.tie_tolerance, 0.25);
  EXPECT_EQ(cluster(matrix_view<const TypeParam>(nullptr, 0, 4), options).options.tie_tolerance, usual);
  const spanning_tree_result tree = spanning_tree(points.view(), spanning_tree_part(options));
  EXPECT_EQ(tree.tie_tolerance, usual);
  EXPECT_EQ(condense(whole.single_linkage, whole.options).rows, whole.condensed.rows);
  cluster_options second = options;
  second.tie_tolerance = tree.tie_tolerance;
  EXPECT_EQ(cluster_tree(tree.edges, points.n, second).condensed.rows, whole.condensed.rows);
}

TEST(clustering, bad_arguments_are_named) {
  const auto points = clustered_points<float>(10, 3, 16);
  const auto bad = [&](const std::string& words, auto change) {
    cluster_options options;
    change(options);
    expect_invalid([&] { cluster(points.view(), options); }, words);
    // Arguments are looked at before points.
    expect_invalid([&] { cluster(matrix_view<const float>(nullptr, 0, 3), options); }, words);
  };
  bad("min_cluster_size must be >= 2 (min_cluster_size=1)", [](auto& o) { o.min_cluster_size = 1; });
  bad("min_samples must be >= 0 (min_samples=-3)", [](auto& o) { o.min_samples = -3; });
  bad("alpha must be > 0 and finite (alpha=0)", [](auto& o) { o.alpha = 0; });
  bad("alpha must be > 0 and finite (alpha=-inf)", [](auto& o) { o.alpha = -std::numeric_limits<double>::infinity(); });
  bad("(epsilon=-0.5)", [](auto& o) { o.epsilon = -0.5; });
  bad("(epsilon_max=0)", [](auto& o) { o.epsilon_max = 0; });
  bad("(max_cluster_size=-1)", [](auto& o) { o.max_cluster_size = -1; });
  bad("(tie_tolerance=1)", [](auto& o) { o.tie_tolerance = 1; });
  expect_invalid([&] { cluster({points.data.data(), 10, 0}); }, "points.cols must be >= 1 (points.cols=0)");
}

TEST(clustering, can_be_cancelled) {
  const auto points = clustered_points<float>(200, 3, 17);
  const progress_callback stop = [](std::string_view, double) { return false; };
  EXPECT_THROW(cluster(points.view(), {}, Device::host(), stop), Cancelled);
}

}  // namespace
}  // namespace quintet::hdbscan
