// Eigenproblems of positive semidefinite matrices with relative accuracy, and generalised ones, against long double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "quintet/core/philox.hpp"
#include "quintet/svd/eigen.hpp"
#include "reference/svd_reference.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/svd_errors.hpp"

namespace quintet {
namespace {

using reference::matrix, reference::norm, reference::transposed;

/// A well-conditioned positive definite matrix: 3 I and a product.
matrix definite_matrix(std::int64_t n, std::uint64_t seed) {
  matrix g(n, n);
  for (std::int64_t i = 0; i < n * n; ++i)
    g.data()[i] = normal_at<double>(seed, 0, std::uint64_t(i)) / std::sqrt(double(n));
  matrix a = g * transposed(g);
  for (std::int64_t i = 0; i < n; ++i) a(i, i) += 1;
  return a;
}

/// D A D with d_i = 10^(-decades i / n) in an order that is not sorted, rounded to T.
template <class T>
std::vector<T> graded_definite(std::int64_t batch, std::int64_t n, double decades) {
  std::vector<T> values(batch * n * n);
  for (std::int64_t b = 0; b < batch; ++b) {
    const matrix a = definite_matrix(n, std::uint64_t(b + 1));
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        const auto scale = [&](std::int64_t k) {
          return std::pow(10.0L, -decades * double((k * 7 + 3) % n) / double(n));
        };
        values[(b * n + i) * n + j] = T(accumulator_t<T>(a(i, j) * scale(i) * scale(j)));
      }
  }
  return values;
}

/// Norms of the columns of X after plain rotations of all pairs (Hestenes 1958), rising and squared: for X = B D with a
/// well-conditioned B they are right relative to themselves.
std::vector<long double> squared_values(matrix x) {
  const std::int64_t n = x.cols();
  const auto dot = [&](std::int64_t p, std::int64_t q) {
    long double sum = 0;
    for (std::int64_t i = 0; i < x.rows(); ++i) sum += x(i, p) * x(i, q);
    return sum;
  };
  for (int sweep = 0; sweep < 60; ++sweep)
    for (std::int64_t p = 0; p < n; ++p)
      for (std::int64_t q = p + 1; q < n; ++q) {
        const long double app = dot(p, p), aqq = dot(q, q), apq = dot(p, q);
        if (std::fabs(apq) <= 1e-19L * std::sqrt(app) * std::sqrt(aqq)) continue;
        const long double zeta = (aqq - app) / (2 * apq);
        const long double t = (zeta < 0 ? -1 : 1) / (std::fabs(zeta) + std::sqrt(1 + zeta * zeta));
        const long double c = 1 / std::sqrt(1 + t * t), s = c * t;
        for (std::int64_t i = 0; i < x.rows(); ++i) {
          const long double left = x(i, p), right = x(i, q);
          x(i, p) = c * left - s * right;
          x(i, q) = s * left + c * right;
        }
      }
  std::vector<long double> squares(n);
  for (std::int64_t j = 0; j < n; ++j) squares[j] = dot(j, j);
  std::sort(squares.begin(), squares.end());
  return squares;
}

/// Eigenvalues of D A D to the last digits, in long double: A = L L^T, and L^T is B D with a well-conditioned B.
std::vector<long double> exact_eigenvalues(const matrix& a) {
  const std::int64_t n = a.rows();
  matrix l(n, n);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = j; i < n; ++i) {
      long double sum = a(i, j);
      for (std::int64_t k = 0; k < j; ++k) sum -= l(i, k) * l(j, k);
      l(i, j) = i == j ? std::sqrt(sum) : sum / l(j, j);
    }
  return squared_values(transposed(l));
}

template <class T>
struct svd_definite : testing::Test {};
using definite_types = testing::Types<float, double, half, bfloat16>;
TYPED_TEST_SUITE(svd_definite, definite_types);

TYPED_TEST(svd_definite, graded_matrices_keep_the_digits_of_small_eigenvalues) {
  using T = TypeParam;
  const double eps = test::compute_epsilon<T>;
  const std::int64_t batch = 3;
  test::on_every_device([&](const Device& device) {
    for (const std::int64_t n : {1, 2, 3, 6, 20}) {
      if (n > 6 && device.kind() != device_kind::host) continue;
      SCOPED_TRACE(n);
      // Down to 1e-24 of the largest one; half has no such numbers.
      const auto a = graded_definite<T>(batch, n, std::is_same_v<T, half> ? 1 : 12);
      const batch_view<const T> matrices(a.data(), batch, n, n);
      const auto r = svd::eigen<T>(matrices, {.positive = true}, device);
      const auto alone = svd::eigen<T>(matrices, {.vectors = false, .positive = true}, device);
      for (std::int64_t b = 0; b < batch; ++b) {
        ASSERT_EQ(r.status[b], svd::ok);
        const matrix whole = reference::widened(matrices, b);
        const auto exact = exact_eigenvalues(whole);
        for (std::int64_t j = 0; j < n; ++j) {
          EXPECT_NEAR(double(r.eigenvalue(b, j) / exact[j]), 1, 10 * double(n) * eps) << j;
          EXPECT_NEAR(double(alone.eigenvalue(b, j) / exact[j]), 1, 10 * double(n) * eps) << j;
        }
        const matrix v = reference::widened(r.v_view(), b);
        const std::vector<long double> w(r.w.begin() + b * n, r.w.begin() + (b + 1) * n);
        const double stored = 8 * double(n) * test::storage_epsilon<T>;
        EXPECT_LE(norm(whole * v - reference::scaled_columns(v, w)), stored * double(norm(whole)));
        EXPECT_LE(norm(transposed(v) * v - reference::identity(n)), stored + 8 * test::storage_epsilon<T>);
        for (std::int64_t j = 0; j < n; ++j) {
          long double largest = 0;
          for (std::int64_t i = 0; i < n; ++i)
            if (std::fabs(v(i, j)) > std::fabs(largest)) largest = v(i, j);
          EXPECT_GT(largest, 0);
        }
      }
    }
  });
}

TEST(svd_positive, diagonals_keep_every_digit) {
  // 1, 1e-40, ...
  const std::int64_t n = 8;
  std::vector<double> a(n * n);
  for (std::int64_t i = 0; i < n; ++i) a[i * n + i] = std::pow(10.0, -40.0 * double(i));
  const auto r = svd::eigen<double>({a.data(), 1, n, n}, {.positive = true});
  for (std::int64_t i = 0; i < n; ++i) EXPECT_NEAR(r.eigenvalue(0, n - 1 - i) / a[i * n + i], 1, 1e-14);
}

TEST(svd_positive, semidefinite_indefinite_and_not_finite) {
  const std::vector<double> a{1,        2, 3, 2, 4,     6, 3,   6, 9,  // rank 1
                              0,        0, 0, 0, 0,     0, 0,   0, 0,  // zero
                              0,        1, 0, 1, 0,     0, 0,   0, 1,  // a diagonal of zeros and not semidefinite
                              1,        0, 0, 0, -1e-9, 0, 0,   0, 1,  //
                              1,        0, 0, 0, 1,     0, NAN, 0, 1,  //
                              2,        1, 0, 1, 2,     0, 0,   0, 1,  // definite
                              INFINITY, 0, 0, 0, 1,     0, 0,   0, 1};
  const batch_view<const double> matrices(a.data(), 7, 3, 3);
  test::on_every_device([&](const Device& device) {
    const auto r = svd::eigen<double>(matrices, {.positive = true}, device);
    EXPECT_EQ(r.status, (std::vector<std::int32_t>{svd::ok, svd::ok, svd::not_definite, svd::not_definite,
                                                   svd::not_finite, svd::ok, svd::not_finite}));
    EXPECT_NEAR(r.eigenvalue(0, 2), 14, 1e-13);
    EXPECT_LE(std::fabs(r.eigenvalue(0, 0)), 1e-14);
    EXPECT_EQ(r.eigenvalue(1, 2), 0);
    for (const std::int64_t b : {2, 3, 4, 6})
      EXPECT_TRUE(std::isnan(r.eigenvalue(b, 0)) && std::isnan(r.v_view()(b, 0, 0)));
    EXPECT_NEAR(r.eigenvalue(5, 2), 3, 1e-14);
  });
  // Scales at the ends of the range.
  for (const double scale : {1e-300, 1e300}) {
    std::vector<double> scaled{2 * scale, scale, scale, 2 * scale};
    const auto r = svd::eigen<double>({scaled.data(), 1, 2, 2}, {.positive = true});
    EXPECT_NEAR(r.eigenvalue(0, 0) / scale, 1, 1e-14);
    EXPECT_NEAR(r.eigenvalue(0, 1) / scale, 3, 1e-14);
  }
}

TYPED_TEST(svd_definite, generalised_problems) {
  using T = TypeParam;
  const double eps = test::compute_epsilon<T>, storage = test::storage_epsilon<T>;
  const std::int64_t batch = 3;
  test::on_every_device([&](const Device& device) {
    for (const std::int64_t n : {1, 2, 3, 7, 25})
      for (const bool upper : {false, true}) {
        if (n > 7 && device.kind() != device_kind::host) continue;
        SCOPED_TRACE(text("n = ", n, ", upper ", upper));
        auto b = graded_definite<T>(batch, n, 0.2);
        std::vector<T> a(batch * n * n);
        for (std::int64_t e = 0; e < batch * n * n; ++e)
          a[e] = T(normal_at<float>(9, std::uint64_t(n), std::uint64_t(e)));
        for (std::int64_t m = 0; m < batch; ++m)  // the other triangle is not read
          for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = 0; j < n; ++j)
              if (upper ? j < i : j > i)
                a[(m * n + i) * n + j] = b[(m * n + i) * n + j] = T(std::numeric_limits<float>::quiet_NaN());
        const auto whole = [&](const std::vector<T>& values, std::int64_t m) {
          matrix full(n, n);
          for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = 0; j <= i; ++j)
              full(i, j) = full(j, i) = accumulator_t<T>(values[(m * n + (upper ? j : i)) * n + (upper ? i : j)]);
          return full;
        };
        const svd::eigen_options options{.triangle = upper ? svd::triangle::upper : svd::triangle::lower};
        const auto r = svd::eigen_generalised<T>({a.data(), batch, n, n}, {b.data(), batch, n, n}, options, device);
        auto alone = options;
        alone.vectors = false;
        const auto values = svd::eigen_generalised<T>({a.data(), batch, n, n}, {b.data(), batch, n, n}, alone, device);
        for (std::int64_t m = 0; m < batch; ++m) {
          ASSERT_EQ(r.status[m], svd::ok);
          const matrix of_a = whole(a, m), of_b = whole(b, m), v = reference::widened(r.v_view(), m);
          const std::vector<long double> w(r.w.begin() + m * n, r.w.begin() + (m + 1) * n);
          const double large = double(std::max(std::fabs(w.front()), std::fabs(w.back())));
          for (std::int64_t j = 0; j < n; ++j) {
            EXPECT_TRUE(j == 0 || w[j] >= w[j - 1]);
            EXPECT_NEAR(values.eigenvalue(m, j), double(w[j]), 30 * double(n) * eps * large);
          }
          EXPECT_LE(norm(of_a * v - of_b * reference::scaled_columns(v, w)),
                    30 * double(n) * storage * double(norm(of_a)));
          EXPECT_LE(norm(transposed(v) * of_b * v - reference::identity(n)), 30 * double(n) * storage);
        }
      }
  });
}

// The eigenpairs of a part are those of the whole.
TYPED_TEST(svd_definite, subsets) {
  using T = TypeParam;
  const std::int64_t batch = 3, n = 9, first = 2, count = 5;
  test::on_every_device([&](const Device& device) {
    const auto b = graded_definite<T>(batch, n, 0.2);
    std::vector<T> a(batch * n * n);
    for (std::int64_t e = 0; e < batch * n * n; ++e) a[e] = T(normal_at<float>(9, 1, std::uint64_t(e)));
    const batch_view<const T> of_a(a.data(), batch, n, n), of_b(b.data(), batch, n, n);
    const auto compare = [&](const auto& part, const auto& all) {
      ASSERT_EQ(part.values, count);
      for (std::int64_t m = 0; m < batch; ++m)
        for (std::int64_t j = 0; j < count; ++j) {
          EXPECT_EQ(part.eigenvalue(m, j), all.eigenvalue(m, first + j));
          for (std::int64_t i = 0; i < n; ++i)
            EXPECT_EQ(float(part.v_view()(m, i, j)), float(all.v_view()(m, i, first + j)));
        }
    };
    compare(svd::eigen_generalised<T>(of_a, of_b, {.first = first, .count = count}, device),
            svd::eigen_generalised<T>(of_a, of_b, {}, device));
    compare(svd::eigen<T>(of_b, {.positive = true, .first = first, .count = count}, device),
            svd::eigen<T>(of_b, {.positive = true}, device));
    const auto values = svd::eigen<T>(of_b, {.vectors = false, .positive = true, .first = 0, .count = 1}, device);
    EXPECT_EQ(values.w.size(), 3u);
  });
}

TEST(svd_generalised, indefinite_and_wrong_arguments) {
  const std::vector<double> a{1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1}, b{1, 2, 2, 1, 2, 0, 0, 4, NAN, 0, 0, 1};
  const batch_view<const double> of_a(a.data(), 3, 2, 2), of_b(b.data(), 3, 2, 2);
  const auto r = svd::eigen_generalised<double>(of_a, of_b);
  EXPECT_EQ(r.status, (std::vector<std::int32_t>{svd::not_definite, svd::ok, svd::not_finite}));
  EXPECT_TRUE(std::isnan(r.eigenvalue(0, 0)) && std::isnan(r.eigenvalue(2, 1)));
  EXPECT_NEAR(r.eigenvalue(1, 0), 0.25, 1e-16);
  EXPECT_NEAR(r.eigenvalue(1, 1), 0.5, 1e-15);
  const auto of_nan = svd::eigen_generalised<double>(of_b, of_a);
  EXPECT_EQ(of_nan.status[2], svd::not_finite);
  EXPECT_EQ(svd::eigen_generalised<double>({a.data(), 0, 2, 2}, {b.data(), 0, 2, 2}).batch, 0);
  EXPECT_EQ(svd::eigen_generalised<double>({a.data(), 2, 0, 0}, {b.data(), 2, 0, 0}).status[1], svd::ok);
  expect_invalid([&] { svd::eigen_generalised<double>(of_a, {b.data(), 2, 2, 2}); }, "b must be [3 x 2 x 2]");
  expect_invalid([&] { svd::eigen_generalised<double>(of_a, of_b, {.positive = true}); }, "positive must be false");
  expect_invalid([&] { svd::eigen_generalised<double>({a.data(), 2, 2, 3}, {b.data(), 2, 2, 3}); }, "a must be square");
  expect_invalid([&] { svd::eigen<double>({a.data(), 2, 2, 3}, {.positive = true}); }, "a must be square");
}

}  // namespace
}  // namespace quintet
