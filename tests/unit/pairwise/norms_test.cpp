// Manhattan, Chebyshev and Minkowski distances: error against Eigen's norms in long double, and the same bits from
// every way to compute them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "quintet/hdbscan/core_distances.hpp"
#include "reference/pairwise_reference.hpp"
#include "support/dense_matrix.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/near.hpp"
#include "support/points.hpp"
#include "support/real_types.hpp"

namespace quintet::pairwise {
namespace {

template <class Real>
class norms : public ::testing::Test {};
TYPED_TEST_SUITE(norms, test::real_types);

using test::clustered_points;
using test::dense_matrix;
using test::point_set;

const point_metric all_norms[] = {
    metric::manhattan, metric::chebyshev, {metric::minkowski, 1.25}, {metric::minkowski, 3}, {metric::minkowski, 8}};

template <class Real>
std::vector<Real> distances(const point_set<Real>& points, const point_metric& distance,
                            const Device& device = Device::host()) {
  return dense_matrix(points.view(), {}, {.distance = distance}, device);
}

std::vector<long double> values_of(const reference::matrix& whole) {
  return {whole.data(), whole.data() + whole.rows() * whole.cols()};
}

TYPED_TEST(norms, accurate_in_all_dimensions) {
  constexpr double epsilon = std::numeric_limits<TypeParam>::epsilon();
  for (const std::int64_t dim : {1, 3, 17, 200})
    for (const point_metric& distance : all_norms) {
      SCOPED_TRACE(to_string(distance) + " " + std::to_string(dim));
      auto points = clustered_points<TypeParam>(60, dim, 1, 5);
      points(7, 0) = std::numeric_limits<TypeParam>::quiet_NaN();
      points(49, dim - 1) = -std::numeric_limits<TypeParam>::infinity();
      const auto expected = values_of(reference::distances(reference::widened(points.view()), distance));
      const auto found = distances(points, distance);
      for (std::int64_t i = 0; i < 60; ++i)
        for (std::int64_t j = 0; j < i; ++j) {
          const bool both_nan = found[i * 60 + j] != found[i * 60 + j] && found[j * 60 + i] != found[j * 60 + i];
          ASSERT_TRUE(both_nan || found[i * 60 + j] == found[j * 60 + i]) << i << ", " << j;
        }
      const double error = test::largest_error(found, expected);
      test::expect_error_within(to_string(distance) + "_" + std::to_string(dim), error,
                                (double(dim) / 2 + 4) * epsilon);
      EXPECT_LE(error, 5 * std::sqrt(double(dim)) * epsilon);
      if (distance.kind == metric::chebyshev) {
        EXPECT_LE(error, epsilon);
      }
    }
}

// Any unit of length, also one in which the powers would leave the range.
TYPED_TEST(norms, the_unit_does_not_matter) {
  const auto points = clustered_points<TypeParam>(60, 5, 2);
  for (const point_metric& distance : all_norms) {
    const auto expected = distances(points, distance);
    for (const int exponent : {-100, 100}) {
      const auto factor = TypeParam(std::ldexp(1.0, exponent));
      auto found = distances(test::scaled(points, factor), distance);
      for (TypeParam& d : found) d /= factor;
      test::expect_same_bits(found, expected);
    }
  }
}

TYPED_TEST(norms, every_device_and_every_way_gives_the_same_bits) {
  for (const std::int64_t dim : {2, 33})
    for (const point_metric& distance : all_norms) {
      SCOPED_TRACE(to_string(distance) + " " + std::to_string(dim));
      const auto points = clustered_points<TypeParam>(97, dim, 3, 1);
      const auto expected = distances(points, distance);
      const auto core = hdbscan::core_distances(points.view(), {4, false, distance}, Device::host()).distances;
      test::expect_same_bits(test::matrix_from_pairs(points.view(), {}, {.distance = distance}), expected);
      std::int64_t blocks = 0;
      test::expect_same_bits(
          test::matrix_from_rows(points.view(), {}, {.distance = distance}, Device::host(), 1, blocks), expected);
      test::on_other_devices([&](const Device& device) {
        test::expect_same_bits(distances(points, distance, device), expected);
        test::expect_same_bits(hdbscan::core_distances(points.view(), {4, false, distance}, device).distances, core);
      });
      for (const int threads : {1, 3}) {
        set_threads(threads);
        test::expect_same_bits(hdbscan::core_distances(points.view(), {4, false, distance}, Device::host()).distances,
                               core);
      }
      set_threads(0);
      for (std::int64_t i = 0; i < 97; ++i) {
        std::vector<TypeParam> row(expected.begin() + i * 97, expected.begin() + (i + 1) * 97);
        row.erase(row.begin() + i);
        std::sort(row.begin(), row.end());
        ASSERT_EQ(core[i], row[3]) << i;
      }
    }
}

TYPED_TEST(norms, minkowski_of_1_2_and_infinity_are_the_named_ones) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const auto points = clustered_points<TypeParam>(100, 4, 4);
  const auto power = [&](double p) { return distances(points, {metric::minkowski, p}); };
  test::expect_same_bits(power(1), distances(points, metric::manhattan));
  test::expect_same_bits(power(2), distances(points, metric::euclidean));
  test::expect_same_bits(power(infinity), distances(points, metric::chebyshev));
}

// Powers of whole numbers are exact, whatever the order of the coordinates.
TYPED_TEST(norms, equal_distances_of_grids_are_equal) {
  point_set<TypeParam> points(25, 4);
  std::array<int, 4> step = {1, 2, 3, 5};
  for (std::int64_t i = 0; i < points.n; ++i) {
    for (std::int64_t k = 0; k < 4; ++k) points(i, k) = TypeParam(i == 0 ? 0 : step[k]);
    if (i > 0) std::next_permutation(step.begin(), step.end());
  }
  for (const double p : {3.0, 4.0, 5.0, 7.0}) {
    const auto found = distances(points, {metric::minkowski, p});
    for (std::int64_t i = 2; i < points.n; ++i) ASSERT_EQ(found[i], found[1]) << p;
  }
}

// What the header says of small differences beside large coordinates.
TYPED_TEST(norms, small_differences_beside_large_coordinates) {
  const double p = sizeof(TypeParam) == 4 ? 8 : 64;
  point_set<TypeParam> points(3, 2);
  points(0, 0) = 1, points(0, 1) = 0;
  points(1, 0) = 0, points(1, 1) = 0;
  points(2, 0) = 0, points(2, 1) = TypeParam(std::ldexp(1.0, -28));
  const auto found = distances(points, {metric::minkowski, p});
  EXPECT_EQ(found[1 * 3 + 2], points(2, 1));
  EXPECT_EQ(found[0 * 3 + 1], 1);
}

TYPED_TEST(norms, p_out_of_range_is_named) {
  const auto points = clustered_points<TypeParam>(10, 2, 5);
  const std::string range = sizeof(TypeParam) == 4 ? "[1, 8]" : "[1, 64]";
  for (const double p : {0.5, 0.0, -1.0, 100.0, std::numeric_limits<double>::quiet_NaN()})
    expect_invalid([&] { distances(points, {metric::minkowski, p}); },
                   "p must be infinity, or in " + range + " for points of this precision (p=");
}

}  // namespace
}  // namespace quintet::pairwise
