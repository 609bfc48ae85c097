// What a decomposition is for: thin functions on U, S and V of decompose(), one matrix of the batch after another.
//
//   auto d = quintet::svd::decompose<double>(a);
//   std::vector<double> x = quintet::svd::least_squares<double>(d, b);
//
// All results are dense, row-major, one matrix after another, and of the storage type. They are computed on the host in
// accumulator_t<T>; matrices whose status is not_finite give NaN. Every function throws InvalidArgument when the
// decomposition lacks the vectors it needs.
//
// There is no eigenproblem of A^T A here: its eigenvalues are S_j^2 and its eigenvectors V, and forming the product
// would lose every singular value below sqrt(eps) S_0, which is what this library is there to avoid.
#pragma once

#include <cstdint>
#include <vector>

#include "quintet/svd/decompose.hpp"

namespace quintet::svd {

/// Singular values at or below this part of the largest count as zero where a function divides by them; 0 stands for
/// max(m, n) eps, as in NumPy and MATLAB.
struct rank_tolerance {
  double relative = 0;  ///< >= 0, of the largest singular value
};

/// Number of singular values above the tolerance, [B].
template <class T>
std::vector<std::int64_t> numerical_rank(const decomposition<T>& d, rank_tolerance tolerance = {});

/// A^+ [B, n, m] (Moore and Penrose): V diag(1 / S) U^T over the singular values above the tolerance.
/// Cost: m n k multiply-adds a matrix.
template <class T>
std::vector<T> pseudo_inverse(const decomposition<T>& d, rank_tolerance tolerance = {});

/// The X [B, n, r] of least norm among those that minimise |A X - R|_F, for right-hand sides R [B, m, r].
/// Cost: (m + n) k r multiply-adds a matrix.
template <class T>
std::vector<T> least_squares(const decomposition<T>& d, batch_view<const T> right, rank_tolerance tolerance = {});

/// The nearest matrix of rank `rank` [B, m, n] in the spectral and the Frobenius norm (Eckart and Young 1936).
/// rank >= 0; more than there are singular values means all. Cost: m n rank multiply-adds a matrix.
template <class T>
std::vector<T> low_rank_approximation(const decomposition<T>& d, std::int64_t rank);

/// S_0 / S_{k-1} [B], the condition number in the spectral norm: infinity for singular matrices, 1 for empty ones.
/// Needs all singular values, no vectors.
template <class T>
std::vector<accumulator_t<T>> condition_number(const decomposition<T>& d);

/// A = W H with W [B, m, n] of orthonormal columns (rows, when m < n) and H [B, n, n] symmetric and positive
/// semidefinite: W = U V^T, H = V diag(S) V^T.
template <class T>
struct polar_factors {
  ///@{
  /// One matrix of the batch after another, dense and row-major.
  std::vector<T> w, h;
  ///@}
};
/// Needs all singular values. Cost: (m + n) n k multiply-adds a matrix.
template <class T>
polar_factors<T> polar(const decomposition<T>& d);

}  // namespace quintet::svd
