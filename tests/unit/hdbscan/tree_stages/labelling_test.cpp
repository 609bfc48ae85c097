#include "quintet/hdbscan/tree_stages.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "support/expect_error.hpp"
#include "unit/hdbscan/tree_stages/hand_worked_tree.hpp"

namespace quintet::hdbscan {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
using indices = std::vector<std::int64_t>;

tree_summary two_clusters() { return summarise(test::hand_worked_tree()); }

TEST(label_points, probability_is_relative_to_the_end_of_the_cluster) {
  const auto found = label_points(two_clusters(), indices{1, 2}, {});
  EXPECT_EQ(found.labels, (indices{0, 0, 0, 1, 1, -1}));
  EXPECT_EQ(found.probabilities, (std::vector<double>{1, 1, 0.5, 1, 1, 0}));
}

TEST(label_points, a_selected_root_keeps_points_that_see_its_end) {
  const auto found = label_points(two_clusters(), indices{0}, {});
  EXPECT_EQ(found.labels, (indices{0, 0, 0, 0, 0, -1}));
  EXPECT_EQ(found.probabilities, (std::vector<double>{1, 1, 1, 1, 1, 0}));
}

TEST(label_points, a_selected_root_keeps_points_within_epsilon) {
  EXPECT_EQ(label_points(two_clusters(), indices{0}, {.epsilon = 10}).labels, (indices{0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(label_points(two_clusters(), indices{0}, {.epsilon = 1}).labels, (indices{0, 0, -1, 0, 0, -1}));
}

TEST(label_points, infinite_lambda) {
  const tree_summary s = summarise({3, 1, {{3, 2, 0.5, 1}, {3, 0, infinity, 1}, {3, 1, infinity, 1}}});
  const auto found = label_points(s, indices{0}, {.epsilon = 10});
  EXPECT_EQ(found.labels, (indices{0, 0, 0}));
  EXPECT_EQ(found.probabilities, (std::vector<double>{1, 1, 1})) << "0.5 is the largest finite one";
  const tree_summary copies = summarise(
      {5, 1, {{5, 3, 0.25, 1}, {5, 2, 0.5, 1}, {5, 0, infinity, 1}, {5, 1, infinity, 1}, {5, 4, infinity, 1}}});
  EXPECT_EQ(label_points(copies, indices{0}, {.epsilon = 10}).probabilities, (std::vector<double>{1, 1, 1, 0.5, 1}));
}

TEST(label_points, lambda_zero_throughout_is_certain) {
  const tree_summary s = summarise({2, 1, {{2, 0, 0.0, 1}, {2, 1, 0.0, 1}}});
  EXPECT_EQ(label_points(s, indices{0}, {}).probabilities, (std::vector<double>{1, 1}));
}

TEST(persistence, stability_per_member_and_largest_lambda) {
  const tree_summary s = two_clusters();
  // Stabilities 1.75 and 3.5, sizes 3 and 2, largest lambda 2.
  EXPECT_EQ(persistence(s, indices{1, 2}, indices{0, 0, 0, 1, 1, -1}), (std::vector<double>{1.75 / 6, 3.5 / 4}));
  EXPECT_EQ(persistence(s, indices{1, 2}, indices{0, 0, 0, -1, -1, -1})[1], 1);
}

TEST(persistence, infinite_or_zero_lambda_gives_one) {
  const tree_summary dense = summarise({2, 1, {{2, 0, infinity, 1}, {2, 1, infinity, 1}}});
  EXPECT_EQ(persistence(dense, indices{0}, indices{0, 0}), std::vector<double>{1});
  const tree_summary apart = summarise({2, 1, {{2, 0, 0.0, 1}, {2, 1, 0.0, 1}}});
  EXPECT_EQ(persistence(apart, indices{0}, indices{0, 0}), std::vector<double>{1});
}

TEST(exemplars, points_that_stay_longest_in_the_leaves) {
  const tree_summary s = two_clusters();
  const auto apart = exemplars(s, indices{1, 2}, indices{0, 0, 0, 1, 1, -1});
  EXPECT_EQ(apart.offsets, (indices{0, 2, 4}));
  EXPECT_EQ(apart.points, (indices{0, 1, 3, 4}));
  const auto together = exemplars(s, indices{0}, indices{0, 0, 0, 0, 0, -1});
  EXPECT_EQ(together.offsets, (indices{0, 4}));
  EXPECT_EQ(together.points, (indices{0, 1, 3, 4}));
}

TEST(exemplars, no_clusters_have_none) {
  const auto none = exemplars(two_clusters(), {}, indices{-1, -1, -1, -1, -1, -1});
  EXPECT_EQ(none.offsets, indices{0});
  EXPECT_TRUE(none.points.empty());
}

TEST(labelling, what_does_not_belong_to_the_tree_is_named) {
  const tree_summary s = two_clusters();
  expect_invalid([&] { label_points(s, indices{3}, {}); }, "selected[0] must be in (-1, 3)");
  expect_invalid([&] { label_points(s, indices{2, 1}, {}); }, "selected[1] must be in (2, 3)");
  expect_invalid([&] { label_points(s, indices{0}, {.epsilon = -1}); }, "epsilon must be >= 0");
  expect_invalid([&] { persistence(s, indices{1}, indices{0}); }, "labels.size must be the number of points, 6");
  expect_invalid([&] { exemplars(s, indices{1}, indices{0, 0, 0, 1, 0, 0}); }, "labels[3] must be in [-1, K=1)");
  EXPECT_TRUE(persistence({}, {}, {}).empty());
}

}  // namespace
}  // namespace quintet::hdbscan
