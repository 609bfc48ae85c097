// Singular values of symmetric matrices by their eigenvalues, against Eigen in long double.
#include "quintet/svd/symmetric.hpp"

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

/// Of both signs, with a pair of equal size, of which one triangle alone is right.
template <class T>
std::vector<T> one_triangle(std::int64_t batch, std::int64_t n, bool upper) {
  std::vector<T> a(batch * n * n, T(std::numeric_limits<float>::quiet_NaN()));
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j <= i; ++j) {
        const T x = T(float(normal_at<double>(std::uint64_t(n), std::uint64_t(b), std::uint64_t(i * n + j))));
        a[(b * n + (upper ? j : i)) * n + (upper ? i : j)] = x;
      }
  return a;
}

template <class T>
reference::matrix whole_of(const std::vector<T>& a, std::int64_t b, std::int64_t n, bool upper) {
  reference::matrix whole(n, n);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j <= i; ++j)
      whole(i, j) = whole(j, i) = float(a[(b * n + (upper ? j : i)) * n + (upper ? i : j)]);
  return whole;
}

template <class T>
struct svd_symmetric : testing::Test {};
using symmetric_types = testing::Types<float, double, half, bfloat16>;
TYPED_TEST_SUITE(svd_symmetric, symmetric_types);

TYPED_TEST(svd_symmetric, factors_are_those_of_a_singular_value_decomposition) {
  using T = TypeParam;
  constexpr std::int64_t batch = 3;
  test::on_every_device([&](const Device& device) {
    for (const std::int64_t n : {1, 2, 3, 9, 33}) {
      if (n > 9 && device.kind() != device_kind::host)
        continue;  // many threads of an emulated team wait for each other
      for (const bool upper : {false, true}) {
        SCOPED_TRACE(text("n = ", n, ", upper ", upper));
        const auto a = one_triangle<T>(batch, n, upper);
        const svd::eigen_options options{.triangle = upper ? svd::triangle::upper : svd::triangle::lower};
        const auto d = svd::decompose_symmetric<T>({a.data(), batch, n, n}, options, device);
        auto alone = options;
        alone.vectors = false;
        const auto values = svd::decompose_symmetric<T>({a.data(), batch, n, n}, alone, device);
        EXPECT_EQ(values.u_cols, 0);
        for (std::int64_t b = 0; b < batch; ++b) {
          const auto exact = whole_of(a, b, n, upper);
          auto w = reference::eigenvalues(exact);
          for (long double& x : w) x = std::fabs(x);
          std::sort(w.rbegin(), w.rend());
          const double bound = 4 * double(n) * test::compute_epsilon<T>;
          for (std::int64_t j = 0; j < n; ++j) {
            EXPECT_NEAR(d.singular_value(b, j), double(w[j]), bound * double(w[0]));
            EXPECT_NEAR(values.singular_value(b, j), double(w[j]), bound * double(w[0]));
          }
          const auto u = reference::widened(d.u_view(), b), v = reference::widened(d.v_view(), b);
          const std::vector<long double> s(d.s.begin() + b * n, d.s.begin() + (b + 1) * n);
          const double stored = 4 * double(n) * test::storage_epsilon<T>;
          EXPECT_LE(norm(reference::scaled_columns(u, s) * reference::transposed(v) - exact),
                    stored * double(norm(exact)));
          EXPECT_LE(norm(reference::transposed(u) * u - reference::identity(n)), stored + 16 * stored / double(n));
        }
      }
    }
  });
}

TEST(svd_symmetric_values, of_equal_size_keep_the_order_of_eigenvalues) {
  const std::vector<double> a{0, 2, 2, 0};  // -2 and 2
  const auto d = svd::decompose_symmetric(batch_view(a.data(), 1, 2, 2));
  EXPECT_NEAR(d.singular_value(0, 0), 2, 1e-15);
  EXPECT_NEAR(d.singular_value(0, 1), 2, 1e-15);
  EXPECT_LT(d.u[0] * d.v[0], 0);  // of -2
  EXPECT_GT(d.u[1] * d.v[1], 0);
  for (const auto* x : {&d.u, &d.v})
    for (const double e : *x) EXPECT_FALSE(e == 0 && std::signbit(e));
}

TEST(svd_symmetric_values, largest_alone_in_any_memory) {
  const auto a = one_triangle<double>(3, 6, false);
  const auto d = svd::decompose_symmetric<double>({a.data(), 3, 6, 6}, {}, Device::host());
  std::vector<double> u(3 * 6 * 2), v(u), s(6);
  std::vector<std::int32_t> status(3, 9), sweeps(3, 9);
  svd::decompose_symmetric(batch_view(a.data(), 3, 6, 6),
                           {any_output_batch(u.data(), 3, 6, 2), any_output_batch(v.data(), 3, 6, 2),
                            any_output_matrix(s.data(), 3, 2), status, sweeps},
                           {}, Device::host());
  for (std::int64_t b = 0; b < 3; ++b)
    for (std::int64_t j = 0; j < 2; ++j) {
      EXPECT_EQ(s[b * 2 + j], d.singular_value(b, j));
      for (std::int64_t i = 0; i < 6; ++i) EXPECT_EQ(u[(b * 6 + i) * 2 + j], d.u_view()(b, i, j));
    }
  EXPECT_EQ(status, (std::vector<std::int32_t>{0, 0, 0}));
  EXPECT_EQ(sweeps, (std::vector<std::int32_t>{0, 0, 0}));
}

TEST(svd_symmetric_values, not_finite_matrices_leave_their_neighbours_alone) {
  auto a = one_triangle<double>(3, 4, false);
  const auto clean = svd::decompose_symmetric<double>({a.data(), 3, 4, 4});
  a[16 + 4] = std::numeric_limits<double>::infinity();
  const auto d = svd::decompose_symmetric<double>({a.data(), 3, 4, 4});
  EXPECT_EQ(d.status[1], svd::not_finite);
  EXPECT_TRUE(std::isnan(d.singular_value(1, 0)) && std::isnan(d.singular_value(1, 3)) && std::isnan(d.u[16]));
  for (const std::int64_t b : {0, 2})
    for (std::int64_t j = 0; j < 4; ++j) EXPECT_EQ(d.singular_value(b, j), clean.singular_value(b, j));
  EXPECT_EQ(svd::decompose_symmetric<double>({a.data(), 0, 4, 4}).batch, 0);
  EXPECT_EQ(svd::decompose_symmetric<double>({a.data(), 2, 0, 0}).values, 0);
  expect_invalid([&] { svd::decompose_symmetric<double>({a.data(), 1, 2, 3}); }, "a must be square");
}

}  // namespace
}  // namespace quintet
