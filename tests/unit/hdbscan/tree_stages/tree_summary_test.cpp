#include "quintet/hdbscan/tree_stages.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "quintet/core/error.hpp"
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
  const auto with = [](std::size_t r, condensed_row row) {
    return [=] {
      condensed_tree tree = test::hand_worked_tree();
      tree.rows[r] = row;
      summarise(tree);
    };
  };
  expect_invalid(with(0, {9, 5, 1.0, 1}), "rows[0] must be one that condense() makes of 6 points and 3 clusters");
  expect_invalid(with(0, {9, 5, 1.0, 1}), "the parent is no cluster (parent=9");
  expect_invalid(with(0, {5, 4, 1.0, 1}), "the parent is no cluster (parent=5");
  expect_invalid(with(1, {6, 9, 0.25, 3}), "the child is no point and no cluster (parent=6, child=9");
  expect_invalid(with(1, {6, 6, 0.25, 3}), "child=6");
  expect_invalid(with(0, {6, -1, 1.0, 1}), "child=-1");
  expect_invalid(with(1, {8, 7, 0.25, 3}), "the parent comes after its child (parent=8");
  expect_invalid(with(0, {6, 5, -1.0, 1}), "lambda=-1");
  expect_invalid(with(0, {6, 5, std::nan(""), 1}), "lambda must be >= 0 and not NaN");
  expect_invalid(with(0, {6, 5, 0.125, 0}), "size=0");
  expect_invalid(with(1, {6, 7, 0.25, 7}), "size=7");
  expect_invalid(with(0, {6, 4, 0.125, 1}), "rows[7]");
  expect_invalid(with(2, {6, 7, 0.25, 2}),
                 "rows[2] must be one that condense() makes of 6 points and 3 clusters: "
                 "the cluster was born before");
  expect_invalid(with(1, {6, 8, 0.25, 3}), "rows[2]");
  expect_invalid(with(3, {8, 2, 0.5, 1}), "more points leave the parent than it has");
  expect_invalid(with(1, {6, 7, 0.25, 2}), "more points leave the parent than it has");
  expect_invalid(with(3, {7, 2, 0.2, 1}), "the child leaves before its parent is born");
  expect_invalid([] { summarise({3, 0, {}}); }, "points must be in [0, rows.size()=0] (points=3)");
  expect_invalid([] { summarise({1, 0, {}}); }, "clusters must be in [1, rows.size() + 1 = 1] (clusters=0)");
  expect_invalid([] { summarise({2, 2, {{2, 0, 1, 1}, {2, 1, 1, 1}}}); }, "rows.size() must be points + clusters - 1");
  EXPECT_EQ(summarise({1, 1, {}}).point_cluster, (std::vector<std::int64_t>{0}));
  EXPECT_EQ(summarise({1, 1, {{1, 0, 0, 1}}}).point_cluster, (std::vector<std::int64_t>{0}));
  EXPECT_TRUE(summarise({}).parent.empty());
}

// A wrong number anywhere is an error.
TEST(summarise, wrong_numbers_are_refused) {
  constexpr auto max = std::numeric_limits<std::int64_t>::max();
  const condensed_tree right = test::hand_worked_tree();
  const auto expect_refused = [](const condensed_tree& tree, std::int64_t& number) {
    const std::int64_t before = number;
    for (const std::int64_t wrong : {-max - 1, std::int64_t(-1), std::int64_t(0), std::int64_t(1), std::int64_t(2),
                                     std::int64_t(3), std::int64_t(4), std::int64_t(5), std::int64_t(6),
                                     std::int64_t(7), std::int64_t(8), std::int64_t(9), std::int64_t(1) << 40, max}) {
      number = wrong;
      if (wrong == before)
        EXPECT_NO_THROW(summarise(tree));
      else
        EXPECT_THROW(summarise(tree), InvalidArgument) << before << " became " << wrong;
    }
    number = before;
  };
  condensed_tree tree = right;
  expect_refused(tree, tree.points);
  expect_refused(tree, tree.clusters);
  for (condensed_row& row : tree.rows)
    for (std::int64_t* number : {&row.parent, &row.child, &row.size}) expect_refused(tree, *number);
}

TEST(summarise, summaries_from_elsewhere_are_checked) {
  const auto with = [](auto change) {
    return [=] {
      tree_summary s = summarise(test::hand_worked_tree());
      change(s);
      select_clusters(s, {});
    };
  };
  expect_invalid(with([](tree_summary& s) { s.parent[2] = 2; }), "summary.parent[2]");
  expect_invalid(with([](tree_summary& s) { s.parent[0] = 0; }), "summary.parent[0]");
  expect_invalid(with([](tree_summary& s) { s.first_child[0] = -1; }), "summary.first_child[0]");
  expect_invalid(with([](tree_summary& s) { s.children[0] = 3; }), "summary.children[0]");
  expect_invalid(with([](tree_summary& s) { s.stability[1] = std::nan(""); }), "summary.stability[1]");
  expect_invalid(with([](tree_summary& s) { s.birth.pop_back(); }), "parent.size()=3");
  expect_invalid(with([](tree_summary& s) { s.point_lambda.pop_back(); }), "summary.point_lambda.size()");
  expect_invalid(with([](tree_summary& s) { s.point_cluster[4] = 3; }), "summary.point_cluster[4]");
  tree_summary s = summarise(test::hand_worked_tree());
  s.point_cluster[0] = -1;
  const std::vector<std::int64_t> selected{1, 2}, labels(6, 0);
  expect_invalid([&] { label_points(s, selected, {}); }, "summary.point_cluster[0]");
  expect_invalid([&] { persistence(s, selected, labels); }, "summary.point_cluster[0]");
  expect_invalid([&] { exemplars(s, selected, labels); }, "summary.point_cluster[0]");
  expect_invalid([&] { outlier_scores(s); }, "summary.point_cluster[0]");
}

}  // namespace
}  // namespace quintet::hdbscan
