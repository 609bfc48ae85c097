// Tall and wide matrices whose QR is Cholesky's of the Gram matrix, twice, and those that reflections take from it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "quintet/core/philox.hpp"
#include "quintet/core/profile.hpp"
#include "quintet/svd/decompose.hpp"
#include "reference/svd_reference.hpp"
#include "support/devices.hpp"
#include "support/near.hpp"
#include "support/svd_errors.hpp"

namespace quintet {
namespace {

struct stages {
  int qr = 0, reflections = 0;
};

/// How often the stages began that tell which QR took a matrix.
stages count_stages(const std::function<void()>& call) {
  stages seen;
  const auto begin = [](void* context, const char* stage) {
    if (std::string(stage) == "qr") ++static_cast<stages*>(context)->qr;
    if (std::string(stage) == "reflections") ++static_cast<stages*>(context)->reflections;
  };
  set_profile_hook({.begin = begin, .end = nullptr, .context = &seen});
  call();
  set_profile_hook({});
  return seen;
}

template <class T>
std::vector<T> normal_numbers(std::int64_t count, std::uint64_t seed) {
  std::vector<T> a(count);
  for (std::int64_t i = 0; i < count; ++i) a[i] = T(normal_at<float>(seed, 0, i));
  return a;
}

template <class T>
svd::decomposition<T> decomposed(const std::vector<T>& a, std::int64_t batch, std::int64_t rows, std::int64_t cols,
                                 const svd::options& options = {}, const Device& device = Device::host()) {
  return svd::decompose<T>({a.data(), batch, rows, cols}, options, device);
}

template <class T>
void expect_same(const svd::decomposition<T>& x, const svd::decomposition<T>& y) {
  test::expect_same_bits(x.s, y.s);
  test::expect_same_bits(x.u, y.u);
  test::expect_same_bits(x.v, y.v);
  EXPECT_EQ(x.status, y.status);
  EXPECT_EQ(x.sweeps, y.sweeps);
}

/// Orthogonality and residual within the bounds of decompose.hpp.
template <class T>
void expect_factors(batch_view<const T> a, const svd::decomposition<T>& r, const std::string& name) {
  const test::svd_bounds bounds = test::bounds_for(a.rows(), a.cols(), {});
  double u = 0, v = 0, residual = 0;
  for (std::int64_t b = 0; b < a.batch(); ++b) {
    EXPECT_EQ(r.status[b], svd::ok);
    EXPECT_TRUE(test::is_sorted(r, b));
    u = std::max(u, test::orthogonality(r.u_view(), b) / test::compute_epsilon<T>);
    v = std::max(v, test::orthogonality(r.v_view(), b) / test::compute_epsilon<T>);
    residual = std::max(residual, test::residual(a, r, b) / test::compute_epsilon<T>);
  }
  test::expect_error_within("u_" + name, u, bounds.u);
  test::expect_error_within("v_" + name, v, bounds.v);
  test::expect_error_within("residual_" + name, residual, bounds.residual);
}

/// |S_j - exact| <= bound * S_j for every j, of matrix 0.
template <class T>
void expect_relative_values(batch_view<const T> a, const svd::decomposition<T>& r, double bound,
                            const std::string& name) {
  const std::vector<double> exact = reference::singular_values(a, 0);
  double error = 0;
  for (std::int64_t j = 0; j < r.values; ++j)
    error = std::max(error, std::fabs(double(r.singular_value(0, j)) - exact[j]) / exact[j]);
  test::expect_error_within("values_" + name, error / test::compute_epsilon<T>, bound);
}

template <class T>
class svd_gram_qr : public ::testing::Test {};
using real_types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(svd_gram_qr, real_types);

TYPED_TEST(svd_gram_qr, bounds_of_the_header) {
  struct shape {
    std::int64_t batch, rows, cols;
  };
  // Parts of tiles, register tiles and squares; one matrix in several parts; every kernel for R.
  for (const auto& [batch, rows, cols] :
       {shape{3, 4100, 2}, shape{3, 3001, 3}, shape{20, 1000, 10}, shape{2, 20, 1003}, shape{9, 513, 17},
        shape{5, 300, 32}, shape{1, 6000, 33}, shape{1, 64, 300}, shape{2, 530, 101}, shape{1, 1500, 200}}) {
    const std::string name = text(batch, "x", rows, "x", cols);
    SCOPED_TRACE(name);
    const auto a = normal_numbers<TypeParam>(batch * rows * cols, 3);
    const batch_view<const TypeParam> view(a.data(), batch, rows, cols);
    svd::decomposition<TypeParam> r;
    const stages seen = count_stages([&] { r = decomposed(a, batch, rows, cols); });
    EXPECT_GT(seen.qr, 0);
    EXPECT_EQ(seen.reflections, 0);
    expect_factors(view, r, name);
    if (std::min(rows, cols) <= 33) expect_relative_values(view, r, double(std::min(rows, cols) + 4), name);
  }
}

/// Teams share tiles, parts and triangles. Fewer than 4096 rows: reflections would have no stage of their own.
TYPED_TEST(svd_gram_qr, bounds_of_the_header_on_devices) {
  struct shape {
    std::int64_t batch, rows, cols;
  };
  test::on_other_devices([](const Device& device) {
    for (const auto& [batch, rows, cols] :
         {shape{2, 3300, 3}, shape{5, 1030, 10}, shape{1, 12, 1003}, shape{1, 500, 17}, shape{1, 2100, 33}}) {
      const std::string name = text("device_", batch, "x", rows, "x", cols);
      SCOPED_TRACE(name);
      const auto a = normal_numbers<TypeParam>(batch * rows * cols, 3);
      const batch_view<const TypeParam> view(a.data(), batch, rows, cols);
      svd::decomposition<TypeParam> r;
      const stages seen = count_stages([&] { r = decomposed(a, batch, rows, cols, {}, device); });
      EXPECT_GT(seen.qr, 0);
      EXPECT_EQ(seen.reflections, 0);
      EXPECT_EQ(r.ran_on, device);
      expect_factors(view, r, name);
      expect_relative_values(view, r, double(std::min(rows, cols) + 4), name);
      const auto values = decomposed(a, batch, rows, cols, {.vectors = svd::vectors::none}, device);
      test::expect_near(values.s, r.s, 16 * test::compute_epsilon<TypeParam>);
    }
  });
}

/// What reflections take, NaN, and matrices out of range, beside one that stays as it is alone; in any layout.
TYPED_TEST(svd_gram_qr, devices_decide_for_each_matrix) {
  const std::int64_t batch = 6, m = 900, n = 10;
  auto a = normal_numbers<TypeParam>(batch * m * n, 43);
  const batch_view<TypeParam> view(a.data(), batch, m, n);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 1; j < n; ++j) {
      view(1, i, j) = view(1, i, 0) + view(1, i, j) * TypeParam(1e-12);
      view(2, i, j) *= sizeof(TypeParam) == 4 ? TypeParam(1e30) : TypeParam(1e300);
      if (j == 4) view(3, i, j) = 0;
    }
  view(4, 700, 5) = std::numeric_limits<TypeParam>::quiet_NaN();
  std::vector<TypeParam> columns(a.size());
  const batch_view<TypeParam> by_column(columns.data(), batch, m, n, m * n, 1, m);
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) by_column(b, i, j) = view(b, i, j);
  const std::vector<TypeParam> last(a.end() - m * n, a.end());
  test::on_other_devices([&](const Device& device) {
    svd::decomposition<TypeParam> r;
    EXPECT_EQ(count_stages([&] { r = decomposed(a, batch, m, n, {}, device); }).reflections, 1);
    expect_same(svd::decompose<TypeParam>({columns.data(), batch, m, n, m * n, 1, m}, {}, device), r);
    for (std::int64_t b = 0; b < batch; ++b) EXPECT_EQ(r.status[b], b == 4 ? svd::not_finite : svd::ok);
    const auto alone = decomposed(last, 1, m, n, {.part_of = batch}, device);
    test::expect_same_bits(alone.u, std::vector<TypeParam>(r.u.end() - m * n, r.u.end()));
    test::expect_same_bits(alone.v, std::vector<TypeParam>(r.v.end() - n * n, r.v.end()));
    for (std::int64_t b = 0; b < batch; ++b) {
      if (b == 2 || b == 4) continue;  // squares of a reference leave its range
      SCOPED_TRACE(b);
      const test::svd_bounds bounds = test::bounds_for(m, n, {});
      EXPECT_LE(test::orthogonality(r.u_view(), b) / test::compute_epsilon<TypeParam>, bounds.u);
      EXPECT_LE(test::residual<TypeParam>({a.data(), batch, m, n}, r, b) / test::compute_epsilon<TypeParam>,
                bounds.residual);
    }
    // The largest element of each column, which a thread finds alone.
    const auto canonical = decomposed(a, batch, m, n, {.canonical_signs = true}, device);
    for (const std::int64_t b : {0, 1, 5})
      for (std::int64_t j = 0; j < n; ++j) {
        TypeParam largest = 0;
        for (std::int64_t i = 0; i < m; ++i) {
          const TypeParam x = canonical.u_view()(b, i, j);
          if (std::fabs(x) > std::fabs(largest)) largest = x;
          ASSERT_EQ(std::fabs(x), std::fabs(r.u_view()(b, i, j)));
        }
        EXPECT_GT(largest, 0);
      }
  });
}

/// B D with B well conditioned: every singular value is determined to the last digits, and has them, on both ways.
TYPED_TEST(svd_gram_qr, scaled_columns) {
  const std::int64_t m = 1200, n = 12;
  for (const double range : {9.0, 30.0}) {
    auto a = normal_numbers<TypeParam>(m * n, 5);
    for (std::int64_t i = 0; i < m * n; ++i)
      a[i] *= TypeParam(std::ldexp(1.0, -int(std::lround(range * double(i % n * 5 % n) / double(n - 1)))));
    const batch_view<const TypeParam> view(a.data(), 1, m, n);
    svd::decomposition<TypeParam> r;
    const stages seen = count_stages([&] { r = decomposed(a, 1, m, n); });
    EXPECT_EQ(seen.reflections, range > 10 ? 1 : 0);
    const std::string name = text("2^", range);
    expect_factors(view, r, name);
    expect_relative_values(view, r, double(n), name);
  }
}

/// Columns that are nearly dependent. The second pass repairs what the Gram matrix has lost, up to where the first Q is
/// too far from orthonormal.
TYPED_TEST(svd_gram_qr, conditions_from_one_to_the_last_digit) {
  const std::int64_t m = 900, n = 12;
  int reflected = 0;
  for (int exponent = 0; exponent <= 18; ++exponent) {
    auto a = normal_numbers<TypeParam>(m * n, 11);
    for (std::int64_t i = 0; i < m; ++i)
      a[i * n] = std::copysign(1 + std::fabs(a[i * n]), a[i * n]);  // no row is short
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 1; j < n; ++j)
        a[i * n + j] = a[i * n] + TypeParam(std::pow(10.0, -exponent)) * a[i * n + j];
    const batch_view<const TypeParam> view(a.data(), 1, m, n);
    svd::decomposition<TypeParam> r;
    const stages seen = count_stages([&] { r = decomposed(a, 1, m, n); });
    reflected += seen.reflections;
    SCOPED_TRACE(exponent);
    expect_factors(view, r, text("condition_", exponent));
    if (exponent <= 4) {
      EXPECT_EQ(seen.reflections, 0);
    }
    if (exponent >= 9) {
      EXPECT_EQ(seen.reflections, 1);
    }
  }
  EXPECT_GE(reflected, 10);
}

TYPED_TEST(svd_gram_qr, lower_ranks_have_orthonormal_factors) {
  const std::int64_t batch = 6, m = 1000, n = 12;
  auto a = normal_numbers<TypeParam>(batch * m * n, 17);
  const batch_view<TypeParam> view(a.data(), batch, m, n);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      view(0, i, j) = 0;
      if (j == 3) view(1, i, j) = 0;
      view(2, i, j) = view(2, i, 0);
      if (j > 5) view(3, i, j) = view(3, i, j - 6) - view(3, i, j - 5);
      if (i >= 4) view(4, i, j) = 0;
    }
  svd::decomposition<TypeParam> r;
  EXPECT_EQ(count_stages([&] { r = decomposed(a, batch, m, n); }).reflections, 1);
  expect_factors<TypeParam>({a.data(), batch, m, n}, r, "rank");
  const double epsilon = double(m) * test::compute_epsilon<TypeParam>;
  for (const auto& [b, rank] : {std::pair(0, 0), std::pair(1, 11), std::pair(2, 1), std::pair(3, 6), std::pair(4, 4)}) {
    if (rank > 0) {
      EXPECT_GT(r.singular_value(b, rank - 1), epsilon * r.singular_value(b, 0));
    }
    EXPECT_LE(r.singular_value(b, rank), epsilon * r.singular_value(b, 0));
  }
}

/// Sizes whose squares leave the range of the type, and NaN: their neighbours keep the bits that they have alone.
TYPED_TEST(svd_gram_qr, sizes_and_lost_matrices_leave_neighbours_alone) {
  using limits = std::numeric_limits<TypeParam>;
  const std::int64_t batch = 21, m = 700, n = 14;
  const auto regular = normal_numbers<TypeParam>(batch * m * n, 23);
  auto a = regular;
  const TypeParam large = sizeof(TypeParam) == 4 ? TypeParam(1e30) : TypeParam(1e300);
  for (std::int64_t i = 0; i < m * n; ++i) {
    a[2 * m * n + i] *= large;
    a[5 * m * n + i] *= limits::denorm_min() * TypeParam(1 << 20);
    a[8 * m * n + i] = limits::max() / 4;
  }
  a[11 * m * n + 1234] = limits::quiet_NaN();
  a[12 * m * n] = -limits::infinity();
  const auto expected = decomposed(regular, batch, m, n), r = decomposed(a, batch, m, n);
  for (std::int64_t b = 0; b < batch; ++b) {
    SCOPED_TRACE(b);
    EXPECT_EQ(r.status[b], b == 11 || b == 12 ? svd::not_finite : svd::ok);
    if (b == 11 || b == 12) {
      EXPECT_TRUE(std::isnan(r.singular_value(b, 0)) && std::isnan(r.u[b * m * n]) && std::isnan(r.v[b * n * n]));
    } else if (b == 2 || b == 5) {
      // Scaled by what is no power of two, or rounded: the same to the bounds.
      const TypeParam scale = b == 2 ? large : limits::denorm_min() * TypeParam(1 << 20);
      const double lost = b == 2 ? 16 * limits::epsilon() : 1e-5;
      EXPECT_NEAR(r.singular_value(b, 0) / scale / expected.singular_value(b, 0), 1, lost);
      EXPECT_NEAR(r.singular_value(b, n - 1) / scale / expected.singular_value(b, n - 1), 1, lost);
    } else if (b != 8) {
      for (std::int64_t j = 0; j < n; ++j) ASSERT_EQ(r.singular_value(b, j), expected.singular_value(b, j));
      for (std::int64_t i = 0; i < m * n; ++i) ASSERT_EQ(r.u[b * m * n + i], expected.u[b * m * n + i]);
      for (std::int64_t i = 0; i < n * n; ++i) ASSERT_EQ(r.v[b * n * n + i], expected.v[b * n * n + i]);
    }
  }
}

TYPED_TEST(svd_gram_qr, same_bits_for_any_number_of_threads_and_any_place) {
  for (const auto& [batch, rows, cols] : {std::array<std::int64_t, 3>{1, 9000, 40}, {37, 900, 11}, {3, 60, 2500}}) {
    SCOPED_TRACE(rows);
    const auto a = normal_numbers<TypeParam>(batch * rows * cols, 29);
    set_threads(1);
    const auto expected = decomposed(a, batch, rows, cols);
    for (const int count : {2, 3, 7}) {
      set_threads(count);
      expect_same(decomposed(a, batch, rows, cols), expected);
    }
    set_threads(0);
    // The last matrix, as a part of a batch as large.
    const std::int64_t size = rows * cols;
    const std::vector<TypeParam> last(a.end() - size, a.end());
    const auto part = decomposed(last, 1, rows, cols, {.part_of = batch});
    test::expect_same_bits(part.u,
                           std::vector<TypeParam>(expected.u.end() - std::int64_t(part.u.size()), expected.u.end()));
    test::expect_same_bits(part.v,
                           std::vector<TypeParam>(expected.v.end() - std::int64_t(part.v.size()), expected.v.end()));
  }
}

/// The layout of A changes nothing, nor does that of U; one row for all and one matrix for all have strides of zero.
TYPED_TEST(svd_gram_qr, same_bits_for_any_strides) {
  const std::int64_t batch = 3, m = 1030, n = 11;
  const auto a = normal_numbers<TypeParam>(batch * m * n, 31);
  std::vector<TypeParam> columns(a.size()), apart(a.size() * 2);
  const batch_view<TypeParam> by_column(columns.data(), batch, m, n, m * n, 1, m),
      scattered(apart.data(), batch, m, n, 2, 2 * batch * n, 2 * batch);
  const batch_view<const TypeParam> dense(a.data(), batch, m, n);
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) by_column(b, i, j) = scattered(b, i, j) = dense(b, i, j);
  const auto expected = decomposed(a, batch, m, n);
  for (const batch_view<TypeParam>& view : {by_column, scattered})
    expect_same(
        svd::decompose<TypeParam>({view.data(), batch, m, n, view.batch_stride(), view.row_stride(), view.col_stride()},
                                  {}, Device::host()),
        expected);
  const auto exchanged = svd::decompose<TypeParam>(dense.transposed(), {}, Device::host());
  test::expect_same_bits(exchanged.u, expected.v);
  test::expect_same_bits(exchanged.v, expected.u);
  std::vector<TypeParam> u(batch * m * n), v(batch * n * n), s(batch * n);
  std::vector<std::int32_t> status(batch), sweeps(batch);
  svd::decompose(dense,
                 {{u.data(), batch, m, n, m * n, 1, m}, {v.data(), batch, n, n}, {s.data(), batch, n}, status, sweeps},
                 {}, Device::host());
  const batch_view<const TypeParam> u_view(u.data(), batch, m, n, m * n, 1, m);
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) ASSERT_EQ(u_view(b, i, j), expected.u_view()(b, i, j));
  const batch_view<const TypeParam> repeated(a.data(), batch, m, n, 0, n, 1), flat(a.data(), 1, m, n, 0, 0, 1);
  const auto same = svd::decompose<TypeParam>(repeated, {}, Device::host());
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t j = 0; j < n; ++j) ASSERT_EQ(same.singular_value(b, j), expected.singular_value(0, j));
  expect_factors(flat, svd::decompose<TypeParam>(flat, {}, Device::host()), "one_row");
}

TYPED_TEST(svd_gram_qr, options_choose_what_is_returned) {
  const std::int64_t batch = 4, m = 800, n = 13;
  const auto a = normal_numbers<TypeParam>(batch * m * n, 37);
  const batch_view<const TypeParam> view(a.data(), batch, m, n);
  const auto all = decomposed(a, batch, m, n);
  const auto top = decomposed(a, batch, m, n, {.top = 3});
  const auto values = decomposed(a, batch, m, n, {.vectors = svd::vectors::none});
  const auto canonical = decomposed(a, batch, m, n, {.canonical_signs = true});
  const auto wide = svd::decompose<TypeParam>(view.transposed(), {.canonical_signs = true}, Device::host());
  for (std::int64_t b = 0; b < batch; ++b) {
    const double bound = test::bounds_for(m, n, {}).values * test::compute_epsilon<TypeParam>;
    for (std::int64_t j = 0; j < n; ++j) {
      EXPECT_NEAR(values.singular_value(b, j), all.singular_value(b, j), 2 * bound * all.singular_value(b, 0));
      TypeParam largest = 0;
      for (std::int64_t i = 0; i < m; ++i) {
        const TypeParam x = canonical.u_view()(b, i, j);
        if (std::fabs(x) > std::fabs(largest)) largest = x;
        ASSERT_EQ(std::fabs(x), std::fabs(all.u_view()(b, i, j)));
        if (j < 3) {
          ASSERT_EQ(top.u_view()(b, i, j), all.u_view()(b, i, j));
        }
      }
      EXPECT_GT(largest, 0);
      TypeParam widest = 0;
      for (std::int64_t i = 0; i < n; ++i)
        if (std::fabs(wide.u_view()(b, i, j)) > std::fabs(widest)) widest = wide.u_view()(b, i, j);
      EXPECT_GT(widest, 0);
    }
  }
  expect_factors(view, canonical, "canonical");
  expect_factors<TypeParam>(view.transposed(), wide, "canonical_wide");
}

/// Values alone of float matrices need the first pass only, where the condition is low; each matrix for itself.
TEST(svd_gram_qr_values, have_one_pass_where_the_condition_is_low) {
  const std::int64_t batch = 3, m = 1100, n = 12;
  test::on_every_device([&](const Device& device) {
    for (const int exponent : {0, 1, 2}) {
      SCOPED_TRACE(exponent);
      auto a = normal_numbers<float>(batch * m * n, 47);
      const float spread =
          float(std::pow(10.0, -exponent));  // of the columns of the second matrix around the first one
      for (std::int64_t i = m * n; i < 2 * m * n; ++i)
        if (i % n > 0) a[i] = a[i - i % n] + spread * a[i];
      svd::decomposition<float> r;
      const stages seen =
          count_stages([&] { r = decomposed(a, batch, m, n, {.vectors = svd::vectors::none}, device); });
      EXPECT_EQ(seen.qr, exponent < 2 ? 1 : 2);
      EXPECT_EQ(seen.reflections, 0);
      const double bound = test::bounds_for(m, n, {}).values * test::compute_epsilon<float>;
      for (std::int64_t b = 0; b < batch; ++b) {
        const std::vector<double> exact = reference::singular_values(batch_view<const float>(a.data(), batch, m, n), b);
        EXPECT_EQ(r.status[b], svd::ok);
        for (std::int64_t j = 0; j < n; ++j) {
          EXPECT_NEAR(r.singular_value(b, j), exact[j], bound * exact[0]);
          if (b != 1) {
            EXPECT_NEAR(r.singular_value(b, j), exact[j], double(n) * test::compute_epsilon<float> * exact[j]);
          }
        }
        const std::vector<float> own(a.begin() + b * m * n, a.begin() + (b + 1) * m * n);
        const auto alone = decomposed(own, 1, m, n, {.vectors = svd::vectors::none, .part_of = batch}, device);
        for (std::int64_t j = 0; j < n; ++j) ASSERT_EQ(alone.singular_value(0, j), r.singular_value(b, j));
      }
    }
  });
}

/// At the limit of the condition, and with columns of very different size.
TEST(svd_gram_qr_values, are_within_the_bounds_on_both_sides_of_the_limit) {
  const std::int64_t m = 1100, n = 12;
  for (int step = 0; step <= 60; ++step) {
    auto a = normal_numbers<float>(m * n, 53 + step);
    const float spread = float(std::pow(10.0, -0.06 * step));
    for (std::int64_t i = 0; i < m * n; ++i)
      if (i % n > 0) a[i] = (a[i - i % n] + spread * a[i]) * float(1 << i % n % 3);
    const batch_view<const float> view(a.data(), 1, m, n);
    const auto r = decomposed(a, 1, m, n, {.vectors = svd::vectors::none});
    const std::vector<double> exact = reference::singular_values(view, 0);
    for (std::int64_t j = 0; j < n; ++j)
      EXPECT_NEAR(r.singular_value(0, j), exact[j],
                  test::bounds_for(m, n, {}).values * test::compute_epsilon<float> * exact[0]);
  }
}

/// So do those of double matrices, with a limit of their own.
TEST(svd_gram_qr_values, of_double_have_one_pass_where_the_condition_is_low) {
  const std::int64_t batch = 3, m = 1100, n = 12;
  test::on_every_device([&](const Device& device) {
    for (const bool has_common : {false, true}) {
      SCOPED_TRACE(has_common);
      auto a = normal_numbers<double>(batch * m * n, 59);
      for (std::int64_t i = m * n; has_common && i < 2 * m * n; ++i)
        if (i % n > 0) a[i] += 2 * a[i - i % n];
      svd::decomposition<double> r;
      const stages seen =
          count_stages([&] { r = decomposed(a, batch, m, n, {.vectors = svd::vectors::none}, device); });
      EXPECT_EQ(seen.qr, has_common ? 2 : 1);
      EXPECT_EQ(seen.reflections, 0);
      for (std::int64_t b = 0; b < batch; ++b) {
        const std::vector<double> exact =
            reference::singular_values(batch_view<const double>(a.data(), batch, m, n), b);
        for (std::int64_t j = 0; j < n; ++j)
          EXPECT_NEAR(r.singular_value(b, j), exact[j], test::bounds_for(m, n, {}).values * 0x1p-52 * exact[0]);
        const std::vector<double> own(a.begin() + b * m * n, a.begin() + (b + 1) * m * n);
        const auto alone = decomposed(own, 1, m, n, {.vectors = svd::vectors::none, .part_of = batch}, device);
        for (std::int64_t j = 0; j < n; ++j) ASSERT_EQ(alone.singular_value(0, j), r.singular_value(b, j));
      }
    }
  });
}

/// More than 128 tiles of a matrix on a device: the tiles of a part take turns in one place of memory, in both passes.
TYPED_TEST(svd_gram_qr, values_of_parts_of_several_tiles) {
  const std::int64_t m = 140000, n = 6;
  auto a = normal_numbers<TypeParam>(m * n, 73);
  for (const bool has_common : {false, true}) {
    for (std::int64_t i = 0; has_common && i < m * n; ++i)
      a[i] = i % n == 0 ? std::copysign(1 + std::fabs(a[i]), a[i]) : a[i - i % n] + a[i] / 1024;
    const std::vector<double> exact = reference::singular_values(batch_view<const TypeParam>(a.data(), 1, m, n), 0);
    test::on_every_device([&](const Device& device) {
      svd::decomposition<TypeParam> r;
      const stages seen = count_stages([&] { r = decomposed(a, 1, m, n, {.vectors = svd::vectors::none}, device); });
      EXPECT_EQ(seen.qr, has_common ? 2 : 1);
      for (std::int64_t j = 0; j < n; ++j)
        EXPECT_NEAR(r.singular_value(0, j), exact[j],
                    test::bounds_for(m, n, {}).values * test::compute_epsilon<TypeParam> * exact[0]);
    });
  }
}

/// Columns of three kinds: random ones, equal terms, which round alike, and cosines; nearly orthogonal.
std::vector<double> independent_columns(int kind, std::int64_t m, std::int64_t n) {
  if (kind == 0) return normal_numbers<double>(m * n, 61);
  std::vector<double> a(m * n);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      a[i * n + j] = kind == 1 ? (normal_at<double>(67, 0, i * n + j) > 0 ? 0.1 : -0.1)
                               : std::cos(3.14159 * (double(i) + 0.5) * double(j) / double(m));
  return a;
}

/// The columns times a matrix of this condition.
std::vector<double> mixed_columns(const std::vector<double>& a, std::int64_t n, double condition) {
  const auto random = normal_numbers<double>(2 * n * n, 71);
  std::vector<double> s, mixed(a.size());
  for (std::int64_t j = 0; j < n; ++j) s.push_back(std::pow(condition, -double(j) / double(n - 1)));
  const auto factor = reference::with_singular_values(random.data(), s, random.data() + n * n);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::int64_t k = 0; k < n; ++k) mixed[i] += a[i - i % n + k] * factor[k * n + i % n];
  return mixed;
}

/// D1 B D2 with both kinds of scaling, on both sides of the limit of the condition: n eps S_j, as of every matrix.
TEST(svd_gram_qr_values, of_double_keep_the_relative_accuracy_of_scaled_matrices) {
  const std::int64_t m = 1100;
  int single = 0, twice = 0;
  for (const std::int64_t n : {12, 32})
    for (int kind = 0; kind < 3; ++kind)
      for (const double condition : {1.0, 1.5, 2.0, 2.5, 3.0, 4.0})
        for (const int scaling : {0, 1, 2}) {
          auto a = mixed_columns(independent_columns(kind, m, n), n, condition);
          for (std::int64_t i = 0; i < m * n; ++i)
            a[i] *= std::ldexp(1.0, (scaling > 0 ? int(i % n % 2) : 0) + (scaling > 1 ? 2 * int(i / n % 3) : 0));
          const batch_view<const double> view(a.data(), 1, m, n);
          svd::decomposition<double> r;
          const stages seen = count_stages([&] { r = decomposed(a, 1, m, n, {.vectors = svd::vectors::none}); });
          ++(seen.qr == 1 ? single : twice);
          const std::string name = text("kind_", kind, "_condition_", condition, "_scaling_", scaling);
          SCOPED_TRACE(name);
          EXPECT_EQ(seen.reflections, 0);
          expect_relative_values(view, r, double(n), name);
          const std::vector<double> exact = reference::singular_values(view, 0);
          for (std::int64_t j = 0; j < n; ++j)
            EXPECT_NEAR(r.singular_value(0, j), exact[j], test::bounds_for(m, n, {}).values * 0x1p-52 * exact[0]);
        }
  EXPECT_GE(single, 20);
  EXPECT_GE(twice, 20);
}

template <class T>
class svd_gram_qr_16 : public ::testing::Test {};
using storage_types = ::testing::Types<half, bfloat16>;
TYPED_TEST_SUITE(svd_gram_qr_16, storage_types);

TYPED_TEST(svd_gram_qr_16, is_the_float_result_rounded_once) {
  const std::int64_t batch = 3, m = 1100, n = 9;
  const std::vector<TypeParam> a = normal_numbers<TypeParam>(batch * m * n, 41);
  const std::vector<float> widened(a.begin(), a.end());
  for (const auto& [rows, cols] : {std::pair(m, n), std::pair(n, m)}) {
    test::on_every_device([&](const Device& device) {
      const auto r = decomposed(a, batch, rows, cols, {}, device);
      const auto wide = decomposed(widened, batch, rows, cols, {}, device);
      EXPECT_EQ(r.s, wide.s);
      for (std::size_t i = 0; i < r.u.size(); ++i) ASSERT_EQ(r.u[i].bits, TypeParam(wide.u[i]).bits);
      for (std::size_t i = 0; i < r.v.size(); ++i) ASSERT_EQ(r.v[i].bits, TypeParam(wide.v[i]).bits);
    });
  }
}

}  // namespace
}  // namespace quintet
