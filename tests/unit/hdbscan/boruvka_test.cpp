// The rounds themselves, with lists, tables of bounds and orders of points that spanning_tree() would never choose: the
// tree may not depend on them.
#include "hdbscan/rounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "pairwise/scanned_points.hpp"
#include "quintet/hdbscan/spanning_tree.hpp"
#include "reference/pairwise_reference.hpp"
#include "reference/spanning_tree_reference.hpp"
#include "support/devices.hpp"
#include "support/points.hpp"
#include "support/random_tree.hpp"
#include "support/real_types.hpp"

namespace quintet::hdbscan {
namespace {

template <class Real>
class boruvka_of : public ::testing::Test {};
TYPED_TEST_SUITE(boruvka_of, test::real_types);

using test::point_set;

// Edges with squared weights, sorted by (weight, u, v).
template <class Real>
std::vector<edge> found_tree(const point_set<Real>& points, std::int64_t k, int list_length, std::int64_t minima_bytes,
                             const std::vector<std::int32_t>& order, const bound_limits& limits, const Device& device) {
  const pairwise::scanned_points<Real> scan(points.view(), metric::euclidean, device);
  const auto panels = scan.pack(order);
  auto lists = pairwise::nearest_others_on_device(panels, list_length, minima_bytes);
  const std::vector<Real> core = k > 0 ? pairwise::kth_value(lists, k) : std::vector<Real>(points.n, 0);
  const auto outside = lower_bounds_outside_list(core, pairwise::outside_lists(lists), list_length, points.n);
  progress silent;
  boruvka<Real> rounds(panels, std::move(lists), core, outside, order, {}, nullptr, limits);
  run_rounds(rounds, silent);
  std::vector<edge> edges;
  for (const auto& e : rounds.tree()) {
    // Coordinates were scaled by a power of two.
    const double weight = double(e.weight) * scan.measure.unscale * scan.measure.unscale;
    edges.push_back({order[e.first], order[e.second], weight});
  }
  std::sort(edges.begin(), edges.end());
  return edges;
}

// Integer coordinates: squares are exact, in the reference as well.
template <class Real>
std::vector<edge> expected_tree(const point_set<Real>& points, std::int64_t k) {
  reference::matrix squares = reference::distances(reference::widened(points.view()), metric::euclidean);
  for (std::int64_t e = 0; e < squares.size(); ++e)
    squares.data()[e] = std::round(squares.data()[e] * squares.data()[e]);
  const auto weights = reference::mutual_reachability(squares, reference::core_distances(squares, k), 1);
  std::vector<std::int64_t> all(points.n);
  for (std::int64_t i = 0; i < points.n; ++i) all[i] = i;
  return reference::spanning_tree(all, [&](std::int64_t i, std::int64_t j) { return weights(i, j); });
}

template <class Real>
void expect_one_tree(const point_set<Real>& points, std::int64_t k, std::mt19937_64& random, const Device& device) {
  const std::vector<edge> expected = expected_tree(points, k);
  // Lists as short as they can be; one group of tiles, some, and a group a tile; bounds of all tiles, of larger cells,
  // a few tiles at a time.
  for (const int spare : {0, 3})
    for (const std::int64_t minima_bytes :
         {std::int64_t(1), 3 * points.n * std::int64_t(sizeof(Real)), std::int64_t(1) << 24}) {
      const int list_length = int(std::min(points.n - 1, std::max<std::int64_t>(k + spare, 1)));
      for (const bound_limits& limits : {bound_limits{}, bound_limits{6 * sizeof(Real), 9}, bound_limits{1 << 20, 1}}) {
        const auto order = test::random_permutation(points.n, random);
        EXPECT_EQ(found_tree(points, k, list_length, minima_bytes, {order.begin(), order.end()}, limits, device),
                  expected)
            << points.n << " points, k = " << k << ", lists of " << list_length << ", table of " << minima_bytes
            << ", strips of " << limits.strip_tiles;
      }
    }
}

TYPED_TEST(boruvka_of, any_lists_and_bounds_and_orders_is_one_tree) {
  std::mt19937_64 random(1);
  for (const std::int64_t n : {2, 97, 200, 700})
    for (const std::int64_t range : {3, 30, 1000})
      for (const std::int64_t k : {0, 1, 6}) {
        if (k >= n) continue;
        expect_one_tree(test::grid_points<TypeParam>(n, 2, range, std::uint64_t(n + range)), k, random, Device::host());
      }
}

// Far groups: most tiles are pruned, and edges between groups are in no list.
TYPED_TEST(boruvka_of, far_groups_is_one_tree) {
  std::mt19937_64 random(2);
  for (const std::int64_t groups : {2, 7, 40}) {
    auto points = test::grid_points<TypeParam>(600, 2, 8, std::uint64_t(groups));
    for (std::int64_t i = 0; i < points.n; ++i)
      for (std::int64_t k = 0; k < 2; ++k) points(i, k) += TypeParam(50 * (i % groups) + i % groups * (i % groups));
    for (const std::int64_t k : {0, 5}) expect_one_tree(points, k, random, Device::host());
  }
}

// Every point's best edge leads to the one before it: a forest as deep as there are points, far more than the steps of
// one pass to the roots.
TYPED_TEST(boruvka_of, chain_of_equal_gaps_is_joined_in_one_round) {
  const std::int64_t n = 3 * forest_steps * forest_steps;
  std::vector<TypeParam> at(n);
  std::iota(at.begin(), at.end(), TypeParam(0));
  test::on_every_device([&](const Device& device) {
    const auto found = spanning_tree(matrix_view<const TypeParam>(at.data(), n, 1), {.min_samples = 1}, device);
    EXPECT_EQ(found.counters.rounds, 1);
    ASSERT_EQ(std::int64_t(found.edges.size()), n - 1);
    for (std::int64_t i = 0; i + 1 < n; ++i) ASSERT_EQ(found.edges[i], (edge{i, i + 1, 1}));
  });
}

// A point more, and a forest of another depth: roots are reached after any number of passes.
TYPED_TEST(boruvka_of, chains_of_any_length_are_trees) {
  for (const std::int64_t n : {2, forest_steps, forest_steps + 1, forest_steps + 2, forest_steps * forest_steps + 1}) {
    std::vector<TypeParam> at(n);
    std::iota(at.rbegin(), at.rend(), TypeParam(0));
    const auto found = spanning_tree(matrix_view<const TypeParam>(at.data(), n, 1), {.min_samples = 1}, Device::host());
    EXPECT_EQ(found.counters.rounds, 1) << n;
    EXPECT_EQ(found.total_weight(), double(n - 1)) << n;
  }
}

TYPED_TEST(boruvka_of, other_devices_is_one_tree) {
  std::mt19937_64 random(3);
  test::on_other_devices(
      [&](const Device& device) { expect_one_tree(test::grid_points<TypeParam>(100, 2, 20, 3), 4, random, device); });
}

// Every tile is in one strip, in one cell; the memory is what the limits say.
TEST(tile_strips, cover_all_tiles_within_their_limits) {
  for (const std::int64_t own : {0, 1, 7, 40})
    for (const std::int64_t visitors : {0, 1, 33})
      for (const bound_limits& limits : {bound_limits{}, bound_limits{80, 30}, bound_limits{400, 1}}) {
        const std::int64_t places = own + visitors;
        const tile_strips strips(own, places, 4, limits);
        std::int64_t tiles = 0, rows = 0;
        for (std::int64_t strip = 0; strip < strips.count(); ++strip) {
          EXPECT_EQ(strips.first_row(strip), rows);
          EXPECT_EQ(strips.first_row(strip) % strips.cell_side(), 0);
          EXPECT_EQ(strips.first_tile(strip), tiles);
          EXPECT_LE(strips.tiles(strip), std::max(limits.strip_tiles, strips.cell_side() * places));
          rows += strips.rows(strip);
          tiles += strips.tiles(strip);
        }
        EXPECT_EQ(rows, own);
        EXPECT_EQ(tiles, own * places - own * (own - 1) / 2);
        EXPECT_LE(strips.cells() * 4, std::max<std::int64_t>(limits.cell_bytes, 4));
        if (strips.cell_side() > 1) {
          EXPECT_GT(tiles * 4, limits.cell_bytes);
        }
      }
}

}  // namespace
}  // namespace quintet::hdbscan
