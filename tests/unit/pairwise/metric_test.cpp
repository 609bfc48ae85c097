#include "quintet/pairwise/metric.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace quintet {
namespace {

TEST(metric, names) {
  EXPECT_EQ(parse_metric("euclidean"), metric::euclidean);
  EXPECT_EQ(parse_metric("cosine"), metric::cosine);
  EXPECT_EQ(parse_metric("poincare"), metric::poincare);
  EXPECT_EQ(to_string(metric::euclidean), "euclidean");
  EXPECT_EQ(to_string(point_metric(metric::cosine)), "cosine");
  EXPECT_EQ(to_string(point_metric(metric::poincare, -2.5)), "poincare of curvature -2.5");
  EXPECT_EQ(to_string(metric::cosine), "cosine");
  expect_invalid([] { parse_metric("Cosine"); }, "metric must be euclidean, cosine or poincare (metric=Cosine)");
  expect_invalid([] { parse_metric(""); }, "metric must be euclidean, cosine or poincare (metric=)");
}

}  // namespace
}  // namespace quintet
