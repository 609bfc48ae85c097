// Certificates: bounds that hold for random and hostile matrices, by singular values in long double, and that notice
// every fault that is planted into the factors.
#include "quintet/svd/certify.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "quintet/core/philox.hpp"
#include "quintet/svd/symmetric.hpp"
#include "reference/svd_reference.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/svd_errors.hpp"

namespace quintet {
namespace {

enum class certified { random, graded, rank_one, equal_values, near_singular, tiny, huge, zero, last };

template <class T>
std::vector<T> certified_batch(certified kind, std::int64_t batch, std::int64_t m, std::int64_t n) {
  std::vector<T> a(batch * m * n);
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        double x = normal_at<double>(std::uint64_t(b + 1), std::uint64_t(m * 1000 + n), std::uint64_t(i * n + j));
        if (kind == certified::graded) x *= std::pow(10.0, -3.0 * double(j));
        if (kind == certified::rank_one) x = 1 + double(b);
        if (kind == certified::equal_values) x = i == j ? 1 : 0;
        if (kind == certified::near_singular) x = 1 + 1e-3 * x;
        if (kind == certified::tiny) x *= 8 * double(std::numeric_limits<accumulator_t<T>>::min());
        if (kind == certified::huge) x *= double(std::numeric_limits<accumulator_t<T>>::max()) / 1e4;
        if (kind == certified::zero) x = 0;
        a[(b * m + i) * n + j] = T(accumulator_t<T>(x));
      }
  return a;
}

/// max_j |S_j - exact| of matrix b.
template <class T>
long double error_of(batch_view<const T> a, const svd::decomposition<T>& d, std::int64_t b) {
  const auto exact = reference::decomposed(reference::widened(a, b)).s;
  long double worst = 0;
  for (std::int64_t j = 0; j < d.values; ++j)
    worst = std::max(worst, std::fabs(exact[j] - static_cast<long double>(d.singular_value(b, j))));
  return worst;
}

template <class T>
struct svd_certify : testing::Test {};
using certified_types = testing::Types<float, double, half, bfloat16>;
TYPED_TEST_SUITE(svd_certify, certified_types);

TYPED_TEST(svd_certify, bounds_hold_and_are_small) {
  using T = TypeParam;
  for (int kind = 0; kind < int(certified::last); ++kind)
    for (const auto& [m, n] : {std::pair{1, 1}, {3, 3}, {5, 2}, {2, 7}, {20, 17}, {40, 3}}) {
      if (std::numeric_limits<accumulator_t<T>>::max() > 1e30 && std::is_same_v<T, half> &&
          (kind == int(certified::tiny) || kind == int(certified::huge)))
        continue;  // no such half numbers
      SCOPED_TRACE(text("kind ", kind, ", ", m, " x ", n));
      const auto a = certified_batch<T>(certified(kind), 4, m, n);
      const batch_view<const T> matrices(a.data(), 4, m, n);
      const auto d = svd::decompose<T>(matrices, {}, Device::host());
      const auto bound = svd::certify(matrices, d, Device::host());
      const double length = std::max(m, n), k = std::min(m, n);
      for (std::int64_t b = 0; b < 4; ++b) {
        EXPECT_LE(double(error_of(matrices, d, b)), bound[b]);
        const double largest = double(d.singular_value(b, 0));
        const double of_vectors = 20 * k * test::storage_epsilon<T>;
        const double of_sums = (40 + 2 * std::sqrt(length)) * k * std::numeric_limits<double>::epsilon();
        // Of zero, what the bound says of underflow.
        const double least =
            kind == int(certified::zero) ? 1e-140 : 2 * std::numeric_limits<accumulator_t<T>>::denorm_min();
        EXPECT_LE(bound[b], (of_vectors + of_sums) * largest + least);
      }
      test::on_other_devices([&](const Device& device) {
        if (m * n > 100 || kind == int(certified::zero)) return;
        const auto other = svd::certify(matrices, d, device);
        for (std::int64_t b = 0; b < 4; ++b) EXPECT_NEAR(other[b] / bound[b], 1, 0.5);
      });
    }
}

/// 20,000 small random matrices in one call against long double.
TEST(svd_certify_many, random_matrices) {
  const std::int64_t batch = 20000, n = 3;
  std::vector<float> a(batch * n * n);
  for (std::size_t i = 0; i < a.size(); ++i)
    a[i] = normal_at<float>(5, 1, i) * std::exp2(normal_at<float>(5, 2, i) * 4);
  const batch_view<const float> matrices(a.data(), batch, n, n);
  const auto d = svd::decompose<float>(matrices);
  const auto bound = svd::certify(matrices, d);
  for (std::int64_t b = 0; b < batch; ++b) ASSERT_LE(double(error_of(matrices, d, b)), bound[b]) << "matrix " << b;
}

/// A fault in any part makes the bound grow beyond what it does to the values.
TYPED_TEST(svd_certify, planted_faults_are_seen) {
  using T = TypeParam;
  const std::int64_t m = 9, n = 6;
  const auto a = certified_batch<T>(certified::random, 2, m, n);
  const batch_view<const T> matrices(a.data(), 2, m, n);
  const auto clean = svd::decompose<T>(matrices);
  const auto usual = svd::certify(matrices, clean);
  const auto bound_with = [&](auto plant) {
    auto d = clean;
    plant(d);
    const auto bound = svd::certify(matrices, d);
    EXPECT_EQ(bound[0], usual[0]);
    const long double error = error_of(matrices, d, 1);
    EXPECT_TRUE(!(error > bound[1]));
    return bound[1];
  };
  const double s0 = clean.singular_value(1, 0), change = 0.25;
  using real = accumulator_t<T>;
  EXPECT_GE(bound_with([&](auto& d) { d.s[n] += real(change); }), change);
  EXPECT_GE(bound_with([&](auto& d) { d.s[2 * n - 1] = 0; }), double(clean.s[2 * n - 1]));
  EXPECT_GE(bound_with([&](auto& d) { d.u[m * n + 7] = T(real(float(d.u[m * n + 7])) + real(change)); }), 0.1 * change);
  EXPECT_GE(bound_with([&](auto& d) { d.v[n * n + 3] = T(real(float(d.v[n * n + 3])) + real(change)); }), 0.1 * change);
  EXPECT_GE(bound_with([&](auto& d) {  // two columns of both, which the residual alone would not notice in S
              for (std::int64_t i = 0; i < m; ++i) std::swap(d.u[m * n + i * n], d.u[m * n + i * n + 5]);
              for (std::int64_t i = 0; i < n; ++i) std::swap(d.v[n * n + i * n], d.v[n * n + i * n + 5]);
            }),
            0.5 * (s0 - double(clean.singular_value(1, 5))));
  EXPECT_EQ(bound_with([&](auto& d) { std::swap(d.s[n], d.s[n + 1]); }), INFINITY);
  EXPECT_EQ(bound_with([&](auto& d) { d.u[m * n] = T(std::numeric_limits<float>::quiet_NaN()); }), INFINITY);
  EXPECT_EQ(bound_with([&](auto& d) { std::fill_n(d.v.begin() + n * n, n * n, T(0.0f)); }), INFINITY);
}

/// Every index of a matrix that fills several strips and blocks counts.
TEST(svd_certify_faults, in_every_element) {
  const std::int64_t m = 21, n = 18;
  auto a = certified_batch<double>(certified::random, 1, m, n);
  const batch_view<const double> matrix(a.data(), 1, m, n);
  auto d = svd::decompose<double>(matrix, {}, Device::host());
  const auto bound = [&] { return svd::certify(matrix, d, Device::host())[0]; };
  const double usual = bound();
  EXPECT_LT(usual, 1e-11);
  for (auto* part : {&a, &d.u, &d.v})
    for (double& x : *part) {
      const double before = x;
      x += 1e-3;
      EXPECT_GT(bound(), 1e-5) << (&x - part->data());
      x = before;
    }
  EXPECT_EQ(bound(), usual);
}

template <class T>
long double eigen_error_of(const std::vector<T>& a, const svd::eigen_decomposition<T>& r, std::int64_t b, bool upper) {
  const std::int64_t n = r.size;
  reference::matrix whole(n, n);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j <= i; ++j)
      whole(i, j) = whole(j, i) = accumulator_t<T>(a[(b * n + (upper ? j : i)) * n + (upper ? i : j)]);
  const auto exact = reference::eigenvalues(whole);
  long double worst = 0;
  for (std::int64_t j = 0; j < n; ++j)
    worst = std::max(worst, std::fabs(exact[j] - static_cast<long double>(r.eigenvalue(b, j))));
  return worst;
}

TYPED_TEST(svd_certify, eigenvalues_of_the_triangle_that_is_read) {
  using T = TypeParam;
  for (const std::int64_t n : {1, 2, 3, 8, 19, 33})
    for (const bool upper : {false, true}) {
      SCOPED_TRACE(text("n = ", n, ", upper ", upper));
      const auto a = certified_batch<T>(certified::random, 3, n, n);
      const batch_view<const T> matrices(a.data(), 3, n, n);
      const auto triangle = upper ? svd::triangle::upper : svd::triangle::lower;
      auto r = svd::eigen<T>(matrices, {.triangle = triangle}, Device::host());
      const auto bound = svd::certify<T>(matrices, r, triangle, Device::host());
      for (std::int64_t b = 0; b < 3; ++b) {
        EXPECT_LE(double(eigen_error_of(a, r, b, upper)), bound[b]);
        const double largest =
            std::max(std::fabs(double(r.eigenvalue(b, 0))), std::fabs(double(r.eigenvalue(b, n - 1))));
        EXPECT_LE(bound[b], double(n) * (30 * test::storage_epsilon<T> + 1e-14) * largest);
      }
      test::on_other_devices([&](const Device& device) {
        if (n > 8) return;
        const auto other = svd::certify<T>(matrices, r, triangle, device);
        for (std::int64_t b = 0; b < 3; ++b) EXPECT_NEAR(other[b] / bound[b], 1, 0.5);
      });
      r.w[0] -= 1;
      EXPECT_GE(svd::certify<T>(matrices, r, triangle, Device::host())[0], 0.99);
      r.w[0] += 1000;
      if (n > 1) EXPECT_EQ(svd::certify<T>(matrices, r, triangle, Device::host())[0], INFINITY);
    }
}

TEST(svd_certify_arguments, wrong_and_empty) {
  const std::vector<double> a(12, 1.0);
  const batch_view<const double> tall(a.data(), 1, 4, 3);
  const auto values = svd::decompose<double>(tall, {.vectors = svd::vectors::none});
  expect_invalid([&] { svd::certify(tall, values); }, "must have its vectors");
  expect_invalid([&] { svd::certify(tall, svd::decompose<double>(tall, {.top = 1})); }, "values must be min(m, n) = 3");
  const auto d = svd::decompose<double>(tall);
  expect_invalid([&] { svd::certify(batch_view(a.data(), 1, 3, 4), d); }, "u must be [1 x 3 x 3]");
  std::vector<double> bound(2);
  expect_invalid([&] { svd::certify(tall, d, bound, Device::host()); }, "bound.size must be the batch, 1");
  expect_invalid([&] { svd::certify_eigen(tall, svd::triangle::lower, d.s_view(), d.v_view(), bound, Device::host()); },
                 "a must be square");
  EXPECT_TRUE(svd::certify(batch_view(a.data(), 0, 4, 3), svd::decompose<double>({a.data(), 0, 4, 3})).empty());
  const auto none = svd::decompose<double>({a.data(), 2, 4, 0});
  EXPECT_EQ(svd::certify(batch_view(a.data(), 2, 4, 0), none), (std::vector<double>{0, 0}));
  const std::vector<double> odd{1, NAN, 2, 3, 1, 0, 0, 1};
  const batch_view<const double> both(odd.data(), 2, 2, 2);
  const auto bounds = svd::certify(both, svd::decompose<double>(both));
  EXPECT_EQ(bounds[0], INFINITY);
  EXPECT_LT(bounds[1], 1e-14);
}

/// Long sums: a bound within what the formula says for 30000 rows, by strides and as a transpose.
TEST(svd_certify_shapes, tall_and_wide) {
  const std::int64_t m = 30000, n = 5;
  const auto a = certified_batch<double>(certified::random, 1, m, n);
  const batch_view<const double> tall(a.data(), 1, m, n);
  const auto d = svd::decompose<double>(tall), wide = svd::decompose<double>(tall.transposed());
  const double bound = svd::certify(tall, d)[0], of_wide = svd::certify(tall.transposed(), wide)[0];
  const auto exact = reference::singular_values_by_bidiagonalisation(reference::widened(tall, 0));
  for (std::int64_t j = 0; j < n; ++j) {
    EXPECT_LE(std::fabs(double(exact[j] - static_cast<long double>(d.singular_value(0, j)))), bound);
    EXPECT_LE(std::fabs(double(exact[j] - static_cast<long double>(wide.singular_value(0, j)))), of_wide);
  }
  EXPECT_LT(bound, 1e-12 * d.singular_value(0, 0));
  EXPECT_LT(of_wide, 1e-12 * d.singular_value(0, 0));
}

}  // namespace
}  // namespace quintet
