#include "quintet/hdbscan/tree_stages.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "support/expect_error.hpp"
#include "unit/hdbscan/tree_stages/hand_worked_tree.hpp"

namespace quintet::hdbscan {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(summarise, hand_worked_tree) {
  const tree_summary s = summarise(test::hand_worked_tree());
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

TEST(summarise, infinite_lambda_makes_no_nan) {
  const condensed_tree tree{
      4, 2, {{4, 2, 1.0, 1}, {4, 3, 1.0, 1}, {4, 5, infinity, 2}, {5, 0, infinity, 1}, {5, 1, infinity, 1}}};
  const tree_summary s = summarise(tree);
  EXPECT_EQ(s.stability, (std::vector<double>{infinity, 0}));
}

TEST(summarise, a_tree_that_is_none_is_named) {
  const auto with = [](condensed_row row) { return [row] { summarise({3, 2, {row}}); }; };
  expect_invalid(with({5, 0, 1.0, 1}), "rows[0] must be one that condense() makes of 3 points and 2 clusters");
  expect_invalid(with({3, 5, 1.0, 1}), "child=5");
  expect_invalid(with({4, 3, 1.0, 1}), "child=3");
  expect_invalid(with({3, -1, 1.0, 1}), "child=-1");
  expect_invalid(with({3, 0, -1.0, 1}), "lambda=-1");
  expect_invalid(with({3, 0, 1.0, 0}), "size=0");
  expect_invalid([] { summarise({3, 0, {}}); }, "clusters must be >= 1 (clusters=0)");
}

}  // namespace
}  // namespace quintet::hdbscan
