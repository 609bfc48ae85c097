// Singular values alone: by way of a bidiagonal matrix, in closed form or without V.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "bidiagonal_run.hpp"
#include "quintet/core/philox.hpp"
#include "quintet/svd/decompose.hpp"
#include "reference/svd_reference.hpp"
#include "support/devices.hpp"
#include "support/near.hpp"
#include "support/svd_errors.hpp"

namespace quintet {
namespace {

using svd::vectors;

template <class T>
std::vector<T> normal_matrix(std::int64_t count, std::uint64_t seed = 11) {
  std::vector<T> a(count);
  for (std::int64_t i = 0; i < count; ++i) a[i] = T(normal_at<float>(seed, 0, std::uint64_t(i)));
  return a;
}

template <class T>
svd::decomposition<T> values_of(batch_view<const T> a, svd::options options = {}) {
  options.vectors = vectors::none;
  return svd::decompose<T>(a, options, Device::host());
}

/// Singular values of the bidiagonal matrix that are below x: negative pivots of the tridiagonal matrix with zeros on
/// the diagonal whose eigenvalues are plus and minus those (Golub and Kahan 1965), less those of the negative ones.
/// Relative errors are a few epsilon of long double.
std::int64_t count_below(const std::vector<double>& diagonal, const std::vector<double>& beside, long double x) {
  const std::size_t n = diagonal.size();
  std::int64_t negative = 0;
  long double pivot = -x;
  for (std::size_t i = 0; i < 2 * n; ++i) {
    if (i > 0) {
      const long double b = i % 2 == 1 ? diagonal[i / 2] : beside[i / 2 - 1];
      pivot = -x - (b == 0 ? 0 : b * b / pivot);
    }
    if (pivot == 0) pivot = std::numeric_limits<long double>::min();
    if (pivot < 0) ++negative;
  }
  return negative - std::int64_t(n);
}

/// Every value lies within `bound` epsilon of itself.
void expect_relative(const std::vector<double>& values, const std::vector<double>& diagonal,
                     const std::vector<double>& beside, double bound) {
  const std::int64_t n = std::int64_t(diagonal.size());
  ASSERT_EQ(std::int64_t(values.size()), n);
  const long double margin = bound * std::numeric_limits<double>::epsilon();
  for (std::int64_t j = 0; j < n; ++j) {
    const std::int64_t smaller = n - 1 - j;  // values after this one
    ASSERT_GE(values[j], 0);
    if (values[j] == 0) {
      EXPECT_GT(count_below(diagonal, beside, std::numeric_limits<double>::min()), smaller) << j;
      continue;
    }
    EXPECT_LE(count_below(diagonal, beside, values[j] * (1 - margin)), smaller) << j << ": " << values[j];
    EXPECT_GT(count_below(diagonal, beside, values[j] * (1 + margin)), smaller) << j << ": " << values[j];
  }
}

TEST(svd_qd, values_have_all_their_digits) {
  for (const int n : {1, 2, 3, 4, 5, 17, 64, 150}) {
    SCOPED_TRACE(text("n = ", n));
    std::vector<double> diagonal(n), beside(n - 1);
    const auto fill = [&](auto of_diagonal, auto of_beside) {
      for (int i = 0; i < n; ++i) diagonal[i] = of_diagonal(i);
      for (int i = 0; i + 1 < n; ++i) beside[i] = of_beside(i);
      expect_relative(test::values_of_bidiagonal(diagonal, beside), diagonal, beside, 8 + n / 8.0);
      // Side by side only small ones are worked on.
      if (n <= 64) expect_relative(test::values_of_bidiagonal_lane(diagonal, beside), diagonal, beside, 8 + n / 8.0);
    };
    const auto random = [](int i) { return normal_at<double>(5, 0, std::uint64_t(i)); };
    const auto other = [](int i) { return normal_at<double>(6, 0, std::uint64_t(i)); };
    fill(random, other);
    fill([](int) { return 1.0; }, [](int) { return 1.0; });
    fill([](int) { return 1.0; }, [](int) { return 1e-9; });
    // Falling and rising by 280 digits in all, and both.
    const double step = 280.0 / n;
    fill([&](int i) { return std::pow(10.0, 140 - step * i); }, [&](int i) { return std::pow(10.0, 139 - step * i); });
    fill([&](int i) { return std::pow(10.0, -140 + step * i); },
         [&](int i) { return 3 * std::pow(10.0, -140 + step * i); });
    fill([&](int i) { return random(i) * std::pow(10.0, 10.0 * std::sin(i)); },
         [&](int i) { return other(i) * std::pow(10.0, 10.0 * std::cos(i)); });
    // Kahan's matrix: one value far below all elements.
    fill([](int i) { return std::pow(0.9, i); }, [](int i) { return 2 * std::pow(0.9, i); });
    // Zeros on the diagonal, above it, and both.
    fill([&](int i) { return i % 5 == 2 ? 0 : random(i); }, other);
    fill(random, [&](int i) { return i % 4 == 1 ? 0 : other(i); });
    fill([&](int i) { return i + 1 == n ? 0 : random(i); }, [&](int i) { return i == n / 2 ? 0 : other(i); });
    fill([](int) { return 0.0; }, other);
    fill([](int) { return 0.0; }, [](int) { return 0.0; });
  }
}

template <class T>
class svd_values : public ::testing::Test {};
using real_types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(svd_values, real_types);

TYPED_TEST(svd_values, one_worker_and_teams_of_every_size) {
  for (const int n : {2, 3, 9, 23, 67, 131})
    for (const int rows : {n, n + 5}) {
      SCOPED_TRACE(text(rows, " x ", n));
      const int ld = (rows + 15) / 16 * 16;
      const auto numbers = normal_matrix<TypeParam>(std::int64_t(rows) * n);
      std::vector<TypeParam> x(std::size_t(ld) * n);
      for (int j = 0; j < n; ++j) std::copy_n(&numbers[std::size_t(j) * rows], rows, &x[std::size_t(j) * ld]);
      const auto exact = reference::singular_values_by_bidiagonalisation(
          reference::widened(batch_view<const TypeParam>(numbers.data(), 1, rows, n, 0, 1, rows), 0));
      const auto check = [&](const std::vector<TypeParam>& values) {
        ASSERT_EQ(int(values.size()), n);
        double error = 0;
        for (int j = 0; j < n; ++j) error = std::max(error, double(std::fabs(values[j] - exact[j]) / exact[0]));
        test::expect_error_within("values", error / test::compute_epsilon<TypeParam>, test::square_bounds(n).values);
      };
      check(test::values_alone(x, rows, n, ld));
      for (const int threads : {1, 2, 6})
        if (n < 60) check(test::values_in_team(threads, x, rows, n, ld));
    }
}

/// Within the bounds of the header, and without a sweep, which is how rotations would show.
template <class T>
void expect_values(const batch_view<const T>& a, const svd::options& options = {}) {
  SCOPED_TRACE(text(a.batch(), " x ", a.rows(), " x ", a.cols()));
  const auto r = values_of(a, options);
  for (std::int64_t b = 0; b < a.batch(); ++b) {
    ASSERT_EQ(r.status[b], svd::ok);
    ASSERT_TRUE(test::is_sorted(r, b));
    EXPECT_EQ(r.sweeps[b], 0);
    const auto exact = reference::singular_values_by_bidiagonalisation(reference::widened(a, b));
    double error = 0;
    for (std::int64_t j = 0; j < r.values; ++j)
      error = std::max(error, double(std::fabs(r.singular_value(b, j) - exact[j]) / exact[0]));
    test::expect_error_within("values", error / test::compute_epsilon<T>,
                              test::bounds_for(a.rows(), a.cols(), options).values);
  }
}

TYPED_TEST(svd_values, bounds_of_the_header) {
  const std::int64_t least = sizeof(TypeParam) == 4 ? 56 : 24;
  for (const auto& [batch, rows, cols] : {std::array<std::int64_t, 3>{9, least, least},
                                          {2, least + 9, least + 1},
                                          {2, 65, 65},
                                          {2, 81, 70},
                                          {1, 70, 81},
                                          {1, 130, 130},
                                          {1, 200, 64},
                                          {1, 67, 400},
                                          {1, 257, 257},
                                          {1, 290, 260}}) {
    const auto a = normal_matrix<TypeParam>(batch * rows * cols);
    expect_values(batch_view<const TypeParam>(a.data(), batch, rows, cols));
  }
  const auto a = normal_matrix<TypeParam>(2 * 80 * 80);
  expect_values(batch_view<const TypeParam>(a.data(), 2, 80, 80), {.top = 3});
}

/// On a device a team reduces a matrix from 64 columns on. Rotations take matrices with a
/// column or a row of another size: of a batch of four the second and the third. The first has NaN. The last keeps its
/// bits. Sums of few threads wait for each other: there are as few matrices as show it all.
TYPED_TEST(svd_values, on_devices) {
  test::on_every_device([](const Device& device) {
    if (device.kind() == device_kind::host) return;
    for (const auto& [batch, rows, cols] :
         {std::array<std::int64_t, 3>{4, 64, 64}, {1, 65, 67}, {sizeof(TypeParam) == 8 ? 1 : 0, 150, 66}}) {
      if (batch == 0) continue;
      SCOPED_TRACE(text(batch, " x ", rows, " x ", cols));
      const std::int64_t size = rows * cols, k = std::min(rows, cols);
      auto a = normal_matrix<TypeParam>(batch * size);
      const auto values = [&](std::int64_t first, std::int64_t count) {
        return svd::decompose<TypeParam>(batch_view<const TypeParam>(&a[first * size], count, rows, cols),
                                         {.vectors = vectors::none}, device);
      };
      const auto last = values(batch - 1, 1);
      EXPECT_EQ(last.sweeps[0], 0);
      if (batch > 1) {
        a[3] = std::numeric_limits<TypeParam>::quiet_NaN();
        for (std::int64_t i = 0; i < rows; ++i)
          for (std::int64_t j = 0; j < cols; ++j) {
            a[size + i * cols + j] = TypeParam(i == j ? (i == 5 ? 1000 : 1 + double(i) / double(rows)) : 0);
            a[2 * size + i * cols + j] = TypeParam(i == 6 ? 1000 : i == j ? 1 : 0);
          }
      }
      const auto r = values(0, batch);
      for (std::int64_t b = 0; b < batch; ++b) {
        const bool is_lost = batch > 1 && b == 0;
        EXPECT_EQ(r.status[b], is_lost ? svd::not_finite : svd::ok);
        EXPECT_EQ(r.sweeps[b] > 0, b == 1 || b == 2) << b;
        if (is_lost) {
          EXPECT_TRUE(std::isnan(r.s[0]));
          continue;
        }
        const auto exact = reference::singular_values_by_bidiagonalisation(
            reference::widened(batch_view<const TypeParam>(a.data(), batch, rows, cols), b));
        double error = 0;
        for (std::int64_t j = 0; j < k; ++j)
          error = std::max(error, double(std::fabs(r.s[b * k + j] - exact[j]) / exact[0]));
        test::expect_error_within("values", error / test::compute_epsilon<TypeParam>,
                                  test::bounds_for(rows, cols, {}).values);
      }
      for (std::int64_t j = 0; j < k; ++j) ASSERT_EQ(r.s[(batch - 1) * k + j], last.s[j]);
    }
  });
}

/// Equal columns have no QR from the Gram matrix: all workers reflect one long matrix, then one of them reduces R.
TYPED_TEST(svd_values, of_long_matrices_that_reflections_take) {
  const std::int64_t m = 4500, n = 64;
  auto a = normal_matrix<TypeParam>(m * n);
  for (std::int64_t i = 0; i < m; ++i) a[i * n + 5] = a[i * n + 40] = a[i * n];
  const batch_view<const TypeParam> view(a.data(), 1, m, n);
  expect_values(view);
  const auto factors = svd::decompose<TypeParam>(view, {}, Device::host());
  const auto r = values_of(view);
  for (std::int64_t j = 0; j < n; ++j)
    EXPECT_NEAR(r.s[j], factors.s[j], 8 * factors.s[0] * test::compute_epsilon<TypeParam>) << j;
}

TYPED_TEST(svd_values, have_the_same_bits_for_any_threads_and_neighbours) {
  for (const std::int64_t n : {70, 260}) {
    const std::int64_t batch = n < 100 ? 5 : 2;
    auto a = normal_matrix<TypeParam>(batch * n * n);
    set_threads(1);
    const auto first = values_of(batch_view<const TypeParam>(a.data(), batch, n, n));
    for (const int count : {2, 5}) {
      set_threads(count);
      test::expect_same_bits(values_of(batch_view<const TypeParam>(a.data(), batch, n, n)).s, first.s);
    }
    a[3] = std::numeric_limits<TypeParam>::quiet_NaN();
    for (std::int64_t i = 0; i < n; ++i) a[n * n - 1 - i * n] *= 100;  // a column that wants rotations
    const auto other = values_of(batch_view<const TypeParam>(a.data(), batch, n, n));
    EXPECT_EQ(other.status[0], svd::not_finite);
    EXPECT_TRUE(std::isnan(other.s[0]));
    for (std::int64_t i = n; i < batch * n; ++i) ASSERT_EQ(other.s[i], first.s[i]);
    // Transposed and with gaps: the same numbers.
    std::vector<TypeParam> gaps(n * (2 * n + 1));
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) gaps[j * (2 * n + 1) + 2 * i] = a[(n + i) * n + j];
    const auto strided =
        values_of(batch_view<const TypeParam>(gaps.data(), 1, n, n, 0, 2, 2 * n + 1), {.part_of = batch});
    for (std::int64_t j = 0; j < n; ++j) ASSERT_EQ(strided.s[j], first.s[n + j]);
  }
  set_threads(0);
}

/// B D: rows or columns of more than 16 times another's size have rotations, which keep small values right.
TYPED_TEST(svd_values, of_scaled_matrices_are_right_to_their_last_digits) {
  for (const std::int64_t n : {64, 260})
    for (const bool of_rows : {false, true}) {
      SCOPED_TRACE(text("n = ", n, of_rows ? ", rows" : ", columns"));
      const std::int64_t m = n + 8;
      auto a = normal_matrix<TypeParam>(m * n);
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
          const double place = of_rows ? double(i) / double(m - 1) : double(j) / double(n - 1);
          a[i * n + j] = TypeParam((double(a[i * n + j]) / std::sqrt(double(m)) + (i == j ? 4 : 0)) *
                                   std::pow(2.0, -std::floor(8 * place)));
        }
      const batch_view<const TypeParam> view(a.data(), 1, m, n);
      const auto r = values_of(view);
      EXPECT_GT(r.sweeps[0], 0);
      const auto exact = reference::singular_values_by_bidiagonalisation(reference::widened(view, 0));
      double error = 0;
      for (std::int64_t j = 0; j < n; ++j) error = std::max(error, double(std::fabs(r.s[j] - exact[j]) / exact[j]));
      test::expect_error_within("values", error / test::compute_epsilon<TypeParam>, double(n));
    }
}

/// Float matrices side by side: bidiagonal ones in lockstep from 12 columns on, with AVX-512 from 19. Of a batch the
/// second has NaN, the third a column that wants rotations, the others are random, zero, the identity, of rank one, and
/// of equal columns.
TYPED_TEST(svd_values, of_matrices_side_by_side) {
  for (const auto& [rows, cols] : {std::pair<std::int64_t, std::int64_t>{5, 5},
                                   {8, 8},
                                   {17, 13},
                                   {16, 16},
                                   {9, 31},
                                   {23, 23},
                                   {40, 38},
                                   {55, 55},
                                   {70, 67},
                                   {100, 100}}) {
    SCOPED_TRACE(text(rows, " x ", cols));
    const std::int64_t batch = 19, size = rows * cols, k = std::min(rows, cols);
    auto a = normal_matrix<TypeParam>(batch * size);
    const batch_view<TypeParam> view(a.data(), batch, rows, cols);
    const auto plain = values_of(batch_view<const TypeParam>(a.data(), batch, rows, cols));
    if (sizeof(TypeParam) == 8 || k < 12 || k >= 19) {
      EXPECT_EQ(plain.sweeps[0] == 0, k >= (sizeof(TypeParam) == 4 ? 19 : 24));
    }
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < cols; ++j) {
        if (rows >= cols ? j == 2 : i == 2) view(2, i, j) *= 64;
        view(3, i, j) = 0;
        view(4, i, j) = TypeParam(i == j ? 1 : 0);
        view(5, i, j) = TypeParam(1 + i % 3) * TypeParam(1 + j % 4);
        if (j % 3 == 1) view(6, i, j) = view(6, i, j - 1);
      }
    view(1, 1, 1) = std::numeric_limits<TypeParam>::quiet_NaN();
    const auto r = values_of(batch_view<const TypeParam>(a.data(), batch, rows, cols));
    EXPECT_GT(r.sweeps[2], 0);
    double error = 0;
    for (std::int64_t b = 0; b < batch; ++b) {
      EXPECT_EQ(r.status[b], b == 1 ? svd::not_finite : svd::ok);
      if (b == 1) {
        EXPECT_TRUE(std::isnan(r.s[k]));
        continue;
      }
      const auto exact = reference::singular_values(batch_view<const TypeParam>(a.data(), batch, rows, cols), b);
      for (std::int64_t j = 0; j < k; ++j) {
        EXPECT_TRUE(j == 0 || r.s[b * k + j] <= r.s[b * k + j - 1]);
        if (exact[0] == 0) {
          EXPECT_EQ(r.s[b * k + j], 0);
        } else {
          error = std::max(error, std::fabs(double(r.s[b * k + j]) - exact[j]) / exact[0]);
        }
        if (b > 6) {
          ASSERT_EQ(r.s[b * k + j], plain.s[b * k + j]);
        }
      }
    }
    test::expect_error_within(text("values_", rows, "x", cols), error / test::compute_epsilon<TypeParam>,
                              test::bounds_for(rows, cols, {}).values);
  }
}

TYPED_TEST(svd_values, of_tiny_and_huge_matrices) {
  const std::int64_t n = 72;
  const auto a = normal_matrix<TypeParam>(n * n);
  const auto plain = values_of(batch_view<const TypeParam>(a.data(), 1, n, n));
  using limits = std::numeric_limits<TypeParam>;
  for (const int exponent : {limits::min_exponent + 30, limits::max_exponent - 12}) {
    std::vector<TypeParam> scaled = a;
    for (TypeParam& value : scaled) value = std::ldexp(value, exponent);
    const auto r = values_of(batch_view<const TypeParam>(scaled.data(), 1, n, n));
    for (std::int64_t j = 0; j < n; ++j) EXPECT_EQ(r.s[j], std::ldexp(plain.s[j], exponent));
  }
}

/// 3 x 3 from a bidiagonal matrix: errors of many, of random matrices, small integers, nearly equal and small values.
TEST(svd_values_of_three, of_many_matrices) {
  const std::int64_t batch = 20000;
  std::vector<float> a(batch * 9);
  std::vector<double> wide(batch * 9);
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t e = 0; e < 9; ++e) {
      double value = normal_at<double>(21, std::uint64_t(b), std::uint64_t(e));
      const bool is_diagonal = e % 4 == 0;
      if (b % 5 == 1) value = std::round(value);
      if (b % 50 == 4 && e < 3) value *= 1000;
      if (b % 5 == 2) value = is_diagonal + std::pow(10.0, -double(b % 9)) * value;
      if (b % 5 == 3) value = (e < 6 ? value : 1.5 * double(a[b * 9 + e - 6]) - double(a[b * 9 + e - 3]));
      a[b * 9 + e] = float(value);
      wide[b * 9 + e] = double(a[b * 9 + e]);
    }
  const auto narrow = values_of(batch_view<const float>(a.data(), batch, 3, 3));
  // Rotations of double have nine digits more.
  const auto exact = values_of(batch_view<const double>(wide.data(), batch, 3, 3), {.accurate = true});
  const auto reduced = values_of(batch_view<const double>(wide.data(), batch, 3, 3));
  std::int64_t rotated = 0;
  double error = 0, error_of_double = 0;
  for (std::int64_t b = 0; b < batch; ++b) {
    rotated += narrow.sweeps[b] > 0;
    ASSERT_EQ(narrow.status[b], svd::ok);
    for (std::int64_t j = 0; j < 3; ++j) {
      const double largest = std::max(exact.s[b * 3], std::numeric_limits<double>::min());
      error = std::max(error, std::fabs(double(narrow.s[b * 3 + j]) - exact.s[b * 3 + j]) / largest);
      error_of_double = std::max(error_of_double, std::fabs(reduced.s[b * 3 + j] - exact.s[b * 3 + j]) / largest);
    }
  }
  test::expect_error_within("float", error / test::compute_epsilon<float>, 5);
  test::expect_error_within("double", error_of_double / test::compute_epsilon<double>, 8);  // both have errors
  EXPECT_TRUE(rotated > batch / 60 && rotated < batch / 40) << rotated;  // those with a row of another size
}

/// 2 x 2, 3 x 3 and 4 x 4: every value to its last digits, scaled as the columns may be.
TYPED_TEST(svd_values, of_small_matrices) {
  test::on_every_device([](const Device& device) {
    for (const std::int64_t n : {2, 3, 4}) {
      const std::int64_t batch = 101;
      auto a = normal_matrix<TypeParam>(batch * n * n);
      for (std::int64_t b = 0; b < batch; ++b)
        for (std::int64_t e = 0; e < n * n; ++e) {
          TypeParam& value = a[b * n * n + e];
          if (b % 5 == 1) value *= TypeParam(std::pow(10.0, -double(b % 7) / 3 * double(e % n)));
          if (b % 5 == 2) value = TypeParam(e / n == (e + b) % n ? 3 : 0);
          if (b == 8) value = 0;
          if (b % 10 == 4)
            value = TypeParam((e % (n + 1) == 0 ? 1 : 0) + std::pow(10.0, -double(b % 9)) * double(value));
          if (b == 9) value = TypeParam((e % (n + 1) == 0 ? 1 : 0) - 2.0 / double(n));  // a reflection
          if (b == 19) value = TypeParam(e / n <= e % n ? (e == n * n - 1 ? 1e-12 : 1) : 0);
          if (b == 13) value = TypeParam(1 + e % n);
          if (b == 18) value = std::numeric_limits<TypeParam>::infinity();
        }
      const batch_view<const TypeParam> view(a.data(), batch, n, n);
      const auto r = svd::decompose<TypeParam>(view, {.vectors = vectors::none}, device);
      for (std::int64_t b = 0; b < batch; ++b) {
        SCOPED_TRACE(text("n = ", n, ", matrix ", b));
        if (b == 18) {
          EXPECT_EQ(r.status[b], svd::not_finite);
          EXPECT_TRUE(std::isnan(r.singular_value(b, 0)));
          continue;
        }
        ASSERT_EQ(r.status[b], svd::ok);
        ASSERT_TRUE(test::is_sorted(r, b));
        const auto exact = reference::singular_values(view, b);
        // Of matrices with scaled columns every value has its digits, others have those of the largest one.
        const double epsilon = test::compute_epsilon<TypeParam>, bound = test::square_bounds(n).values * epsilon;
        for (std::int64_t j = 0; j < n; ++j) EXPECT_NEAR(r.singular_value(b, j), exact[j], bound * exact[0]) << j;
      }
      // A matrix does not know its neighbours.
      for (const std::int64_t b : {0, 8, 50, 100}) {
        const auto alone = svd::decompose<TypeParam>({a.data() + b * n * n, 1, n, n},
                                                     {.vectors = vectors::none, .part_of = batch}, device);
        for (std::int64_t j = 0; j < n; ++j) EXPECT_EQ(alone.s[j], r.singular_value(b, j));
      }
    }
  });
}

/// The determinant of 2 x 2 keeps its digits where its terms cancel.
TYPED_TEST(svd_values, of_nearly_singular_2_x_2) {
  const std::int64_t batch = 64;
  std::vector<TypeParam> a;
  const TypeParam unit = std::numeric_limits<TypeParam>::epsilon();
  for (std::int64_t b = 0; b < batch; ++b) {
    const TypeParam x = 1 + TypeParam(b) / 64, y = 1 + TypeParam(3 * b % 64) / 128;
    for (const TypeParam value : {x, y, x + TypeParam(b % 3) * unit, y + TypeParam(b % 5) * unit}) a.push_back(value);
  }
  const auto r = values_of(batch_view<const TypeParam>(a.data(), batch, 2, 2));
  for (std::int64_t b = 0; b < batch; ++b) {
    const long double p = a[4 * b], q = a[4 * b + 1], s = a[4 * b + 2], t = a[4 * b + 3];
    const long double large = (std::hypot(p + t, q - s) + std::hypot(p - t, q + s)) / 2;
    const double small = double(std::fabs(p * t - q * s) / large);
    // long double holds the products of two numbers of float, not of double, whose determinants are off by its epsilon.
    const double of_products = sizeof(TypeParam) == 4 ? 0 : 8 * double(std::numeric_limits<long double>::epsilon());
#if defined(__FMA__)
    EXPECT_NEAR(r.singular_value(b, 1), small, 3 * unit * small + of_products) << b;
#else
    EXPECT_NEAR(r.singular_value(b, 1), small, 3 * unit + of_products) << b;
#endif
    EXPECT_NEAR(r.singular_value(b, 0), double(large), 2 * unit * double(large)) << b;
  }
}

}  // namespace
}  // namespace quintet
