// Searches of the block tree against the pass over all pairs: the same bits, whatever the points look like.
#include "pairwise/tree_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <tuple>

#include "hdbscan/rounds.hpp"
#include "pairwise/scanned_points.hpp"
#include "support/ball_points.hpp"
#include "support/devices.hpp"
#include "support/near.hpp"
#include "support/points.hpp"
#include "support/real_types.hpp"

namespace quintet::hdbscan {
namespace {

template <class Real>
class block_tree_of : public ::testing::Test {};
TYPED_TEST_SUITE(block_tree_of, test::real_types);

using test::point_set;

template <class Real>
point_set<Real> filled(std::int64_t n, std::int64_t dim, const std::function<double(std::int64_t, std::int64_t)>& f) {
  point_set<Real> points(n, dim);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = 0; k < dim; ++k) points(i, k) = Real(f(i, k));
  return points;
}

template <class Real>
struct named_points {
  std::string name;
  point_set<Real> points;
};

// What trees are good at, what they are bad at, and what has ties or empty boxes.
template <class Real>
std::vector<named_points<Real>> kinds_of_points(std::int64_t n, std::int64_t dim) {
  std::mt19937_64 random(n * 100 + dim);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<named_points<Real>> kinds;
  kinds.push_back({"clusters", test::clustered_points<Real>(n, dim, n + dim)});
  kinds.push_back({"grid", test::grid_points<Real>(n, dim, 5, n + dim)});
  kinds.push_back({"equal", filled<Real>(n, dim, [](auto, auto) { return 0.25; })});
  kinds.push_back({"line", filled<Real>(n, dim, [&](auto i, auto k) { return double(i) * double(k + 1); })});
  kinds.push_back({"uniform", filled<Real>(n, dim, [&](auto, auto) { return uniform(random); })});
  // Equal norms: every box of a large node holds the centre.
  point_set<Real> sphere = filled<Real>(n, dim, [&](auto, auto) { return normal(random); });
  for (std::int64_t i = 0; i < n; ++i) {
    double square = 0;
    for (std::int64_t k = 0; k < dim; ++k) square += double(sphere(i, k)) * double(sphere(i, k));
    for (std::int64_t k = 0; k < dim; ++k) sphere(i, k) = Real(sphere(i, k) / std::sqrt(square));
  }
  kinds.push_back({"sphere", std::move(sphere)});
  // One point so far away that it alone decides about the first splits, and scales all others down.
  kinds.push_back({"far_one", filled<Real>(n, dim, [&](auto i, auto) { return i == n / 2 ? 1e6 : uniform(random); })});
  return kinds;
}

template <class Real>
struct both_ways {
  pairwise::scanned_points<Real> scan;
  std::vector<std::int32_t> order;
  pairwise::panels<Real> for_tree, for_tiles;

  both_ways(const point_set<Real>& points, const point_metric& distance, const Device& device)
      : scan(points.view(), distance, device) {
    const std::vector<std::int32_t> valid = scan.valid_rows();
    order = pairwise::tree_order(scan.pack(valid, pairwise::tree_layout()));
    for (std::int32_t& i : order) i = valid[i];
    for_tree = scan.pack(order, pairwise::tree_layout());
    for_tiles = scan.pack(order);
  }
};

template <class Real>
void expect_same_lists(const both_ways<Real>& p, int k) {
  const pairwise::block_tree<Real> tree(p.for_tree);
  pairwise::tree_work work;
  const auto found = pairwise::nearest_others_on_device(tree, k, work);
  const auto expected = pairwise::on_host(pairwise::nearest_others_on_device(p.for_tiles, k));
  std::vector<Real> value(found.rows * k);
  std::vector<std::int32_t> index(found.rows * k);
  found.value.copy_to_host(value.data(), found.rows * k);
  found.index.copy_to_host(index.data(), found.rows * k);
  EXPECT_EQ(index, expected.index);
  test::expect_same_bits(value, expected.value);
  EXPECT_GE(work.pairs, found.rows * std::min<std::int64_t>(k, found.rows - 1));
}

template <class Real>
std::vector<std::tuple<Real, std::int32_t, std::int32_t>> edges_of(const pairwise::panels<Real>& panels,
                                                                   pairwise::device_neighbours<Real> lists,
                                                                   const std::vector<Real>& core,
                                                                   const std::vector<std::int32_t>& order,
                                                                   const pairwise::block_tree<Real>* tree = nullptr) {
  const auto outside = lower_bounds_outside_list(core, pairwise::outside_lists(lists), lists.k, panels.count);
  boruvka<Real> rounds(panels, std::move(lists), core, outside, order, {}, tree);
  progress silent;
  run_rounds(rounds, silent);
  std::vector<std::tuple<Real, std::int32_t, std::int32_t>> edges;
  for (const auto& e : rounds.tree()) edges.emplace_back(e.weight, e.first, e.second);
  std::sort(edges.begin(), edges.end());
  return edges;
}

template <class Real>
void expect_same_edges(const both_ways<Real>& p, int k, int list_length) {
  const pairwise::block_tree<Real> tree(p.for_tree);
  pairwise::tree_work work;
  const auto core = pairwise::kth_value(pairwise::nearest_others_on_device(tree, list_length, work), k);
  const auto by_tree =
      edges_of(p.for_tree, pairwise::nearest_others_on_device(tree, list_length, work), core, p.order, &tree);
  const auto by_tiles =
      edges_of(p.for_tiles, pairwise::nearest_others_on_device(p.for_tiles, list_length, 1 << 16), core, p.order);
  EXPECT_EQ(std::int64_t(by_tree.size()), p.for_tree.count - 1);
  EXPECT_EQ(by_tree, by_tiles);
}

TYPED_TEST(block_tree_of, any_points_has_the_lists_of_all_pairs) {
  test::on_every_device([](const Device& device) {
    const bool is_host = device == Device::host();
    using numbers = std::vector<std::int64_t>;
    for (const std::int64_t dim : is_host ? numbers{1, 2, 3, 10, 33, 64} : numbers{1, 3, 33})
      for (const std::int64_t n : is_host ? numbers{1, 2, 64, 65, 130, 1500} : numbers{1, 65, 200})
        for (auto& [name, points] : kinds_of_points<TypeParam>(n, dim)) {
          SCOPED_TRACE(name + " " + std::to_string(n) + " x " + std::to_string(dim));
          expect_same_lists(both_ways<TypeParam>(points, metric::euclidean, device), is_host ? 9 : 4);
        }
  });
}

// In one to four registers of 2 to 16 lanes, and longer ones, which stay in memory.
TYPED_TEST(block_tree_of, lists_of_any_length_are_those_of_all_pairs) {
  for (auto& [name, points] : kinds_of_points<TypeParam>(200, 2)) {
    const both_ways<TypeParam> p(points, metric::euclidean, Device::host());
    for (const int k : {1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 31, 32, 33, 48, 49, 64, 65}) {
      SCOPED_TRACE(name + ", k = " + std::to_string(k));
      expect_same_lists(p, k);
    }
  }
}

TYPED_TEST(block_tree_of, any_metric_has_the_lists_of_all_pairs) {
  test::on_every_device([](const Device& device) {
    const std::int64_t n = device == Device::host() ? 1000 : 150;
    auto points = test::clustered_points<TypeParam>(n, 4, 5);
    points(n / 3, 1) = std::numeric_limits<TypeParam>::infinity();
    expect_same_lists(both_ways<TypeParam>(points, metric::cosine, device), 6);
    expect_same_lists(both_ways<TypeParam>(points, metric::euclidean, device), 6);
    // Near the border factors differ by orders of magnitude.
    const auto ball = test::ball_points<TypeParam>(n, 3, 0.0, 0.999, 1.0, 6);
    expect_same_lists(both_ways<TypeParam>(ball, metric::poincare, device), 6);
    expect_same_edges(both_ways<TypeParam>(ball, metric::poincare, device), 3, 6);
  });
}

TYPED_TEST(block_tree_of, a_sphere_has_the_lists_and_the_spanning_tree_of_all_pairs) {
  test::on_every_device([](const Device& device) {
    const auto points = test::sphere_points<TypeParam>(device == Device::host() ? 700 : 300, 5);
    const both_ways<TypeParam> p(points, metric::haversine, device);
    expect_same_lists(p, 6);
    expect_same_edges(p, 3, 6);
  });
}

TYPED_TEST(block_tree_of, any_norm_has_the_lists_and_the_spanning_tree_of_all_pairs) {
  test::on_every_device([](const Device& device) {
    const bool is_host = device == Device::host();
    for (const point_metric& distance :
         {point_metric(metric::manhattan), point_metric(metric::chebyshev), point_metric(metric::minkowski, 1.5),
          point_metric(metric::minkowski, 3), point_metric(metric::minkowski, 8)})
      for (const std::int64_t dim : {2, 7})
        for (auto& [name, points] : kinds_of_points<TypeParam>(is_host ? 300 : 100, dim)) {
          if (!is_host && (dim != 7 || distance.p > 2)) continue;
          SCOPED_TRACE(name + " " + to_string(distance) + " " + std::to_string(dim));
          const both_ways<TypeParam> p(points, distance, device);
          expect_same_lists(p, 6);
          expect_same_edges(p, 3, 6);
        }
  });
}

TYPED_TEST(block_tree_of, any_points_has_the_spanning_tree_of_all_pairs) {
  test::on_every_device([](const Device& device) {
    const bool is_host = device == Device::host();
    using numbers = std::vector<std::int64_t>;
    for (const std::int64_t dim : is_host ? numbers{1, 2, 5, 20} : numbers{2, 20})
      for (const std::int64_t n : is_host ? numbers{2, 65, 400, 1500} : numbers{150})
        for (auto& [name, points] : kinds_of_points<TypeParam>(n, dim))
          for (const int k : {1, 5}) {
            SCOPED_TRACE(name + " " + std::to_string(n) + " x " + std::to_string(dim) + ", k = " + std::to_string(k));
            expect_same_edges(both_ways<TypeParam>(points, metric::euclidean, device), k, k + 1);
          }
  });
}

TYPED_TEST(block_tree_of, many_points_in_few_dimensions_is_searched_little) {
  const both_ways<TypeParam> p(test::clustered_points<TypeParam>(20000, 2, 7), metric::euclidean, Device::host());
  const pairwise::block_tree<TypeParam> tree(p.for_tree);
  pairwise::tree_work work;
  pairwise::nearest_others_on_device(tree, 16, work);
  // About 10 of 313 leaves each.
  EXPECT_LT(work.pairs, std::int64_t(20000) * 20000 / 16);
  EXPECT_NEAR(pairwise::sampled_share(tree, 16), double(work.pairs) / (20032.0 * 20032.0), 0.02);
}

}  // namespace
}  // namespace quintet::hdbscan
