#include "quintet/hdbscan/tree_stages.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace quintet::hdbscan {
namespace {

using indices = std::vector<std::int64_t>;

// Clusters 0 > (1, 2), 1 > (3, 4), of 12 points, with given lambdas of the splits and of the ends.
tree_summary family(double top, double split, double end_of_2, double end_of_34) {
  condensed_tree tree{12, 5, {{12, 13, top, 8}, {12, 14, top, 4}, {13, 15, split, 4}, {13, 16, split, 4}}};
  for (std::int64_t p = 0; p < 4; ++p) tree.rows.push_back({14, p, end_of_2, 1});
  for (std::int64_t p = 4; p < 8; ++p) tree.rows.push_back({15, p, end_of_34, 1});
  for (std::int64_t p = 8; p < 12; ++p) tree.rows.push_back({16, p, end_of_34, 1});
  return summarise(tree);
}

TEST(select_clusters, eom_takes_the_larger_stability) {
  // Cluster 1 has 8 (split - 1); its children together 8 (end - split).
  EXPECT_EQ(select_clusters(family(1, 3, 4, 4), {}), (indices{1, 2}));
  EXPECT_EQ(select_clusters(family(1, 2, 4, 4), {}), (indices{2, 3, 4}));
}

TEST(select_clusters, eom_takes_the_parent_when_stabilities_are_equal) {
  EXPECT_EQ(select_clusters(family(1, 2, 4, 3), {}), (indices{1, 2}));
}

TEST(select_clusters, leaf_takes_clusters_without_children) {
  EXPECT_EQ(select_clusters(family(1, 3, 4, 4), {.method = selection::leaf}), (indices{2, 3, 4}));
}

// Three groups of three points, the first two of which join at 2, and all at 4.
TEST(select_clusters, heights_within_the_tolerance_of_epsilon_are_equal_to_it) {
  const std::vector<edge> edges{{0, 1, 1}, {1, 2, 1}, {3, 4, 1}, {4, 5, 1}, {6, 7, 1}, {7, 8, 1}, {2, 3, 2}, {5, 6, 4}};
  tree_options options{.min_cluster_size = 3, .method = selection::leaf};
  const tree_summary s = summarise(condense(single_linkage(edges, 9), options));
  const auto count_at = [&](double epsilon) {
    options.epsilon = epsilon;
    return select_clusters(s, options).size();
  };
  EXPECT_EQ(count_at(2 * (1 + 5e-15)), 3u);
  EXPECT_EQ(count_at(2 * (1 + 1e-9)), 2u);
  options.method = selection::eom;
  options.epsilon_max = 2 * (1 - 5e-15);
  EXPECT_EQ(count_at(0), 2u);
  options.tie_tolerance = 0;
  EXPECT_EQ(count_at(0), 0u);
  options.epsilon_max = 10;
  EXPECT_EQ(count_at(2 * (1 + 5e-15)), 2u);
}

TEST(select_clusters, the_root_needs_permission) {
  const tree_summary s = family(1, 1.1, 1.2, 1.2);  // the root has 12, everything below less
  EXPECT_EQ(select_clusters(s, {.allow_single_cluster = true}), (indices{0}));
  EXPECT_EQ(select_clusters(s, {.allow_single_cluster = false}), (indices{1, 2}));
}

TEST(select_clusters, leaf_never_takes_the_root) {
  const tree_summary s = summarise({2, 1, {{2, 0, 1.0, 1}, {2, 1, 1.0, 1}}});
  EXPECT_EQ(select_clusters(s, {.method = selection::leaf, .allow_single_cluster = true}), indices{});
}

TEST(select_clusters, large_and_wide_clusters_are_passed_over) {
  const tree_summary s = family(1, 3, 4, 4);
  EXPECT_EQ(select_clusters(s, {.max_cluster_size = 7}), (indices{2, 3, 4}));
  EXPECT_EQ(select_clusters(s, {.max_cluster_size = 8}), (indices{1, 2}));
  EXPECT_EQ(select_clusters(s, {.max_cluster_size = 3}), indices{});
  EXPECT_EQ(select_clusters(s, {.epsilon_max = 0.5}), (indices{3, 4}));  // 1 and 2 are born at height 1
}

TEST(select_clusters, epsilon_climbs_to_the_first_ancestor_born_above_it) {
  // Born at heights: 1 and 2 at 1, 3 and 4 at 1/2.
  const tree_summary s = family(1, 2, 4, 4);
  EXPECT_EQ(select_clusters(s, {.epsilon = 0.4}), (indices{2, 3, 4}));
  EXPECT_EQ(select_clusters(s, {.epsilon = 0.5}), (indices{2, 3, 4}));  // strictly below only
  EXPECT_EQ(select_clusters(s, {.epsilon = 0.6}), (indices{1, 2}));
  EXPECT_EQ(select_clusters(s, {.epsilon = 2}), (indices{1, 2}));  // the root is out of reach
  EXPECT_EQ(select_clusters(s, {.epsilon = 2, .allow_single_cluster = true}), (indices{0}));
}

TEST(select_clusters, bad_options_are_named) {
  expect_invalid([] { select_clusters(family(1, 2, 4, 4), {.epsilon = -0.5}); }, "epsilon must be >= 0 (epsilon=-0.5)");
}

}  // namespace
}  // namespace quintet::hdbscan
