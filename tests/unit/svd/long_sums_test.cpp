// Long columns of equal or repeated elements: their sums round the same way term by term, where those of random columns
// average out. The bounds are those of decompose.hpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "device/team.hpp"
#include "quintet/core/philox.hpp"
#include "quintet/svd/decompose.hpp"
#include "support/devices.hpp"
#include "support/near.hpp"
#include "support/svd_errors.hpp"

namespace quintet {
namespace {

struct pattern {
  const char* name;
  std::function<double(std::int64_t b, std::int64_t i, std::int64_t j)> element;
};

double normal(std::int64_t stream, std::int64_t i) { return normal_at<double>(31, std::uint64_t(stream), i); }

std::vector<pattern> patterns() {
  return {
      {"ones", [](auto b, auto, auto) { return b == 0 ? 1.0 : normal(0, b); }},
      {"rank one", [](auto b, auto i, auto j) { return normal(3 * b, i) * normal(3 * b + 1, j); }},
      // Every 64 rows each column begins high, for as long as its number says.
      {"steps", [](auto b, auto i, auto j) { return i % 64 < 4 * j + b % 4 ? 1 + double(j) / 3 : 0.7; }},
      {"duplicated rows", [](auto b, auto i, auto j) { return normal(b, (i % 7) * 64 + j); }},
      {"duplicated columns", [](auto b, auto i, auto j) { return normal(b, 2 * i + j % 2); }},
  };
}

template <class T>
void check_patterns(std::int64_t batch, std::int64_t rows, std::int64_t cols, const svd::options& options,
                    const Device& device) {
  const double epsilon = test::compute_epsilon<T>;
  const test::svd_bounds bounds = test::bounds_for(rows, cols, options);
  for (const pattern& p : patterns()) {
    SCOPED_TRACE(text(p.name, ", ", batch, " x ", rows, " x ", cols, ", first ", int(options.preconditioning)));
    std::vector<T> a;
    a.reserve(batch * rows * cols);
    for (std::int64_t b = 0; b < batch; ++b)
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < cols; ++j) a.push_back(T(p.element(b, i, j)));
    const batch_view<const T> view(a.data(), batch, rows, cols);
    const auto r = svd::decompose<T>(view, options, device);
    double u = 0, v = 0, residual = 0;
    for (std::int64_t b = 0; b < batch; ++b) {
      EXPECT_EQ(r.status[b], svd::ok);
      u = std::max(u, test::orthogonality(r.u_view(), b) / epsilon);
      v = std::max(v, test::orthogonality(r.v_view(), b) / epsilon);
      residual = std::max(residual, test::residual(view, r, b) / epsilon);
    }
    const std::string name = text(p.name, "_", batch, "x", rows, "x", cols, "_", int(options.preconditioning));
    test::expect_error_within("u_" + name, u, bounds.u);
    test::expect_error_within("v_" + name, v, bounds.v);
    test::expect_error_within("residual_" + name, residual, bounds.residual);
  }
}

template <class T>
class svd_long_sums : public ::testing::Test {};
using real_types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(svd_long_sums, real_types);

TYPED_TEST(svd_long_sums, one_matrix) {
  for (const auto first : {svd::preconditioning::automatic, svd::preconditioning::none}) {
    const svd::options options{.preconditioning = first};
    check_patterns<TypeParam>(1, 300, 8, options, Device::host());
    check_patterns<TypeParam>(1, 4000, 16, options, Device::host());
    check_patterns<TypeParam>(1, 30000, 12, options, Device::host());
  }
}

TYPED_TEST(svd_long_sums, matrices_side_by_side) {
  for (const auto first :
       {svd::preconditioning::automatic, svd::preconditioning::none, svd::preconditioning::pivoted_qr}) {
    const svd::options options{.preconditioning = first};
    check_patterns<TypeParam>(8, 600, 5, options, Device::host());
    check_patterns<TypeParam>(8, 5000, 3, options, Device::host());
  }
}

TYPED_TEST(svd_long_sums, device_shapes) {
  test::on_other_devices([](const Device& device) {
    check_patterns<TypeParam>(1, 1500, 2, {}, device);
    check_patterns<TypeParam>(1, 600, 9, {.preconditioning = svd::preconditioning::none}, device);
  });
}

/// A team whose other threads have stored their values already.
struct first_of_team {
  static constexpr bool on_device = true;
  int count;
  int rank() const { return 0; }
  int size() const { return count; }
  void barrier() const {}
};

// The partial sums of a team as large as a GPU's are alike as well: a chain of 256 of them loses 32 eps.
TYPED_TEST(svd_long_sums, partial_sums_of_large_teams) {
  for (int i = 0; i < 100; ++i) {
    const auto value = static_cast<TypeParam>(normal(7, i));
    std::vector<TypeParam> values(256, value);
    for (const int count : {1, 15, 16, 17, 100, 256}) {
      const double exact = count * double(value);
      const TypeParam sum = device::reduce(first_of_team{count}, value, std::plus<TypeParam>(), values.data());
      EXPECT_LE(std::abs(sum - exact), 4 * test::compute_epsilon<TypeParam> * std::abs(exact));
    }
  }
}

TYPED_TEST(svd_long_sums, a_million_rows) { check_patterns<TypeParam>(1, 1000000, 2, {}, Device::host()); }

}  // namespace
}  // namespace quintet
