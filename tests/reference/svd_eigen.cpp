// What Eigen decomposes.
#include <Eigen/Eigenvalues>
#include <Eigen/SVD>
#include <stdexcept>
#include <utility>

#include "reference/svd_reference.hpp"

namespace quintet::reference {

namespace {

using row_major = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using column_major = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
// Eigen's own QR decompositions take as long to compile as all else here.
using jacobi = Eigen::JacobiSVD<column_major, Eigen::NoQRPreconditioner>;

Eigen::Map<const row_major> mapped(const matrix& a) { return {a.data(), a.rows(), a.cols()}; }

matrix copied(const column_major& a) {
  matrix result(a.rows(), a.cols());
  for (std::int64_t i = 0; i < a.rows(); ++i)
    for (std::int64_t j = 0; j < a.cols(); ++j) result(i, j) = a(i, j);
  return result;
}

}  // namespace

decomposition decomposed(const matrix& a) {
  if (a.rows() < a.cols()) {
    decomposition d = decomposed(transposed(a));
    std::swap(d.u, d.v);
    return d;
  }
  const bool is_square = a.rows() == a.cols();
  const orthonormal_triangle first = is_square ? orthonormal_triangle{{}, a} : qr(a);
  const jacobi d(mapped(first.r), Eigen::ComputeFullU | Eigen::ComputeFullV);
  const auto& s = d.singularValues();
  const matrix u = copied(d.matrixU());
  return {is_square ? u : first.q * u, copied(d.matrixV()), {s.data(), s.data() + s.size()}};
}

std::vector<double> singular_values(const matrix& a) {
  if (a.rows() < a.cols()) return singular_values(transposed(a));
  const jacobi d(mapped(a.rows() == a.cols() ? a : qr(a).r));
  return {d.singularValues().data(), d.singularValues().data() + d.singularValues().size()};
}

std::vector<long double> eigenvalues(const matrix& a) {
  const Eigen::SelfAdjointEigenSolver<column_major> solver(mapped(a), Eigen::EigenvaluesOnly);
  if (solver.info() != Eigen::Success) throw std::runtime_error("the reference for eigenvalues has not converged");
  return {solver.eigenvalues().data(), solver.eigenvalues().data() + a.rows()};
}

std::vector<long double> eigenvalues_with_zero_diagonal(const std::vector<long double>& beside) {
  using vector = Eigen::Matrix<long double, Eigen::Dynamic, 1>;
  const auto size = Eigen::Index(beside.size());
  vector diagonal = vector::Zero(size + 1), other = Eigen::Map<const vector>(beside.data(), size);
  // What Eigen takes for zero is right for matrices of size 1 only.
  const long double max = other.cwiseAbs().maxCoeff(), unit = max > 0 ? max : 1;
  other /= unit;
  column_major none;
  if (Eigen::internal::computeFromTridiagonal_impl(diagonal, other, 100, false, none) != Eigen::Success)
    throw std::runtime_error("the reference for singular values has not converged");
  diagonal *= unit;
  return {diagonal.data(), diagonal.data() + diagonal.size()};
}

}  // namespace quintet::reference
