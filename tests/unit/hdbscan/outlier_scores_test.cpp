#include "quintet/hdbscan/outlier_scores.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace quintet::hdbscan {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
using scores = std::vector<double>;

TEST(outlier_scores, relative_to_the_densest_descendant) {
  const tree_summary s = summarize({6,
                                    3,
                                    {{6, 5, 0.125, 1},
                                     {6, 7, 0.25, 3},
                                     {6, 8, 0.25, 2},
                                     {7, 2, 0.5, 1},
                                     {7, 0, 1.0, 1},
                                     {7, 1, 1.0, 1},
                                     {8, 3, 2.0, 1},
                                     {8, 4, 2.0, 1}}});
  EXPECT_EQ(outlier_scores(s), (scores{0, 0, 0.5, 0, 0, 0.9375}));
}

TEST(outlier_scores, infinite_and_zero_lambda) {
  const tree_summary dense = summarize({3, 1, {{3, 2, 0.5, 1}, {3, 0, infinity, 1}, {3, 1, infinity, 1}}});
  EXPECT_EQ(outlier_scores(dense), (scores{0, 0, 1}));
  const tree_summary apart = summarize({2, 1, {{2, 0, 0.0, 1}, {2, 1, 0.0, 1}}});
  EXPECT_EQ(outlier_scores(apart), (scores{0, 0}));
}

}  // namespace
}  // namespace quintet::hdbscan
