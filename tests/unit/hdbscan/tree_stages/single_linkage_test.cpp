#include "quintet/hdbscan/tree_stages.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "quintet/core/error.hpp"
#include "support/expect_error.hpp"

namespace quintet::hdbscan {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(single_linkage, merges_by_weight_then_by_end_points) {
  // 3 - 4 first; of the two edges of weight 2, (0, 1) comes before (1, 3).
  const std::vector<edge> edges{{1, 3, 2.0}, {3, 4, 1.0}, {0, 1, 2.0}, {2, 4, 5.0}};
  const auto tree = single_linkage(edges, 5);
  const std::vector<linkage_row> expected{{3, 4, 1.0, 2}, {0, 1, 2.0, 2}, {6, 5, 2.0, 4}, {2, 7, 5.0, 5}};
  EXPECT_EQ(tree.rows, expected);
  EXPECT_EQ(connected_components(tree), 1);
  EXPECT_NO_THROW(check_linkage(tree));
}

TEST(single_linkage, does_not_depend_on_order_or_orientation) {
  const std::vector<edge> sorted{{3, 4, 1.0}, {0, 1, 2.0}, {1, 3, 2.0}, {2, 4, 5.0}};
  const std::vector<edge> turned{{4, 2, 5.0}, {3, 1, 2.0}, {1, 0, 2.0}, {4, 3, 1.0}};
  EXPECT_EQ(single_linkage(sorted, 5).rows, single_linkage(turned, 5).rows);
}

TEST(single_linkage, edges_that_close_a_cycle_are_ignored) {
  const std::vector<edge> triangle{{0, 1, 1.0}, {0, 2, 3.0}, {1, 2, 2.0}};
  const std::vector<linkage_row> expected{{0, 1, 1.0, 2}, {3, 2, 2.0, 3}};
  EXPECT_EQ(single_linkage(triangle, 3).rows, expected);
}

TEST(single_linkage, missing_edges_are_merges_at_infinity) {
  const std::vector<edge> edges{{1, 4, 1.0}, {2, 3, 2.0}};
  const auto tree = single_linkage(edges, 5);
  const std::vector<linkage_row> expected{{1, 4, 1.0, 2}, {2, 3, 2.0, 2}, {0, 5, infinity, 3}, {7, 6, infinity, 5}};
  EXPECT_EQ(tree.rows, expected);
  EXPECT_EQ(connected_components(tree), 3);
}

TEST(single_linkage, infinite_weights_connect_nothing) {
  const std::vector<edge> edges{{0, 1, infinity}, {1, 2, 1.0}};
  EXPECT_EQ(connected_components(single_linkage(edges, 3)), 2);
}

TEST(single_linkage, one_point_has_no_rows) {
  const auto tree = single_linkage({}, 1);
  EXPECT_EQ(tree.points, 1);
  EXPECT_TRUE(tree.rows.empty());
  EXPECT_EQ(connected_components(tree), 1);
}

TEST(single_linkage, bad_arguments_are_named) {
  const auto link = [](edge e, std::int64_t n) { return single_linkage(std::vector<edge>{e}, n); };
  expect_invalid([&] { single_linkage({}, 0); }, "n must be >= 1 (n=0)");
  expect_invalid([&] { link({-1, 1, 1.0}, 2); }, "edges[0].u must be in [0, n=2) (edges[0].u=-1)");
  expect_invalid([&] { link({0, 2, 1.0}, 2); }, "edges[0].v must be in [0, n=2) (edges[0].v=2)");
  expect_invalid([&] { link({1, 1, 1.0}, 2); }, "edges[0].v must be different from u (edges[0].v=1)");
  expect_invalid([&] { link({0, 1, -1.0}, 2); }, "edges[0].weight must be >= 0 and not NaN (edges[0].weight=-1)");
  expect_invalid([&] { link({0, 1, std::nan("")}, 2); }, "edges[0].weight must be >= 0 and not NaN");
}

TEST(check_linkage, says_what_is_wrong_and_where) {
  const auto check = [](std::vector<linkage_row> rows) { check_linkage({3, std::move(rows)}); };
  EXPECT_NO_THROW(check({{0, 1, 1.0, 2}, {2, 3, 1.0, 3}}));
  expect_invalid([&] { check({{0, 1, 1.0, 2}}); }, "rows.size() must be points - 1 = 2 (rows.size()=1)");
  expect_invalid([&] { check({{0, 1, 1.0, 2}, {2, 4, 1.0, 3}}); },
                 "rows[1].right must be in [0, 4) and used once only");
  expect_invalid([&] { check({{0, 1, 1.0, 2}, {1, 3, 1.0, 3}}); }, "rows[1].left must be in [0, 4) and used once only");
  expect_invalid([&] { check({{0, 0, 1.0, 2}, {2, 3, 1.0, 3}}); }, "rows[0].right");
  expect_invalid([&] { check({{0, 1, 2.0, 2}, {2, 3, 1.0, 3}}); }, "rows[1].height must be >= 2");
  expect_invalid([&] { check({{0, 1, std::nan(""), 2}, {2, 3, 1.0, 3}}); }, "rows[0].height must be >= 0");
  expect_invalid([&] { check({{0, 1, 1.0, 2}, {2, 3, 1.0, 4}}); }, "rows[1].size must be 3");
  expect_invalid([&] { check_linkage({0, {}}); }, "points must be >= 1 (points=0)");
}

}  // namespace
}  // namespace quintet::hdbscan
