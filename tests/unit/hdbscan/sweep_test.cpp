// Many clusterings from one pass, against as many fresh ones.
#include "quintet/hdbscan/sweep.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <set>
#include <type_traits>

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

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

/// Blobs, ties everywhere, equal points, rows that are not finite, and enough points for a tree of blocks.
template <class Real>
std::vector<point_set<Real>> sets_to_sweep() {
  std::vector<point_set<Real>> sets{clustered_points<Real>(300, 3, 1), grid_points<Real>(250, 2, 6, 2),
                                    grid_points<Real>(200, 3, 3, 3), clustered_points<Real>(280, 20, 4, 3),
                                    grid_points<Real>(2300, 2, 40, 5)};
  sets.push_back(clustered_points<Real>(180, 4, 6));
  for (const std::int64_t row : {0, 17, 90, 179}) sets.back()(row, row % 4) = std::numeric_limits<Real>::infinity();
  sets.emplace_back(40, 2);
  std::fill(sets.back().data.begin(), sets.back().data.end(), Real(1));
  return sets;
}

void expect_same_tree(const spanning_tree_result& found, const spanning_tree_result& expected) {
  EXPECT_EQ(found.edges, expected.edges);
  test::expect_same_bits(found.core_distances, expected.core_distances);
  EXPECT_EQ(found.neighbours, expected.neighbours);
  EXPECT_EQ(found.clamped, expected.clamped);
  EXPECT_EQ(found.invalid_rows, expected.invalid_rows);
}

template <class Real>
void expect_fresh_trees(const point_set<Real>& points, const indices& min_samples, spanning_tree_options options,
                        const Device& device) {
  const auto trees = spanning_trees(points.view(), min_samples, options, device);
  ASSERT_EQ(trees.size(), min_samples.size());
  for (std::size_t i = 0; i < trees.size(); ++i) {
    options.min_samples = min_samples[i];
    SCOPED_TRACE(::testing::Message() << points.n << " x " << points.dim << " k " << min_samples[i] << " alpha "
                                      << options.alpha << " " << to_string(options.distance));
    expect_same_tree(trees[i], spanning_tree(points.view(), options, device));
  }
}

template <class Real>
class sweep_of : public ::testing::Test {};
TYPED_TEST_SUITE(sweep_of, test::real_types);

TYPED_TEST(sweep_of, trees_are_those_of_single_calls) {
  for (const auto& points : sets_to_sweep<TypeParam>())
    expect_fresh_trees(points, {0, 1, 2, 3, 5, 8, 13, 40, 5, 22}, {}, Device::host());
}

TYPED_TEST(sweep_of, trees_of_every_k_on_grids) {
  indices all(25);
  std::iota(all.begin(), all.end(), 1);
  for (const std::uint64_t seed : {11, 12, 13, 14})
    for (const bool count_self : {false, true})
      expect_fresh_trees(grid_points<TypeParam>(90, 1 + std::int64_t(seed % 3), 7, seed), all, {5, count_self},
                         Device::host());
}

TYPED_TEST(sweep_of, trees_on_other_devices) {
  test::on_other_devices([](const Device& device) {
    for (const auto& points : sets_to_sweep<TypeParam>())
      if (points.n < 1000) expect_fresh_trees(points, {1, 4, 20}, {}, device);
  });
}

TYPED_TEST(sweep_of, trees_of_all_metrics) {
  for (const point_metric& distance : {point_metric(metric::cosine), point_metric(metric::manhattan),
                                       point_metric(metric::chebyshev), point_metric(metric::minkowski, 3)}) {
    expect_fresh_trees(grid_points<TypeParam>(200, 3, 6, 7), {1, 2, 9, 30}, {5, false, distance}, Device::host());
    expect_fresh_trees(clustered_points<TypeParam>(200, 12, 8), {1, 2, 9, 30}, {5, false, distance}, Device::host());
  }
  expect_fresh_trees(test::sphere_points<TypeParam>(300, 9), {1, 2, 9, 30}, {5, false, metric::haversine},
                     Device::host());
  if constexpr (std::is_same_v<TypeParam, double>)
    expect_fresh_trees(clustered_points<double>(300, 4, 10), {1, 2, 9, 30}, {5, false, metric::lorentz},
                       Device::host());
  const auto inside = test::scaled(clustered_points<TypeParam>(200, 2, 9), TypeParam(0.1));
  expect_fresh_trees(inside, {1, 2, 9, 30}, {5, false, metric::poincare}, Device::host());
}

// 3 is too much for lists of four times k; 1 - 2^-24 rounds some core distances up.
TYPED_TEST(sweep_of, trees_of_scaled_distances) {
  for (const double alpha : {0.5, 1 - 0x1p-24, 1.1, 1.5, 3.0}) {
    for (const auto& points : sets_to_sweep<TypeParam>())
      if (points.n < 1000)
        expect_fresh_trees(points, {1, 3, 10, 25}, {5, false, metric::euclidean, alpha}, Device::host());
    expect_fresh_trees(grid_points<TypeParam>(150, 2, 5, 3), {2, 3, 7}, {5, true, metric::euclidean, alpha},
                       Device::host());
  }
}

// Everything but counters and seconds.
void expect_same_clustering(const cluster_result& found, const cluster_result& expected) {
  EXPECT_EQ(found.labels, expected.labels);
  test::expect_same_bits(found.probabilities, expected.probabilities);
  test::expect_same_bits(found.outlier_scores, expected.outlier_scores);
  test::expect_same_bits(found.persistence, expected.persistence);
  test::expect_same_bits(found.core_distances, expected.core_distances);
  EXPECT_EQ(found.spanning_tree, expected.spanning_tree);
  EXPECT_EQ(found.condensed.rows, expected.condensed.rows);
  EXPECT_EQ(found.single_linkage.rows, expected.single_linkage.rows);
  EXPECT_EQ(found.selected, expected.selected);
  EXPECT_EQ(found.invalid_rows, expected.invalid_rows);
  EXPECT_EQ(found.neighbours, expected.neighbours);
  EXPECT_EQ(found.clamped, expected.clamped);
  EXPECT_EQ(found.options.min_cluster_size, expected.options.min_cluster_size);
  EXPECT_EQ(found.options.min_samples, expected.options.min_samples);
  EXPECT_EQ(found.options.epsilon, expected.options.epsilon);
}

void expect_setting(const sweep_result& result, std::int64_t s, const cluster_result& fresh) {
  const sweep_setting& setting = result.settings[s];
  const std::vector<std::int32_t> labels = labels_at(result, s);
  EXPECT_EQ(indices(labels.begin(), labels.end()), fresh.labels);
  EXPECT_EQ(setting.clusters, fresh.clusters());
  EXPECT_EQ(setting.noise, std::count(fresh.labels.begin(), fresh.labels.end(), -1));
  const double validity = relative_validity(fresh.spanning_tree, fresh.labels);
  EXPECT_EQ(std::memcmp(&setting.relative_validity, &validity, sizeof validity), 0);
  expect_same_clustering(clustering_at(result, s), fresh);
}

TYPED_TEST(sweep_of, settings_are_those_of_single_fits) {
  for (const auto& points : sets_to_sweep<TypeParam>())
    for (const auto method : {selection::eom, selection::leaf})
      for (const bool with_labels : {true, false}) {
        if (points.n > 1000 && !with_labels) continue;
        sweep_options options;
        options.min_samples = {30, 1, 4, 4};
        options.min_cluster_size = {13, 2, 5};
        options.epsilon = {0.4, 0};
        options.method = method;
        options.tie_mode = with_labels ? ties::canonical : ties::binary;
        options.labels = with_labels;
        const sweep_result result = sweep(points.view(), options);
        ASSERT_EQ(result.settings.size(), 3u * 3 * 2);
        EXPECT_EQ(result.labels.size(), with_labels ? result.settings.size() * std::size_t(points.n) : 0);
        std::int64_t s = 0;
        for (const std::int64_t min_samples : {1, 4, 30})
          for (const std::int64_t size : {2, 5, 13})
            for (const double epsilon : {0.0, 0.4}) {
              const cluster_options one = options_at(result, s);
              EXPECT_EQ(one.min_samples, min_samples);
              EXPECT_EQ(one.min_cluster_size, size);
              EXPECT_EQ(one.epsilon, epsilon);
              expect_setting(result, s++, cluster(points.view(), one));
            }
      }
}

TYPED_TEST(sweep_of, small_sets) {
  for (const std::int64_t n : {0, 1, 2, 3}) {
    const auto points = grid_points<TypeParam>(n, 2, 9, 1);
    const sweep_result result = sweep(points.view(), {.min_samples = {1, 2, 7}, .min_cluster_size = {2, 3}});
    ASSERT_EQ(result.settings.size(), 6u);
    for (std::int64_t s = 0; s < 6; ++s) expect_setting(result, s, cluster(points.view(), options_at(result, s)));
    EXPECT_EQ(result.best, -1);
    EXPECT_TRUE(result.layers.empty());
    EXPECT_EQ(sweep(points.view(), {.min_samples = {1}, .min_cluster_size = {}}).settings[0].min_cluster_size, 2);
  }
}

TYPED_TEST(sweep_of, settings_that_points_do_not_allow_share_a_tree) {
  const auto points = clustered_points<TypeParam>(30, 2, 3);
  const sweep_result result = sweep(points.view(), {.min_samples = {5, 29, 40, 1000}, .min_cluster_size = {3}});
  EXPECT_EQ(result.trees.size(), 2u);
  EXPECT_FALSE(clustering_at(result, 1).clamped);
  EXPECT_TRUE(clustering_at(result, 3).clamped);
  for (std::int64_t s = 0; s < 4; ++s) expect_setting(result, s, cluster(points.view(), options_at(result, s)));
}

TYPED_TEST(sweep_of, every_size_that_changes_anything) {
  for (const auto& points : {clustered_points<TypeParam>(200, 2, 3), grid_points<TypeParam>(200, 2, 9, 4)}) {
    const sweep_result result =
        sweep(points.view(), {.min_samples = {3}, .min_cluster_size = {}, .method = selection::leaf});
    // Any other size has the labels of the last one listed before it.
    std::int64_t listed = 0;
    for (std::int64_t size = 2; size <= points.n; ++size) {
      if (listed + 1 < std::ssize(result.settings) && result.settings[listed + 1].min_cluster_size == size) ++listed;
      const auto fresh =
          cluster(points.view(), {.min_cluster_size = size, .method = selection::leaf, .min_samples = 3});
      const auto labels = labels_at(result, listed);
      ASSERT_EQ(indices(labels.begin(), labels.end()), fresh.labels) << size;
    }
  }
}

TYPED_TEST(sweep_of, the_best_has_the_largest_score) {
  const auto points = clustered_points<TypeParam>(250, 2, 21);
  for (const score by : {score::persistence, score::relative_validity, score::dbcv}) {
    sweep_options options{.min_samples = {2, 3, 5, 9, 20}, .min_cluster_size = {3, 5, 9, 17, 40, 200}};
    options.by = by;
    const sweep_result result = sweep(points.view(), options);
    const auto value = [&](const sweep_setting& s) {
      return by == score::persistence ? s.persistence : by == score::dbcv ? s.dbcv : s.relative_validity;
    };
    std::int64_t best = -1;
    for (std::int64_t s = 0; s < std::ssize(result.settings); ++s) {
      const sweep_setting& setting = result.settings[s];
      if (setting.clusters < 2 || std::isnan(value(setting))) continue;
      if (best < 0 || value(setting) > value(result.settings[best])) best = s;
    }
    EXPECT_GE(best, 0);
    EXPECT_EQ(result.best, best);
  }
}

TYPED_TEST(sweep_of, dbcv_of_the_sixteen_best_or_of_all) {
  const auto points = clustered_points<TypeParam>(150, 2, 22);
  sweep_options options{.min_samples = {2, 3, 5, 9, 20}, .min_cluster_size = {2, 3, 4, 5, 9, 17, 100}};
  options.by = score::dbcv;
  for (const bool all : {false, true}) {
    options.dbcv_all = all;
    const sweep_result result = sweep(points.view(), options);
    std::int64_t computed = 0;
    double smallest = 2, largest = -2;  // of relative validity, with and without an index
    for (std::int64_t s = 0; s < std::ssize(result.settings); ++s) {
      const sweep_setting& setting = result.settings[s];
      if (std::isnan(setting.dbcv)) {
        if (setting.clusters > 1) largest = std::max(largest, setting.relative_validity);
        continue;
      }
      ++computed;
      smallest = std::min(smallest, setting.relative_validity);
      EXPECT_EQ(setting.dbcv, validity_index(points.view(), clustering_at(result, s).labels).index);
    }
    EXPECT_EQ(computed, all ? std::ssize(result.settings) : 16);
    if (!all) EXPECT_GE(smallest, largest);
  }
}

TYPED_TEST(sweep_of, layers_are_the_leaves_at_the_peaks) {
  const auto points = clustered_points<TypeParam>(400, 2, 23);
  const sweep_result result = sweep(points.view(), {.min_samples = {4}, .min_cluster_size = {6, 12}});
  ASSERT_FALSE(result.layers.empty());
  double before = std::numeric_limits<double>::infinity();
  for (const persistent_layer& layer : result.layers) {
    EXPECT_LE(layer.persistence, before);
    before = layer.persistence;
    const auto fresh = cluster(
        points.view(), {.min_cluster_size = layer.min_cluster_size, .method = selection::leaf, .min_samples = 4});
    EXPECT_EQ(indices(layer.labels.begin(), layer.labels.end()), fresh.labels);
  }
  sweep_options two{.min_samples = {4}, .min_cluster_size = {6, 12}};
  two.layers = 0;
  EXPECT_TRUE(sweep(points.view(), two).layers.empty());
}

TYPED_TEST(sweep_of, refit_is_a_fresh_fit) {
  for (const auto& points : sets_to_sweep<TypeParam>()) {
    const cluster_result model = cluster(points.view(), {.min_cluster_size = 7});
    cluster_options options{.min_cluster_size = 12};
    options.method = selection::leaf;
    options.epsilon = 0.3;
    options.allow_single_cluster = true;
    const cluster_result again = refit(model, options);
    options.min_samples = 7;  // as the model's
    expect_same_clustering(again, cluster(points.view(), options));
    expect_same_clustering(refit(again, options), again);
  }
}

/// The numbers of clusters that any epsilon gives: around and between all heights of the tree.
std::set<std::int64_t> possible_numbers(const cluster_result& model, selection method) {
  std::vector<double> heights{0};
  for (const linkage_row& row : model.single_linkage.rows)
    if (row.height > heights.back() && std::isfinite(row.height)) heights.push_back(row.height);
  heights.push_back(2 * heights.back());
  std::set<std::int64_t> numbers;
  cluster_options options = model.options;
  options.method = method;
  for (std::size_t i = 1; i < heights.size(); ++i) {
    options.epsilon = (heights[i - 1] + heights[i]) / 2;
    numbers.insert(refit(model, options).clusters());
  }
  return numbers;
}

TEST(flat, has_the_number_of_clusters) {
  for (const auto& points : sets_to_sweep<double>()) {
    if (points.n > 250) continue;  // time
    for (const auto method : {selection::eom, selection::leaf})
      for (const bool single : {false, true}) {
        cluster_options options{.min_cluster_size = 4, .method = method, .min_samples = 2};
        options.allow_single_cluster = single;
        const cluster_result model = cluster(points.view(), options);
        const auto own = possible_numbers(model, method), of_leaves = possible_numbers(model, selection::leaf);
        std::set<std::int64_t> all = own;
        all.insert(of_leaves.begin(), of_leaves.end());
        for (std::int64_t wanted = 1; wanted <= *all.rbegin() + 1; ++wanted) {
          const cluster_result found = flat(model, wanted);
          const auto above = all.upper_bound(wanted);
          ASSERT_EQ(found.clusters(), above == all.begin() ? *all.begin() : *std::prev(above)) << wanted;
          if (own.contains(found.clusters())) {
            ASSERT_EQ(found.options.method, method);
          }
          expect_same_clustering(found, cluster(points.view(), found.options));
        }
        // The number that it has changes nothing.
        if (model.clusters() > 0) {
          EXPECT_EQ(flat(model, model.clusters()).labels, model.labels);
        }
        expect_invalid([&] { flat(model, 0); }, "clusters must be >= 1 (clusters=0)");
      }
  }
}

TYPED_TEST(sweep_of, automatic_size_is_the_most_persistent) {
  for (const auto& points : sets_to_sweep<TypeParam>())
    for (const auto method : {selection::leaf, selection::eom}) {
      cluster_options options{.min_cluster_size = automatic_size, .method = method, .min_samples = 4};
      const cluster_result found = cluster(points.view(), options);
      const cluster_result any = cluster(points.view(), {.min_cluster_size = 5, .min_samples = 4});
      indices left_out = any.invalid_rows;
      const auto size =
          most_persistent_size(trace_persistence(any.single_linkage, 4, ties::canonical, any.options.tie_tolerance));
      if (left_out.empty()) EXPECT_EQ(found.options.min_cluster_size, size.value_or(5));
      options.min_cluster_size = found.options.min_cluster_size;
      expect_same_clustering(found, cluster(points.view(), options));
      options.min_cluster_size = automatic_size;
      expect_same_clustering(refit(any, options), found);
      // Without min_samples it is 5, and stays so.
      const cluster_result none = cluster(points.view(), {.min_cluster_size = automatic_size});
      expect_same_clustering(refit(none, {.min_cluster_size = 9}),
                             cluster(points.view(), {.min_cluster_size = 9, .min_samples = 5}));
    }
}

TEST(sweep, automatic_size_without_any_split) {
  point_set<float> points(20, 1);
  for (std::int64_t i = 0; i < 20; ++i) points(i, 0) = float(i);
  const cluster_result found = cluster(points.view(), {.min_cluster_size = automatic_size});
  EXPECT_EQ(found.options.min_cluster_size, 5);
  EXPECT_EQ(found.labels, indices(20, -1));
  EXPECT_EQ(found.neighbours, 5);
  EXPECT_EQ(cluster(point_set<float>(0, 1).view(), {.min_cluster_size = automatic_size}).options.min_cluster_size, 5);
}

TEST(sweep, order_of_the_points_does_not_matter) {
  const auto points = grid_points<float>(300, 2, 20, 31);
  indices order(300);
  std::iota(order.begin(), order.end(), 0);
  std::reverse(order.begin(), order.end());
  const sweep_options options{.min_samples = {1, 3, 9}, .min_cluster_size = {4, 9, 20}};
  const sweep_result one = sweep(points.view(), options), other = sweep(test::reordered(points, order).view(), options);
  for (std::size_t s = 0; s < one.settings.size(); ++s) {
    EXPECT_EQ(one.settings[s].clusters, other.settings[s].clusters);
    EXPECT_EQ(one.settings[s].noise, other.settings[s].noise);
    EXPECT_EQ(one.settings[s].persistence, other.settings[s].persistence);
  }
  EXPECT_EQ(one.best, other.best);
}

TEST(sweep, reports_its_stages_and_stops) {
  const auto points = clustered_points<float>(200, 2, 5);
  const sweep_options options{.min_samples = {2, 5, 9}, .min_cluster_size = {5, 10}};
  std::vector<std::string> stages;
  sweep(points.view(), options, Device::host(), [&](std::string_view stage, double fraction) {
    if (fraction == 1) stages.emplace_back(stage);
    return true;
  });
  EXPECT_EQ(stages, (std::vector<std::string>{"neighbours", "spanning_tree", "trees", "settings"}));
  for (const std::string& last : stages)
    EXPECT_THROW(sweep(points.view(), options, Device::host(), [&](auto stage, double) { return stage != last; }),
                 Cancelled);
}

TEST(sweep, bad_arguments_are_named) {
  const auto points = clustered_points<float>(50, 2, 5);
  const auto expect = [&](const sweep_options& options, const char* words) {
    expect_invalid([&] { sweep(points.view(), options); }, words);
  };
  expect({}, "min_samples.size must be >= 1");
  expect({.min_samples = {3, 0}}, "min_samples[1] must be >= 1 (min_samples[1]=0)");
  expect({.min_samples = {3}, .min_cluster_size = {1}}, "min_cluster_size[0] must be >= 2 (min_cluster_size[0]=1)");
  expect({.min_samples = {3}, .epsilon = {0, -1}}, "epsilon[1] must be >= 0 (epsilon[1]=-1)");
  expect({.min_samples = {3}, .epsilon = {nan_value}}, "epsilon[0] must be >= 0 (epsilon[0]=nan)");
  expect({.min_samples = {3}, .epsilon = {}}, "epsilon.size must be >= 1");
  expect({.min_samples = {3}, .alpha = 0}, "alpha must be > 0");
  expect({.min_samples = {3}, .layers = -1}, "layers must be >= 0");
  sweep_options many;
  for (std::int64_t i = 1; i <= 101; ++i) many.min_samples.push_back(i);
  for (std::int64_t i = 2; i <= 10001; ++i) many.min_cluster_size.push_back(i);
  expect(many, "at most 1000000 settings (101 x 10000 x 1)");
  const sweep_result result = sweep(points.view(), {.min_samples = {3}, .min_cluster_size = {5}});
  expect_invalid([&] { clustering_at(result, 1); }, "setting must be in [0, 1) (setting=1)");
  expect_invalid([&] { labels_at(result, -1); }, "setting must be in [0, 1)");
  expect_invalid([&] { spanning_trees(points.view(), {}); }, "min_samples.size must be >= 1");
  expect_invalid([&] { spanning_trees(points.view(), indices{-1}); }, "min_samples[0] must be >= 0");
}

TEST(refit, refuses_what_changes_the_tree) {
  const auto points = clustered_points<float>(50, 2, 5);
  const cluster_result model = cluster(points.view(), {.min_cluster_size = 5, .min_samples = 3});
  expect_invalid([&] { refit(model, {.min_samples = 4}); }, "min_samples must be 3, that of the model: sweep()");
  expect_invalid([&] { refit(model, {.count_self = true}); }, "count_self must be 0");
  expect_invalid([&] { refit(model, {.alpha = 2}); }, "alpha must be 1");
  expect_invalid([&] { refit(model, {.distance = metric::cosine}); }, "distance must be euclidean");
  expect_invalid([&] { refit(model, {.min_cluster_size = 1}); }, "min_cluster_size must be >= 2");
}

}  // namespace
}  // namespace quintet::hdbscan
