// Tolerances, truncation, bases of ranges and null spaces, and least squares in one call, against Eigen in long double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "quintet/core/philox.hpp"
#include "quintet/svd/applications.hpp"
#include "reference/svd_reference.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/svd_errors.hpp"

namespace quintet {
namespace {

using reference::matrix, reference::norm, reference::transposed;

matrix normal_matrix(std::int64_t m, std::int64_t n, std::uint64_t seed) {
  matrix a(m, n);
  for (std::int64_t i = 0; i < m * n; ++i) a.data()[i] = normal_at<double>(seed, 0, std::uint64_t(i));
  return a;
}

/// m x n of rank 2, of full rank, zero, and one with a NaN.
template <class T>
std::vector<T> mixed_ranks(std::int64_t m, std::int64_t n) {
  std::vector<T> a;
  for (const matrix& part :
       {normal_matrix(m, 2, 1) * normal_matrix(2, n, 2), normal_matrix(m, n, 3), matrix(m, n), normal_matrix(m, n, 4)})
    for (const long double x : part.elements()) a.push_back(T(accumulator_t<T>(x)));
  a[3 * m * n + 1] = T(std::numeric_limits<float>::quiet_NaN());
  return a;
}

/// What the elements of T are rounded to: rank 2 in double is full rank in float.
template <class T>
svd::rank_tolerance beyond_storage() {
  return {.relative = 30 * test::storage_epsilon<T>};
}

template <class T>
struct svd_subspaces : testing::Test {};
using subspace_types = testing::Types<float, double, half, bfloat16>;
TYPED_TEST_SUITE(svd_subspaces, subspace_types);

TYPED_TEST(svd_subspaces, range_and_null_space_project_as_eigen_does) {
  using T = TypeParam;
  const long double bound = 200 * test::storage_epsilon<T>;
  for (const auto& [m, n] : {std::pair{7, 4}, {4, 7}, {5, 5}}) {
    SCOPED_TRACE(text(m, " x ", n));
    const auto a = mixed_ranks<T>(m, n);
    const auto d = svd::decompose<T>({a.data(), 4, m, n}, {.vectors = svd::vectors::full});
    const auto tolerance = beyond_storage<T>();
    const auto range = svd::range_basis(d, tolerance), null = svd::null_space_basis(d, tolerance);
    const std::int64_t k = std::min(m, n);
    EXPECT_EQ(range.dimension, (std::vector<std::int64_t>{2, k, 0, 0}));
    EXPECT_EQ(null.dimension, (std::vector<std::int64_t>{n - 2, n - k, n, 0}));
    EXPECT_EQ(range.cols, k);
    EXPECT_EQ(null.cols, n);
    EXPECT_TRUE(std::isnan(float(range.view()(3, 0, 0))) && std::isnan(float(null.view()(3, n - 1, n - 1))));
    for (std::int64_t b = 0; b < 3; ++b) {
      const std::int64_t rank = range.dimension[b];
      matrix p(m, m), q = reference::identity(n);
      if (rank > 0) {
        const auto exact = reference::decomposed(reference::widened(batch_view<const T>(a.data(), 4, m, n), b));
        const matrix u = reference::corner(exact.u, m, rank), v = reference::corner(exact.v, n, rank);
        p = u * transposed(u);
        q = q - v * transposed(v);
      }
      const matrix r = reference::widened(range.view(), b), z = reference::widened(null.view(), b);
      EXPECT_LE(norm(r * transposed(r) - p), bound) << b;
      EXPECT_LE(norm(z * transposed(z) - q), bound) << b;
    }
  }
}

TYPED_TEST(svd_subspaces, truncation_keeps_the_largest_rank_of_the_batch) {
  using T = TypeParam;
  auto a = mixed_ranks<T>(7, 4);
  const batch_view<const T> finite(a.data(), 3, 7, 4);
  auto d = svd::decompose<T>(finite);
  const auto whole = d;
  const double limit = double(whole.singular_value(1, 2));
  const auto ranks = svd::truncate(d, {.absolute = limit});
  EXPECT_EQ(ranks[1], 2);
  EXPECT_EQ(ranks[2], 0);
  EXPECT_EQ(d.values, 2);
  EXPECT_EQ(d.u_cols, 2);
  EXPECT_EQ(d.v_cols, 2);
  EXPECT_EQ(d.s.size(), 6u);
  EXPECT_EQ(d.s_view()(2, 0), 0);
  for (std::int64_t i = 0; i < 7; ++i) EXPECT_EQ(float(d.u_view()(1, i, 1)), float(whole.u_view()(1, i, 1)));
  for (std::int64_t i = 0; i < 4; ++i) EXPECT_EQ(float(d.v_view()(1, i, 0)), float(whole.v_view()(1, i, 0)));
  for (std::int64_t j = 0; j < 2; ++j) EXPECT_EQ(d.singular_value(1, j), whole.singular_value(1, j));
  // Functions of what is left, without a tolerance.
  const auto inverse = svd::pseudo_inverse(d, {.relative = 0}, Device::host());
  EXPECT_EQ(inverse, svd::pseudo_inverse(whole, {.absolute = limit}, Device::host()));

  auto values = svd::decompose<T>({a.data(), 4, 7, 4}, {.vectors = svd::vectors::none});
  EXPECT_EQ(svd::truncate(values, beyond_storage<T>()), (std::vector<std::int64_t>{2, 4, 0, 0}));
  EXPECT_EQ(values.values, 4);
  EXPECT_EQ(values.singular_value(0, 2), 0);
  EXPECT_TRUE(std::isnan(values.singular_value(3, 1)));
}

TEST(svd_tolerance, of_two_kinds) {
  const std::vector<double> a{4, 0, 0, 0, 2, 0, 0, 0, 1e-20};
  const auto d = svd::decompose<double>({a.data(), 1, 3, 3});
  const auto rank = [&](svd::rank_tolerance t) { return svd::numerical_rank(d, t)[0]; };
  EXPECT_EQ(rank({}), 2);
  EXPECT_EQ(rank({.absolute = 0}), 3);  // the relative one is not the default then
  EXPECT_EQ(rank({.absolute = 2}), 1);
  EXPECT_EQ(rank({.relative = 0.4, .absolute = 1}), 2);
  EXPECT_EQ(rank({.relative = 0.5, .absolute = 1}), 1);
  EXPECT_EQ(rank({.relative = 0.1, .absolute = 3}), 1);
  EXPECT_EQ(rank({.absolute = 1e300}), 0);
  test::on_every_device([&](const Device& device) {
    const auto inverse = svd::pseudo_inverse(d, {.absolute = 3}, device);
    EXPECT_NEAR(inverse[0], 0.25, 1e-15);
    EXPECT_EQ(inverse[4], 0);
    const std::vector<double> right(3, 1.0);
    EXPECT_NEAR(svd::least_squares<double>(d, {right.data(), 1, 3, 1}, {.relative = 0.5, .absolute = 1}, device)[0],
                0.25, 1e-15);
  });
  expect_invalid([&] { rank({.absolute = -1}); }, "absolute must be >= 0 (absolute=-1)");
  expect_invalid([&] { rank({.relative = std::nan("")}); }, "relative must be >= 0");
}

TYPED_TEST(svd_subspaces, least_squares_in_one_call) {
  using T = TypeParam;
  const double eps = test::storage_epsilon<T>;
  const std::int64_t m = 9, n = 4, r = 2;
  const auto a = mixed_ranks<T>(m, n);
  std::vector<T> right(4 * m * r);
  for (std::size_t i = 0; i < right.size(); ++i) right[i] = T(normal_at<float>(7, 0, i));
  const batch_view<const T> matrices(a.data(), 4, m, n), sides(right.data(), 4, m, r);
  test::on_every_device([&](const Device& device) {
    const auto result = svd::solve_least_squares<T>(matrices, sides, beyond_storage<T>(), device);
    EXPECT_EQ(result.rank, (std::vector<std::int64_t>{2, n, 0, 0}));
    EXPECT_EQ(result.status, (std::vector<std::int32_t>{0, 0, 0, svd::not_finite}));
    EXPECT_TRUE(std::isnan(float(result.x_view()(3, 0, 0))) && std::isnan(result.residual[3 * r]));
    for (std::int64_t b = 0; b < 2; ++b) {
      auto exact = reference::decomposed(reference::widened(matrices, b));
      for (std::int64_t j = result.rank[b]; j < n; ++j) exact.s[j] = INFINITY;
      const matrix x = reference::pseudo_inverse(exact) * reference::widened(sides, b);
      const matrix got = reference::widened(result.x_view(), b);
      EXPECT_LE(norm(got - x), 100 * eps * norm(x)) << b;
      const matrix rest = reference::widened(matrices, b) * got - reference::widened(sides, b);
      for (std::int64_t j = 0; j < r; ++j) {
        long double square = 0;
        for (std::int64_t i = 0; i < m; ++i) square += rest(i, j) * rest(i, j);
        EXPECT_NEAR(double(result.residual[b * r + j]), double(std::sqrt(square)), 20 * test::compute_epsilon<T>);
      }
      EXPECT_NEAR(double(result.values[b * n]), double(exact.s[0]), 20 * eps * double(exact.s[0]));
    }
    for (std::int64_t i = 0; i < n * r; ++i) EXPECT_EQ(float(result.x[2 * n * r + i]), 0);  // of the zero matrix
  });
}

TEST(svd_residual_norm, neither_overflows_nor_forgets_nan) {
  const std::vector<double> a{1, 0, 0, 1}, x{0, 0, 0, 0}, right{3e300, 0, 4e300, std::nan("")};
  test::on_every_device([&](const Device& device) {
    std::vector<double> out(2);
    svd::residual_norm(batch_view(a.data(), 1, 2, 2), batch_view(x.data(), 1, 2, 2), batch_view(right.data(), 1, 2, 2),
                       any_output_matrix(out.data(), 1, 2), device);
    EXPECT_NEAR(out[0] / 5e300, 1, 1e-15);
    EXPECT_TRUE(std::isnan(out[1]));
  });
  std::vector<double> out(1);
  expect_invalid(
      [&] {
        svd::residual_norm(batch_view(a.data(), 1, 2, 2), batch_view(x.data(), 1, 2, 2),
                           batch_view(right.data(), 1, 2, 2), any_output_matrix(out.data(), 1, 1));
      },
      "out.cols must be the columns of right, 2");
}

TEST(svd_subspaces_of_wrong_parts, are_refused) {
  const std::vector<double> a(12, 1.0);
  const batch_view<const double> wide(a.data(), 1, 3, 4), tall(a.data(), 1, 4, 3);
  expect_invalid([&] { svd::null_space_basis(svd::decompose<double>(wide)); }, "vectors::full if m < n (v_cols=3)");
  expect_invalid([&] { svd::range_basis(svd::decompose<double>(tall, {.vectors = svd::vectors::none})); },
                 "must have its vectors");
  expect_invalid([&] { svd::range_basis(svd::decompose<double>(tall, {.top = 1})); }, "values must be min(m, n) = 3");
  EXPECT_EQ(svd::null_space_basis(svd::decompose<double>(tall)).dimension[0], 2);
  const auto none = svd::range_basis(svd::decompose<double>({a.data(), 0, 4, 3}));
  EXPECT_EQ(none.batch, 0);
  EXPECT_EQ(none.cols, 0);
}

}  // namespace
}  // namespace quintet
