// The thin functions: defining equations of pseudo-inverse, least squares, low rank, condition number, polar factor.
#include "quintet/svd/applications.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "quintet/core/philox.hpp"
#include "support/expect_error.hpp"

namespace quintet {
namespace {

using matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

matrix random_matrix(std::int64_t m, std::int64_t n, std::uint64_t seed) {
  matrix a(m, n);
  for (std::int64_t i = 0; i < m * n; ++i) a.data()[i] = normal_at<double>(seed, 0, i);
  return a;
}

/// Matrix 1 of a batch of two, so that offsets show.
struct fixture {
  matrix a;
  std::vector<double> both;
  svd::decomposition<double> d;
  explicit fixture(const matrix& matrix_) : a(matrix_), both(2 * a.size(), 1.0) {
    std::copy_n(a.data(), a.size(), both.begin() + a.size());
    d = svd::decompose<double>({both.data(), 2, a.rows(), a.cols()}, {}, Device::host());
  }
  static matrix second(const std::vector<double>& values, std::int64_t m, std::int64_t n) {
    return Eigen::Map<const matrix>(values.data() + m * n, m, n);
  }
};

TEST(svd_applications, pseudo_inverse_meets_the_conditions_of_penrose) {
  for (const matrix& a :
       {random_matrix(6, 4, 1), random_matrix(4, 6, 2), matrix(random_matrix(6, 2, 3) * random_matrix(2, 5, 4))}) {
    const fixture f(a);
    const matrix p = fixture::second(svd::pseudo_inverse(f.d), a.cols(), a.rows());
    EXPECT_LE((a * p * a - a).norm(), 1e-13 * a.norm());
    EXPECT_LE((p * a * p - p).norm(), 1e-13 * p.norm());
    EXPECT_LE(((a * p).transpose() - a * p).norm(), 1e-13);
    EXPECT_LE(((p * a).transpose() - p * a).norm(), 1e-13);
  }
}

TEST(svd_applications, least_squares_agrees_with_eigen) {
  for (const matrix& a : {random_matrix(7, 4, 5), random_matrix(3, 6, 6)}) {
    const fixture f(a);
    const matrix right = random_matrix(2 * a.rows(), 2, 7);
    const matrix x = fixture::second(svd::least_squares<double>(f.d, {right.data(), 2, a.rows(), 2}), a.cols(), 2);
    const matrix expected =
        Eigen::MatrixXd(a).completeOrthogonalDecomposition().solve(Eigen::MatrixXd(right.bottomRows(a.rows())));
    EXPECT_LE((x - expected).norm(), 1e-12 * expected.norm());
  }
}

TEST(svd_applications, error_of_the_low_rank_approximation_is_what_is_left_out) {
  const fixture f(random_matrix(8, 5, 8));
  for (std::int64_t rank = 0; rank <= 6; ++rank) {
    double left = 0;
    for (std::int64_t j = rank; j < 5; ++j) left += std::pow(f.d.singular_value(1, j), 2);
    const matrix near = fixture::second(svd::low_rank_approximation(f.d, rank), 8, 5);
    EXPECT_NEAR((near - f.a).norm(), std::sqrt(left), 1e-13);
  }
}

TEST(svd_applications, condition_number_and_rank) {
  matrix a = matrix::Zero(3, 3);
  a.diagonal() << 4, 2, 0.5;
  const fixture f(a);
  EXPECT_DOUBLE_EQ(svd::condition_number(f.d)[1], 8);
  EXPECT_TRUE(svd::condition_number(f.d)[0] > 1e15);  // all ones
  EXPECT_EQ(svd::numerical_rank(f.d), (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(svd::numerical_rank(f.d, {0.2}), (std::vector<std::int64_t>{1, 2}));
}

TEST(svd_applications, polar_factors) {
  const fixture f(random_matrix(6, 4, 9));
  const auto polar = svd::polar(f.d);
  const matrix w = fixture::second(polar.w, 6, 4), h = fixture::second(polar.h, 4, 4);
  EXPECT_LE((w * h - f.a).norm(), 1e-13);
  EXPECT_LE((w.transpose() * w - matrix::Identity(4, 4)).norm(), 1e-13);
  EXPECT_LE((h - h.transpose()).norm(), 1e-13);
  EXPECT_GT(Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(h).eigenvalues().minCoeff(), 0);
}

TEST(svd_applications, wrong_arguments) {
  const std::vector<double> a{1, 2, 3, 4};
  const auto values = svd::decompose<double>({a.data(), 1, 2, 2}, {.vectors = svd::vectors::none}, Device::host());
  expect_invalid([&] { svd::pseudo_inverse(values); }, "must have its vectors");
  const auto d = svd::decompose<double>({a.data(), 1, 2, 2}, {}, Device::host());
  expect_invalid([&] { svd::low_rank_approximation(d, -1); }, "rank must be >= 0 (rank=-1)");
  expect_invalid([&] { svd::least_squares<double>(d, {a.data(), 1, 4, 1}); }, "right.rows must be m = 2");
}

}  // namespace
}  // namespace quintet
