#include "quintet/hdbscan/tree_stages.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "unit/hdbscan/tree_stages/hand_worked_tree.hpp"

namespace quintet::hdbscan {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
using scores = std::vector<double>;

TEST(outlier_scores, relative_to_the_densest_descendant) {
  const tree_summary s = summarise(test::hand_worked_tree());
  EXPECT_EQ(outlier_scores(s), (scores{0, 0, 0.5, 0, 0, 0.9375}));
}

TEST(outlier_scores, infinite_and_zero_lambda) {
  const tree_summary dense = summarise({3, 1, {{3, 2, 0.5, 1}, {3, 0, infinity, 1}, {3, 1, infinity, 1}}});
  EXPECT_EQ(outlier_scores(dense), (scores{0, 0, 0})) << "0.5 is the largest finite one";
  const tree_summary copies = summarise(
      {5, 1, {{5, 3, 0.25, 1}, {5, 2, 0.5, 1}, {5, 0, infinity, 1}, {5, 1, infinity, 1}, {5, 4, infinity, 1}}});
  EXPECT_EQ(outlier_scores(copies), (scores{0, 0, 0, 0.5, 0}));
  const tree_summary apart = summarise({2, 1, {{2, 0, 0.0, 1}, {2, 1, 0.0, 1}}});
  EXPECT_EQ(outlier_scores(apart), (scores{0, 0}));
}

}  // namespace
}  // namespace quintet::hdbscan
