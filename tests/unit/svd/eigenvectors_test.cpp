// The start of the sweeps from eigenvectors: the pieces on one worker and on teams that share a matrix, and the
// decompositions that come of it.
#include "eigenvectors_start.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <cmath>
#include <cstring>
#include <thread>
#include <vector>

#include "quintet/core/philox.hpp"
#include "quintet/svd/decompose.hpp"
#include "reference/svd_reference.hpp"
#include "support/near.hpp"
#include "support/svd_errors.hpp"

namespace quintet {
namespace {

std::vector<double> random_numbers(std::int64_t count, std::uint64_t seed = 1) {
  std::vector<double> a(count);
  for (std::int64_t i = 0; i < count; ++i) a[i] = normal_at<double>(seed, 0, std::uint64_t(i));
  return a;
}

/// Row-major, with the given singular values and random vectors.
std::vector<double> with_values(const std::vector<double>& s, std::uint64_t seed = 1) {
  const std::int64_t n = std::int64_t(s.size());
  const auto both = random_numbers(2 * n * n, seed);
  return reference::with_singular_values(both.data(), s, both.data() + n * n);
}

std::vector<double> falling(std::int64_t n, double condition) {
  std::vector<double> s;
  for (std::int64_t j = 0; j < n; ++j) s.push_back(std::pow(condition, n > 1 ? -double(j) / double(n - 1) : 0.0));
  return s;
}

/// The memory of one matrix, columns `ld` apart.
template <class Real>
struct problem {
  int rows, n, ld;
  std::vector<Real> x, v, matrix, arrays, division;

  problem(const std::vector<double>& a, int rows, int n, int chunk)
      : rows(rows),
        n(n),
        ld((rows + chunk - 1) / chunk * chunk + chunk),
        x(std::size_t(ld) * n),
        v(x.size()),
        matrix(x.size()),
        arrays(std::size_t(ld) * 8),
        division(svd::division_memory<Real>::size(n, ld)) {
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < n; ++j) x[std::size_t(j) * ld + i] = Real(a[std::size_t(i) * n + j]);
  }
  svd::start_memory<Real> memory(bool divides = false) {
    const auto array = [&](int k) { return arrays.data() + std::size_t(ld) * k; };
    return {matrix.data(), array(0), array(1), array(2), array(3), array(4), divides ? division.data() : nullptr};
  }
  svd::columns<Real> columns() {
    svd::columns<Real> m = {};
    m.x = x.data();
    m.rows = rows;
    m.ld_x = m.ld_v = ld;
    m.v = v.data();
    m.n = n;
    m.norm_correction = arrays.data() + std::size_t(ld) * 5;
    return m;
  }
};

/// V is orthogonal, X has become X V, and its columns are nearly orthogonal and fall in length.
template <class Real>
void check_start(const problem<Real>& p, const std::vector<double>& a) {
  const double epsilon = test::compute_epsilon<Real>;
  const auto at = [&](const std::vector<Real>& m, int i, int j) { return double(m[std::size_t(j) * p.ld + i]); };
  double orthogonality = 0, difference = 0, size = 0, cosine = 0;
  std::vector<double> length(p.n);
  for (int j = 0; j < p.n; ++j) {
    for (int i = 0; i < p.rows; ++i) length[j] += at(p.x, i, j) * at(p.x, i, j);
    length[j] = std::sqrt(length[j]);
  }
  for (int i = 0; i < p.n; ++i)
    for (int j = 0; j < p.n; ++j) {
      double v = i == j ? -1 : 0, x = 0;
      for (int k = 0; k < p.n; ++k) v += at(p.v, k, i) * at(p.v, k, j);
      for (int k = 0; k < p.rows; ++k) x += at(p.x, k, i) * at(p.x, k, j);
      orthogonality = std::max(orthogonality, std::fabs(v));
      if (i != j) cosine = std::max(cosine, std::fabs(x) / (length[i] * length[j]));
    }
  for (int i = 0; i < p.rows; ++i)
    for (int j = 0; j < p.n; ++j) {
      double x = at(p.x, i, j);
      for (int k = 0; k < p.n; ++k) x -= double(Real(a[std::size_t(i) * p.n + k])) * at(p.v, k, j);
      difference += x * x;
      size += at(p.x, i, j) * at(p.x, i, j);
    }
  const test::svd_bounds bounds = test::square_bounds(p.n);
  test::expect_error_within("orthogonality", orthogonality / epsilon, bounds.v);
  test::expect_error_within("product", std::sqrt(difference / size) / epsilon, 4);
  // Errors of the Gram matrix by the product of the lengths, which differ by 16 in all.
  test::expect_error_within("cosine", cosine / epsilon, 256.0 * bounds.v);
  for (int j = 0; j + 1 < p.n; ++j) EXPECT_GE(length[j] * (1 + 256 * epsilon), length[j + 1]);
}

template <class T>
class svd_eigenvectors : public ::testing::Test {};
using real_types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(svd_eigenvectors, real_types);

TYPED_TEST(svd_eigenvectors, one_worker) {
  for (const int n : {1, 2, 3, 4, 5, 8, 31, 64, 67}) {
    SCOPED_TRACE(text("n = ", n));
    const auto a = with_values(falling(n, 16));
    problem<TypeParam> p(a, n, n, test::alone_map<TypeParam>::chunk);
    test::start_alone(p.columns(), p.memory());
    check_start(p, a);
  }
}

TYPED_TEST(svd_eigenvectors, by_division) {
  for (const int n : {96, 97, 104, 130, 161}) {
    SCOPED_TRACE(text("n = ", n));
    const auto a = with_values(falling(n, 16));
    problem<TypeParam> p(a, n, n, test::alone_map<TypeParam>::chunk);
    test::start_alone(p.columns(), p.memory(true));
    check_start(p, a);
  }
}

TYPED_TEST(svd_eigenvectors, threads_that_share_a_matrix) {
  for (const int threads : {1, 2, 6})
    for (const int n : {3, 8, 23}) {
      SCOPED_TRACE(text(threads, " threads, n = ", n));
      const auto a = with_values(falling(n, 16));
      problem<TypeParam> p(a, n, n, test::team_map<TypeParam>::chunk);
      std::vector<TypeParam> exchange(threads);
      std::barrier<> all(threads);
      std::vector<std::thread> team;
      for (int t = 0; t < threads; ++t)
        team.emplace_back(
            [&, t] { test::start_in_team<TypeParam>({t, threads, &all}, exchange.data(), p.columns(), p.memory()); });
      for (std::thread& thread : team) thread.join();
      check_start(p, a);
    }
}

/// Decomposes and compares with the bounds; with exact values, which are computed where they are not given. Returns the
/// sweeps.
template <class T>
std::int32_t check_decomposition(const std::vector<double>& numbers, std::int64_t rows, std::int64_t cols,
                                 std::vector<long double> exact = {}, bool is_relative = false,
                                 double bound_alone = 1) {
  const std::vector<T> a(numbers.begin(), numbers.end());
  const batch_view<const T> view(a.data(), 1, rows, cols);
  const auto r = svd::decompose<T>(view, {}, Device::host());
  const double epsilon = test::compute_epsilon<T>;
  const test::svd_bounds bounds = test::bounds_for(rows, cols, {});
  EXPECT_EQ(r.status[0], svd::ok);
  EXPECT_TRUE(test::is_sorted(r, 0));
  test::expect_error_within("residual", test::residual(view, r, 0) / epsilon, bounds.residual);
  test::expect_error_within("u", test::orthogonality(r.u_view(), 0) / epsilon, bounds.u);
  test::expect_error_within("v", test::orthogonality(r.v_view(), 0) / epsilon, bounds.v);
  const auto values = svd::decompose<T>(view, {.vectors = svd::vectors::none}, Device::host());
  if (exact.empty()) exact = reference::singular_values_by_bidiagonalisation(reference::widened(view, 0));
  double worst = 0, alone = 0;
  for (std::int64_t j = 0; j < r.values; ++j) {
    const long double unit = exact[0] > 0 ? epsilon * exact[0] : 1;
    alone = std::max(alone, double(std::fabs(values.s[j] - exact[j]) / unit));
    worst = std::max(worst, double(std::fabs(r.s[j] - exact[j]) / (is_relative ? epsilon * exact[j] : unit)));
  }
  test::expect_error_within("values", worst, is_relative ? double(cols) : bounds.values);
  test::expect_error_within("without_vectors", alone, bound_alone * bounds.values);
  return r.sweeps[0];
}

TYPED_TEST(svd_eigenvectors, save_most_sweeps) {
  constexpr std::int64_t n = 128;
  for (const std::int64_t rows : {n, n + 3, 2 * n + 1}) {
    EXPECT_LE(check_decomposition<TypeParam>(random_numbers(rows * n), rows, n), 3);
    EXPECT_LE(check_decomposition<TypeParam>(random_numbers(rows * n), n, rows), 3);
  }
  std::vector<TypeParam> a(n * n);
  for (std::int64_t i = 0; i < n * n; ++i) a[i] = normal_at<TypeParam>(1, 0, std::uint64_t(i));
  const batch_view<const TypeParam> view(a.data(), 1, n, n);
  for (const svd::options& rotates_all :
       {svd::options{.preconditioning = svd::preconditioning::none}, svd::options{.accurate = true}})
    EXPECT_GE(svd::decompose<TypeParam>(view, rotates_all, Device::host()).sweeps[0], 6);
}

TYPED_TEST(svd_eigenvectors, large_matrices_that_workers_share) {
  for (const std::int64_t n : {257, 300}) {
    EXPECT_LE(check_decomposition<TypeParam>(random_numbers(n * n), n, n), 3);
    EXPECT_LE(check_decomposition<TypeParam>(random_numbers(n * (2 * n + 3)), n, 2 * n + 3), 3);
    std::vector<double> lost(n, 1.0);
    for (std::int64_t j = n / 3; j < n; ++j) lost[j] = 0;
    check_decomposition<TypeParam>(with_values(lost), n, n);
    check_decomposition<TypeParam>(std::vector<double>(n * n, 1.0), n, n);
  }
}

TYPED_TEST(svd_eigenvectors, special_matrices) {
  for (const std::int64_t n : {8, 9, 12, 17, 33, 62, 128, 131}) {
    SCOPED_TRACE(text("n = ", n));
    check_decomposition<TypeParam>(with_values(std::vector<double>(n, 1.0)), n, n);
    std::vector<double> clusters(n, 1.0), lost(n, 1.0), identity(n * n), difference(n * n);
    for (std::int64_t j = 0; j < n; ++j) {
      clusters[j] = 1 + double(j < n / 2) + 1e-9 * double(n - j);
      if (j > n / 3) lost[j] = 0;
      identity[j * n + j] = 1;
      difference[j * n + j] = 2;
      if (j + 1 < n) difference[j * n + j + 1] = difference[(j + 1) * n + j] = -1;
    }
    check_decomposition<TypeParam>(with_values(clusters), n, n);
    check_decomposition<TypeParam>(with_values(lost), n, n);
    check_decomposition<TypeParam>(with_values(falling(n, 1e5)), n, n);
    check_decomposition<TypeParam>(with_values(falling(n, 1e12)), n, n);
    check_decomposition<TypeParam>(identity, n, n, std::vector<long double>(n, 1));
    check_decomposition<TypeParam>(difference, n, n);
    check_decomposition<TypeParam>(std::vector<double>(n * n), n, n, std::vector<long double>(n));
    std::vector<double> ones(n * n, 1.0), zero_columns(random_numbers(n * n));
    check_decomposition<TypeParam>(ones, n, n, {}, false, 1.5);  // sums of equal numbers round in one direction
    for (std::int64_t i = 0; i < n; ++i) zero_columns[i * n + 3] = zero_columns[i * n + n - 1] = 0;
    check_decomposition<TypeParam>(zero_columns, n, n);
  }
}

/// Columns of one length would change places until the last sweep, which must meet all pairs. With and without a start,
/// by one worker and by blocks.
TYPED_TEST(svd_eigenvectors, near_ties_end_with_a_sweep_that_meets_all_pairs) {
  for (const std::int64_t n : {100, 140, 220, 260, 300, 600})
    for (const std::int64_t order : {n, std::int64_t(21)})
      for (const double scale : {1.0, 1000.0}) {
        SCOPED_TRACE(text("n = ", n, ", order ", order, ", scale ", scale));
        std::vector<TypeParam> a(n * n);
        for (std::int64_t i = 0; i < n; ++i) {
          a[i * n + i] = TypeParam(scale * std::fabs(double(i % order) - double(order - 1) / 2));
          if (i + 1 < n) a[i * n + i + 1] = a[(i + 1) * n + i] = TypeParam((i + 1) % order == 0 ? 1e-6 : scale);
        }
        const batch_view<const TypeParam> view(a.data(), 1, n, n);
        const auto bounds = test::square_bounds(n);
        for (const auto step :
             {svd::preconditioning::automatic, svd::preconditioning::none, svd::preconditioning::qr}) {
          const auto r = svd::decompose<TypeParam>(view, {.preconditioning = step}, Device::host());
          const double epsilon = test::compute_epsilon<TypeParam>;
          EXPECT_EQ(r.status[0], svd::ok);
          test::expect_error_within("residual", test::residual(view, r, 0) / epsilon, bounds.residual);
          test::expect_error_within("u", test::orthogonality(r.u_view(), 0) / epsilon, bounds.u);
          test::expect_error_within("v", test::orthogonality(r.v_view(), 0) / epsilon, bounds.v);
        }
      }
}

/// Below the ratio of the start, between it and that of pivoted QR, and beyond.
TYPED_TEST(svd_eigenvectors, relative_accuracy_of_scaled_columns) {
  for (const std::int64_t n : {8, 13, 40, 128})
    for (const int steps : {3, 9, 30}) {
      SCOPED_TRACE(text("n = ", n, ", ", steps, " steps"));
      auto a = with_values(falling(n, 4));
      std::vector<TypeParam> rounded(n * n);
      for (std::int64_t i = 0; i < n * n; ++i) {
        const int exponent = -int(i % n * steps / (n - 1));
        rounded[i] = TypeParam(std::ldexp(a[i], exponent));
        a[i] = double(rounded[i]);
      }
      const auto exact =
          reference::singular_values(reference::widened(batch_view<const TypeParam>(rounded.data(), 1, n, n), 0));
      check_decomposition<TypeParam>(a, n, n, {exact.begin(), exact.end()}, true);
    }
}

/// A matrix alone does not share lanes: its sweeps begin near their end from 8 columns on.
TYPED_TEST(svd_eigenvectors, save_sweeps_of_a_small_matrix_alone) {
  for (const std::int64_t n : {8, 11, 24, 48}) {
    EXPECT_LE(check_decomposition<TypeParam>(random_numbers(n * n), n, n), 3) << n;
    EXPECT_LE(check_decomposition<TypeParam>(random_numbers(n * (n + 2)), n, n + 2), 3) << n;
    EXPECT_LE(check_decomposition<TypeParam>(random_numbers(n * 3 * n), 3 * n, n), 3) << n;
  }
}

TEST(svd_eigenvectors_bits, do_not_depend_on_batch_or_threads) {
  constexpr std::int64_t batch = 9, n = 128;
  const auto a = random_numbers(batch * n * n);
  const auto all = svd::decompose<double>({a.data(), batch, n, n}, {}, Device::host());
  const int before = threads();
  set_threads(1);
  for (const std::int64_t b : {std::int64_t(0), batch - 1}) {
    const auto one = svd::decompose<double>({a.data() + b * n * n, 1, n, n}, {}, Device::host());
    EXPECT_EQ(std::memcmp(one.u.data(), all.u.data() + b * n * n, n * n * sizeof(double)), 0);
    EXPECT_EQ(std::memcmp(one.v.data(), all.v.data() + b * n * n, n * n * sizeof(double)), 0);
    EXPECT_EQ(std::memcmp(one.s.data(), all.s.data() + b * n, n * sizeof(double)), 0);
  }
  set_threads(before);
}

}  // namespace
}  // namespace quintet
