// Decompositions of matrices without the means of their columns, against means and values in long double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "quintet/core/error.hpp"
#include "quintet/core/philox.hpp"
#include "reference/matrix.hpp"
#include "reference/svd_reference.hpp"
#include "support/devices.hpp"
#include "support/near.hpp"
#include "support/svd_errors.hpp"

namespace quintet {
namespace {

/// Normal numbers around a mean of each column that is up to `offset`.
template <class T>
std::vector<T> shifted_numbers(std::int64_t batch, std::int64_t rows, std::int64_t cols, double offset,
                               std::uint64_t seed) {
  std::vector<T> a(batch * rows * cols);
  for (std::int64_t i = 0; i < std::int64_t(a.size()); ++i)
    a[i] = T(float(normal_at<float>(seed, 0, i)) + float(offset * double(i % cols - cols / 3) / double(cols)));
  return a;
}

template <class T>
svd::decomposition<T> centred(const std::vector<T>& a, std::int64_t batch, std::int64_t rows, std::int64_t cols,
                              svd::options options = {}, const Device& device = Device::host()) {
  options.centre = true;
  return svd::decompose<T>({a.data(), batch, rows, cols}, options, device);
}

/// Matrix b without the means of a result.
template <class T>
reference::matrix without_means(batch_view<const T> a, const svd::decomposition<T>& r, std::int64_t b) {
  reference::matrix c = reference::widened(a, b);
  for (std::int64_t i = 0; i < c.rows(); ++i)
    for (std::int64_t j = 0; j < c.cols(); ++j) c(i, j) -= r.means[b * r.cols + j];
  return c;
}

/// |means_j - exact| over what the header allows.
template <class T>
double error_of_means(batch_view<const T> a, const svd::decomposition<T>& r, std::int64_t b) {
  double worst = 0;
  for (std::int64_t j = 0; j < a.cols(); ++j) {
    long double sum = 0, largest = 0;
    for (std::int64_t i = 0; i < a.rows(); ++i) {
      const long double value = accumulator_t<T>(a(b, i, j));
      sum += value;
      largest = std::max(largest, std::fabs(value));
    }
    const long double mean = sum / a.rows(), found = r.means[b * r.cols + j];
    const long double allowed = test::compute_epsilon<T> * std::fabs(mean) + std::ldexp(largest, -48);
    worst = std::max(worst, found == mean ? 0 : double(std::fabs(found - mean) / allowed));
  }
  return worst;
}

reference::matrix rebuilt(const reference::matrix& u, const std::vector<long double>& s, const reference::matrix& v) {
  return reference::scaled_columns(u, s) * reference::transposed(v);
}

/// Means, residual, orthogonality and values within the bounds of decompose.hpp.
template <class T>
void expect_centred(batch_view<const T> a, const svd::decomposition<T>& r, const std::string& name) {
  const test::svd_bounds bounds = test::bounds_for(a.rows(), a.cols(), {});
  const double epsilon = test::compute_epsilon<T>;
  for (std::int64_t b = 0; b < a.batch(); ++b) {
    SCOPED_TRACE(b);
    EXPECT_EQ(r.status[b], svd::ok);
    EXPECT_TRUE(test::is_sorted(r, b));
    EXPECT_LE(error_of_means(a, r, b), 1);
    const reference::matrix c = without_means(a, r, b);
    const std::vector<long double> s(r.s.begin() + b * r.values, r.s.begin() + (b + 1) * r.values);
    const double norm = double(reference::norm(c)), largest = std::max(double(s[0]), 1e-300);
    const reference::matrix u = reference::widened(r.u_view(), b), v = reference::widened(r.v_view(), b);
    test::expect_error_within("residual_" + name,
                              double(reference::norm(c - rebuilt(u, s, v))) / std::max(norm, 1e-300) / epsilon,
                              bounds.residual + 0.5);
    test::expect_error_within("u_" + name, test::orthogonality(r.u_view(), b) / epsilon, bounds.u);
    test::expect_error_within("v_" + name, test::orthogonality(r.v_view(), b) / epsilon, bounds.v);
    double error = 0;
    const std::vector<double> exact = reference::singular_values(c);
    for (std::int64_t j = 0; j < r.values; ++j) error = std::max(error, std::fabs(double(s[j]) - exact[j]));
    test::expect_error_within("values_" + name, error / largest / epsilon, bounds.values + 0.5 * norm / largest);
  }
}

template <class T>
class svd_centring : public ::testing::Test {};
using real_types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(svd_centring, real_types);

struct centred_shape {
  std::int64_t batch, rows, cols;
};

TYPED_TEST(svd_centring, bounds_of_the_header) {
  // QR by the Gram matrix in one and in several parts; reflections; rotations in lanes, rows and registers; wide ones.
  for (const auto& [batch, rows, cols] :
       {centred_shape{2, 4100, 3}, centred_shape{5, 1000, 10}, centred_shape{1, 1700, 40}, centred_shape{3, 100, 3},
        centred_shape{20, 3, 3}, centred_shape{9, 12, 12}, centred_shape{3, 20, 60}, centred_shape{1, 10, 1000},
        centred_shape{1, 70, 66}, centred_shape{2, 300, 1}, centred_shape{1, 1, 5}})
    for (const double offset : {0.0, 100.0}) {
      const std::string name = text(batch, "x", rows, "x", cols, "_", offset);
      SCOPED_TRACE(name);
      const auto a = shifted_numbers<TypeParam>(batch, rows, cols, offset, 3);
      const batch_view<const TypeParam> view(a.data(), batch, rows, cols);
      expect_centred(view, centred(a, batch, rows, cols), name);
    }
}

TYPED_TEST(svd_centring, bounds_on_devices) {
  test::on_other_devices([](const Device& device) {
    for (const auto& [batch, rows, cols] : {centred_shape{2, 600, 3}, centred_shape{2, 300, 10}, centred_shape{4, 3, 3},
                                            centred_shape{2, 9, 20}, centred_shape{1, 530, 20}}) {
      SCOPED_TRACE(text(rows, " x ", cols));
      const auto a = shifted_numbers<TypeParam>(batch, rows, cols, 10, 5);
      const auto r = centred(a, batch, rows, cols, {}, device);
      EXPECT_EQ(r.ran_on, device);
      expect_centred<TypeParam>({a.data(), batch, rows, cols}, r, text("device_", rows, "x", cols));
    }
  });
}

/// Means beside which the rest is small: the Gram matrix loses it, the difference does not.
TYPED_TEST(svd_centring, large_means) {
  const std::int64_t m = 900, n = 12;
  const double largest = sizeof(TypeParam) == 4 ? 1e4 : 1e12;
  for (double offset = 1; offset <= largest; offset *= 100) {
    std::vector<TypeParam> a(m * n);
    for (std::int64_t i = 0; i < m * n; ++i)
      a[i] = TypeParam(offset * double(1 + i % n)) + TypeParam(normal_at<float>(7, 0, i));
    expect_centred<TypeParam>({a.data(), 1, m, n}, centred(a, 1, m, n), text("offset_", offset));
  }
}

TYPED_TEST(svd_centring, range_of_the_type_and_lost_matrices) {
  using limits = std::numeric_limits<TypeParam>;
  for (const auto& [m, n] : {std::pair<std::int64_t, std::int64_t>{900, 10}, {30, 8}, {6, 40}}) {
    SCOPED_TRACE(m);
    const std::int64_t batch = 5, size = m * n;
    const auto regular = shifted_numbers<TypeParam>(batch, m, n, 3, 11);
    auto a = regular;
    const TypeParam large = std::ldexp(TypeParam(1), limits::max_exponent - 6), small = limits::min();
    for (std::int64_t i = 0; i < size; ++i) {
      a[i] *= large;
      a[3 * size + i] *= small;
    }
    a[size + 7] = limits::quiet_NaN();
    const auto r = centred(a, batch, m, n), expected = centred(regular, batch, m, n);
    EXPECT_EQ(r.status[1], svd::not_finite);
    EXPECT_TRUE(std::isnan(r.singular_value(1, 0)) && std::isnan(r.means[n + 7 % n]));
    const double bound = 2 * test::bounds_for(m, n, {}).values * test::compute_epsilon<TypeParam>;
    EXPECT_NEAR(r.singular_value(0, 0) / large / expected.singular_value(0, 0), 1, bound);
    EXPECT_NEAR(r.singular_value(3, 0) / small / expected.singular_value(3, 0), 1, std::max(bound, 1e-6));
    for (const std::int64_t b : {2, 4}) {
      for (std::int64_t j = 0; j < r.values; ++j) ASSERT_EQ(r.singular_value(b, j), expected.singular_value(b, j));
      for (std::int64_t j = 0; j < n; ++j) ASSERT_EQ(r.means[b * n + j], expected.means[b * n + j]);
      for (std::int64_t i = 0; i < m * r.u_cols; ++i)
        ASSERT_EQ(r.u[b * m * r.u_cols + i], expected.u[b * m * r.u_cols + i]);
    }
  }
}

TYPED_TEST(svd_centring, same_bits_for_any_threads_and_strides) {
  for (const auto& [batch, rows, cols] :
       {centred_shape{1, 9000, 20}, centred_shape{37, 900, 11}, centred_shape{4, 24, 24}, centred_shape{3, 30, 90}}) {
    SCOPED_TRACE(rows);
    const auto a = shifted_numbers<TypeParam>(batch, rows, cols, 5, 29);
    const auto expected = centred(a, batch, rows, cols);
    for (const int count : {1, 3}) {
      set_threads(count);
      const auto r = centred(a, batch, rows, cols);
      set_threads(0);
      test::expect_same_bits(r.means, expected.means);
      test::expect_same_bits(r.s, expected.s);
      test::expect_same_bits(r.u, expected.u);
      test::expect_same_bits(r.v, expected.v);
    }
    std::vector<TypeParam> columns(a.size());
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < cols; ++j) columns[(b * cols + j) * rows + i] = a[(b * rows + i) * cols + j];
    const batch_view<const TypeParam> by_column(columns.data(), batch, rows, cols, rows * cols, 1, rows);
    const auto r = svd::decompose<TypeParam>(by_column, {.centre = true}, Device::host());
    test::expect_same_bits(r.means, expected.means);
    test::expect_same_bits(r.u, expected.u);
  }
}

/// The mean of equal rows is that row; of no rows there is none. A row alone leaves nothing.
TYPED_TEST(svd_centring, equal_rows_and_none) {
  const auto row = shifted_numbers<TypeParam>(1, 1, 6, 4, 31);
  const batch_view<const TypeParam> repeated(row.data(), 2, 700, 6, 0, 0, 1);
  const auto r = svd::decompose<TypeParam>(repeated, {.centre = true}, Device::host());
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t j = 0; j < 6; ++j)
      EXPECT_NEAR(r.means[b * 6 + j], row[j], 2 * std::numeric_limits<TypeParam>::epsilon() * 4);
  EXPECT_LE(test::orthogonality(r.u_view(), 0), 16 * std::numeric_limits<TypeParam>::epsilon());
  const auto none = centred(std::vector<TypeParam>(), 2, 0, 3);
  EXPECT_EQ(none.means, std::vector<TypeParam>(6, 0));
  EXPECT_EQ(centred(std::vector<TypeParam>(), 2, 3, 0).means.size(), 0u);
}

TYPED_TEST(svd_centring, options_choose_what_is_returned) {
  const std::int64_t m = 800, n = 9;
  const auto a = shifted_numbers<TypeParam>(1, m, n, 2, 37);
  const batch_view<const TypeParam> view(a.data(), 1, m, n);
  const auto all = centred(a, 1, m, n);
  const double bound = 2 * test::bounds_for(m, n, {}).values * test::compute_epsilon<TypeParam> * all.s[0];
  for (svd::options options : {svd::options{.vectors = svd::vectors::none}, svd::options{.top = 3},
                               svd::options{.vectors = svd::vectors::full}, svd::options{.canonical_signs = true},
                               svd::options{.preconditioning = svd::preconditioning::pivoted_qr}}) {
    const auto r = centred(a, 1, m, n, options);
    for (std::int64_t j = 0; j < r.values; ++j) EXPECT_NEAR(r.s[j], all.s[j], bound);
    test::expect_near(r.means, all.means, 4 * test::compute_epsilon<TypeParam>, 1);
  }
  EXPECT_EQ(svd::decompose<TypeParam>(view, {}, Device::host()).means.size(), 0u);
}

TYPED_TEST(svd_centring, refuses_means_of_another_shape) {
  const auto a = shifted_numbers<TypeParam>(2, 5, 3, 1, 41);
  svd::decomposition<TypeParam> r(svd::shape_of(2, 5, 3, {.centre = true}));
  svd::outputs out = r.outputs();
  std::vector<TypeParam> means(8);
  out.means = any_output_matrix(means.data(), 2, 4);
  const auto refused = [&](const std::string& words) {
    try {
      svd::decompose(any_batch(batch_view<const TypeParam>(a.data(), 2, 5, 3)), out, {.centre = true}, Device::host());
      ADD_FAILURE() << "nothing was thrown";
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  };
  refused("means.cols must be the number of columns, 3 (means.cols=4)");
  out.means = {};
  refused("means.rows must be the batch, 2 (means.rows=0)");
}

template <class T>
class svd_centring_16 : public ::testing::Test {};
using storage_types = ::testing::Types<half, bfloat16>;
TYPED_TEST_SUITE(svd_centring_16, storage_types);

TYPED_TEST(svd_centring_16, is_the_float_result_rounded_once) {
  for (const auto& [batch, rows, cols] :
       {centred_shape{3, 1100, 9}, centred_shape{2, 10, 4}, centred_shape{2, 9, 30}}) {
    const std::vector<TypeParam> a = shifted_numbers<TypeParam>(batch, rows, cols, 3, 41);
    const std::vector<float> widened(a.begin(), a.end());
    const auto r = centred(a, batch, rows, cols);
    const auto wide = centred(widened, batch, rows, cols);
    EXPECT_EQ(r.s, wide.s);
    EXPECT_EQ(r.means, wide.means);
    for (std::size_t i = 0; i < r.u.size(); ++i) ASSERT_EQ(r.u[i].bits, TypeParam(wide.u[i]).bits);
  }
}

}  // namespace
}  // namespace quintet
