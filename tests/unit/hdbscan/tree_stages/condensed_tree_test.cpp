#include "quintet/hdbscan/tree_stages.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "support/expect_error.hpp"

namespace quintet::hdbscan {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

condensed_tree condense_edges(const std::vector<edge>& edges, std::int64_t n, const tree_options& options) {
  return condense(single_linkage(edges, n), options);
}

// Two pairs {0, 1} and {2, 3} at height 1; point 4 is 4 away from both, the pairs 4 from each other.
std::vector<edge> tied_pairs(bool is_point_first) {
  if (is_point_first) return {{0, 1, 1.0}, {2, 3, 1.0}, {0, 4, 4.0}, {3, 4, 4.0}};
  return {{0, 1, 1.0}, {2, 3, 1.0}, {1, 2, 4.0}, {3, 4, 4.0}};
}

TEST(condense, splits_only_into_parts_of_min_cluster_size) {
  // {0, 1, 2} and {3, 4} join at 4, point 5 at 8; 2 joins {0, 1} at 2.
  const std::vector<edge> edges{{0, 1, 1.0}, {3, 4, 1.0}, {1, 2, 2.0}, {2, 3, 4.0}, {4, 5, 8.0}};
  const auto tree = condense_edges(edges, 6, {.min_cluster_size = 2});
  const std::vector<condensed_row> expected{{6, 5, 0.125, 1}, {6, 7, 0.25, 3}, {6, 8, 0.25, 2}, {7, 2, 0.5, 1},
                                            {7, 0, 1.0, 1},   {7, 1, 1.0, 1},  {8, 3, 1.0, 1},  {8, 4, 1.0, 1}};
  EXPECT_EQ(tree.rows, expected);
  EXPECT_EQ(tree.clusters, 3);
  EXPECT_EQ(condense_edges(edges, 6, {.min_cluster_size = 2, .tie_mode = ties::binary}).rows, expected);
}

TEST(condense, canonical_ties_do_not_depend_on_the_spanning_tree) {
  const std::vector<condensed_row> expected{{5, 4, 0.25, 1}, {5, 6, 0.25, 2}, {5, 7, 0.25, 2}, {6, 0, 1.0, 1},
                                            {6, 1, 1.0, 1},  {7, 2, 1.0, 1},  {7, 3, 1.0, 1}};
  EXPECT_EQ(condense_edges(tied_pairs(true), 5, {.min_cluster_size = 2}).rows, expected);
  EXPECT_EQ(condense_edges(tied_pairs(false), 5, {.min_cluster_size = 2}).rows, expected);
}

TEST(condense, binary_ties_depend_on_it) {
  const tree_options options{.min_cluster_size = 2, .tie_mode = ties::binary};
  // (0, 4) merges before (3, 4), so point 4 falls to the first pair; in the other tree it leaves the root.
  EXPECT_EQ(condense_edges(tied_pairs(true), 5, options).rows[1], (condensed_row{5, 7, 0.25, 3}));
  EXPECT_EQ(condense_edges(tied_pairs(false), 5, options).rows[0], (condensed_row{5, 4, 0.25, 1}));
}

TEST(condense, heights_within_the_tolerance_are_one_height) {
  const std::vector<edge> nearly{{0, 1, 1.0}, {2, 3, 1.0}, {0, 4, 3.99}, {3, 4, 4.0}};
  tree_options options{.min_cluster_size = 2};
  EXPECT_EQ(condense_edges(nearly, 5, options).rows[0].child, 6);
  options.tie_tolerance = 0.01;
  EXPECT_EQ(condense_edges(nearly, 5, options).rows, condense_edges(tied_pairs(true), 5, options).rows);
}

TEST(condense, equal_heights_that_rounding_parts_are_one_height) {
  const double eps = std::numeric_limits<double>::epsilon(), float_eps = std::numeric_limits<float>::epsilon();
  EXPECT_EQ(default_tie_tolerance(), 68 * eps);
  EXPECT_EQ(default_tie_tolerance(scalar_type::float64, 3), 69.5 * eps);
  for (const scalar_type type : {scalar_type::float32, scalar_type::float16, scalar_type::bfloat16})
    EXPECT_EQ(default_tie_tolerance(type, 384), 260 * float_eps);
  EXPECT_EQ(default_tie_tolerance(scalar_type::float32, std::int64_t(1) << 40), 0x1p-10);
  expect_invalid([] { default_tie_tolerance(scalar_type::float64, -1); }, "dim must be >= 0 (dim=-1)");

  const auto parted = [](double part) {
    return std::vector<edge>{{0, 1, 1.0}, {2, 3, 1.0}, {0, 4, 4 * (1 - part)}, {3, 4, 4.0}};
  };
  const auto tied = condense_edges(tied_pairs(true), 5, {.min_cluster_size = 2}).rows;
  EXPECT_EQ(condense_edges(parted(64 * eps), 5, {.min_cluster_size = 2}).rows, tied);
  EXPECT_NE(condense_edges(parted(72 * eps), 5, {.min_cluster_size = 2}).rows, tied);
  EXPECT_NE(condense_edges(parted(64 * eps), 5, {.min_cluster_size = 2, .tie_tolerance = 0}).rows, tied);
}

TEST(condense, nothing_splits_at_height_zero) {
  std::vector<edge> edges;
  for (std::int64_t p = 1; p < 8; ++p) edges.push_back({p - 1, p, 0.0});
  edges[3].weight = -0.0;
  for (const ties mode : {ties::canonical, ties::binary}) {
    const auto tree = condense_edges(edges, 8, {.min_cluster_size = 2, .tie_mode = mode});
    ASSERT_EQ(tree.rows.size(), 8u);
    for (std::int64_t p = 0; p < 8; ++p) EXPECT_EQ(tree.rows[p], (condensed_row{8, p, infinity, 1}));
  }
}

TEST(condense, a_height_too_small_to_invert_counts_as_zero) {
  const double tiny = std::numeric_limits<double>::denorm_min();
  const std::vector<edge> edges{{0, 1, 0.0}, {2, 3, 0.0}, {1, 2, tiny}};
  const auto tree = condense_edges(edges, 4, {.min_cluster_size = 2});
  EXPECT_EQ(tree.clusters, 1);
  EXPECT_EQ(tree.rows.front().lambda, infinity);
}

TEST(condense, components_part_at_lambda_zero) {
  const std::vector<edge> edges{{0, 1, 1.0}, {2, 3, 1.0}};
  const auto tree = condense_edges(edges, 5, {.min_cluster_size = 2});
  EXPECT_EQ(tree.rows[0], (condensed_row{5, 4, 0.0, 1}));
  EXPECT_EQ(tree.rows[1], (condensed_row{5, 6, 0.0, 2}));
  EXPECT_EQ(tree.rows[2], (condensed_row{5, 7, 0.0, 2}));
}

TEST(condense, one_point_has_no_rows) {
  const auto tree = condense_edges({}, 1, {});
  EXPECT_EQ(tree.points, 1);
  EXPECT_EQ(tree.clusters, 1);
  EXPECT_TRUE(tree.rows.empty());
}

TEST(condense, bad_arguments_are_named) {
  const auto run = [](const tree_options& options) { condense_edges({{0, 1, 1.0}}, 2, options); };
  expect_invalid([&] { run({.min_cluster_size = 1}); }, "min_cluster_size must be >= 2 (min_cluster_size=1)");
  expect_invalid([&] { run({.tie_tolerance = 1}); }, "tie_tolerance must be in [0, 1) (tie_tolerance=1)");
  expect_invalid([&] { run({.epsilon = -1}); }, "epsilon must be >= 0 (epsilon=-1)");
  expect_invalid([&] { run({.epsilon_max = 0}); }, "epsilon_max must be > 0 (epsilon_max=0)");
  expect_invalid([&] { run({.max_cluster_size = -2}); }, "max_cluster_size must be >= 0, where 0 is no limit");
  expect_invalid([] { condense({3, {}}, {}); }, "rows.size()");
}

}  // namespace
}  // namespace quintet::hdbscan
