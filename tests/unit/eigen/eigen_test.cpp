// Matrices of Eigen as arguments and results: no copy where the layout allows, and the results of views.
#include "quintet/eigen.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <type_traits>
#include <vector>

#include "quintet/core/philox.hpp"
#include "quintet/hdbscan/hdbscan.hpp"
#include "quintet/poincare/poincare.hpp"
#include "quintet/spgemm/multiply.hpp"
#include "quintet/svd/decompose.hpp"
#include "support/expect_error.hpp"
#include "support/near.hpp"

namespace quintet::test {
namespace {

template <class T>
using rows_of = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

template <class Matrix>
Matrix random_matrix(std::int64_t rows, std::int64_t cols, std::uint64_t seed) {
  using Scalar = typename Matrix::Scalar;
  Matrix m(rows, cols);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < cols; ++j) m(i, j) = Scalar(0.1) * normal_at<Scalar>(seed, i, j);
  return m;
}

template <int Order>
Eigen::SparseMatrix<double, Order> random_sparse(int rows, int cols, std::uint64_t seed) {
  random_stream random(seed);
  std::vector<Eigen::Triplet<double>> entries;
  for (int e = 0; e < 4 * rows; ++e)
    entries.emplace_back(int(random.below(std::uint32_t(rows))), int(random.below(std::uint32_t(cols))),
                         random.uniform<double>());
  Eigen::SparseMatrix<double, Order> m(rows, cols);
  m.setFromTriplets(entries.begin(), entries.end());
  m.makeCompressed();
  return m;
}

TEST(eigen, dense_matrices_are_seen_in_place) {
  rows_of<float> x = random_matrix<rows_of<float>>(5, 7, 1);
  const matrix_view<float> whole = matrix_of(x);
  EXPECT_EQ(whole.data(), x.data());
  EXPECT_EQ(whole.stride(), 7);
  auto block = x.block(1, 2, 3, 4);
  const auto part = matrix_of(block);
  EXPECT_EQ(part.data(), &x(1, 2));
  EXPECT_EQ(part.stride(), 7);
  EXPECT_EQ(part(2, 3), x(3, 5));
  const rows_of<float>& constant = x;
  static_assert(std::is_same_v<decltype(matrix_of(constant)), matrix_view<const float>>);
  static_assert(std::is_same_v<element_of<decltype(block)>, float>);

  Eigen::MatrixXd by_columns = random_matrix<Eigen::MatrixXd>(5, 7, 2);
  const auto rows = matrix_of(by_columns.transpose());
  EXPECT_EQ(rows.data(), by_columns.data());
  EXPECT_EQ(rows(6, 4), by_columns(4, 6));
  const auto batch = batch_of(by_columns);
  EXPECT_EQ(batch.data(), by_columns.data());
  EXPECT_EQ(batch(0, 4, 6), by_columns(4, 6));
  EXPECT_EQ(batch_of(by_columns.topRows(2))(0, 1, 6), by_columns(1, 6));
}

TEST(eigen, vectors_are_seen_in_place) {
  Eigen::VectorXd v = random_matrix<Eigen::MatrixXd>(6, 1, 3);
  EXPECT_EQ(values_of(v).data(), v.data());
  EXPECT_EQ(values_of(v.segment(2, 3)).data(), &v(2));
  EXPECT_EQ(matrix_of(v).cols(), 1);
  rows_of<double> x = random_matrix<rows_of<double>>(3, 4, 4);
  EXPECT_EQ(values_of(x.row(1)).data(), &x(1, 0));
  expect_invalid([&] { values_of(x.col(1)); }, "innerStride() of a vector must be 1");
}

TEST(eigen, views_become_maps) {
  std::vector<double> x(30);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = double(i);
  eigen_map(matrix_view<double>(x.data(), 2, 3, 5))(1, 2) = -1;
  EXPECT_EQ(x[7], -1);
  EXPECT_EQ(eigen_map(batch_view<const double>(x.data(), 2, 3, 5).transposed(), 1)(4, 2), 29);
  EXPECT_EQ(eigen_map(vector_view<const double>(x)).tail(1)(0), 29);
  if (Device::count() == 0) return;
  const Buffer<double> there(x, Device::offload(0));
  expect_invalid([&] { eigen_map(vector_view<const double>(there)); }, "must be of host memory (device=0)");
}

TEST(eigen, hdbscan_clusters_rows) {
  rows_of<float> points = random_matrix<rows_of<float>>(60, 3, 5);
  points.topRows(30).array() += 9;
  const auto found = hdbscan::cluster(points, {.min_cluster_size = 5});
  EXPECT_EQ(found.labels[0], found.labels[29]);
  EXPECT_NE(found.labels[0], found.labels[30]);
}

TEST(eigen, svd_takes_both_orders) {
  const Eigen::MatrixXd a = random_matrix<Eigen::MatrixXd>(9, 6, 6);
  const rows_of<double> same = a;
  for (const auto& found : {svd::decompose(a), svd::decompose(same)}) {
    const Eigen::MatrixXd product =
        eigen_map(found.u_view(), 0) * eigen_map(vector_view(found.s)).asDiagonal() * eigen_map(found.vt_view(), 0);
    EXPECT_LT((product - a).norm(), 1e-14 * a.norm());
  }
}

TEST(eigen, poincare_measures_rows_and_blocks) {
  const rows_of<double> x = random_matrix<rows_of<double>>(8, 5, 7);
  const Eigen::MatrixXd by_columns = x.transpose();
  rows_of<double> out(8, 8), same(8, 8);
  poincare::distances(x, x, out);
  poincare::distances(x, by_columns.transpose(), same);
  EXPECT_EQ(out, same);
  Eigen::VectorXd pairs(3);
  poincare::pair_distances(x.middleRows(1, 3), x.middleRows(4, 3), pairs);
  EXPECT_EQ(pairs(2), out(3, 6));
  const double numerator = (x.row(3) - x.row(6)).squaredNorm();
  const double t = numerator / ((1 - x.row(3).squaredNorm()) * (1 - x.row(6).squaredNorm()));
  EXPECT_NEAR(out(3, 6), 2 * std::asinh(std::sqrt(t)), 1e-14);
}

TEST(eigen, sparse_matrices_multiply) {
  const auto a = random_sparse<Eigen::RowMajor>(40, 30, 8);
  const auto b = random_sparse<Eigen::RowMajor>(30, 50, 9);
  const auto a_rows = csr_of(a), b_rows = csr_of(b);
  EXPECT_EQ(a_rows.view().columns, a.innerIndexPtr());
  EXPECT_EQ(a_rows.view().values, a.valuePtr());
  const auto c = spgemm::multiply(a_rows.view(), b_rows.view());
  const Eigen::SparseMatrix<double, Eigen::RowMajor> expected = a * b;
  const auto found = eigen_matrix(c.view());
  EXPECT_LT((found - expected).norm(), 1e-13 * expected.norm());
  EXPECT_EQ(found.nonZeros(), expected.nonZeros());
}

TEST(eigen, sparse_matrices_by_columns_are_their_transpose) {
  const auto a = random_sparse<Eigen::ColMajor>(20, 30, 10);
  const auto rows = csr_of(a.transpose());
  EXPECT_EQ(rows.view().rows, 30);
  EXPECT_EQ(rows.view().values, a.valuePtr());
  EXPECT_EQ(eigen_matrix(rows.view()).toDense(), a.toDense().transpose());
}

TEST(eigen, sparse_matrices_with_64_bits_are_seen_in_place) {
  const Eigen::SparseMatrix<double, Eigen::RowMajor, std::int64_t> a = random_sparse<Eigen::RowMajor>(12, 9, 11);
  const auto rows = csr_of(a);
  EXPECT_EQ(static_cast<const void*>(rows.view().row_pointers), static_cast<const void*>(a.outerIndexPtr()));
  EXPECT_EQ(eigen_map(rows.view()).toDense(), a.toDense());
  EXPECT_EQ(eigen_map(rows.view()).valuePtr(), a.valuePtr());
}

TEST(eigen, sparse_matrices_must_be_compressed) {
  auto a = random_sparse<Eigen::RowMajor>(12, 9, 12);
  a.uncompress();
  expect_invalid([&] { csr_of(a); }, "call makeCompressed() first");
}

}  // namespace
}  // namespace quintet::test
