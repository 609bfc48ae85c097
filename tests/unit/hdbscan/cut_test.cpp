#include "quintet/hdbscan/cut.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

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

}  // namespace
}  // namespace quintet::hdbscan
