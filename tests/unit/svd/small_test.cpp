// Square matrices of 2, 3 and 4 columns, which have a kernel of their own: every kind of matrix, groups that are not
// full, on every device.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "quintet/core/philox.hpp"
#include "quintet/svd/decompose.hpp"
#include "reference/svd_reference.hpp"
#include "support/devices.hpp"
#include "support/real_types.hpp"
#include "support/svd_errors.hpp"

namespace quintet::test {
namespace {

enum class kind { random, rank_one, zero, orthogonal, columns_of_many_sizes, equal_columns, tiny, huge, last };

template <class T>
std::vector<T> matrices_of(kind what, std::int64_t batch, std::int64_t n) {
  std::vector<T> a(batch * n * n);
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        const auto random = [&](std::int64_t stream) {
          return double(normal_at<float>(std::uint64_t(b + 1), std::uint64_t(stream), 0));
        };
        double value = random(i * n + j);
        if (what == kind::rank_one) value = random(i) * random(100 + j);
        if (what == kind::zero) value = 0;
        if (what == kind::orthogonal) value = (i + 1) % n == j ? (b % 2 == 0 ? 1 : -1) : 0;
        if (what == kind::columns_of_many_sizes) value *= std::pow(10.0, -double(b % 9 * j));
        if (what == kind::equal_columns) value = random(i);
        if (what == kind::tiny) value *= double(std::numeric_limits<T>::min()) * 4;
        if (what == kind::huge) value *= double(std::numeric_limits<T>::max()) / 16;
        a[(b * n + i) * n + j] = T(value);
      }
  return a;
}

template <class T>
void check(const batch_view<const T>& a, const svd::decomposition<T>& r) {
  const double epsilon = compute_epsilon<T>;
  const svd_bounds bounds = square_bounds(a.rows());
  for (std::int64_t b = 0; b < a.batch(); ++b) {
    SCOPED_TRACE(b);
    ASSERT_EQ(r.status[b], svd::ok);
    ASSERT_TRUE(is_sorted(r, b));
    EXPECT_LE(residual(a, r, b), bounds.residual * epsilon);
    EXPECT_LE(orthogonality(r.u_view(), b), bounds.u * epsilon);
    EXPECT_LE(orthogonality(r.v_view(), b), bounds.v * epsilon);
    const auto exact = reference::singular_values(a, b);
    for (std::int64_t j = 0; j < r.values; ++j)
      EXPECT_NEAR(r.singular_value(b, j), exact[j],
                  bounds.values * epsilon * exact[0] + double(std::numeric_limits<T>::denorm_min()));
  }
}

template <class T>
class svd_small : public ::testing::Test {};
TYPED_TEST_SUITE(svd_small, real_types);

TYPED_TEST(svd_small, every_kind_of_matrix) {
  on_every_device([](const Device& device) {
    for (const std::int64_t n : {2, 3, 4})
      for (int k = 0; k < int(kind::last); ++k) {
        SCOPED_TRACE(text("n = ", n, ", kind ", k));
        const std::int64_t batch = 67 + n;  // full groups and one that is not
        const auto a = matrices_of<TypeParam>(kind(k), batch, n);
        const batch_view<const TypeParam> view(a.data(), batch, n, n);
        check(view, svd::decompose(view, {}, device));
      }
  });
}

// A matrix has the same bits alone as among others, the transposed and the strided one their own.
TYPED_TEST(svd_small, a_matrix_knows_nothing_of_its_neighbours) {
  on_every_device([](const Device& device) {
    for (const std::int64_t n : {2, 3, 4}) {
      const std::int64_t batch = 101;
      auto a = matrices_of<TypeParam>(kind::random, batch, n);
      for (std::int64_t e = 0; e < n * n; ++e) a[7 * n * n + e] = std::numeric_limits<TypeParam>::quiet_NaN();
      for (std::int64_t e = 0; e < n * n; ++e) a[8 * n * n + e] = 0;
      const batch_view<const TypeParam> view(a.data(), batch, n, n);
      const auto all = svd::decompose(view, {.canonical_signs = true}, device);
      EXPECT_EQ(all.status[7], svd::not_finite);
      EXPECT_TRUE(std::isnan(all.u[7 * n * n]) && std::isnan(all.s[7 * n]) && std::isnan(all.v[7 * n * n]));
      for (const std::int64_t b : {0, 8, 20, 40, 100}) {
        const batch_view<const TypeParam> one(a.data() + b * n * n, 1, n, n);
        const auto alone = svd::decompose(one, {.canonical_signs = true}, device);
        if (n < 4 || device.kind() != device_kind::host)  // one matrix of four columns has its rows in registers
          for (std::int64_t e = 0; e < n * n; ++e) EXPECT_EQ(alone.u[e], all.u[b * n * n + e]) << b;
        for (std::int64_t j = 0; j < n; ++j) {  // the largest element of a column of U is positive
          double largest = 0;
          for (std::int64_t i = 0; i < n; ++i) {
            const double value = double(all.u[(b * n + i) * n + j]);
            if (std::fabs(value) > std::fabs(largest)) largest = value;
          }
          EXPECT_GT(largest, 0);
        }
      }
      // Columns first, with gaps between matrices.
      std::vector<TypeParam> gaps(batch * (n * n + 3), 77);
      for (std::int64_t b = 0; b < batch; ++b)
        for (std::int64_t i = 0; i < n; ++i)
          for (std::int64_t j = 0; j < n; ++j) gaps[b * (n * n + 3) + j * n + i] = a[(b * n + i) * n + j];
      const batch_view<const TypeParam> strided(gaps.data(), batch, n, n, n * n + 3, 1, n);
      const auto same = svd::decompose(strided, {.canonical_signs = true}, device);
      for (std::size_t e = 0; e < all.u.size(); ++e)
        if (!std::isnan(all.u[e])) ASSERT_EQ(same.u[e], all.u[e]) << e;
    }
  });
}

// Work for all threads. CMakeLists.txt runs it with little stack for each, too.
TYPED_TEST(svd_small, thousands_by_all_threads) {
  for (const std::int64_t n : {2, 3, 4}) {
    const std::int64_t batch = 5000;
    const auto a = matrices_of<TypeParam>(kind::random, batch, n);
    const auto all = svd::decompose(batch_view<const TypeParam>(a.data(), batch, n, n), {}, Device::host());
    for (const std::int64_t b : {std::int64_t{0}, batch / 2, batch - 1}) {
      const batch_view<const TypeParam> few(a.data() + b / 8 * 8 * n * n, std::min<std::int64_t>(batch - b / 8 * 8, 8),
                                            n, n);
      const auto alone = svd::decompose(few, {}, Device::host());
      for (std::int64_t e = 0; e < n * n; ++e)
        EXPECT_EQ(alone.u[b % 8 * n * n + e], all.u[b * n * n + e]) << n << ", matrix " << b;
    }
  }
}

}  // namespace
}  // namespace quintet::test
