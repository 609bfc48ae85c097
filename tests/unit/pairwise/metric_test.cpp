#include "quintet/pairwise/metric.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace quintet {
namespace {

TEST(metric, names) {
  EXPECT_EQ(parse_metric("euclidean"), metric::euclidean);
  EXPECT_EQ(parse_metric("cosine"), metric::cosine);
  EXPECT_EQ(to_string(metric::euclidean), "euclidean");
  EXPECT_EQ(to_string(metric::cosine), "cosine");
  expect_invalid([] { parse_metric("Cosine"); }, "metric must be euclidean or cosine (metric=Cosine)");
  expect_invalid([] { parse_metric(""); }, "metric must be euclidean or cosine (metric=)");
}

}  // namespace
}  // namespace quintet
