// Persistence of leaves over sizes, against the leaves of one condensed tree per size.
#include "quintet/hdbscan/persistence_trace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "quintet/hdbscan/cluster_tree.hpp"
#include "support/expect_error.hpp"
#include "support/random_tree.hpp"

namespace quintet::hdbscan {
namespace {

using sizes = std::vector<std::int64_t>;
using steps = std::vector<persistence_step>;
using leaf_set = std::set<std::vector<std::int64_t>>;

/// The points of every leaf cluster of the condensed tree, the root aside.
leaf_set leaves_at(const single_linkage_tree& tree, std::int64_t size, ties tie_mode) {
  const auto s = summarise(condense(tree, {.min_cluster_size = size, .tie_mode = tie_mode}));
  std::map<std::int64_t, std::vector<std::int64_t>> members;
  for (std::int64_t p = 0; p < std::ssize(s.point_cluster); ++p) members[s.point_cluster[p]].push_back(p);
  leaf_set leaves;
  for (std::int64_t c = 1; c < std::ssize(s.parent); ++c)
    if (s.children[c] == 0) leaves.insert(members[c]);
  return leaves;
}

/// The definition: a leaf is as persistent as there are sizes with which it exists.
std::map<std::int64_t, double> traced(const single_linkage_tree& tree, std::int64_t min_samples, ties tie_mode) {
  std::map<std::vector<std::int64_t>, double> persistence;
  const std::int64_t first = std::max<std::int64_t>(min_samples, 1) + 1;
  for (std::int64_t size = first; size <= tree.points; ++size)
    for (const auto& leaf : leaves_at(tree, size, tie_mode)) ++persistence[leaf];
  std::map<std::int64_t, double> trace;
  for (std::int64_t size = first; size <= tree.points; ++size)
    for (const auto& leaf : leaves_at(tree, size, tie_mode)) trace[size] += persistence[leaf];
  return trace;
}

double value_at(const steps& trace, std::int64_t size) {
  double value = 0;
  for (const persistence_step& step : trace)
    if (step.min_cluster_size <= size) value = step.persistence;
  return value;
}

TEST(persistence_trace, counts_the_sizes_of_every_leaf) {
  std::mt19937_64 random(1);
  for (const std::int64_t n : {2, 3, 5, 12, 40, 90})
    for (const std::int64_t heights : {1, 2, 4, 1000})
      for (const std::int64_t reach : {1, 4, 100})
        for (const ties tie_mode : {ties::canonical, ties::binary})
          for (const std::int64_t min_samples : {0, 1, 4}) {
            const auto tree = single_linkage(test::random_tree(n, heights, reach, random), n);
            const steps trace = trace_persistence(tree, min_samples, tie_mode);
            auto expected = traced(tree, min_samples, tie_mode);
            for (std::int64_t size = 2; size <= n; ++size)
              ASSERT_EQ(value_at(trace, size), expected[size])
                  << "n " << n << " heights " << heights << " size " << size << " min_samples " << min_samples;
            for (std::size_t i = 1; i < trace.size(); ++i)
              ASSERT_LT(trace[i - 1].min_cluster_size, trace[i].min_cluster_size);
            for (std::size_t i = 0; i < trace.size(); ++i)
              ASSERT_NE(trace[i].persistence, i == 0 ? 0 : trace[i - 1].persistence);
            const auto best = most_persistent_size(trace);
            ASSERT_EQ(best.has_value(), !trace.empty());
            for (const auto& [size, value] : expected) {
              if (!best) continue;
              ASSERT_LE(value, expected[*best]);
              if (size < *best) ASSERT_LT(value, expected[*best]);
            }
          }
}

TEST(persistence_trace, sizes_between_changes_have_the_same_clusters) {
  std::mt19937_64 random(2);
  for (const std::int64_t heights : {1, 3, 1000})
    for (const ties tie_mode : {ties::canonical, ties::binary}) {
      const std::int64_t n = 60;
      const auto tree = single_linkage(test::random_tree(n, heights, 100, random), n);
      const sizes changes = changing_sizes(tree, tie_mode);
      EXPECT_EQ(changes.front(), 2);
      EXPECT_TRUE(std::is_sorted(changes.begin(), changes.end()));
      const auto clusters_at = [&](std::int64_t size) {
        const auto s = summarise(condense(tree, {.min_cluster_size = size, .tie_mode = tie_mode}));
        return std::tuple(s.parent, s.size, s.birth);
      };
      for (std::int64_t size = 3; size <= n; ++size) {
        const bool is_listed = std::binary_search(changes.begin(), changes.end(), size);
        EXPECT_EQ(clusters_at(size) != clusters_at(size - 1), is_listed) << size;
      }
    }
}

// Two groups of 4, one of 3 pairs beside: {0..3} and {4..7} join at 5, {8, 9} joins these at 9.
single_linkage_tree two_fours_and_a_pair() {
  return single_linkage(std::vector<edge>{{0, 1, 1.0},
                                          {1, 2, 1.1},
                                          {2, 3, 1.2},
                                          {4, 5, 2.0},
                                          {5, 6, 2.1},
                                          {6, 7, 2.2},
                                          {3, 4, 5.0},
                                          {8, 9, 3.0},
                                          {7, 8, 9.0}},
                        10);
}

TEST(persistence_trace, a_tree_by_hand) {
  // Sizes 2: {0..3}, {4..7} (2, 3, 4) and {8, 9} (2).
  EXPECT_EQ(trace_persistence(two_fours_and_a_pair(), 1), (steps{{2, 7}, {3, 6}, {5, 0}}));
  EXPECT_EQ(trace_persistence(two_fours_and_a_pair(), 2), (steps{{3, 4}, {5, 0}}));
  EXPECT_EQ(trace_persistence(two_fours_and_a_pair(), 4), (steps{}));
  EXPECT_EQ(changing_sizes(two_fours_and_a_pair()), (sizes{2, 3, 5}));
  EXPECT_EQ(most_persistent_size(trace_persistence(two_fours_and_a_pair(), 1)), 2);
  const auto leaves = persistent_leaves(two_fours_and_a_pair(), 1);
  ASSERT_EQ(leaves.size(), 3u);
  EXPECT_EQ(leaves[2].first, 2);
  EXPECT_EQ(leaves[2].last, 2);
}

TEST(persistence_trace, nothing_splits_at_height_zero) {
  const auto copies = single_linkage(std::vector<edge>{{0, 1, 0.0}, {1, 2, 0.0}, {2, 3, 0.0}}, 4);
  EXPECT_TRUE(trace_persistence(copies, 1).empty());
  EXPECT_TRUE(trace_persistence(copies, 1, ties::binary).empty());
  EXPECT_EQ(changing_sizes(copies), (sizes{2}));
  EXPECT_TRUE(trace_persistence(single_linkage({}, 1), 1).empty());
}

TEST(persistence_trace, parts_that_no_edge_joins_are_split) {
  const auto apart = single_linkage(std::vector<edge>{{0, 1, 1.0}, {2, 3, 1.0}}, 4);
  EXPECT_EQ(trace_persistence(apart, 1), (steps{{2, 2}, {3, 0}}));
}

TEST(persistence_trace, peaks) {
  const steps trace{{2, 5}, {3, 7}, {4, 6}, {7, 9}, {8, 3}, {9, 7}, {12, 0}};
  EXPECT_EQ(persistence_peaks(trace), (steps{{7, 9}, {3, 7}, {9, 7}}));
  EXPECT_EQ(persistence_peaks(trace, 1), (steps{{7, 9}}));
  EXPECT_EQ(persistence_peaks(steps{{2, 5}, {3, 0}}), (steps{{2, 5}}));
  EXPECT_TRUE(persistence_peaks({}).empty());
}

TEST(persistence_trace, bad_arguments_are_named) {
  expect_invalid([] { trace_persistence(two_fours_and_a_pair(), -1); }, "min_samples must be >= 0 (min_samples=-1)");
  expect_invalid([] { persistence_peaks({}, -1); }, "max_layers must be >= 0");
  expect_invalid([] { trace_persistence({3, {}}, 1); }, "rows.size()");
}

TEST(automatic_size, is_that_of_the_trace) {
  const auto tree = two_fours_and_a_pair();
  const auto found = cluster_tree(tree, {.min_cluster_size = automatic_size, .min_samples = 1});
  const auto expected = cluster_tree(tree, {.min_cluster_size = 2});
  EXPECT_EQ(found.labels, expected.labels);
  EXPECT_EQ(found.condensed.rows, expected.condensed.rows);
  EXPECT_EQ(sized_options(tree, {.min_cluster_size = automatic_size, .min_samples = 2}).min_cluster_size, 3);
  EXPECT_EQ(sized_options(tree, {.min_cluster_size = automatic_size}).min_cluster_size, 5);
  EXPECT_EQ(sized_options(tree, {.min_cluster_size = 9}).min_cluster_size, 9);
  expect_invalid([&] { condense(tree, {.min_cluster_size = automatic_size}); }, "min_cluster_size must be >= 2");
}

}  // namespace
}  // namespace quintet::hdbscan
