// Points with weights: whole ones against repeated points, others against the definitions.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "quintet/hdbscan/cut.hpp"
#include "quintet/hdbscan/membership.hpp"
#include "quintet/hdbscan/prediction.hpp"
#include "quintet/hdbscan/predictor.hpp"
#include "quintet/hdbscan/sweep.hpp"
#include "quintet/hdbscan/validity.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/near.hpp"
#include "support/points.hpp"
#include "support/real_types.hpp"

namespace quintet::hdbscan {
namespace {

using test::clustered_points;
using test::grid_points;
using test::point_set;
using indices = std::vector<std::int64_t>;

/// Points, how often each counts, and the same points as often as they count.
template <class Real>
struct weighted_set {
  point_set<Real> points;
  std::vector<double> weights;
  indices source;  ///< of every repeated row, its point
  point_set<Real> repeated{0, 1};

  weighted_set(point_set<Real> some_points, std::vector<double> of_points)
      : points(std::move(some_points)), weights(std::move(of_points)) {
    for (std::int64_t i = 0; i < points.n; ++i) source.insert(source.end(), std::size_t(weights[i]), i);
    repeated = test::reordered(points, source);
  }
  /// Values of repeated rows, one for each point; `absent` for those of weight 0.
  template <class Value>
  std::vector<Value> by_point(const std::vector<Value>& of_rows, Value absent) const {
    std::vector<Value> values(std::size_t(points.n), absent);
    for (std::size_t row = source.size(); row-- > 0;) values[source[row]] = of_rows[row];
    return values;
  }
};

std::vector<double> random_weights(std::int64_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<double> weights;
  for (std::int64_t i = 0; i < n; ++i) weights.push_back(double(random() % 3 ? random() % 4 : random() % 15));
  return weights;
}

template <class Real>
std::vector<weighted_set<Real>> sets_with_weights() {
  std::vector<weighted_set<Real>> sets;
  std::vector<point_set<Real>> points{clustered_points<Real>(120, 2, 1), grid_points<Real>(110, 2, 9, 2),
                                      clustered_points<Real>(90, 8, 3, 2), grid_points<Real>(2200, 2, 90, 4)};
  points.push_back(clustered_points<Real>(100, 3, 5));
  for (const std::int64_t row : {0, 40, 99}) points.back()(row, row % 3) = std::numeric_limits<Real>::quiet_NaN();
  for (std::size_t s = 0; s < points.size(); ++s) sets.emplace_back(points[s], random_weights(points[s].n, s + 10));
  point_set<Real> single(3, 2);
  std::fill(single.data.begin(), single.data.end(), Real(2));
  sets.emplace_back(single, std::vector<double>{0, 9, 0});
  return sets;
}

std::vector<cluster_options> some_options() {
  std::vector<cluster_options> all;
  for (const std::int64_t k : {1, 4, 12})
    for (const std::int64_t size : {2, 5, 30})
      for (const selection method : {selection::eom, selection::leaf}) {
        cluster_options options;
        options.min_samples = k;
        options.min_cluster_size = size;
        options.method = method;
        all.push_back(options);
      }
  all[1].count_self = true;
  all[3].alpha = 0.8;
  all[5].epsilon = 0.3;
  all[7].allow_single_cluster = true;
  all[8].max_cluster_size = 40;
  all[9].alpha = 1.4;
  all[13].allow_single_cluster = true;
  all[14].distance = metric::manhattan;
  all[15].min_cluster_size = automatic_size;
  return all;
}

template <class Real>
void expect_repetition(const weighted_set<Real>& set, const cluster_options& options, const Device& device) {
  SCOPED_TRACE(::testing::Message() << set.points.n << " x " << set.points.dim << " k " << options.min_samples
                                    << " size " << options.min_cluster_size << " method " << int(options.method));
  const auto found = cluster(set.points.view(), options, device, {}, set.weights);
  const auto expected = cluster(set.repeated.view(), options, device);
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(found.labels, set.template by_point<std::int64_t>(expected.labels, -1));
  EXPECT_EQ(found.neighbours, expected.neighbours);
  EXPECT_EQ(found.clamped, expected.clamped);
  EXPECT_EQ(found.options.min_cluster_size, expected.options.min_cluster_size);
  test::expect_same_bits(found.core_distances, set.by_point(expected.core_distances, nan));
  test::expect_same_bits(found.probabilities, set.by_point(expected.probabilities, 0.0));
  test::expect_same_bits(found.outlier_scores, set.by_point(expected.outlier_scores, 1.0));
  test::expect_same_bits(found.persistence, expected.persistence);
  EXPECT_EQ(relative_validity(found.spanning_tree, found.labels, found.weights, found.core_distances),
            relative_validity(expected.spanning_tree, expected.labels));
  for (const double height : {0.0, 0.2, 1.0, 2.5})
    EXPECT_EQ(cut(found.single_linkage, height, 2),
              set.template by_point<std::int64_t>(cut(expected.single_linkage, height, 2), -1));
  const auto core = core_distances(set.points.view(), {options.min_samples, options.count_self, options.distance},
                                   device, set.weights);
  test::expect_same_bits(core.distances, found.core_distances);
  EXPECT_EQ(core.excluded_rows, found.excluded_rows);
  EXPECT_EQ(core.invalid_rows, found.invalid_rows);
}

template <class Real>
class weights_of : public ::testing::Test {};
TYPED_TEST_SUITE(weights_of, test::real_types);

TYPED_TEST(weights_of, whole_weights_are_repeated_points) {
  for (const auto& set : sets_with_weights<TypeParam>())
    for (const auto& options : some_options()) expect_repetition(set, options, Device::host());
}

TYPED_TEST(weights_of, every_device_repeats_points_alike) {
  const auto sets = sets_with_weights<TypeParam>();
  test::on_every_device([&](const Device& device) { expect_repetition(sets[1], some_options()[2], device); });
}

TYPED_TEST(weights_of, sweeps_and_refits_are_those_of_repeated_points) {
  for (const auto& set : sets_with_weights<TypeParam>()) {
    sweep_options options;
    options.min_samples = {1, 3, 12};
    options.by = score::relative_validity;
    if (set.points.n > 1000) options.min_cluster_size = {5, 50};
    const sweep_result found = sweep(set.points.view(), options, Device::host(), {}, set.weights);
    const sweep_result expected = sweep(set.repeated.view(), options);
    ASSERT_EQ(found.settings.size(), expected.settings.size());
    EXPECT_EQ(found.best, expected.best);
    for (std::size_t s = 0; s < found.settings.size(); ++s) {
      const sweep_setting &a = found.settings[s], &b = expected.settings[s];
      EXPECT_EQ(a.min_cluster_size, b.min_cluster_size);
      EXPECT_EQ(a.clusters, b.clusters);
      EXPECT_EQ(a.noise, b.noise);
      EXPECT_EQ(a.persistence, b.persistence);
      EXPECT_EQ(a.relative_validity, b.relative_validity);
      test::expect_same_bits(std::array{a.stability}, std::array{b.stability});
    }
    ASSERT_EQ(found.layers.size(), expected.layers.size());
    const auto fresh = cluster(set.points.view(), options_at(found, 1), Device::host(), {}, set.weights);
    EXPECT_EQ(clustering_at(found, 1).labels, fresh.labels);
    EXPECT_EQ(clustering_at(found, 1).spanning_tree, fresh.spanning_tree);
    cluster_options larger = options_at(found, 1);
    larger.min_cluster_size = 17;
    EXPECT_EQ(refit(fresh, larger).labels, cluster(set.points.view(), larger, Device::host(), {}, set.weights).labels);
  }
}

TYPED_TEST(weights_of, new_points_are_placed_as_among_repeated_points) {
  for (const auto& set : sets_with_weights<TypeParam>()) {
    if (set.points.n < 10) continue;
    cluster_options options;
    options.min_samples = 6;
    options.min_cluster_size = 12;
    const auto found = cluster(set.points.view(), options, Device::host(), {}, set.weights);
    const auto expected = cluster(set.repeated.view(), options);
    for (const std::int64_t rows : {5, 1500}) {
      const auto fresh = clustered_points<TypeParam>(rows, set.points.dim, 77);
      const prediction a = approximate_predict(found, set.points.view(), fresh.view());
      const prediction b = approximate_predict(expected, set.repeated.view(), fresh.view());
      EXPECT_EQ(a.labels, b.labels);
      test::expect_same_bits(a.probabilities, b.probabilities);
      test::expect_same_bits(a.outlier_scores, b.outlier_scores);
      for (std::size_t i = 0; i < a.neighbours.size(); ++i) {
        if (b.neighbours[i] >= 0) EXPECT_EQ(a.neighbours[i], set.source[b.neighbours[i]]);
      }
      test::expect_same_bits(predictor(found, set.points.view()).predict(fresh.view()).probabilities, b.probabilities);
      test::expect_same_bits(membership_vectors(found, set.points.view(), fresh.view()),
                             membership_vectors(expected, set.repeated.view(), fresh.view()));
    }
    const auto soft = all_points_membership_vectors(found, set.points.view()),
               of_rows = all_points_membership_vectors(expected, set.repeated.view());
    for (std::int64_t k = 0, count = expected.clusters(); k < count; ++k) {
      std::vector<double> column, rows;
      for (std::int64_t i = 0; i < set.points.n; ++i) column.push_back(soft[i * count + k]);
      for (std::size_t i = 0; i < set.source.size(); ++i) rows.push_back(of_rows[i * count + k]);
      test::expect_same_bits(column, set.by_point(rows, 0.0));
    }
  }
}

TYPED_TEST(weights_of, validity_is_that_of_repeated_points) {
  const auto set = sets_with_weights<TypeParam>()[0];
  const auto labels = cluster(set.points.view(), {.min_cluster_size = 12}, Device::host(), {}, set.weights).labels;
  indices of_rows;
  for (const std::int64_t i : set.source) of_rows.push_back(labels[i]);
  const auto found = validity_index(set.points.view(), labels, {}, Device::host(), {}, set.weights);
  const auto expected = validity_index(set.repeated.view(), of_rows);
  EXPECT_EQ(found.index, expected.index);
  EXPECT_EQ(found.cluster_validity, expected.cluster_validity);
  EXPECT_THROW(validity_index(set.points.view(), labels, {}, Device::host(), {},
                              std::vector<double>(std::size_t(set.points.n), 0.5)),
               InvalidArgument);
}

/// The definition, by sums in ascending order of whole numbers of 1/16, which are exact.
template <class Real>
double core_by_definition(const point_set<Real>& points, const std::vector<double>& weights, std::int64_t i, double k) {
  std::vector<std::pair<double, double>> others;
  for (std::int64_t j = 0; j < points.n; ++j) {
    if (j == i) continue;
    double sum = 0;
    for (std::int64_t d = 0; d < points.dim; ++d) sum += std::pow(double(points(i, d)) - double(points(j, d)), 2);
    others.emplace_back(std::sqrt(sum), weights[j]);
  }
  std::sort(others.begin(), others.end());
  double mass = weights[i], radius = 0;
  for (const auto& [distance, weight] : others) {
    if (mass >= k + 1) break;
    if (weight == 0) continue;
    radius = distance;
    mass += weight;
  }
  return radius;
}

TYPED_TEST(weights_of, parts_of_points_make_balls_as_large_as_they_need) {
  for (const std::int64_t n : {60, 2100}) {
    const auto points = clustered_points<TypeParam>(n, 3, 9);
    std::mt19937_64 random(4);
    std::vector<double> weights;
    for (std::int64_t i = 0; i < n; ++i) weights.push_back(double(random() % 20) / 16);
    for (const std::int64_t k : {1, 5, 30}) {
      const auto tree = spanning_tree(points.view(), {k}, Device::host(), {}, weights);
      const auto core = core_distances(points.view(), {k}, Device::host(), weights);
      for (std::int64_t i = 0; i < n; ++i) {
        if (weights[i] == 0) {
          EXPECT_TRUE(std::isnan(core.distances[i]));
          continue;
        }
        const double expected = core_by_definition(points, weights, i, double(k));
        EXPECT_NEAR(core.distances[i], expected, 1e-6 * expected) << i;
        EXPECT_EQ(tree.core_distances[i], double(core.distances[i])) << i;
      }
    }
  }
}

TEST(weights, tenths_sum_to_wholes_in_any_order) {
  // 50 points of 0.1 each are a cluster of 5, though a sum in double of fifty tenths is less.
  auto points = clustered_points<double>(100, 2, 3);
  for (std::int64_t i = 0; i < 100; ++i) points(i, 0) += i < 50 ? 0 : 100;
  const std::vector<double> weights(100, 0.1);
  cluster_options options;
  options.min_samples = 1;
  const auto found = cluster(points.view(), options, Device::host(), {}, weights);
  EXPECT_EQ(found.clusters(), 2);
  indices order(100);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937_64(8));
  const auto shuffled = cluster(test::reordered(points, order).view(), options, Device::host(), {}, weights);
  for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(shuffled.probabilities[i], found.probabilities[order[i]]);
  options.min_cluster_size = 6;
  EXPECT_EQ(cluster(points.view(), options, Device::host(), {}, weights).clusters(), 0);
}

TEST(weights, of_one_change_nothing) {
  const auto points = clustered_points<float>(150, 3, 1);
  const std::vector<double> ones(150, 1.0);
  const auto found = cluster(points.view(), {.tie_mode = ties::binary}, Device::host(), {}, ones);
  const auto expected = cluster(points.view(), {.tie_mode = ties::binary});
  EXPECT_EQ(found.labels, expected.labels);
  EXPECT_EQ(found.probabilities, expected.probabilities);
  EXPECT_TRUE(found.weights.empty());
}

TEST(weights, of_zero_everywhere_exclude_all_rows) {
  const auto points = clustered_points<float>(30, 3, 1);
  const auto found = cluster(points.view(), {}, Device::host(), {}, std::vector<double>(30, 0.0));
  EXPECT_EQ(found.labels, indices(30, -1));
  EXPECT_EQ(found.probabilities, std::vector<double>(30, 0));
  EXPECT_EQ(found.outlier_scores, std::vector<double>(30, 1));
  EXPECT_EQ(found.excluded_rows.size(), 30u);
  EXPECT_TRUE(found.invalid_rows.empty());
  EXPECT_EQ(approximate_predict(found, points.view(), points.view()).labels, indices(30, -1));
}

TEST(weights, that_are_no_weights_are_named) {
  const auto points = clustered_points<double>(4, 2, 1);
  const auto cluster_with = [&](std::vector<double> weights, ties tie_mode = ties::canonical) {
    return cluster(points.view(), {.tie_mode = tie_mode}, Device::host(), {}, weights);
  };
  expect_invalid([&] { cluster_with({1, 2}); }, "weights.size() must be the number of points, 4 (weights.size()=2)");
  expect_invalid([&] { cluster_with({1, 2, -1, 0}); }, "weights[2] must be >= 0 and finite (weights[2]=-1)");
  expect_invalid([&] { cluster_with({1, std::nan(""), 1, 0}); }, "weights[1] must be >= 0 and finite");
  expect_invalid([&] { cluster_with({1, 1, 1, std::numeric_limits<double>::infinity()}); }, "weights[3]");
  expect_invalid([&] { cluster_with({1, 1, 2, 1}, ties::binary); }, "ties must be canonical");
  expect_invalid([&] { core_distances(points.view(), {}, Device::host(), std::vector<double>(3, 1.0)); },
                 "weights.size()");
}

}  // namespace
}  // namespace quintet::hdbscan
