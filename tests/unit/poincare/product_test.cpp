// Distances in product spaces against every factor's formula in 113 bits, and in limits of the curvature.
#include "quintet/poincare/product.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "reference/curved_space_reference.hpp"
#include "support/ball_points.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/near.hpp"
#include "support/points.hpp"
#include "support/real_types.hpp"

namespace quintet::test {
namespace {

using product::factor;
using product::geometry;

std::int64_t columns(const std::vector<factor>& space) {
  std::int64_t sum = 0;
  for (const factor& f : space) sum += f.dim;
  return sum;
}

/// Points in the unit ball, so that they are in every factor of a curvature of at least -1.
template <class Real>
point_set<Real> points_of(const std::vector<factor>& space, std::int64_t n, std::uint64_t seed) {
  return ball_points<Real>(n, columns(space), 0.1, 0.9, 1, seed);
}

const std::vector<std::vector<factor>> spaces{{{geometry::euclidean, 3}},
                                              {{geometry::sphere, 4, 1}},
                                              {{geometry::sphere, 3, 2.5}},
                                              {{geometry::stereographic, 3, -1}},
                                              {{geometry::stereographic, 3, 0}},
                                              {{geometry::stereographic, 3, 0.8}},
                                              {{geometry::lorentz, 3, -1}},
                                              {{geometry::lorentz, 2, -3}},
                                              {{geometry::stereographic, 4, -0.9},
                                               {geometry::lorentz, 3, -2},
                                               {geometry::sphere, 3, 1.5, 0.25},
                                               {geometry::euclidean, 2, 0, 4},
                                               {geometry::stereographic, 2, 1.2, 3}}};

template <class Real>
class product_space : public ::testing::Test {};
TYPED_TEST_SUITE(product_space, real_types);

TYPED_TEST(product_space, distances_are_those_of_the_factors) {
  constexpr double tolerance = sizeof(TypeParam) == 4 ? 1.2e-7 : 2e-15;
  for (std::size_t s = 0; s < spaces.size(); ++s) {
    SCOPED_TRACE(s);
    const auto& space = spaces[s];
    const std::int64_t n = 40, dim = columns(space);
    const auto x = points_of<TypeParam>(space, n, 1), y = points_of<TypeParam>(space, n + 3, 2);
    std::vector<TypeParam> out(n * (n + 3)), turned(n * (n + 3)), pairs(n);
    const auto report = product::distances(x.view(), y.view(), {out.data(), n, n + 3}, space, {}, Device::host());
    EXPECT_EQ(poincare::first_invalid(report.queries), -1);
    double worst = 0;
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n + 3; ++j) {
        const long double expected =
            reference::product_distance(space, reference::widened(row_of(x, i)), reference::widened(row_of(y, j)));
        worst = std::max(worst, double(std::fabs(out[i * (n + 3) + j] / expected - 1)));
      }
    expect_error_within("product" + std::to_string(s), worst, tolerance);
    product::distances(y.view(), x.view(), {turned.data(), n + 3, n}, space, {}, Device::host());
    product::pair_distances(x.view(), {y.data.data(), n, dim}, pairs, space, {}, Device::host());
    for (std::int64_t i = 0; i < n; ++i) {
      EXPECT_EQ(pairs[i], out[i * (n + 3) + i]);
      for (std::int64_t j = 0; j < n + 3; ++j) EXPECT_EQ(turned[j * n + i], out[i * (n + 3) + j]);
    }
    product::distances(x.view(), x.view(), {turned.data(), n, n}, space, {}, Device::host());
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) EXPECT_EQ(turned[i * n + j] == 0, i == j);
    on_other_devices([&](const Device& device) {
      std::vector<TypeParam> found(out.size());
      product::distances(x.view(), y.view(), {found.data(), n, n + 3}, space, {}, device);
      for (std::size_t e = 0; e < out.size(); ++e) EXPECT_NEAR(found[e], out[e], tolerance * out[e]);
    });
  }
}

TEST(product_space, antipodes_and_small_curvatures_keep_their_digits) {
  // On the great circle at t from the antipode of x; projections from the pole opposite to the origin.
  const double t = 1e-9;
  const std::vector<double> x{0.6, 0.8},
      y{-std::cos(t) * 0.6 - std::sin(t) * 0.8, -std::cos(t) * 0.8 + std::sin(t) * 0.6};
  double d = 0;
  const auto measure = [&](const std::vector<double>& a, const std::vector<double>& b, const factor& f) {
    product::pair_distances({a.data(), 1, 2}, {b.data(), 1, 2}, {&d, 1}, std::vector<factor>{f});
    return d;
  };
  EXPECT_NEAR(std::numbers::pi - measure(x, y, {geometry::sphere, 2, 1}), t, 2e-15);
  EXPECT_NEAR(std::numbers::pi - measure({0.5, 0}, {-2, 0}, {geometry::stereographic, 2, 1}), 0, 1e-15);
  EXPECT_NEAR(measure({1e200, 0}, {0, 1e-200}, {geometry::stereographic, 2, 1}), std::numbers::pi, 1e-15);
  for (const double k : {1e-30, -1e-30, 1e-12, -1e-12})
    EXPECT_NEAR(measure({0.3, 0.4}, {0.1, -0.2}, {geometry::stereographic, 2, k}) / (2 * std::hypot(0.2, 0.6)), 1,
                3e-16 + std::fabs(k));
  EXPECT_NEAR(measure({3e-200, 4e-200}, {0, 0}, {geometry::stereographic, 2, -1}), 1e-199, 1e-213);
  EXPECT_NEAR(measure({3e200, 4e200}, {0, 0}, {geometry::euclidean, 2}), 5e200, 1e186);
}

TYPED_TEST(product_space, rows_that_are_no_points_and_wrong_arguments) {
  const std::vector<factor> space{{geometry::stereographic, 2, -1}, {geometry::sphere, 2, 1}};
  point_set<TypeParam> x(4, 4);
  for (std::int64_t i = 0; i < 4; ++i)
    for (std::int64_t k = 0; k < 4; ++k) x(i, k) = TypeParam(0.1 * double(i + k + 1));
  x(1, 0) = 1;
  x(2, 2) = x(2, 3) = 0;
  x(3, 1) = std::numeric_limits<TypeParam>::infinity();
  std::vector<TypeParam> out(16);
  const auto call = [&](const std::vector<factor>& of, bool strict = false) {
    return product::distances(x.view(), x.view(), {out.data(), 4, 4}, of, {strict}, Device::host());
  };
  using poincare::point_status;
  EXPECT_EQ(call(space).points, (std::vector<point_status>{point_status::inside, point_status::outside,
                                                           point_status::outside, point_status::not_finite}));
  for (int e = 0; e < 16; ++e) EXPECT_EQ(std::isnan(out[e]), e != 0) << e;
  expect_invalid([&] { call(space, true); }, "queries[1] must be a point of the space (queries[1]=outside a factor)");
  expect_invalid([&] { call({}); }, "space.size must be >= 1");
  expect_invalid([&] { call({{geometry::euclidean, 3}}); }, "points.cols must be the sum of the dimensions, 3");
  expect_invalid([&] { call({{geometry::sphere, 1, 1}, {geometry::euclidean, 3}}); }, "space[0].dim must be >= 2");
  expect_invalid([&] { call({{geometry::euclidean, 3}, {geometry::lorentz, 1, 1}}); },
                 "space[1].curvature must be negative, of a magnitude in [1e-30, 1e30] (space[1].curvature=1)");
  expect_invalid([&] { call({{geometry::sphere, 4, -1}}); }, "space[0].curvature must be positive");
  expect_invalid([&] { call({{geometry::stereographic, 4, 1e31}}); },
                 "space[0].curvature must be 0, or of a magnitude");
  expect_invalid([&] { call({{geometry::euclidean, 4, 0, 0}}); }, "space[0].weight must be > 0 and finite");
}

}  // namespace
}  // namespace quintet::test
