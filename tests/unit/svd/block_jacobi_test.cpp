// Matrices with more than 256 columns, which several workers share, and the block method itself on small ones.
#include "svd/block_jacobi.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "quintet/core/philox.hpp"
#include "quintet/device/buffer.hpp"
#include "quintet/svd/decompose.hpp"
#include "reference/svd_reference.hpp"
#include "support/devices.hpp"
#include "support/near.hpp"
#include "support/svd_errors.hpp"

namespace quintet {
namespace {

template <class T>
std::vector<T> random_numbers(std::int64_t count, std::uint64_t seed = 5) {
  std::vector<T> a(count);
  for (std::int64_t i = 0; i < count; ++i) a[i] = T(normal_at<double>(seed, 0, i));
  return a;
}

template <class T>
class svd_block : public ::testing::Test {};
using real_types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(svd_block, real_types);

/// Residual and orthogonality of every matrix, and the values of the first.
template <class T>
void check(batch_view<const T> a, const svd::options& options) {
  SCOPED_TRACE(text(a.rows(), " x ", a.cols(), ", vectors ", int(options.vectors)));
  const auto r = svd::decompose<T>(a, options, Device::host());
  const double epsilon = test::compute_epsilon<T>;
  const test::svd_bounds bounds = test::bounds_for(a.rows(), a.cols(), options);
  const auto exact = reference::singular_values_by_bidiagonalisation(reference::widened(a, 0));
  double worst = 0;
  for (std::int64_t j = 0; j < r.values; ++j) worst = std::max(worst, double(std::fabs(r.s[j] - exact[j])));
  const std::string name = text(a.rows(), "x", a.cols(), "_", int(options.vectors), "_", int(options.preconditioning));
  test::expect_error_within("values_" + name, worst / (double(exact[0]) * epsilon), bounds.values);
  for (std::int64_t b = 0; b < a.batch(); ++b) {
    EXPECT_EQ(r.status[b], svd::ok);
    EXPECT_TRUE(test::is_sorted(r, b));
    test::expect_error_within("u_" + name, test::orthogonality(r.u_view(), b) / epsilon, bounds.u);
    test::expect_error_within("v_" + name, test::orthogonality(r.v_view(), b) / epsilon, bounds.v);
    const bool has_vectors = options.vectors != svd::vectors::none;
    const double residual = has_vectors ? test::residual(a, r, b) / epsilon : 0;
    test::expect_error_within("residual_" + name, residual, bounds.residual);
  }
}

TYPED_TEST(svd_block, accuracy) {
  using svd::preconditioning, svd::vectors;
  const auto a = random_numbers<TypeParam>(500 * 300);
  check<TypeParam>({a.data(), 1, 257, 257}, {});
  check<TypeParam>({a.data(), 1, 300, 300}, {.vectors = vectors::none});
  check<TypeParam>({a.data(), 1, 300, 300}, {.accurate = true});
  check<TypeParam>({a.data(), 1, 500, 290}, {});
  check<TypeParam>({a.data(), 1, 500, 290}, {.preconditioning = preconditioning::none});
  check<TypeParam>({a.data(), 1, 270, 330}, {.vectors = vectors::full});
  check<TypeParam>({a.data(), 1, 270, 280}, {.preconditioning = preconditioning::pivoted_qr});
}

// Powers of points of [-1, 1]: rows and columns are of one size, and most singular values lie far below epsilon.
// Without pivoted QR they take more than 30 sweeps.
TEST(svd_block_values, far_below_epsilon) {
  const std::int64_t n = 260;
  std::vector<double> a(n * n);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) a[i * n + j] = std::pow(2 * double(i) / double(n - 1) - 1, double(n - 1 - j));
  check<double>({a.data(), 1, n, n}, {});
  const auto alone = svd::decompose<double>({a.data(), 1, n, n}, {.preconditioning = svd::preconditioning::none});
  EXPECT_EQ(alone.status[0], svd::not_converged);
  EXPECT_EQ(svd::decompose<double>({a.data(), 1, n, n}, {.max_sweeps = 19}).status[0], svd::not_converged);
}

TYPED_TEST(svd_block, large_square) {
  const auto a = random_numbers<TypeParam>(512 * 512);
  check<TypeParam>({a.data(), 1, 512, 512}, {});
}

/// The second difference: sigma_k = 2 - 2 cos(k pi / (n + 1)).
TEST(svd_block_values, second_difference_matrix) {
  const std::int64_t n = 300;
  std::vector<double> a(n * n);
  for (std::int64_t i = 0; i < n; ++i) {
    a[i * n + i] = 2;
    if (i + 1 < n) a[i * n + i + 1] = a[(i + 1) * n + i] = -1;
  }
  const auto r = svd::decompose<double>({a.data(), 1, n, n}, {}, Device::host());
  double worst = 0;
  for (std::int64_t j = 0; j < n; ++j)
    worst = std::max(worst,
                     std::fabs(r.s[j] - 4 * std::pow(std::sin(double(n - j) * std::numbers::pi / (2.0 * (n + 1))), 2)));
  test::expect_error_within("values", worst / (4 * test::compute_epsilon<double>), 20);
}

/// Columns scaled over 20 orders of magnitude: every singular value to the last digits.
TEST(svd_block_values, relative_accuracy_of_scaled_columns) {
  const std::int64_t n = 260;
  const auto b = random_numbers<double>(2 * n * n);
  std::vector<double> a(b);
  const auto scale = [](std::int64_t j) { return std::ldexp(1.0, -int(j / 4)); };
  for (std::int64_t i = 0; i < 2 * n; ++i)
    for (std::int64_t j = 0; j < n; ++j) a[i * n + j] *= scale(j);
  const auto r = svd::decompose<double>({a.data(), 1, 2 * n, n}, {}, Device::host());
  // The determinant of R is the product of the singular values: wrong small ones show in it.
  const reference::matrix triangle =
      reference::qr(reference::widened(batch_view<const double>(a.data(), 1, 2 * n, n), 0)).r;
  long double expected = 0, found = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    expected += std::log(std::fabs(triangle(j, j)));
    found += std::log((long double)(r.s[j]));
  }
  test::expect_error_within("log_determinant", double(std::fabs(found - expected)) / test::compute_epsilon<double>,
                            double(n) * double(n));
  EXPECT_LT(r.s[n - 1] / r.s[0], 1e-18);
}

TEST(svd_block_properties, batch_permutation_threads_and_not_finite) {
  const std::int64_t batch = 3, n = 260;
  auto a = random_numbers<float>(batch * n * n);
  const auto clean = svd::decompose<float>({a.data(), batch, n, n}, {}, Device::host());
  a[n * n + 77] = std::nanf("");
  set_threads(1);
  const auto one = svd::decompose<float>({a.data(), batch, n, n}, {}, Device::host());
  set_threads(3);
  std::vector<float> turned(a.begin() + n * n, a.end());
  turned.insert(turned.end(), a.begin(), a.begin() + n * n);
  const auto other = svd::decompose<float>({turned.data(), batch, n, n}, {}, Device::host());
  set_threads(0);
  EXPECT_EQ(one.status, (std::vector<std::int32_t>{0, svd::not_finite, 0}));
  const auto slice = [&](const std::vector<float>& all, std::int64_t b, std::int64_t size) {
    return std::vector<float>(all.begin() + b * size, all.begin() + (b + 1) * size);
  };
  for (std::int64_t b = 0; b < batch; ++b) {
    const std::int64_t place = (b + 2) % 3;
    test::expect_same_bits(slice(one.s, b, n), slice(other.s, place, n));
    test::expect_same_bits(slice(one.u, b, n * n), slice(other.u, place, n * n));
    test::expect_same_bits(slice(one.v, b, n * n), slice(other.v, place, n * n));
    EXPECT_EQ(one.sweeps[b], other.sweeps[place]);
  }
  for (const std::int64_t b : {0, 2}) {
    test::expect_same_bits(slice(one.u, b, n * n), slice(clean.u, b, n * n));
    test::expect_same_bits(slice(one.v, b, n * n), slice(clean.v, b, n * n));
  }
  EXPECT_TRUE(std::isnan(one.s[n]) && std::isnan(one.u[n * n]) && std::isnan(one.v[2 * n * n - 1]));
}

/// Long matrices, whose QR all workers share, with more and with fewer columns than the block method begins with.
TEST(svd_block_properties, long_matrices) {
  for (const std::int64_t n : {33, 260}) {
    const std::int64_t m = 4200;
    const auto a = random_numbers<float>(m * n);
    const batch_view<const float> view(a.data(), 1, m, n);
    set_threads(1);
    const auto one = svd::decompose(view, {}, Device::host());
    set_threads(3);
    const auto three = svd::decompose(view, {}, Device::host());
    set_threads(0);
    test::expect_same_bits(one.u, three.u);
    test::expect_same_bits(one.v, three.v);
    test::expect_same_bits(one.s, three.s);
    const double epsilon = test::compute_epsilon<float>;
    const test::svd_bounds bounds = test::bounds_for(m, n, {});
    EXPECT_LE(test::residual(view, one, 0) / epsilon, bounds.residual);
    EXPECT_LE(test::orthogonality(one.u_view(), 0) / epsilon, bounds.u);
    EXPECT_LE(test::orthogonality(one.v_view(), 0) / epsilon, bounds.v);
  }
}

TEST(svd_block_properties, too_few_sweeps_and_lost_rank) {
  const std::int64_t n = 300, k = 5;
  const auto a = random_numbers<float>(n * n);
  const auto hasty = svd::decompose<float>(
      {a.data(), 1, n, n}, {.preconditioning = svd::preconditioning::none, .max_sweeps = 2}, Device::host());
  EXPECT_EQ(hasty.status[0], svd::not_converged);
  EXPECT_EQ(hasty.sweeps[0], 2);
  EXPECT_TRUE(test::is_sorted(hasty, 0));
  std::vector<float> low(n * n);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t c = 0; c < k; ++c) low[i * n + j] += a[i * n + c] * a[j * n + k + c];
  const batch_view<const float> view(low.data(), 1, n, n);
  const auto r = svd::decompose<float>(view, {}, Device::host());
  EXPECT_EQ(r.status[0], svd::ok);
  const double epsilon = test::compute_epsilon<float>;
  EXPECT_LE(test::residual(view, r, 0), 40 * epsilon);
  EXPECT_LE(test::orthogonality(r.u_view(), 0), 40 * epsilon);
  EXPECT_LE(test::orthogonality(r.v_view(), 0), 40 * epsilon);
  EXPECT_LE(r.s[k], 20 * epsilon * r.s[0]);
}

/// Columns of zeros in matrices of different rank, down to none, and one without: what is missing in U or V is
/// completed, with the same bits whoever else is in the batch and however many threads work on it.
TYPED_TEST(svd_block, zero_columns) {
  using real = TypeParam;
  const std::int64_t batch = 4, m = 300, n = 270;
  auto a = random_numbers<real>(batch * m * n);
  const auto is_zero = [](std::int64_t b, std::int64_t j) {
    return b == 1 ? true : b == 2 ? j % 3 == 1 : b == 3 && j >= 20;
  };
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        if (is_zero(b, j)) a[(b * m + i) * n + j] = 0;
  const batch_view<const real> all(a.data(), batch, m, n);
  using svd::preconditioning, svd::vectors;
  for (const svd::options& options :
       {svd::options{}, svd::options{.vectors = vectors::full}, svd::options{.preconditioning = preconditioning::none},
        svd::options{.preconditioning = preconditioning::pivoted_qr}}) {
    SCOPED_TRACE(text("vectors ", int(options.vectors), ", preconditioning ", int(options.preconditioning)));
    set_threads(3);
    const auto r = svd::decompose<real>(all, options, Device::host());
    set_threads(1);
    const double epsilon = test::compute_epsilon<real>;
    const test::svd_bounds bounds = test::bounds_for(m, n, options);
    for (std::int64_t b = 0; b < batch; ++b) {
      SCOPED_TRACE(b);
      EXPECT_EQ(r.status[b], svd::ok);
      EXPECT_TRUE(test::is_sorted(r, b));
      test::expect_error_within(text("u_", b), test::orthogonality(r.u_view(), b) / epsilon, bounds.u);
      test::expect_error_within(text("v_", b), test::orthogonality(r.v_view(), b) / epsilon, bounds.v);
      if (b != 1) test::expect_error_within(text("residual_", b), test::residual(all, r, b) / epsilon, bounds.residual);
      std::int64_t rank = 0;
      for (std::int64_t j = 0; j < n; ++j) rank += is_zero(b, j) ? 0 : 1;
      for (std::int64_t j = rank; j < n; ++j) EXPECT_LE(r.s[b * n + j], epsilon * r.s[b * n]) << j;
      const auto alone = svd::decompose<real>({a.data() + b * m * n, 1, m, n}, options, Device::host());
      const auto part = [&](const std::vector<real>& of_all) {
        const std::int64_t size = std::int64_t(of_all.size()) / batch;
        return std::vector<real>(of_all.begin() + b * size, of_all.begin() + (b + 1) * size);
      };
      test::expect_same_bits(part(r.u), alone.u);
      test::expect_same_bits(part(r.v), alone.v);
      test::expect_same_bits(part(r.s), alone.s);
    }
    set_threads(0);
  }
}

/// The block method on a matrix of two blocks, which emulated teams can do in a second.
template <class Change>
void check_two_blocks(svd::route preconditioner, Change change, const std::vector<Device>& devices) {
  const std::int32_t m = 45, n = 37;
  std::vector<double> a = random_numbers<double>(m * n);
  for (std::int32_t i = 0; i < m; ++i)
    for (std::int32_t j = 0; j < n; ++j) change(a[i * n + j], j);
  test::on_devices(devices, [&](const Device& device) {
    svd::decomposition<double> r;
    r.batch = 1;
    r.rows = m;
    r.cols = r.values = r.u_cols = r.v_cols = n;
    const Buffer<double> from(a, device);
    Buffer<double> u(m * n, device), v(n * n, device), s(n, device);
    Buffer<std::int32_t> status(1, device), sweeps(1, device);
    svd::jacobi_job<double> job = {};
    const auto type = quintet::scalar_type::float64;
    job.a = {const_cast<double*>(from.data()), type, m * n, n, 1};
    job.left = {u.data(), type, m * n, n, 1};
    job.right = {v.data(), type, n * n, n, 1};
    job.s = {s.data(), type, n, 0, 1};
    job.status = status.data();
    job.sweeps = sweeps.data();
    job.count = 1;
    job.rows = m;
    job.cols = job.left_cols = job.right_cols = job.values = n;
    job.preconditioner = preconditioner;
    job.max_sweeps = 30;
    job.root_rows = std::sqrt(double(n));
    job.vectors = true;
    svd::run_in_blocks(job, device);
    r.u = u.to_vector();
    r.v = v.to_vector();
    r.s = s.to_vector();
    r.status = status.to_vector();
    EXPECT_EQ(r.status[0], svd::ok);
    const double epsilon = test::compute_epsilon<double>;
    EXPECT_LE(test::residual<double>({a.data(), 1, m, n}, r, 0), 16 * epsilon);
    EXPECT_LE(test::orthogonality(r.u_view(), 0), 16 * epsilon);
    EXPECT_LE(test::orthogonality(r.v_view(), 0), 16 * epsilon);
    EXPECT_TRUE(test::is_sorted(r, 0));
  });
}

/// Values alone of one matrix, by all teams: the parts of its columns are two.
TEST(svd_block_devices, values_by_reduction_in_two_parts) {
  const std::int32_t m = 74, n = 69;
  const std::vector<double> a = random_numbers<double>(m * n);
  const auto exact = reference::singular_values_by_bidiagonalisation(
      reference::widened(batch_view<const double>(a.data(), 1, m, n), 0));
  test::on_every_device([&](const Device& device) {
    const Buffer<double> from(a, device);
    Buffer<double> s(n, device);
    Buffer<std::int32_t> status(1, device), sweeps(1, device);
    svd::jacobi_job<double> job = {};
    const auto type = quintet::scalar_type::float64;
    job.a = {const_cast<double*>(from.data()), type, m * n, n, 1};
    job.s = {s.data(), type, n, 0, 1};
    job.status = status.data();
    job.sweeps = sweeps.data();
    job.count = 1;
    job.rows = m;
    job.cols = job.values = n;
    job.preconditioner = svd::route::direct;
    job.max_sweeps = 30;
    job.root_rows = std::sqrt(double(m));
    job.reduces = true;
    svd::run_in_blocks(job, device);
    EXPECT_EQ(status.to_vector()[0], svd::ok);
    EXPECT_EQ(sweeps.to_vector()[0], 0);
    const std::vector<double> values = s.to_vector();
    for (std::int64_t j = 0; j < n; ++j)
      EXPECT_NEAR(values[j], exact[j],
                  test::square_bounds(n).values * test::compute_epsilon<double> * double(exact[0]));
  });
}

TEST(svd_block_devices, two_blocks_on_every_device) {
  check_two_blocks(svd::route::triangle, [](double&, int) {}, test::test_devices());
}

TEST(svd_block_devices, scaled_columns_with_pivots) {
  check_two_blocks(
      svd::route::pivoted_lower, [](double& x, int j) { x = std::ldexp(x, -2 * ((7 * j) % 37)); },
      test::test_devices());
}

TEST(svd_block_devices, zero_columns) {
  for (const svd::route preconditioner : {svd::route::direct, svd::route::triangle, svd::route::pivoted_lower}) {
    SCOPED_TRACE(int(preconditioner));
    // One way on all devices: an emulated team takes seconds for each.
    const bool on_all = preconditioner == svd::route::pivoted_lower;
    check_two_blocks(
        preconditioner, [](double& x, int j) { x = j % 4 == 1 || j == 36 ? 0 : x; },
        on_all ? test::test_devices() : std::vector{Device::host()});
  }
}

}  // namespace
}  // namespace quintet
