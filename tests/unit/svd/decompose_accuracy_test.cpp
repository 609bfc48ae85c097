// The accuracy table of decompose.hpp: random batches of every size and type against long double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "quintet/core/philox.hpp"
#include "quintet/svd/decompose.hpp"
#include "reference/svd_reference.hpp"
#include "support/devices.hpp"
#include "support/near.hpp"
#include "support/svd_errors.hpp"

namespace quintet {
namespace {

template <class T>
std::vector<T> random_batch(std::int64_t batch, std::int64_t rows, std::int64_t cols, std::uint64_t seed = 1) {
  std::vector<T> a(batch * rows * cols);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = T(normal_at<float>(seed, 0, i));
  return a;
}

std::vector<long double> wide(const std::vector<double>& values) { return {values.begin(), values.end()}; }

/// The largest errors over a batch, in units of epsilon.
template <class T>
void check_batch(std::int64_t batch, std::int64_t rows, std::int64_t cols, const svd::options& options,
                 const Device& device, std::int64_t compared = 4) {
  SCOPED_TRACE(text(batch, " x ", rows, " x ", cols));
  const std::vector<T> a = random_batch<T>(batch, rows, cols);
  const batch_view<const T> view(a.data(), batch, rows, cols);
  const auto r = svd::decompose<T>(view, options, device);
  const double epsilon = test::compute_epsilon<T>;
  double residual = 0, u = 0, v = 0, values = 0;
  for (std::int64_t b = 0; b < batch; ++b) {
    ASSERT_EQ(r.status[b], svd::ok);
    ASSERT_TRUE(test::is_sorted(r, b));
    if (sizeof(T) > 2 && options.vectors != svd::vectors::none && options.top == 0) {
      residual = std::max(residual, test::residual(view, r, b) / epsilon);
      u = std::max(u, test::orthogonality(r.u_view(), b) / epsilon);
      v = std::max(v, test::orthogonality(r.v_view(), b) / epsilon);
    }
    if (b >= compared) continue;
    // Jacobi's method would take minutes for the large ones; the other's errors are a few epsilon of long double.
    const auto exact = std::min(rows, cols) > 128
                           ? reference::singular_values_by_bidiagonalisation(reference::widened(view, b))
                           : wide(reference::singular_values(view, b));
    for (std::int64_t j = 0; j < r.values; ++j)
      values = std::max(values, double(std::fabs(r.singular_value(b, j) - exact[j]) / (exact[0] * epsilon)));
  }
  const test::svd_bounds bounds = test::bounds_for(rows, cols, options);
  const std::string name = text(rows, "x", cols, "_", int(options.vectors), "_", int(options.preconditioning));
  test::expect_error_within("residual_" + name, residual, bounds.residual);
  test::expect_error_within("u_" + name, u, bounds.u);
  test::expect_error_within("v_" + name, v, bounds.v);
  test::expect_error_within("values_" + name, values, bounds.values);
}

template <class T>
class svd_accuracy : public ::testing::Test {};
using real_types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(svd_accuracy, real_types);

TYPED_TEST(svd_accuracy, square) {
  for (const std::int64_t n : {1, 2, 3, 5, 8, 16, 31, 32}) check_batch<TypeParam>(40, n, n, {}, Device::host());
  check_batch<TypeParam>(16, 64, 64, {}, Device::host(), 2);
}

TYPED_TEST(svd_accuracy, large) {
  check_batch<TypeParam>(16, 128, 128, {}, Device::host(), 1);
  check_batch<TypeParam>(2, 128, 128, {}, Device::host(), 1);
  check_batch<TypeParam>(1, 256, 256, {}, Device::host());
}

/// Fewer than fill the lanes: each has a start from eigenvectors or a bidiagonal matrix of its own.
TYPED_TEST(svd_accuracy, few_matrices) {
  for (const std::int64_t n : {1, 5, 6, 7, 8, 9, 10, 12, 15, 16, 17, 23, 24, 32, 33, 47, 56, 64})
    for (const std::int64_t batch : {1, 2, 5})
      for (const auto which : {svd::vectors::economy, svd::vectors::none})
        check_batch<TypeParam>(batch, n, n, {.vectors = which}, Device::host());
  check_batch<TypeParam>(1, 50, 20, {}, Device::host());
  check_batch<TypeParam>(1, 20, 50, {.vectors = svd::vectors::full}, Device::host());
  check_batch<TypeParam>(1, 30, 30, {.preconditioning = svd::preconditioning::pivoted_qr}, Device::host());
}

TYPED_TEST(svd_accuracy, tall_and_wide_in_every_mode_and_preconditioning) {
  using svd::preconditioning, svd::vectors;
  for (const auto which : {vectors::none, vectors::economy, vectors::full})
    for (const auto first :
         {preconditioning::automatic, preconditioning::none, preconditioning::qr, preconditioning::pivoted_qr}) {
      const svd::options options{.vectors = which, .preconditioning = first};
      check_batch<TypeParam>(20, 24, 7, options, Device::host());
      check_batch<TypeParam>(20, 7, 24, options, Device::host());
      check_batch<TypeParam>(20, 12, 11, options, Device::host());
    }
}

/// Matrices of rank 1 up to rounding: what is left of a column after its rotation is rounding errors, and its direction
/// anything, which a rule for the last sweep that looks at tangents alone does not see.
TYPED_TEST(svd_accuracy, columns_of_rounding_errors) {
  test::on_every_device([](const Device& device) {
    const std::int64_t batch = 6, n = 9;
    const std::vector<TypeParam> x = random_batch<TypeParam>(batch, n, 1), y = random_batch<TypeParam>(batch, n, 1, 2);
    std::vector<TypeParam> a(batch * n * n);
    for (std::int64_t i = 0; i < batch * n * n; ++i) a[i] = x[i / (n * n) * n + i / n % n] * y[i / (n * n) * n + i % n];
    const batch_view<const TypeParam> view(a.data(), batch, n, n);
    const auto r = svd::decompose<TypeParam>(view, {.preconditioning = svd::preconditioning::none}, device);
    double u = 0, v = 0, residual = 0;
    for (std::int64_t b = 0; b < batch; ++b) {
      EXPECT_EQ(r.status[b], svd::ok);
      u = std::max(u, test::orthogonality(r.u_view(), b) / test::compute_epsilon<TypeParam>);
      v = std::max(v, test::orthogonality(r.v_view(), b) / test::compute_epsilon<TypeParam>);
      residual = std::max(residual, test::residual(view, r, b) / test::compute_epsilon<TypeParam>);
    }
    const test::svd_bounds bounds = test::square_bounds(n);
    const std::string name = "rank_1_" + text(int(device.kind()));
    test::expect_error_within("u_" + name, u, bounds.u);
    test::expect_error_within("v_" + name, v, bounds.v);
    test::expect_error_within("residual_" + name, residual, bounds.residual);
  });
}

/// Errors of sums that are as long as the matrix.
TYPED_TEST(svd_accuracy, very_long_matrices) {
  for (const auto first : {svd::preconditioning::automatic, svd::preconditioning::none})
    for (const std::int64_t rows : {700, 4000, 30000}) {
      check_batch<TypeParam>(1, rows, 12, {.preconditioning = first}, Device::host(), 1);
      check_batch<TypeParam>(8, rows, 5, {.preconditioning = first}, Device::host(), 1);
    }
}

TYPED_TEST(svd_accuracy, values_only) {
  for (const std::int64_t n : {8, 32, 64})
    check_batch<TypeParam>(20, n, n, {.vectors = svd::vectors::none}, Device::host());
}

TYPED_TEST(svd_accuracy, accurate_rotations) {
  for (const std::int64_t n : {8, 32})
    for (const auto which : {svd::vectors::none, svd::vectors::economy})
      check_batch<TypeParam>(20, n, n, {.vectors = which, .accurate = true}, Device::host());
}

TYPED_TEST(svd_accuracy, device_shapes) {
  test::on_other_devices([](const Device& device) {
    check_batch<TypeParam>(5, 6, 6, {}, device);
    check_batch<TypeParam>(3, 12, 12, {}, device);
    check_batch<TypeParam>(2, 13, 11, {.vectors = svd::vectors::none}, device);
    check_batch<TypeParam>(2, 20, 9, {.vectors = svd::vectors::full}, device);
    check_batch<TypeParam>(2, 9, 20, {.preconditioning = svd::preconditioning::pivoted_qr}, device);
    check_batch<TypeParam>(1, 700, 12, {.preconditioning = svd::preconditioning::none}, device);
  });
}

/// D1 B D2 beyond the squares of float: the double kernel of the same numbers is right to its own n eps.
TEST(svd_accuracy, float_rows_and_columns_of_any_size) {
  test::on_every_device([](const Device& device) {
    for (const std::int64_t n : {2, 3, 4, 8, 12})
      for (const auto& [of_rows, of_cols] : {std::pair(20, 0), std::pair(0, 20), std::pair(9, 9)}) {
        SCOPED_TRACE(text(n, " rows ", of_rows, " columns ", of_cols));
        std::vector<float> a = random_batch<float>(1, n, n);
        for (std::int64_t i = 0; i < n * n; ++i)
          a[i] *= float(std::pow(10.0, -double(of_rows * (i / n) + of_cols * (i % n)) / double(n - 1)));
        const std::vector<double> wide(a.begin(), a.end());
        const auto exact = svd::decompose<double>({wide.data(), 1, n, n}, {}, Device::host());
        const auto r = svd::decompose<float>({a.data(), 1, n, n}, {}, device);
        for (std::int64_t j = 0; j < n; ++j)
          EXPECT_NEAR(r.s[j] / exact.s[j], 1, double(n) * test::compute_epsilon<float>);
      }
  });
}

template <class T>
class svd_accuracy_16 : public ::testing::Test {};
using storage_types = ::testing::Types<half, bfloat16>;
TYPED_TEST_SUITE(svd_accuracy_16, storage_types);

/// Vectors are those of the float run, rounded once; values are of the float run itself.
TYPED_TEST(svd_accuracy_16, is_the_float_result_rounded_once) {
  test::on_every_device([](const Device& device) {
    const std::int64_t batch = device.kind() == device_kind::host ? 20 : 2, n = 12;
    const std::vector<TypeParam> a = random_batch<TypeParam>(batch, n, n);
    const std::vector<float> widened(a.begin(), a.end());
    const auto r = svd::decompose<TypeParam>({a.data(), batch, n, n}, {}, device);
    const auto wide = svd::decompose<float>({widened.data(), batch, n, n}, {}, device);
    EXPECT_EQ(r.s, wide.s);
    for (std::size_t i = 0; i < r.u.size(); ++i) {
      ASSERT_EQ(r.u[i].bits, TypeParam(wide.u[i]).bits);
      ASSERT_EQ(r.v[i].bits, TypeParam(wide.v[i]).bits);
    }
  });
}

}  // namespace
}  // namespace quintet
