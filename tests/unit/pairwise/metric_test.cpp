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
  for (const metric kind :
       {metric::euclidean, metric::cosine, metric::poincare, metric::manhattan, metric::chebyshev, metric::minkowski,
        metric::haversine, metric::lorentz, metric::hamming, metric::jaccard, metric::product})
    EXPECT_EQ(parse_metric(to_string(kind)), kind);
  expect_invalid(
      [] { parse_metric("Cosine"); },
      "metric must be euclidean, cosine, poincare, manhattan, chebyshev, minkowski, haversine, lorentz, hamming, "
      "jaccard, integer_euclidean, integer_cosine, integer_inner_product or product (metric=Cosine); did you mean "
      "cosine?");
  expect_invalid(
      [] { parse_metric(""); },
      "metric must be euclidean, cosine, poincare, manhattan, chebyshev, minkowski, haversine, lorentz, hamming, "
      "jaccard, integer_euclidean, integer_cosine, integer_inner_product or product (metric=)");
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

TEST(metric, factors_of_a_product_are_read_as_they_are_written) {
  using product::geometry;
  const product_space space =
      parse_product_space("poincare 16, lorentz 8 -0.1 2.5,sphere 3 , stereographic 4 1e-3 , euclidean 32 0 0.5");
  EXPECT_EQ(space, (product_space{{geometry::stereographic, 16, -1},
                                  {geometry::lorentz, 8, -0.1, 2.5},
                                  {geometry::sphere, 3, 1},
                                  {geometry::stereographic, 4, 1e-3},
                                  {geometry::euclidean, 32, 0, 0.5}}));
  EXPECT_EQ(
      to_string(point_metric(space)),
      "product of poincare 16 -1 1, lorentz 8 -0.1 2.5, sphere 3 1 1, stereographic 4 0.001 1, euclidean 32 0 0.5");
  EXPECT_EQ(parse_product_space(to_string(space)), space);
  EXPECT_EQ(point_metric(space).kind, metric::product);
  for (const char* const wrong : {"", "lorentz", "lorentz 3,", "lorentz 3 -1 1 1", "lorentz x", "lorentz 2.5"})
    expect_invalid([&] { parse_product_space(wrong); }, "a factor must be of");
  expect_invalid([] { parse_product_space("ball 3"); },
                 "a factor must be euclidean, sphere, stereographic, poincare or lorentz (factor=\"ball 3\")");
  expect_invalid([] { parse_product_space("poincare 3 1"); }, "a factor must be of a curvature < 0 with poincare");
}

}  // namespace
}  // namespace quintet
