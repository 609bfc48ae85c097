#include "quintet/hdbscan/tree_summary.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "unit/hdbscan/hand_worked_tree.hpp"

namespace quintet::hdbscan {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(summarize, hand_worked_tree) {
  const tree_summary s = summarize(test::hand_worked_tree());
  EXPECT_EQ(s.parent, (std::vector<std::int64_t>{-1, 0, 0}));
  EXPECT_EQ(s.size, (std::vector<std::int64_t>{6, 3, 2}));
  EXPECT_EQ(s.first_child[0], 1);
  EXPECT_EQ(s.children, (std::vector<std::int64_t>{2, 0, 0}));
  EXPECT_EQ(s.birth, (std::vector<double>{0, 0.25, 0.25}));
  EXPECT_EQ(s.death, (std::vector<double>{0.25, 1, 2}));
  EXPECT_EQ(s.deepest, (std::vector<double>{2, 1, 2}));
  EXPECT_EQ(s.stability, (std::vector<double>{0.125 + 0.25 * 5, 0.25 + 0.75 * 2, 1.75 * 2}));
  EXPECT_EQ(s.point_cluster, (std::vector<std::int64_t>{1, 1, 1, 2, 2, 0}));
  EXPECT_EQ(s.point_lambda, (std::vector<double>{1, 1, 0.5, 2, 2, 0.125}));
}

TEST(summarize, infinite_lambda_makes_no_nan) {
  const condensed_tree tree{
      4, 2, {{4, 2, 1.0, 1}, {4, 3, 1.0, 1}, {4, 5, infinity, 2}, {5, 0, infinity, 1}, {5, 1, infinity, 1}}};
  const tree_summary s = summarize(tree);
  EXPECT_EQ(s.stability, (std::vector<double>{infinity, 0}));
}

}  // namespace
}  // namespace quintet::hdbscan
