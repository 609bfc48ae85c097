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
  EXPECT_EQ(to_string(point_metric(metric::minkowski, 1.5)), "minkowski of p 1.5");
  EXPECT_EQ(to_string(point_metric(metric::haversine, 6371)), "haversine of degrees and radius 6371");
  EXPECT_EQ(to_string(point_metric(metric::lorentz, -2)), "lorentz of curvature -2");
  EXPECT_EQ(to_string(point_metric(metric::jaccard, 166)), "jaccard of 166 bits");
  EXPECT_EQ(parse_metric("tanimoto"), metric::jaccard);
  for (const metric kind : {metric::euclidean, metric::cosine, metric::poincare, metric::manhattan, metric::chebyshev,
                            metric::minkowski, metric::haversine, metric::lorentz, metric::hamming, metric::jaccard})
    EXPECT_EQ(parse_metric(to_string(kind)), kind);
  expect_invalid(
      [] { parse_metric("Cosine"); },
      "metric must be euclidean, cosine, poincare, manhattan, chebyshev, minkowski, haversine, lorentz, hamming or "
      "jaccard (metric=Cosine); did you mean cosine?");
  expect_invalid(
      [] { parse_metric(""); },
      "metric must be euclidean, cosine, poincare, manhattan, chebyshev, minkowski, haversine, lorentz, hamming or "
      "jaccard (metric=)");
}

TEST(metric, parameter_is_that_of_the_kind) {
  constexpr point_metric ball(metric::poincare, -3), power(metric::minkowski, 3);
  EXPECT_EQ(ball.curvature, -3);
  EXPECT_EQ(ball.p, 2);
  EXPECT_EQ(point_metric(metric::haversine, 5).sphere_radius, 5);
  EXPECT_EQ(point_metric(metric::hamming, 5).bits, 5);
  EXPECT_EQ(point_metric(metric::hamming, -5).bits, 0);
  EXPECT_EQ(power.p, 3);
  EXPECT_EQ(power.curvature, -1);
  EXPECT_NE(power, point_metric(metric::minkowski));
}

}  // namespace
}  // namespace quintet
