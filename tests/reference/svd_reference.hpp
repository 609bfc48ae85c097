// Singular value decompositions in long double, slow and plain, and what is made of them by its formula.
#pragma once

#include <cstdint>
#include <vector>

#include "quintet/core/view.hpp"
#include "reference/matrix.hpp"

namespace quintet::reference {

/// A = U diag(s) V^T with as many columns as the shorter side of A has elements.
struct decomposition {
  matrix u, v;
  std::vector<long double> s;
};

/// A = Q R of a matrix with rows >= cols, by Householder's reflections: R square, Q of the shape of A.
struct orthonormal_triangle {
  matrix q, r;
};
orthonormal_triangle qr(const matrix& a);

/// By Eigen's two-sided Jacobi method (of R, when A is not square): every singular value to the last digits.
decomposition decomposed(const matrix& a);
/// The same without vectors.
std::vector<double> singular_values(const matrix& a);

/// By bidiagonalisation, for matrices that Jacobi's method would take minutes for: errors are a few epsilon (of long
/// double) times the largest of them.
std::vector<long double> singular_values_by_bidiagonalisation(matrix a);
/// Ascending eigenvalues of a symmetric matrix, of which the lower triangle is read, by Eigen.
std::vector<long double> eigenvalues(const matrix& a);
/// Ascending eigenvalues of the symmetric tridiagonal matrix with `beside` beside a diagonal of zeros, by Eigen.
std::vector<long double> eigenvalues_with_zero_diagonal(const std::vector<long double>& beside);

/// Of matrix b of a batch.
template <class T>
std::vector<double> singular_values(batch_view<const T> a, std::int64_t b) {
  return singular_values(widened(a, b));
}

/// Q_left diag(s) Q_right^T, with the orthonormal columns of the QR decompositions of both, which have as many columns
/// as s has elements.
matrix with_singular_values(const matrix& left, const std::vector<long double>& s, const matrix& right);
/// The same for n x n row-major elements, rounded at the end: one matrix whatever compiler and processor made it.
std::vector<double> with_singular_values(const double* left, const std::vector<double>& s, const double* right);

/// Whether all pivots of Cholesky's decomposition of a symmetric matrix are positive.
bool is_positive_definite(matrix a);

/// V diag(1 / s) U^T.
matrix pseudo_inverse(const decomposition& d);
/// U_r diag(s_r) V_r^T with the first `rank` columns.
matrix low_rank(const decomposition& d, std::int64_t rank);
/// The orthonormal polar factor U V^T, and the semidefinite one V diag(s) V^T.
matrix orthonormal_factor(const decomposition& d);
matrix semidefinite_factor(const decomposition& d);
/// The derivative by A of what has the derivatives gu, gs, gv by the factors, with 1 / (s_j^2 - s_i^2).
matrix gradient(const decomposition& d, const matrix& gu, const std::vector<long double>& gs, const matrix& gv);

}  // namespace quintet::reference
