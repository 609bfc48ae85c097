// The randomised decomposition: exact for low ranks, near the best approximation for falling spectra.
#include "quintet/svd/randomised.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "quintet/core/philox.hpp"
#include "quintet/device/buffer.hpp"
#include "reference/svd_reference.hpp"
#include "support/device_of_arguments.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"
#include "support/near.hpp"
#include "support/svd_errors.hpp"

namespace quintet {
namespace {

/// A matrix of orthonormal columns [rows x cols].
std::vector<double> orthonormal(std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
  std::vector<double> a(rows * cols);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = normal_at<double>(seed, 0, i);
  return svd::decompose<double>({a.data(), 1, rows, cols}, {}, Device::host()).u;
}

template <class T>
struct spectrum_matrix {
  std::int64_t m, n;
  std::vector<T> a;
  std::vector<double> s;

  template <class Spectrum>
  spectrum_matrix(std::int64_t m_, std::int64_t n_, Spectrum spectrum) : m(m_), n(n_), a(m * n) {
    const std::int64_t k = std::min(m, n);
    const auto u = orthonormal(m, k, 1), v = orthonormal(n, k, 2);
    for (std::int64_t j = 0; j < k; ++j) s.push_back(spectrum(j));
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t c = 0; c < n; ++c) {
        double sum = 0;
        for (std::int64_t j = 0; j < k; ++j) sum += u[i * k + j] * s[j] * v[c * k + j];
        a[i * n + c] = T(sum);
      }
  }
  double tail(std::int64_t rank) const {
    double sum = 0;
    for (std::size_t j = rank; j < s.size(); ++j) sum += s[j] * s[j];
    return std::sqrt(sum);
  }
};

template <class T>
class svd_randomised : public ::testing::Test {};
using real_types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(svd_randomised, real_types);

TYPED_TEST(svd_randomised, exact_when_the_rank_is_low) {
  using T = TypeParam;
  const double epsilon = std::numeric_limits<T>::epsilon();
  test::on_every_device([&](const Device& device) {
    const bool is_host = device.kind() == device_kind::host;
    const std::int64_t m = is_host ? 80 : 8, n = is_host ? 60 : 7;
    for (const double size : {1.0, 1e-30, 1e30}) {
      if (!is_host && size != 1) continue;  // emulated teams are slow
      const spectrum_matrix<T> x(m, n, [&](std::int64_t j) { return j < 3 ? size * double(3 - j) : 0.0; });
      const batch_view<const T> view(x.a.data(), 1, m, n);
      const auto r =
          svd::randomised<T>(view, {.rank = 3, .oversampling = 5, .power_iterations = is_host ? 2 : 0}, device);
      ASSERT_EQ(r.factors.values, 3);
      for (int j = 0; j < 3; ++j) EXPECT_NEAR(r.factors.s[j], x.s[j], 20 * epsilon * x.s[0]);
      EXPECT_LE(test::residual(view, r.factors, 0), 30 * epsilon);
      EXPECT_LE(test::orthogonality(r.factors.u_view(), 0), 30 * epsilon);
      EXPECT_LE(test::orthogonality(r.factors.v_view(), 0), 30 * epsilon);
      EXPECT_LE(r.residual[0], 10 * std::sqrt(epsilon) * x.s[0]);
    }
  });
}

// U of one column is contiguous by columns too, and has no padding all the same.
TYPED_TEST(svd_randomised, one_direction) {
  using T = TypeParam;
  const std::int64_t batch = 3, m = 37, n = 5;
  std::vector<T> a(batch * m * n);
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) a[(b * m + i) * n + j] = T(i + b + 1) * T(j - 2);
  test::on_every_device([&](const Device& device) {
    const auto found = svd::randomised<T>({a.data(), batch, m, n}, {.rank = 1}, device);
    ASSERT_EQ(std::int64_t(found.factors.u.size()), batch * m);
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          const T product = found.factors.u[b * m + i] * found.factors.s[b] * found.factors.v[b * n + j];
          EXPECT_NEAR(double(product), double(a[(b * m + i) * n + j]), 1e-4) << b << " " << i << " " << j;
        }
  });
}

TYPED_TEST(svd_randomised, falling_spectra) {
  using T = TypeParam;
  const std::int64_t m = 90, n = 70, rank = 10;
  const auto check = [&](auto spectrum, std::int64_t power_iterations, double max) {
    const spectrum_matrix<T> x(m, n, spectrum);
    const auto r =
        svd::randomised<T>({x.a.data(), 1, m, n}, {.rank = rank, .power_iterations = power_iterations}, Device::host());
    const double error = test::residual<T>({x.a.data(), 1, m, n}, r.factors, 0) * x.tail(0);
    EXPECT_LE(error, max * x.tail(rank) + 1e-5);
    EXPECT_NEAR(r.residual[0], error, 1e-2 * error + 1e-3);
  };
  // Without power iterations sqrt(1 + r / (p - 1)) times the best error is expected.
  for (const std::int64_t q : {0, 2}) {
    check([](std::int64_t j) { return std::pow(0.5, double(j)); }, q, 1.6);
    check([](std::int64_t j) { return 1.0 / double(j + 1); }, q, q == 0 ? 1.6 : 1.05);
    check([](std::int64_t j) { return std::pow(double(j + 1), -2.0); }, q, q == 0 ? 1.6 : 1.05);
  }
}

TYPED_TEST(svd_randomised, batches_seeds_and_threads) {
  using T = TypeParam;
  const std::int64_t batch = 5, m = 20, n = 30;
  std::vector<T> a(batch * m * n);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = T(normal_at<double>(9, 0, i));
  a[2 * m * n + 7] = std::numeric_limits<T>::quiet_NaN();
  const batch_view<const T> view(a.data(), batch, m, n);
  const svd::randomised_options options{.rank = 4, .seed = 11, .canonical_signs = true};
  set_threads(1);
  const auto one = svd::randomised<T>(view, options, Device::host());
  set_threads(3);
  const auto three = svd::randomised<T>(view, options, Device::host());
  set_threads(0);
  for (std::int64_t b = 0; b < batch; ++b) {
    EXPECT_EQ(one.factors.status[b], b == 2 ? svd::not_finite : svd::ok);
    EXPECT_EQ(std::isnan(one.residual[b]), b == 2);
    for (std::int64_t j = 0; j < 4 && b != 2; ++j)
      EXPECT_EQ(one.factors.singular_value(b, j), three.factors.singular_value(b, j));
  }
  const auto other = svd::randomised<T>(view, {.rank = 4, .seed = 12, .canonical_signs = true}, Device::host());
  EXPECT_NE(one.factors.s[0], other.factors.s[0]);
  EXPECT_NEAR(one.factors.s[0], other.factors.s[0], 0.05 * one.factors.s[0]);
}

/// One matrix that all workers share, beside Eigen's bidiagonalisation; the same bits for any number of threads.
TYPED_TEST(svd_randomised, one_large_matrix) {
  using T = TypeParam;
  const std::int64_t m = 4300, n = 40, rank = 12;
  std::vector<T> left(m * rank), right(rank * n), a(m * n);
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = normal_at<T>(1, 0, i);
  for (std::size_t i = 0; i < right.size(); ++i) right[i] = normal_at<T>(1, 1, i);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t r = 0; r < rank; ++r)
      for (std::int64_t j = 0; j < n; ++j) a[i * n + j] += left[i * rank + r] * right[r * n + j];
  const batch_view<const T> view(a.data(), 1, m, n);
  const svd::randomised_options options{.rank = rank, .power_iterations = 1, .canonical_signs = true};
  set_threads(1);
  const auto r = svd::randomised(view, options, Device::host());
  set_threads(3);
  const auto other = svd::randomised(view, options, Device::host());
  set_threads(0);
  test::expect_same_bits(r.factors.u, other.factors.u);
  test::expect_same_bits(r.factors.v, other.factors.v);
  test::expect_same_bits(r.factors.s, other.factors.s);
  EXPECT_EQ(r.residual, other.residual);
  const double epsilon = std::numeric_limits<T>::epsilon();
  const auto exact = reference::singular_values_by_bidiagonalisation(reference::widened(view, 0));
  for (std::int64_t j = 0; j < rank; ++j)
    EXPECT_NEAR(r.factors.s[j], double(exact[j]), 20 * epsilon * double(exact[0])) << j;
  EXPECT_LE(test::residual(view, r.factors, 0), 30 * epsilon);
  EXPECT_LE(test::orthogonality(r.factors.u_view(), 0), 30 * epsilon);
  EXPECT_LE(test::orthogonality(r.factors.v_view(), 0), 30 * epsilon);
  for (std::int64_t j = 0; j < rank; ++j) {
    T largest = 0;
    for (std::int64_t i = 0; i < m; ++i)
      if (std::fabs(r.factors.u_view()(0, i, j)) > std::fabs(largest)) largest = r.factors.u_view()(0, i, j);
    EXPECT_GT(largest, 0);
  }
}

/// Columns or rows of whole registers are read where they lie, others are copied; a copy is scaled, and its bits are
/// those of the matrix in place.
TYPED_TEST(svd_randomised, in_place_and_copied) {
  using T = TypeParam;
  const std::int64_t m = 4320, n = 144, rank = 7;
  std::vector<T> left(m * rank), right(rank * n), rows(m * n), columns(m * n), apart(2 * m * n), huge;
  for (std::size_t i = 0; i < left.size(); ++i) left[i] = normal_at<T>(1, 0, i);
  for (std::size_t i = 0; i < right.size(); ++i) right[i] = normal_at<T>(1, 1, i);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t r = 0; r < rank; ++r) rows[i * n + j] += left[i * rank + r] * right[r * n + j];
      columns[j * m + i] = apart[2 * (i * n + j)] = rows[i * n + j];
    }
  const T power = std::ldexp(T(1), sizeof(T) == 4 ? 40 : 300);
  for (const T value : columns) huge.push_back(value * power);
  const svd::randomised_options options{.rank = rank, .power_iterations = 1, .canonical_signs = true};
  const batch_view<const T> by_rows(rows.data(), 1, m, n), by_columns(columns.data(), 1, m, n, m * n, 1, m);
  const batch_view<const T> copied(apart.data(), 1, m, n, 2 * m * n, 2 * n, 2);
  const batch_view<const T> scaled(huge.data(), 1, m, n, m * n, 1, m);
  const auto expected = svd::randomised(copied, options, Device::host());
  const double epsilon = std::numeric_limits<T>::epsilon();
  for (const auto& view : {by_rows, by_columns, by_rows.transposed(), by_columns.transposed()}) {
    const auto r = svd::randomised(view, options, Device::host());
    for (std::int64_t j = 0; j < rank; ++j)
      EXPECT_NEAR(r.factors.s[j], expected.factors.s[j], 20 * epsilon * double(expected.factors.s[0]));
    EXPECT_LE(test::residual(view, r.factors, 0), 30 * epsilon);
    EXPECT_LE(test::orthogonality(r.factors.u_view(), 0), 30 * epsilon);
    EXPECT_LE(test::orthogonality(r.factors.v_view(), 0), 30 * epsilon);
  }
  const auto in_place = svd::randomised(by_columns, options, Device::host());
  const auto from_copy = svd::randomised(scaled, options, Device::host());
  test::expect_same_bits(in_place.factors.u, from_copy.factors.u);
  test::expect_same_bits(in_place.factors.v, from_copy.factors.v);
}

TYPED_TEST(svd_randomised, matrices_on_devices) {
  using T = TypeParam;
  const std::int64_t m = 11, n = 9;
  std::vector<T> a(m * n);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = normal_at<T>(6, 0, i);
  test::on_every_device([&](const Device& device) {
    const svd::randomised_options options{.rank = 3, .power_iterations = 0};
    const Buffer<T> there(a, device);
    const auto r = svd::randomised(matrix_view(there, n), options, test::device_of_arguments(device));
    const auto expected = svd::randomised<T>({a.data(), 1, m, n}, options, device);
    EXPECT_EQ(r.factors.ran_on, device);
    test::expect_same_bits(r.factors.u, expected.factors.u);
    test::expect_same_bits(r.factors.s, expected.factors.s);
    EXPECT_EQ(r.residual, expected.residual);
  });
}

TYPED_TEST(svd_randomised, outputs_of_any_strides_on_devices) {
  using T = TypeParam;
  const std::int64_t batch = 2, m = 24, n = 11, rank = 3, pad = 3;
  std::vector<T> a(batch * m * n);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = normal_at<T>(8, 0, i);
  const svd::randomised_options options{.rank = rank, .oversampling = 1, .canonical_signs = true};
  test::on_every_device([&](const Device& device) {
    const auto expected = svd::randomised<T>({a.data(), batch, m, n}, options, device);
    // U by columns, V by rows, both with padding that stays as it is.
    const std::int64_t u_size = rank * (m + pad), v_row = rank + pad, v_size = n * v_row, s_row = rank + pad;
    const std::vector<T> untouched(batch * std::max(u_size, v_size), T(-7));
    const Buffer<T> there(a, device);
    Buffer<T> u(untouched, device), v(untouched, device), s(untouched, device);
    Buffer<double> residual(batch, device);
    Buffer<std::int32_t> status(batch, device), sweeps(batch, device);
    const svd::randomised_outputs out{{u.data(), batch, m, rank, u_size, 1, m + pad, device},
                                      {v.data(), batch, n, rank, v_size, v_row, 1, device},
                                      {s.data(), batch, rank, s_row, device},
                                      vector_view(residual),
                                      vector_view(status),
                                      vector_view(sweeps)};
    EXPECT_EQ(svd::randomised(batch_view<const T>(there.data(), batch, m, n, device), out, options,
                              test::device_of_arguments(device)),
              device);
    const std::vector<T> got_u = u.to_vector(), got_v = v.to_vector(), got_s = s.to_vector();
    std::vector<T> dense_u, dense_v, dense_s;
    for (std::int64_t b = 0; b < batch; ++b) {
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < rank; ++j) dense_u.push_back(got_u[b * u_size + j * (m + pad) + i]);
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < rank; ++j) dense_v.push_back(got_v[b * v_size + i * v_row + j]);
      for (std::int64_t j = 0; j < rank; ++j) dense_s.push_back(got_s[b * s_row + j]);
    }
    test::expect_same_bits(dense_u, expected.factors.u);
    test::expect_same_bits(dense_v, expected.factors.v);
    test::expect_same_bits(dense_s, expected.factors.s);
    EXPECT_EQ(residual.to_vector(), expected.residual);
    EXPECT_EQ(status.to_vector(), expected.factors.status);
    EXPECT_EQ(sweeps.to_vector(), expected.factors.sweeps);
    EXPECT_EQ(std::count(got_u.begin(), got_u.end(), T(-7)), std::int64_t(got_u.size()) - batch * m * rank);
    EXPECT_EQ(std::count(got_v.begin(), got_v.end(), T(-7)), std::int64_t(got_v.size()) - batch * n * rank);
    EXPECT_EQ(std::count(got_s.begin(), got_s.end(), T(-7)), std::int64_t(got_s.size()) - batch * rank);
    svd::randomised_outputs wrong = out;
    wrong.u = {u.data(), batch, m - 1, rank, device};
    expect_invalid([&] { svd::randomised({a.data(), batch, m, n}, wrong, options, device); }, "u");
    wrong = out;
    wrong.residual = vector_view<double>(residual.data(), batch - 1, device);
    expect_invalid([&] { svd::randomised({a.data(), batch, m, n}, wrong, options, device); },
                   "residual.size must be the batch, 2 (residual.size=1)");
  });
}

TEST(svd_randomised_arguments, wrong_ones) {
  const std::vector<float> a(12);
  const auto run = [&](const svd::randomised_options& options) {
    svd::randomised<float>({a.data(), 1, 3, 4}, options, Device::host());
  };
  expect_invalid([&] { run({.rank = 0}); }, "rank must be >= 1 (rank=0)");
  expect_invalid([&] { run({.oversampling = -1}); }, "oversampling must be >= 0");
  expect_invalid([&] { run({.power_iterations = -1}); }, "power_iterations must be in 0 ... 1000");
  expect_invalid([&] { svd::randomised<float>({a.data(), 0, 3, 40000}, {}, Device::host()); },
                 "cols must be <= 32768 (cols=40000)");
}

TEST(svd_randomised_arguments, the_largest_rank_and_oversampling_mean_everything) {
  const std::vector<double> a{1, 2, 3, 4, 5, 6};
  const svd::randomised_options max{.rank = INT64_MAX, .oversampling = INT64_MAX};
  const auto found = svd::randomised<double>({a.data(), 1, 2, 3}, max, Device::host());
  EXPECT_EQ(found.factors.values, 2);
  EXPECT_NEAR(found.factors.s[0], 9.508032000695723, 1e-13);
}

}  // namespace
}  // namespace quintet
