#include "quintet/hdbscan/cut.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <set>

#include "support/expect_error.hpp"

namespace quintet::hdbscan {
namespace {

using indices = std::vector<std::int64_t>;

// {1, 4} at 1, {0, 2} at 2, both at 3, point 3 at 8; point 5 not connected.
single_linkage_tree small_tree() {
  return single_linkage(std::vector<edge>{{1, 4, 1.0}, {0, 2, 2.0}, {2, 4, 3.0}, {0, 3, 8.0}}, 6);
}

TEST(cut, keeps_merges_strictly_below_the_height) {
  EXPECT_EQ(cut(small_tree(), 2.0, 2), (indices{-1, 0, -1, -1, 0, -1}));
  EXPECT_EQ(cut(small_tree(), 2.5, 2), (indices{0, 1, 0, -1, 1, -1}));
  EXPECT_EQ(cut(small_tree(), 4.0, 2), (indices{0, 0, 0, -1, 0, -1}));
}

TEST(cut, small_components_are_noise) {
  EXPECT_EQ(cut(small_tree(), 2.5, 3), (indices{-1, -1, -1, -1, -1, -1}));
  EXPECT_EQ(cut(small_tree(), 2.5, 1), (indices{0, 1, 0, 2, 1, 3}));
}

TEST(cut, infinite_height_gives_the_connected_components) {
  EXPECT_EQ(cut(small_tree(), std::numeric_limits<double>::infinity(), 1), (indices{0, 0, 0, 0, 0, 1}));
}

TEST(cut, height_zero_leaves_points_alone) {
  EXPECT_EQ(cut(single_linkage(std::vector<edge>{{0, 1, 0.0}}, 2), 0.0, 1), (indices{0, 1}));
  EXPECT_EQ(cut(single_linkage({}, 1), 0.0, 1), (indices{0}));
  EXPECT_EQ(cut(single_linkage({}, 1), 0.0, 2), (indices{-1}));
}

TEST(cut, bad_arguments_are_named) {
  expect_invalid([] { cut(small_tree(), -1, 2); }, "height must be >= 0 and not NaN (height=-1)");
  expect_invalid([] { cut(small_tree(), std::nan(""), 2); }, "height must be >= 0 and not NaN");
  expect_invalid([] { cut(small_tree(), 1, 0); }, "min_cluster_size must be >= 1 (min_cluster_size=0)");
  expect_invalid([] { cut({3, {}}, 1, 2); }, "rows.size()");
}

TEST(assign_noise, the_cluster_that_is_reached_first) {
  using labels = std::vector<std::int64_t>;
  // 0 1 | 4 5 are clusters; 2 and 3 are nearer to each other than to these, 6 hangs on 3, 7 is apart.
  const std::vector<edge> tree{{0, 1, 1.0}, {4, 5, 1.0}, {2, 3, 2.0}, {3, 4, 3.0}, {1, 2, 4.0}, {3, 6, 9.0}};
  const labels given{0, 0, -1, -1, 1, 1, -1, -1}, expected{0, 0, 1, 1, 1, 1, 1, -1};
  EXPECT_EQ(assign_noise(tree, given), expected);
  const std::vector<edge> reversed(tree.rbegin(), tree.rend());
  EXPECT_EQ(assign_noise(reversed, given), expected);
  EXPECT_EQ(assign_noise(tree, labels(8, -1)), labels(8, -1));
  EXPECT_EQ(assign_noise(tree, expected), expected);
  EXPECT_EQ(assign_noise({}, labels{}), labels{});
  expect_invalid([&] { assign_noise(tree, labels{0, 0}); }, "tree must join points in [0, N=2)");
  expect_invalid([&] { assign_noise(std::vector<edge>{{0, 1, -1.0}}, labels{0, -1}); }, "weight=-1");
  expect_invalid([&] { assign_noise({}, labels{2, -1}); }, "labels[0] must be in [-1, N) (labels[0]=2)");
}

// Every point of noise against every cluster, by the heights at which they are in one component.
TEST(assign_noise, no_cluster_is_nearer_in_the_dendrogram) {
  std::mt19937_64 random(7);
  for (int run = 0; run < 20; ++run) {
    const std::int64_t n = 40;
    std::vector<edge> tree;
    for (std::int64_t i = 1; i < n; ++i) tree.push_back({std::int64_t(random() % i), i, double(random() % 12)});
    std::vector<std::int64_t> given(n);
    for (auto& label : given) label = std::int64_t(random() % 5) - 2 < 0 ? -1 : std::int64_t(random() % 3);
    const auto found = assign_noise(tree, given);
    const single_linkage_tree linkage = single_linkage(tree, n);
    for (std::int64_t p = 0; p < n; ++p)
      for (double height = 0; height < 13; ++height) {
        const auto component = cut(linkage, height + 0.5, 1);
        std::set<std::int64_t> near;
        for (std::int64_t q = 0; q < n; ++q)
          if (component[q] == component[p] && given[q] >= 0) near.insert(given[q]);
        if (near.empty()) continue;
        EXPECT_TRUE(given[p] >= 0 ? found[p] == given[p] : near.contains(found[p]));
        break;
      }
  }
}

}  // namespace
}  // namespace quintet::hdbscan
