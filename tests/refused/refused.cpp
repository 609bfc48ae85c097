// Calls that must not compile, each in a case of its own; see CMakeLists.txt.
#include <complex>
#include <vector>

#ifdef QUINTET_WITHOUT_EIGEN_HEADER
#include <Eigen/SparseCore>
#else
#include "quintet/eigen.hpp"
#endif
#include "quintet/hdbscan/hdbscan.hpp"
#include "quintet/io/matrix.hpp"
#include "quintet/io/sparse_file.hpp"
#include "quintet/poincare/poincare.hpp"
#include "quintet/spgemm/multiply.hpp"
#include "quintet/svd/svd.hpp"

using by_rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using namespace quintet;

#ifdef QUINTET_WITHOUT_EIGEN_HEADER
void use(by_rows& x, const Eigen::MatrixXf& by_columns) {
#if defined(CASE_eigen_without_header)
  hdbscan::cluster(x);
#elif defined(CASE_svd_of_eigen_without_header)
  svd::decompose(by_columns);
#endif
}
#else
void use(by_rows& x, by_rows& out, Eigen::MatrixXf& by_columns) {
  poincare::distances(x, x, out);
  poincare::distances(x, by_columns.transpose(), out);
  batch_of(by_columns);
  svd::decompose(by_columns);
  hdbscan::cluster(x, {.min_cluster_size = 10, .min_samples = 5});
#if defined(CASE_long_double)
  poincare::distances(x.cast<long double>().eval(), x, out);
#elif defined(CASE_long_double_view)
  const matrix_view<const long double> view;
  poincare::distances(view, view, out);
#elif defined(CASE_long_double_batch)
  const batch_view<const long double> batch;
  svd::decompose(batch);
#elif defined(CASE_values_as_points)
  hdbscan::cluster(std::vector<float>(12));
#elif defined(CASE_values_as_batch)
  svd::decompose(std::vector<double>(12));
#elif defined(CASE_rows_in_separate_memory)
  hdbscan::cluster(std::vector<std::vector<float> >(3), {.min_cluster_size = 5});
#elif defined(CASE_int)
  const io::matrix<int> points;
  poincare::nearest(points, points, 3);
#elif defined(CASE_eigen_int)
  const Eigen::Matrix<int, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> points;
  poincare::nearest(points, points, 3);
#elif defined(CASE_points_by_columns)
  poincare::distances(by_columns, x, out);
#elif defined(CASE_result_by_columns)
  poincare::distances(x, x, by_columns);
#elif defined(CASE_expression)
  poincare::distances(x + x, x, out);
#elif defined(CASE_clusters_by_columns)
  hdbscan::cluster(by_columns);
#elif defined(CASE_clusters_of_int)
  hdbscan::cluster(Eigen::Matrix<int, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>(3, 3));
#elif defined(CASE_svd_of_long_double)
  svd::decompose(Eigen::Matrix<long double, 3, 3>());
#elif defined(CASE_factors_of_int)
  svd::pseudo_inverse(svd::decomposition<int>());
#elif defined(CASE_motion_of_int)
  const batch_view<const int> points;
  svd::kabsch<int>(points, points);
#elif defined(CASE_motion_of_half)
  const batch_view<const half> points;
  svd::kabsch_gradient<half>(points, points, {}, {}, {}, {});
#elif defined(CASE_sparse_of_int)
  const spgemm::csr<int, std::int32_t> a{2, 2, {0, 1, 2}, {1, 0}, {2, 3}};
  multiply(a.view(), a.view());
#elif defined(CASE_sparse_of_complex)
  const spgemm::csr_view<std::complex<double>, std::int32_t> a;
  multiply(a, a);
#elif defined(CASE_view_of_temporary)
  const auto a = spgemm::csr<double, std::int32_t>{2, 2, {0, 1, 2}, {1, 0}, {2, 3}}.view();
  multiply(a, a);
#elif defined(CASE_sparse_file_of_int)
  io::read_sparse<int, std::int32_t>("a.mtx");
#elif defined(CASE_sparse_of_short_columns)
  const spgemm::csr<double, short> a{2, 2, {0, 1, 2}, {1, 0}, {2, 3}};
  multiply(a.view(), a.view());
#elif defined(CASE_sparse_by_columns)
  csr_of(Eigen::SparseMatrix<double>(3, 3));
#endif
}
#endif
