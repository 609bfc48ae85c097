// Every matrix of the reference data, in the accuracy class that its index states.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "quintet/core/error.hpp"
#include "support/devices.hpp"
#include "support/near.hpp"
#include "support/svd_errors.hpp"
#include "svd_case.hpp"

namespace quintet {
namespace {

using test::svd_case;

/// The largest error of a singular value, in units of what the class of the case is relative to.
template <class T>
double value_error(const svd_case& c, const svd::decomposition<T>& r) {
  const double epsilon = test::compute_epsilon<T>;
  double worst = 0;
  for (std::int64_t j = 0; j < r.values; ++j) {
    const double difference = std::fabs(double(r.s[j]) - c.s[j]);
    // Singular values below the smallest normal number have absolute accuracy only.
    const double tiny = std::numeric_limits<accumulator_t<T>>::denorm_min();
    const double scale = c.accuracy_class.rfind("rel", 0) == 0 ? c.s[j] : c.s[0];
    if (difference > tiny) worst = std::max(worst, difference / (scale * epsilon));
  }
  return worst;
}

double value_bound(const svd_case& c) {
  const double n = double(std::min(c.rows, c.cols));
  return c.accuracy_class == "relQ" ? 100 * n : c.accuracy_class.rfind("rel", 0) == 0 ? 10 * n : 10;
}

template <class T>
void check_case(const svd_case& c, const svd::options& options, const Device& device) {
  SCOPED_TRACE(c.name);
  std::vector<T> a(c.a.size());
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = T(accumulator_t<T>(c.a[i]));
  const batch_view<const T> view(a.data(), 1, c.rows, c.cols);
  const auto r = svd::decompose<T>(view, options, device);
  const double epsilon = test::compute_epsilon<T>;
  EXPECT_EQ(r.status[0], svd::ok);
  EXPECT_TRUE(test::is_sorted(r, 0));
  test::expect_error_within(c.name + "_values", value_error(c, r), value_bound(c));
  if (options.vectors == svd::vectors::none) return;
  // Vectors of 16 bits carry their own rounding: sqrt(n) units of the storage type.
  const double vector_epsilon = sizeof(T) == 2 ? (std::is_same_v<T, half> ? 0x1p-10 : 0x1p-7) : epsilon;
  test::expect_error_within(c.name + "_u", test::orthogonality(r.u_view(), 0) / vector_epsilon, 10);
  test::expect_error_within(c.name + "_v", test::orthogonality(r.v_view(), 0) / vector_epsilon, 10);
  // Entries of subnormal size have fewer digits themselves.
  if (c.accuracy_class != "denorm")
    test::expect_error_within(c.name + "_residual", test::residual(view, r, 0) / vector_epsilon, 16);
}

void check_case_in_its_type(const svd_case& c, const svd::options& options, const Device& device) {
  if (c.type == "f64") return check_case<double>(c, options, device);
  if (c.type == "f32") return check_case<float>(c, options, device);
  if (c.type == "f16") return check_case<half>(c, options, device);
  check_case<bfloat16>(c, options, device);
}

TEST(svd_data, every_case_in_its_class) {
  QUINTET_SKIP_WITHOUT(test::svd_folder());
  for (const svd_case& c : test::svd_cases()) check_case_in_its_type(c, {}, Device::host());
}

TEST(svd_data, every_case_without_vectors_and_with_full_vectors) {
  QUINTET_SKIP_WITHOUT(test::svd_folder());
  for (const auto which : {svd::vectors::none, svd::vectors::full})
    for (const svd_case& c : test::svd_cases())
      check_case_in_its_type(c, {.vectors = which, .canonical_signs = true}, Device::host());
}

TEST(svd_data, every_case_with_pivoted_qr) {
  QUINTET_SKIP_WITHOUT(test::svd_folder());
  for (const svd_case& c : test::svd_cases())
    check_case_in_its_type(c, {.preconditioning = svd::preconditioning::pivoted_qr, .accurate = true}, Device::host());
}

/// One-sided Jacobi by itself has relative accuracy where only the columns are scaled.
TEST(svd_data, column_scaled_cases_without_preconditioning) {
  QUINTET_SKIP_WITHOUT(test::svd_folder());
  for (const svd_case& c : test::svd_cases())
    if (c.accuracy_class != "relT" && c.accuracy_class != "relQ")
      check_case_in_its_type(c, {.preconditioning = svd::preconditioning::none}, Device::host());
}

/// Emulated teams take seconds for what a host thread does in microseconds: only small cases.
TEST(svd_data, small_cases_on_other_devices) {
  QUINTET_SKIP_WITHOUT(test::svd_folder());
  test::on_other_devices([](const Device& device) {
    for (const svd_case& c : test::svd_cases())
      if (std::min(c.rows, c.cols) <= 8) check_case_in_its_type(c, {}, device);
  });
}

/// A matrix with NaN or infinity is flagged, and changes no bit of its neighbours.
template <class T>
void check_not_finite(const std::string& name, std::int64_t n, const Device& device) {
  const auto numbers = test::read_numbers(test::svd_folder() / (name + "_A.csv"));
  ASSERT_EQ(std::int64_t(numbers.size()), n * n);
  const std::int64_t batch = 5;
  std::vector<T> a(batch * n * n);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = T(std::cos(double(i * i)));
  const auto clean = svd::decompose<T>({a.data(), batch, n, n}, {}, device);
  for (std::int64_t i = 0; i < n * n; ++i) a[2 * n * n + i] = T(numbers[i]);
  const auto r = svd::decompose<T>({a.data(), batch, n, n}, {}, device);
  for (std::int64_t b = 0; b < batch; ++b) {
    EXPECT_EQ(r.status[b], b == 2 ? svd::not_finite : svd::ok);
    for (std::int64_t j = 0; j < n; ++j)
      if (b == 2)
        EXPECT_TRUE(std::isnan(r.singular_value(b, j)));
      else
        EXPECT_EQ(r.singular_value(b, j), clean.singular_value(b, j));
    for (std::int64_t i = b * n * n; i < (b + 1) * n * n; ++i) {
      if (b == 2) {
        EXPECT_TRUE(std::isnan(r.u[i]) && std::isnan(r.v[i]));
      } else {
        EXPECT_TRUE(r.u[i] == clean.u[i] && std::signbit(r.u[i]) == std::signbit(clean.u[i]));
        EXPECT_TRUE(r.v[i] == clean.v[i] && std::signbit(r.v[i]) == std::signbit(clean.v[i]));
      }
    }
  }
}

TEST(svd_data, not_finite) {
  QUINTET_SKIP_WITHOUT(test::svd_folder());
  test::on_every_device([](const Device& device) {
    check_not_finite<double>("nonfinite_inf5_f64", 5, device);
    check_not_finite<float>("nonfinite_nan6_f32", 6, device);
  });
}

}  // namespace
}  // namespace quintet
