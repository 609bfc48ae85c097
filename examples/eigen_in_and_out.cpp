// Eigen matrices as arguments and as results, without a copy: an SVD of a matrix stored by columns, and a clustering of
// one stored by rows.
#include <Eigen/Dense>
#include <iostream>

#include "quintet/eigen.hpp"
#include "quintet/hdbscan/hdbscan.hpp"
#include "quintet/svd/decompose.hpp"

int main() {
  const Eigen::MatrixXd a = Eigen::MatrixXd::Random(6, 4);
  const auto d = quintet::svd::decompose(a);  // strides are free here: columns are taken as they lie
  const auto u = quintet::eigen_map(d.u_view(), 0);
  const auto v = quintet::eigen_map(d.v_view(), 0);
  const Eigen::VectorXd s = Eigen::Map<const Eigen::VectorXd>(d.s.data(), 4);
  const double error = (u * s.asDiagonal() * v.transpose() - a).norm() / a.norm();
  std::cout << "U S V^T is A: " << std::boolalpha << (error < 1e-14) << "\n";

  // One point per row, so the matrix has to be stored by rows; another one does not compile, with a message that says
  // so.
  Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> points(60, 2);
  for (int i = 0; i < 60; ++i) points.row(i) << float(i % 30), i < 30 ? 0.f : 100.f;
  const auto found = quintet::hdbscan::cluster(points, {.min_cluster_size = 5});
  std::cout << found.clusters() << " clusters\n";
}
