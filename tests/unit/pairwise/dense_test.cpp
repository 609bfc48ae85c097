// The matrix of distances: error against long double, symmetry, and the same bits whatever computes it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/pairwise_reference.hpp"
#include "support/dense_matrix.hpp"
#include "support/devices.hpp"
#include "support/near.hpp"
#include "support/points.hpp"
#include "support/real_types.hpp"

namespace quintet::pairwise {
namespace {

template <class Real>
class dense : public ::testing::Test {};
TYPED_TEST_SUITE(dense, test::real_types);

using test::clustered_points;
using test::dense_matrix;
using test::point_set;

// Dimensions with kernels of their own and around them; sizes around the side of a tile.
constexpr std::int64_t dims[] = {1, 3, 16, 17, 64, 384, 512, 768, 1536};
constexpr std::int64_t sizes[] = {0, 1, 2, 95, 96, 97, 200};

template <class Real>
std::vector<Real> distances(const point_set<Real>& points, metric kind, const Device& device = Device::host()) {
  return dense_matrix(points.view(), {}, {.distance = kind}, device);
}

template <class Real>
point_set<Real> first_points(const point_set<Real>& points, std::int64_t n) {
  point_set<Real> result = points;
  result.n = n;
  return result;
}

template <class Value>
void expect_symmetric(const std::vector<Value>& matrix, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < i; ++j) ASSERT_EQ(matrix[i * n + j], matrix[j * n + i]) << i << ", " << j;
}

// Row-major values of the upper left n x n corner.
std::vector<long double> corner(const reference::matrix& whole, std::int64_t n) {
  std::vector<long double> values;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) values.push_back(whole(i, j));
  return values;
}

TYPED_TEST(dense, euclidean_is_accurate_and_symmetric_for_all_sizes_and_dimensions) {
  constexpr double epsilon = std::numeric_limits<TypeParam>::epsilon();
  for (const std::int64_t dim : dims) {
    SCOPED_TRACE(dim);
    const auto points = clustered_points<TypeParam>(200, dim, 1, 5);
    const reference::matrix expected = reference::distances(reference::widened(points.view()), metric::euclidean);
    double error = 0;
    for (const std::int64_t n : sizes) {
      const auto found = distances(first_points(points, n), metric::euclidean);
      expect_symmetric(found, n);
      error = std::max(error, test::largest_error(found, corner(expected, n)));
    }
    // Relative, duplicates exactly zero: what the header promises, what it calls practice, and the project's limit.
    EXPECT_LE(error, (double(dim) / 2 + 4) * epsilon);
    EXPECT_LE(error, 4 * std::sqrt(double(dim)) * epsilon);
    test::expect_error_within("dim" + std::to_string(dim), error, test::data_bound<TypeParam>);
  }
}

// 1 - cos loses what the rounding of the unit vectors, epsilon in length, makes of a difference of length sqrt(2 d).
TYPED_TEST(dense, cosine_is_accurate_and_symmetric_for_all_sizes_and_dimensions) {
  constexpr double epsilon = std::numeric_limits<TypeParam>::epsilon();
  for (const std::int64_t dim : dims) {
    SCOPED_TRACE(dim);
    const auto points = clustered_points<TypeParam>(200, dim, 2, 3);
    const reference::matrix expected = reference::distances(reference::widened(points.view()), metric::cosine);
    double error = 0;
    for (const std::int64_t n : sizes) {
      const auto found = distances(first_points(points, n), metric::cosine);
      expect_symmetric(found, n);
      const auto exact = corner(expected, n);
      for (std::size_t e = 0; e < found.size(); ++e) {
        const double d = double(exact[e]);
        const double unit =
            (std::sqrt(double(dim)) + 4) * epsilon * d + 2 * epsilon * std::sqrt(2 * d) + 2 * epsilon * epsilon;
        error = std::max(error, double(std::fabs(found[e] - exact[e])) / unit);
      }
    }
    test::expect_error_within("dim" + std::to_string(dim), error, 1);
  }
}

// Any number of rows between the rows read, and between the rows written.
TYPED_TEST(dense, strides_change_nothing) {
  for (const std::int64_t dim : {3, 384}) {
    const auto packed = clustered_points<TypeParam>(100, dim, 3), apart = clustered_points<TypeParam>(100, dim, 3, 7);
    const auto expected = distances(packed, metric::euclidean);
    test::expect_same_bits(distances(apart, metric::euclidean), expected);
    std::vector<TypeParam> wide(100 * 113, TypeParam(-1));
    hdbscan::mutual_reachability(apart.view(), {}, {wide.data(), 100, 100, 113});
    for (std::int64_t i = 0; i < 100; ++i)
      for (std::int64_t j = 0; j < 113; ++j)
        ASSERT_EQ(wide[i * 113 + j], j < 100 ? expected[i * 100 + j] : TypeParam(-1));
  }
}

TYPED_TEST(dense, every_device_gives_the_bits_of_the_host) {
  test::on_other_devices([](const Device& device) {
    for (const std::int64_t dim : {1, 3, 17, 64, 384})
      for (const std::int64_t n : {1, 2, 63, 64, 65, 97})
        for (const metric kind : {metric::euclidean, metric::cosine}) {
          if (dim == 384 && n != 65) continue;
          SCOPED_TRACE(::testing::Message() << n << " x " << dim << " " << to_string(kind));
          const auto points = clustered_points<TypeParam>(n, dim, 4, 1);
          test::expect_same_bits(distances(points, kind, device), distances(points, kind));
        }
  });
}

TEST(dense, every_device_gives_the_bits_of_the_host_in_the_other_specialised_dimensions) {
  test::on_other_devices([](const Device& device) {
    for (const std::int64_t dim : {512, 768, 1536}) {
      SCOPED_TRACE(dim);
      const auto points = clustered_points<float>(65, dim, 5);
      test::expect_same_bits(distances(points, metric::euclidean, device), distances(points, metric::euclidean));
    }
  });
}

TYPED_TEST(dense, any_number_of_threads_gives_the_same_bits) {
  const auto points = clustered_points<TypeParam>(300, 20, 6);
  const auto expected = distances(points, metric::euclidean);
  for (const int count : {1, 2, 5}) {
    set_threads(count);
    test::expect_same_bits(distances(points, metric::euclidean), expected);
  }
  set_threads(0);
}

TYPED_TEST(dense, rows_that_are_not_finite_are_nan_and_disturb_no_other) {
  constexpr TypeParam nan = std::numeric_limits<TypeParam>::quiet_NaN();
  constexpr TypeParam infinity = std::numeric_limits<TypeParam>::infinity();
  const auto clean = clustered_points<TypeParam>(100, 24, 7);
  auto points = clean;
  points(3, 0) = nan;
  points(64, 23) = -infinity;
  for (std::int64_t k = 0; k < 24; ++k) points(97, k) = infinity;
  test::on_every_device([&](const Device& device) {
    const auto found = distances(points, metric::euclidean, device), expected = distances(clean, metric::euclidean);
    for (std::int64_t i = 0; i < 100; ++i)
      for (std::int64_t j = 0; j < 100; ++j) {
        const bool valid = i != 3 && i != 64 && i != 97 && j != 3 && j != 64 && j != 97;
        const TypeParam value = found[i * 100 + j];
        ASSERT_TRUE(valid ? value == expected[i * 100 + j] : std::isnan(value)) << i << ", " << j << ": " << value;
      }
  });
}

TYPED_TEST(dense, a_zero_row_has_no_cosine_distance) {
  auto points = clustered_points<TypeParam>(10, 5, 8);
  for (std::int64_t k = 0; k < 5; ++k) points(4, k) = k % 2 == 0 ? TypeParam(0) : TypeParam(-0.0);
  test::on_every_device([&](const Device& device) {
    const auto cosine = distances(points, metric::cosine, device);
    const auto euclidean = distances(points, metric::euclidean, device);
    for (std::int64_t i = 0; i < 10; ++i)
      for (std::int64_t j = 0; j < 10; ++j) {
        EXPECT_EQ(std::isnan(cosine[i * 10 + j]), i == 4 || j == 4);
        EXPECT_FALSE(std::isnan(euclidean[i * 10 + j]));
      }
  });
}

// Far from 1 squares overflow or vanish; by powers of two, scaling is exact.
TYPED_TEST(dense, huge_and_tiny_coordinates_lose_nothing) {
  const auto points = clustered_points<TypeParam>(40, 9, 9);
  const auto expected = distances(points, metric::euclidean), expected_cosine = distances(points, metric::cosine);
  const int max = std::numeric_limits<TypeParam>::max_exponent - 10;
  for (const int exponent : {100, -100, max, -max + 20}) {
    SCOPED_TRACE(exponent);
    const TypeParam factor = std::ldexp(TypeParam(1), exponent);
    const auto far = test::scaled(points, factor);
    auto found = distances(far, metric::euclidean);
    for (TypeParam& d : found) d /= factor;
    test::expect_same_bits(found, expected);
    test::expect_same_bits(distances(far, metric::cosine), expected_cosine);
  }
}

TEST(dense, coordinates_of_1e30_and_1e_minus_30_have_accurate_distances_in_float) {
  for (const float factor : {1e30f, 1e-30f, 1e-42f}) {
    SCOPED_TRACE(factor);
    const auto points = test::scaled(clustered_points<float>(40, 9, 9), factor);
    const auto expected = corner(reference::distances(reference::widened(points.view()), metric::euclidean), 40);
    // Denormal results are multiples of the smallest number.
    const double floor = std::numeric_limits<float>::min();
    EXPECT_LE(test::largest_error(distances(points, metric::euclidean), expected, floor), 1e-6);
  }
}

// Rows of length 2^e: 1 / length has to be a normal number.
TYPED_TEST(dense, cosine_is_exact_to_the_end_of_the_range_of_lengths) {
  using limits = std::numeric_limits<TypeParam>;
  point_set<TypeParam> points(2, 3);
  const auto far = [&](int exponent) {
    for (std::int64_t k = 0; k < 3; ++k) points(0, k) = std::ldexp(TypeParam(k == 1), exponent);
    for (std::int64_t k = 0; k < 3; ++k) points(1, k) = std::ldexp(TypeParam(k == 2), exponent);
    return distances(points, metric::cosine);
  };
  test::expect_same_bits(far(-limits::min_exponent + 1), std::vector<TypeParam>{0, 1, 1, 0});
  test::expect_same_bits(far(limits::min_exponent - 1), std::vector<TypeParam>{0, 1, 1, 0});
  const std::vector<TypeParam> nowhere(4, limits::quiet_NaN());
  test::expect_same_bits(far(limits::max_exponent - 1), nowhere);
  test::expect_same_bits(far(limits::min_exponent - limits::digits), nowhere);
}

TYPED_TEST(dense, identical_rows_have_distance_zero) {
  auto points = clustered_points<TypeParam>(30, 384, 11);
  for (std::int64_t i = 1; i < 30; i += 2)
    for (std::int64_t k = 0; k < 384; ++k) points(i, k) = points(i - 1, k);
  for (const metric kind : {metric::euclidean, metric::cosine}) {
    const auto found = distances(points, kind);
    for (std::int64_t i = 0; i < 30; ++i) {
      EXPECT_EQ(found[i * 30 + (i ^ 1)], 0);
      EXPECT_EQ(found[i * 30 + i], 0);
      EXPECT_GT(found[i * 30 + (i + 2) % 30], 0);
    }
  }
}

}  // namespace
}  // namespace quintet::pairwise
