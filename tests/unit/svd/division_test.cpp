// Eigenvectors by divide and conquer: matrices large enough for it, against Eigen's SelfAdjointEigenSolver, with
// spectra that make it deflate much, little, or nothing.
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "quintet/core/philox.hpp"
#include "quintet/svd/decompose.hpp"
#include "quintet/svd/eigen.hpp"
#include "support/near.hpp"
#include "support/real_types.hpp"
#include "support/svd_errors.hpp"

namespace quintet::test {
namespace {

using dense_matrix = Eigen::MatrixXd;

enum class spectrum {
  random,
  rising,     // 1, 2, ..., n, with random vectors
  clusters,   // three values, each with neighbours 1e-13 of it away
  equal,      // two values, with random vectors
  graded,     // from 1 to 1e-12, with random vectors
  wilkinson,  // tridiagonal: pairs that agree to all digits
  glued,      // several of these, with couplings of 1e-9
  second_difference,
  uncoupled,  // tridiagonal with zeros beside the diagonal, at the places of halvings too
  diagonal,   // equal numbers among them
  identity,
  ones,        // rank one
  two_by_two,  // eigenvalues 1 and -1 in turn, exactly
  zero,
  last
};

dense_matrix with_eigenvalues(const std::vector<double>& w, std::uint64_t seed) {
  const std::int64_t n = std::int64_t(w.size());
  dense_matrix noise(n, n);
  for (std::int64_t i = 0; i < n * n; ++i) noise(i % n, i / n) = normal_at<double>(seed, 0, std::uint64_t(i));
  const dense_matrix q = Eigen::HouseholderQR<dense_matrix>(noise).householderQ();
  const dense_matrix a = q * Eigen::Map<const Eigen::VectorXd>(w.data(), n).asDiagonal() * q.transpose();
  return (a + a.transpose()) / 2;
}

dense_matrix tridiagonal(const std::vector<double>& diagonal, const std::vector<double>& beside) {
  const std::int64_t n = std::int64_t(diagonal.size());
  dense_matrix a = dense_matrix::Zero(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    a(i, i) = diagonal[i];
    if (i + 1 < n) a(i, i + 1) = a(i + 1, i) = beside[i];
  }
  return a;
}

dense_matrix matrix_of(spectrum kind, std::int64_t n) {
  std::vector<double> w(n), beside(n, 1.0);
  const auto random = [](std::int64_t i) { return normal_at<double>(7, 1, std::uint64_t(i)); };
  switch (kind) {
    case spectrum::random: {
      dense_matrix a(n, n);
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j <= i; ++j) a(i, j) = a(j, i) = random(i * n + j);
      return a;
    }
    case spectrum::rising:
      for (std::int64_t i = 0; i < n; ++i) w[i] = double(i + 1);
      return with_eigenvalues(w, 1);
    case spectrum::clusters:
      for (std::int64_t i = 0; i < n; ++i) w[i] = double(1 + i % 3) * (1 + 1e-13 * double(i) / double(n));
      return with_eigenvalues(w, 2);
    case spectrum::equal:
      for (std::int64_t i = 0; i < n; ++i) w[i] = 3 * i < n ? -2 : 1;
      return with_eigenvalues(w, 3);
    case spectrum::graded:
      for (std::int64_t i = 0; i < n; ++i) w[i] = std::pow(10.0, -12.0 * double(i) / double(n));
      return with_eigenvalues(w, 4);
    case spectrum::wilkinson:
      for (std::int64_t i = 0; i < n; ++i) w[i] = std::fabs(double(i) - double(n - 1) / 2);
      return tridiagonal(w, beside);
    case spectrum::glued:
      for (std::int64_t i = 0; i < n; ++i) {
        w[i] = std::fabs(double(i % 21) - 10);
        if (i % 21 == 20) beside[i] = 1e-9;
      }
      return tridiagonal(w, beside);
    case spectrum::second_difference:
      for (std::int64_t i = 0; i < n; ++i) {
        w[i] = 2;
        beside[i] = -1;
      }
      return tridiagonal(w, beside);
    case spectrum::uncoupled:
      for (std::int64_t i = 0; i < n; ++i) {
        w[i] = random(i);
        if (i % 5 == 0 || (i + 1) % 16 == 0) beside[i] = 0;
      }
      return tridiagonal(w, beside);
    case spectrum::diagonal:
      for (std::int64_t i = 0; i < n; ++i) w[i] = std::floor(4 * random(i));
      return tridiagonal(w, std::vector<double>(n, 0.0));
    case spectrum::identity:
      return dense_matrix::Identity(n, n);
    case spectrum::ones:
      return dense_matrix::Ones(n, n);
    case spectrum::two_by_two:
      for (std::int64_t i = 0; i < n; ++i) beside[i] = i % 2 == 0 ? 1 : 0;
      return tridiagonal(w, beside);
    default:
      return dense_matrix::Zero(n, n);
  }
}

/// The matrix as T stores it, times a power of two.
template <class T>
std::vector<T> stored_elements(const dense_matrix& a, int exponent = 0) {
  std::vector<T> elements(a.size());
  for (std::int64_t i = 0; i < a.size(); ++i) elements[i] = T(std::ldexp(a.data()[i], exponent));
  return elements;
}

/// The bounds of include/quintet/svd/eigen.hpp, with the eigenvalues that Eigen has in double. `exponent`: of the power
/// of two that the elements were multiplied by.
template <class T>
void expect_eigen(const std::vector<T>& elements, std::int64_t n, const svd::eigen_decomposition<T>& r,
                  int exponent = 0) {
  const double epsilon = compute_epsilon<T>;
  ASSERT_EQ(r.status[0], svd::ok);
  dense_matrix a(n, n), v(n, n);
  Eigen::VectorXd w(n);
  for (std::int64_t i = 0; i < n * n; ++i) a.data()[i] = std::ldexp(double(elements[i]), -exponent);
  for (std::int64_t j = 0; j < n; ++j) w[j] = std::ldexp(double(r.w[j]), -exponent);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) v(i, j) = double(r.v[i * n + j]);
  const Eigen::SelfAdjointEigenSolver<dense_matrix> solver(a, Eigen::EigenvaluesOnly);
  const double largest = solver.eigenvalues().cwiseAbs().maxCoeff();
  const double values = (solver.eigenvalues() - w).cwiseAbs().maxCoeff();
  EXPECT_TRUE(std::is_sorted(r.w.begin(), r.w.end()));
  EXPECT_LE(values, 2 * double(n) * epsilon * largest);
  EXPECT_LE((a * v - v * w.asDiagonal()).norm(), 4 * double(n) * epsilon * a.norm());
  // In long double: sums of n equal squares in double are wrong by n / 8 eps.
  EXPECT_LE(orthogonality(r.v_view(), 0) / epsilon, std::max(8.0, 2 * std::sqrt(double(n))));
}

template <class T>
class svd_division : public ::testing::Test {};
using compute_types = ::testing::Types<float, double>;
TYPED_TEST_SUITE(svd_division, compute_types);

// Undivided and shared matrices; last blocks of every kind of length.
TYPED_TEST(svd_division, every_spectrum) {
  for (const std::int64_t n : {96, 97, 128, 145, 200, 257, 333})
    for (int k = 0; k < int(spectrum::last); ++k) {
      SCOPED_TRACE(text("n = ", n, ", spectrum ", k));
      const auto a = stored_elements<TypeParam>(matrix_of(spectrum(k), n));
      const batch_view<const TypeParam> view(a.data(), 1, n, n);
      expect_eigen(a, n, svd::eigen(view, {}, Device::host()));
    }
}

TYPED_TEST(svd_division, large_matrices) {
  for (const auto kind : {spectrum::random, spectrum::clusters, spectrum::wilkinson}) {
    constexpr std::int64_t n = 600;
    const auto a = stored_elements<TypeParam>(matrix_of(kind, n));
    expect_eigen(a, n, svd::eigen(batch_view<const TypeParam>(a.data(), 1, n, n), {}, Device::host()));
  }
}

// Subnormal elements, and some near the largest number: the same bits times a power of two.
TYPED_TEST(svd_division, any_scale) {
  using limits = std::numeric_limits<TypeParam>;
  for (const std::int64_t n : {150, 260})
    for (const int exponent : {limits::max_exponent - 10, limits::min_exponent - 8}) {
      SCOPED_TRACE(text("n = ", n, ", exponent ", exponent));
      const auto a = stored_elements<TypeParam>(matrix_of(spectrum::random, n), exponent);
      expect_eigen(a, n, svd::eigen(batch_view<const TypeParam>(a.data(), 1, n, n), {}, Device::host()), exponent);
    }
}

TYPED_TEST(svd_division, nan_stays_in_its_matrix) {
  for (const std::int64_t n : {150, 260}) {
    auto a = stored_elements<TypeParam>(matrix_of(spectrum::random, n));
    const auto one = svd::eigen(batch_view<const TypeParam>(a.data(), 1, n, n), {}, Device::host());
    std::vector<TypeParam> three;
    for (int b = 0; b < 3; ++b) three.insert(three.end(), a.begin(), a.end());
    three[n * n + n + 1] = std::numeric_limits<TypeParam>::quiet_NaN();
    const auto r = svd::eigen(batch_view<const TypeParam>(three.data(), 3, n, n), {}, Device::host());
    EXPECT_EQ(r.status[1], svd::not_finite);
    EXPECT_TRUE(std::isnan(r.w[n]) && std::isnan(r.v[n * n]));
    for (const int b : {0, 2}) {
      EXPECT_EQ(std::memcmp(r.w.data() + b * n, one.w.data(), n * sizeof(TypeParam)), 0);
      EXPECT_EQ(std::memcmp(r.v.data() + b * n * n, one.v.data(), n * n * sizeof(TypeParam)), 0);
    }
  }
}

TYPED_TEST(svd_division, bits_do_not_depend_on_threads) {
  const int before = threads();
  for (const std::int64_t n : {200, 300})
    for (const auto kind : {spectrum::random, spectrum::glued}) {
      const auto a = stored_elements<TypeParam>(matrix_of(kind, n));
      const batch_view<const TypeParam> view(a.data(), 1, n, n);
      set_threads(1);
      const auto alone = svd::eigen(view, {}, Device::host());
      for (const int count : {2, 3, 5}) {
        set_threads(count);
        const auto shared = svd::eigen(view, {}, Device::host());
        EXPECT_EQ(std::memcmp(alone.w.data(), shared.w.data(), n * sizeof(TypeParam)), 0);
        EXPECT_EQ(std::memcmp(alone.v.data(), shared.v.data(), n * n * sizeof(TypeParam)), 0);
      }
      set_threads(before);
    }
}

// A part of the eigenvalues, and what is as it was without vectors.
TYPED_TEST(svd_division, subset_and_values) {
  constexpr std::int64_t n = 160;
  const auto a = stored_elements<TypeParam>(matrix_of(spectrum::random, n));
  const batch_view<const TypeParam> view(a.data(), 1, n, n);
  const auto all = svd::eigen(view, {}, Device::host());
  const auto largest = svd::eigen(view, {.first = n - 3, .count = 3}, Device::host());
  for (std::int64_t j = 0; j < 3; ++j) {
    EXPECT_EQ(largest.w[j], all.w[n - 3 + j]);
    for (std::int64_t i = 0; i < n; ++i) EXPECT_EQ(largest.v[i * 3 + j], all.v[i * n + n - 3 + j]);
  }
  const auto values = svd::eigen(view, {.vectors = false}, Device::host());
  const double bound = 2 * double(n) * compute_epsilon<TypeParam> * std::fabs(double(all.w[n - 1]));
  for (std::int64_t j = 0; j < n; ++j) EXPECT_NEAR(double(values.w[j]), double(all.w[j]), 2 * bound);
}

// Decompositions that start from these vectors.
TYPED_TEST(svd_division, singular_values_and_vectors) {
  for (const std::int64_t n : {128, 300})
    for (int k = 0; k < int(spectrum::last); ++k) {
      SCOPED_TRACE(text("n = ", n, ", spectrum ", k));
      const auto a = stored_elements<TypeParam>(matrix_of(spectrum(k), n));
      const batch_view<const TypeParam> view(a.data(), 1, n, n);
      const auto r = svd::decompose<TypeParam>(view, {}, Device::host());
      const svd_bounds bounds = square_bounds(n);
      EXPECT_EQ(r.status[0], svd::ok);
      EXPECT_TRUE(is_sorted(r, 0));
      EXPECT_LE(residual(view, r, 0) / compute_epsilon<TypeParam>, bounds.residual);
      EXPECT_LE(orthogonality(r.u_view(), 0) / compute_epsilon<TypeParam>, bounds.u);
      EXPECT_LE(orthogonality(r.v_view(), 0) / compute_epsilon<TypeParam>, bounds.v);
    }
}

}  // namespace
}  // namespace quintet::test
