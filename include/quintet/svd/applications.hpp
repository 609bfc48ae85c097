// Applications of a decomposition: thin functions on the U, S and V of decompose(), for all matrices of the batch at
// once and on any device.
//
//   auto d = quintet::svd::decompose(a);
//   std::vector<double> x = quintet::svd::least_squares<double>(d, b);
//
// Results are dense, row-major, one matrix after another, and of the storage type. Sums run in accumulator_t<T>, in a
// fixed order, so every device gives the same bits. Matrices with status not_finite give NaN. The second form of each
// function takes factors in any memory and writes to the caller's memory. Outputs must not overlap the factors or each
// other.
//
// Errors: InvalidArgument for views of another shape, for missing vectors or values, and for a negative or NaN
// tolerance; OutOfMemory, DeviceError. `d` is a result of decompose() or randomised(): the lengths of its vectors are
// not checked. Memory: the result, and on a device copies of host data. B is the number of matrices m x n, k that of
// singular values of each.
//
// These functions use neither the eigenproblem of A^T A nor normal equations. The eigenvalues of A^T A are S_j^2 and
// its eigenvectors V, but forming the product rounds by eps S_0^2. Every singular value below sqrt(eps) S_0 (3e-4 S_0
// in float) is then lost, and with it the rank decision, the pseudo-inverse and the condition number above 1 /
// sqrt(eps). If you need the eigenproblem, take S^2 and V, to the accuracy of decompose().
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "quintet/svd/decompose.hpp"

namespace quintet::svd {

/// Singular values at or below max(absolute, relative S_0) count as zero where a function divides by them.
struct rank_tolerance {
  /// >= 0, relative to the largest singular value; empty: 0 where `absolute` is given, otherwise max(m, n) eps, as in
  /// NumPy and MATLAB
  std::optional<double> relative = std::nullopt;
  std::optional<double> absolute = std::nullopt;  ///< >= 0; empty: 0
};

/// Number of singular values above the tolerance, [B]; 0 for a matrix that is not finite. Needs no vectors. O(B k), on
/// the host.
std::vector<std::int64_t> numerical_rank(const any_factors& f, rank_tolerance tolerance = {});

/// Drops what the tolerance counts as zero: d.values, d.u_cols and d.v_cols become the largest rank in the batch, and
/// matrices of a smaller rank get singular values of 0 there. Vectors of those stay. Functions that divide by singular
/// values then use {.relative = 0}. A matrix that is not finite keeps its NaN. Returns the ranks, [B]. Full vectors
/// become those of the rank. O(B (m + n) k), on the host.
template <class T>
std::vector<std::int64_t> truncate(decomposition<T>& d, rank_tolerance tolerance);

/// Orthonormal bases of subspaces, one for each matrix, side by side in arrays of one size.
template <class T>
struct subspace_bases {
  static_assert(sizeof(typename quintet::detail::checked_storage<T>::type) > 0);
  std::int64_t batch = 0;  ///< B
  std::int64_t rows = 0;   ///< of each vector
  std::int64_t cols = 0;   ///< the largest dimension
  /// [B, rows, cols], row-major, one vector a column. Columns from the dimension on are zero, so that N N^T is the
  /// projection onto the space in every case. NaN for matrices that are not finite
  std::vector<T> vectors;
  std::vector<std::int64_t> dimension;  ///< [B]; 0 for matrices that are not finite

  /// The bases [B, rows, cols].
  batch_view<const T> view() const QUINTET_LIFETIMEBOUND { return {vectors.data(), batch, rows, cols}; }
};
///@{
/// Bases of the range {A x} of every matrix, the first columns of U, and of its null space {x: A x = 0}, the last
/// columns of V. A singular value that counts as zero makes the difference. Need vectors and all singular values; the
/// null space of m < n needs vectors::full. O(B m n), on the host.
template <class T>
subspace_bases<T> range_basis(const decomposition<T>& d, rank_tolerance tolerance = {});
template <class T>
subspace_bases<T> null_space_basis(const decomposition<T>& d, rank_tolerance tolerance = {});
///@}

/// A^+ [B, n, m] (Moore and Penrose): V diag(1 / S) U^T over the singular values above the tolerance.
/// Cost: m n k multiply-adds per matrix.
template <class T>
std::vector<T> pseudo_inverse(const decomposition<T>& d, rank_tolerance tolerance = {},
                              const Device& device = Device::best());

/// The X [B, n, r] of least norm among those that minimise |A X - R|_F, for right-hand sides R [B, m, r].
/// Cost: (m + n) k r multiply-adds per matrix.
template <class T>
std::vector<T> least_squares(const decomposition<T>& d, batch_view<const T> right, rank_tolerance tolerance = {},
                             const Device& device = Device::best());

/// The nearest matrix of rank `rank` [B, m, n] in the spectral and the Frobenius norm (Eckart and Young 1936).
/// rank >= 0; more than there are singular values means all. Cost: m n rank multiply-adds per matrix.
template <class T>
std::vector<T> low_rank_approximation(const decomposition<T>& d, std::int64_t rank,
                                      const Device& device = Device::best());

/// S_0 / S_{k-1} [B], the condition number in the spectral norm: infinity for singular matrices, 1 for empty ones.
/// Needs all singular values, no vectors. O(B), on the host.
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
/// The polar decomposition (Autonne 1902): W is the nearest matrix to A of orthonormal columns, in every unitarily
/// invariant norm (Fan and Hoffman 1955). Needs all singular values, economy or full vectors. Cost: (m + n) n k
/// multiply-adds per matrix.
template <class T>
polar_factors<T> polar(const decomposition<T>& d, const Device& device = Device::best());

///@{
/// The same functions of factors in any memory, to the caller's memory, any strides; between arguments on one device
/// nothing is transferred. They return the device that did it and throw InvalidArgument for outputs of another shape.
/// least_squares() takes B k r numbers there; condition_number() takes S alone, [B, min(m, n)], falling.
Device pseudo_inverse(const any_factors& f, any_output_batch out, rank_tolerance tolerance = {},
                      const Device& device = Device::best());
Device least_squares(const any_factors& f, any_batch right, any_output_batch out, rank_tolerance tolerance = {},
                     const Device& device = Device::best());
Device low_rank_approximation(const any_factors& f, std::int64_t rank, any_output_batch out,
                              const Device& device = Device::best());
Device condition_number(any_matrix s, any_output_vector out, const Device& device = Device::best());
Device polar(const any_factors& f, any_output_batch w, any_output_batch h, const Device& device = Device::best());
///@}

/// What solve_least_squares() returns, dense and row-major.
template <class T>
struct least_squares_solutions {
  static_assert(sizeof(typename quintet::detail::checked_storage<T>::type) > 0);
  ///@{
  /// B, n and r.
  std::int64_t batch = 0, rows = 0, cols = 0;
  ///@}
  std::vector<T> x;                        ///< [B, n, r]
  std::vector<accumulator_t<T>> residual;  ///< [B, r], |A x - right|_2 of each column, from its definition
  std::vector<std::int64_t> rank;          ///< [B], as numerical_rank()
  std::vector<accumulator_t<T>> values;    ///< [B, min(m, n)], the singular values of A, falling
  std::vector<std::int32_t> status;        ///< [B], see svd::status; x and residual of other matrices are NaN
  Device ran_on;                           ///< where it was computed

  /// x [B, n, r].
  batch_view<const T> x_view() const QUINTET_LIFETIMEBOUND { return {x.data(), batch, rows, cols}; }
};
/// decompose() and least_squares() in one call, for a [B, m, n] and right [B, m, r]. The x of least norm among those
/// that minimise |A x - right|, what is left, and the rank that was used. T is double, float, half or bfloat16. Errors
/// as both.
template <class T>
least_squares_solutions<T> solve_least_squares(batch_view<const T> a, batch_view<const T> right,
                                               rank_tolerance tolerance = {}, const Device& device = Device::best());

/// out [B, r] := the Euclidean norm of every column of A x - right, for a [B, m, n], x [B, n, r] and right [B, m, r].
/// Sums run in accumulator_t, scaled so that nothing overflows. Returns the device that did it. Cost: m n r
/// multiply-adds per matrix.
Device residual_norm(any_batch a, any_batch x, any_batch right, any_output_matrix out,
                     const Device& device = Device::best());

/// Throws InvalidArgument unless d.values = min(m, n).
void require_all_values(const decomposition_shape& d);

template <class T>
std::vector<T> pseudo_inverse(const decomposition<T>& d, rank_tolerance tolerance, const Device& device) {
  std::vector<T> result(d.batch * d.cols * d.rows);
  pseudo_inverse(d, any_output_batch(result.data(), d.batch, d.cols, d.rows), tolerance, device);
  return result;
}

template <class T>
std::vector<T> least_squares(const decomposition<T>& d, batch_view<const T> right, rank_tolerance tolerance,
                             const Device& device) {
  std::vector<T> result(d.batch * d.cols * right.cols());
  least_squares(d, right, any_output_batch(result.data(), d.batch, d.cols, right.cols()), tolerance, device);
  return result;
}

template <class T>
std::vector<T> low_rank_approximation(const decomposition<T>& d, std::int64_t rank, const Device& device) {
  std::vector<T> result(d.batch * d.rows * d.cols);
  low_rank_approximation(d, rank, any_output_batch(result.data(), d.batch, d.rows, d.cols), device);
  return result;
}

template <class T>
std::vector<accumulator_t<T>> condition_number(const decomposition<T>& d) {
  require_all_values(d);
  std::vector<accumulator_t<T>> result(d.batch);
  condition_number(d.s_view(), result, Device::host());
  return result;
}

template <class T>
least_squares_solutions<T> solve_least_squares(batch_view<const T> a, batch_view<const T> right,
                                               rank_tolerance tolerance, const Device& device) {
  decomposition<T> d = decompose<T>(a, {}, device);
  least_squares_solutions<T> result{a.batch(), a.cols(), right.cols(), least_squares<T>(d, right, tolerance, device),
                                    {},        {},       {},           std::move(d.status),
                                    d.ran_on};
  result.rank = numerical_rank(d, tolerance);
  result.values = std::move(d.s);
  result.residual.resize(a.batch() * right.cols());
  residual_norm(any_batch(a), result.x_view(), right,
                any_output_matrix(result.residual.data(), a.batch(), right.cols()), device);
  return result;
}

template <class T>
polar_factors<T> polar(const decomposition<T>& d, const Device& device) {
  polar_factors<T> result{std::vector<T>(d.batch * d.rows * d.cols), std::vector<T>(d.batch * d.cols * d.cols)};
  polar(d, any_output_batch(result.w.data(), d.batch, d.rows, d.cols),
        any_output_batch(result.h.data(), d.batch, d.cols, d.cols), device);
  return result;
}

}  // namespace quintet::svd
