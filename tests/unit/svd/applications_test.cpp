// The thin functions: defining equations of pseudo-inverse, least squares, low rank, condition number, polar factor.
#include "quintet/svd/applications.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "quintet/core/philox.hpp"
#include "quintet/device/buffer.hpp"
#include "reference/svd_reference.hpp"
#include "support/device_of_arguments.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/near.hpp"

namespace quintet {
namespace {

using reference::matrix, reference::norm, reference::transposed;

matrix random_matrix(std::int64_t m, std::int64_t n, std::uint64_t seed) {
  matrix a(m, n);
  for (std::int64_t i = 0; i < m * n; ++i) a.data()[i] = normal_at<double>(seed, 0, std::uint64_t(i));
  return a;
}

/// Matrix 1 of a batch of two, so that offsets show.
struct fixture {
  std::vector<double> both;
  matrix a;
  svd::decomposition<double> d;
  explicit fixture(const matrix& exact) : both(2 * exact.size(), 1.0) {
    std::copy_n(exact.data(), exact.size(), both.begin() + exact.size());
    a = second(both, exact.rows(), exact.cols());
    d = svd::decompose<double>({both.data(), 2, a.rows(), a.cols()}, {}, Device::host());
  }
  static matrix second(const std::vector<double>& values, std::int64_t m, std::int64_t n) {
    return reference::widened(batch_view<const double>(values.data(), 2, m, n), 1);
  }
};

TEST(svd_applications, pseudo_inverse_meets_the_conditions_of_penrose) {
  for (const matrix& exact :
       {random_matrix(6, 4, 1), random_matrix(4, 6, 2), random_matrix(6, 2, 3) * random_matrix(2, 5, 4)}) {
    const fixture f(exact);
    const matrix& a = f.a;
    const matrix p = fixture::second(svd::pseudo_inverse(f.d), a.cols(), a.rows());
    EXPECT_LE(norm(a * p * a - a), 1e-13 * norm(a));
    EXPECT_LE(norm(p * a * p - p), 1e-13 * norm(p));
    EXPECT_LE(norm(transposed(a * p) - a * p), 1e-13);
    EXPECT_LE(norm(transposed(p * a) - p * a), 1e-13);
  }
}

TEST(svd_applications, least_squares_agrees_with_long_double) {
  for (const matrix& a : {random_matrix(7, 4, 5), random_matrix(3, 6, 6)}) {
    const fixture f(a);
    std::vector<double> right(2 * a.rows() * 2);
    for (std::size_t i = 0; i < right.size(); ++i) right[i] = normal_at<double>(7, 0, i);
    const batch_view<const double> sides(right.data(), 2, a.rows(), 2);
    const matrix x = fixture::second(svd::least_squares<double>(f.d, sides), a.cols(), 2);
    const matrix expected = reference::pseudo_inverse(reference::decomposed(a)) * reference::widened(sides, 1);
    EXPECT_LE(norm(x - expected), 1e-12 * norm(expected));
  }
}

TEST(svd_applications, error_of_the_low_rank_approximation_is_what_is_left_out) {
  const fixture f(random_matrix(8, 5, 8));
  for (std::int64_t rank = 0; rank <= 6; ++rank) {
    double left = 0;
    for (std::int64_t j = rank; j < 5; ++j) left += std::pow(f.d.singular_value(1, j), 2);
    const matrix near = fixture::second(svd::low_rank_approximation(f.d, rank), 8, 5);
    EXPECT_NEAR(double(norm(near - f.a)), std::sqrt(left), 1e-13);
  }
}

TEST(svd_applications, condition_number_and_rank) {
  const fixture f(reference::scaled_columns(reference::identity(3), {4, 2, 0.5}));
  EXPECT_DOUBLE_EQ(svd::condition_number(f.d)[1], 8);
  EXPECT_TRUE(svd::condition_number(f.d)[0] > 1e15);  // all ones
  EXPECT_EQ(svd::numerical_rank(f.d), (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(svd::numerical_rank(f.d, {0.2}), (std::vector<std::int64_t>{1, 2}));
  const fixture graded(reference::scaled_columns(reference::identity(3), {1, 1e-17, 0}));
  EXPECT_EQ(svd::numerical_rank(graded.d)[1], 1);
  EXPECT_EQ(svd::numerical_rank(graded.d, {0.0})[1], 2);  // zeros alone count as zero
  EXPECT_NEAR(fixture::second(svd::pseudo_inverse(graded.d, {0.0}), 3, 3)(1, 1) * 1e-17, 1, 1e-15);
  const std::vector<double> sides(6, 1.0);
  EXPECT_NEAR(svd::least_squares<double>(graded.d, {sides.data(), 2, 3, 1}, {0.0})[4] * 1e-17, 1, 1e-15);
}

TEST(svd_applications, polar_factors) {
  const fixture f(random_matrix(6, 4, 9));
  const auto polar = svd::polar(f.d);
  const matrix w = fixture::second(polar.w, 6, 4), h = fixture::second(polar.h, 4, 4);
  EXPECT_LE(norm(w * h - f.a), 1e-13);
  EXPECT_LE(norm(transposed(w) * w - reference::identity(4)), 1e-13);
  EXPECT_LE(norm(h - transposed(h)), 1e-13);
  EXPECT_TRUE(reference::is_positive_definite(h));
}

/// Every function on every device, batches in memory of the device and column-major results: the bits of the host.
TEST(svd_applications, same_bits_on_every_device) {
  const std::int64_t batch = 3, m = 6, n = 4, r = 2;
  std::vector<float> a(batch * m * n), right(batch * m * r);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = normal_at<float>(10, 0, i);
  for (std::size_t i = 0; i < right.size(); ++i) right[i] = normal_at<float>(11, 0, i);
  const auto d = svd::decompose<float>({a.data(), batch, m, n}, {}, Device::host());
  const batch_view<const float> right_view(right.data(), batch, m, r);
  const auto inverse = svd::pseudo_inverse(d, {}, Device::host()),
             low = svd::low_rank_approximation(d, 2, Device::host());
  const auto x = svd::least_squares<float>(d, right_view, {}, Device::host());
  const auto polar = svd::polar(d, Device::host());
  test::on_every_device([&](const Device& device) {
    test::expect_same_bits(svd::pseudo_inverse(d, {}, device), inverse);
    test::expect_same_bits(svd::least_squares<float>(d, right_view, {}, device), x);
    test::expect_same_bits(svd::low_rank_approximation(d, 2, device), low);
    test::expect_same_bits(svd::polar(d, device).w, polar.w);
    test::expect_same_bits(svd::polar(d, device).h, polar.h);
    const Buffer<float> u(d.u, device), v(d.v, device), s(d.s, device);
    Buffer<float> by_column(batch * n * m, device), condition(batch, device);
    const svd::any_factors f{{u, m, n}, {v, n, n}, {s, n}};
    EXPECT_EQ(svd::pseudo_inverse(f, {by_column.data(), batch, n, m, n * m, 1, n, device}, {},
                                  test::device_of_arguments(device)),
              device);
    const std::vector<float> turned = by_column.to_vector();
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < m; ++j) EXPECT_EQ(turned[(b * m + j) * n + i], inverse[(b * n + i) * m + j]);
    svd::condition_number(f.s, condition, device);
    test::expect_same_bits(condition.to_vector(), svd::condition_number(d));
  });
}

/// A = diag(1, 1e-5) turned: A^T A in float has lost the small value, S has it.
TEST(svd_applications, condition_that_a_product_with_the_transpose_would_lose) {
  const float c = 0.6f, s = 0.8f, small = 1e-5f;
  const std::vector<float> a{c * c + small * s * s, (1 - small) * c * s, (1 - small) * c * s, s * s + small * c * c};
  const auto d = svd::decompose<float>({a.data(), 1, 2, 2}, {}, Device::host());
  EXPECT_NEAR(svd::condition_number(d)[0], 1e5, 2e3);  // eps times the condition is 1 %
  const float g00 = a[0] * a[0] + a[2] * a[2], g01 = a[0] * a[1] + a[2] * a[3], g11 = a[1] * a[1] + a[3] * a[3];
  const float trace = g00 + g11, determinant = g00 * g11 - g01 * g01;
  EXPECT_GT(std::fabs(determinant / trace - small * small), 10 * small * small);
}

TEST(svd_applications, wrong_arguments) {
  const std::vector<double> a{1, 2, 3, 4};
  const auto values = svd::decompose<double>({a.data(), 1, 2, 2}, {.vectors = svd::vectors::none}, Device::host());
  expect_invalid([&] { svd::pseudo_inverse(values); }, "must have its vectors");
  const auto d = svd::decompose<double>({a.data(), 1, 2, 2}, {}, Device::host());
  expect_invalid([&] { svd::low_rank_approximation(d, -1); }, "rank must be >= 0 (rank=-1)");
  expect_invalid([&] { svd::least_squares<double>(d, {a.data(), 1, 4, 1}); }, "right.rows must be m = 2");
  std::vector<double> out(4);
  const svd::any_factors f = d.view();
  expect_invalid([&] { svd::pseudo_inverse(f, {out.data(), 1, 1, 2}, {}, Device::host()); }, "out must be [1 x 2 x 2]");
  expect_invalid([&] { svd::condition_number(f.s, out, Device::host()); }, "out.size must be the batch, 1");
}

}  // namespace
}  // namespace quintet
