// Batched symmetric eigenproblem: A_b = V_b diag(w_b) V_b^T for b = 0 ... B - 1.
//
//   std::vector<double> a(batch * n * n);                                  // row-major, one matrix after another
//   auto r = quintet::svd::eigen(quintet::batch_view(a.data(), batch, n, n));
//   r.eigenvalue(b, j);   r.v_view()(b, i, j);   r.status[b];
//
// Method: reduction to tridiagonal form by Householder's reflections, then implicit QL steps with Wilkinson's shift
// (Golub and Van Loan 1996, 8.3). Small matrices are side by side in SIMD registers, with all their steps in lockstep;
// all threads work on matrices of more than 256 columns. On a host, vectors of 80 columns and more that are not side by
// side come from divide and conquer (Cuppen 1981; Gu and Eisenstat 1995). Matrices of 2, 3 and 4 rows stay in registers
// for cyclic Jacobi rotations (Rutishauser 1966).
//
// Accuracy, in units of eps of the type computed in (float for half and bfloat16):
//   max_j |w_j - exact| <= 2 n eps max_j |w_j|
//   |A V - V diag(w)|_F <= 4 n eps |A|_F
//   max_ij |(V^T V - I)_ij| <= max(8, 2 sqrt(n)) eps
// Matrices are scaled by powers of two, so nothing overflows or vanishes on the way.
//
// Results have the same bits for any number of threads, any order of the batch and any neighbours in a batch of the
// same size (eigen_options::part_of for parts of a batch). Between devices they agree to the accuracy above.
#pragma once

#include <cstdint>
#include <vector>

#include "quintet/core/any_view.hpp"
#include "quintet/device/device.hpp"
#include "quintet/svd/options.hpp"

namespace quintet::svd {

/// The part of a symmetric matrix that is read, with the diagonal. The other part is ignored, NaN included.
enum class triangle {
  lower,  ///< elements (i, j) with i >= j
  upper,  ///< elements (i, j) with i <= j
};

/// Options of eigen().
struct eigen_options {
  svd::triangle triangle = svd::triangle::lower;  ///< the part of A that is read
  bool vectors = true;                            ///< whether V is wanted; w alone is a third to a tenth of the cost
  /// The matrices are positive semidefinite, and small eigenvalues are wanted to the last digits: one-sided Jacobi on a
  /// pivoted Cholesky factor (Veselic and Hari 1989; Drmac 1998). |w_j - exact| <= 10 n eps w_j if a scaling D A D of
  /// the matrix is well-conditioned, at the cost of decompose(). What rounding makes of a singular matrix is 0. A
  /// matrix that is not positive semidefinite has status::not_definite
  bool positive = false;
  ///@{
  /// Only these eigenvalues and their vectors: `count` of them from number `first` on, where 0 is the smallest one. A
  /// count of 0: all of them. The others are computed too, so this saves memory, and time to write it.
  std::int64_t first = 0, count = 0;
  ///@}
  /// Matrices of the batch that this batch is a part of: see svd::options.
  std::int64_t part_of = 0;
};

/// Outputs of the second form of eigen(), in memory of the host or of the device.
struct eigen_outputs {
  any_output_matrix w;               ///< [B x k], of the type that is computed in; k = eigen_options::count, or n
  any_output_batch v;                ///< [B x n x k], any strides; unused without vectors
  vector_view<std::int32_t> status;  ///< [B], see svd::status
};

/// Eigenvalues and eigenvectors of a batch, dense and row-major. T: the storage type; w is float for the 16-bit types.
template <class T>
struct eigen_decomposition {
  static_assert(sizeof(typename quintet::detail::checked_storage<T>::type) > 0);
  std::int64_t batch = 0;            ///< B
  std::int64_t size = 0;             ///< n
  std::int64_t values = 0;           ///< k, eigenvalues of each: n, or eigen_options::count
  std::vector<accumulator_t<T>> w;   ///< [B, k], rising
  std::vector<T> v;                  ///< [B, n, k], empty without vectors; column j belongs to w_j
  std::vector<std::int32_t> status;  ///< [B], see svd::status
  Device ran_on;                     ///< where it was computed

  /// w [B, k].
  matrix_view<const accumulator_t<T>> w_view() const QUINTET_LIFETIMEBOUND { return {w.data(), batch, values}; }
  /// V [B, n, k], or [B, n, 0] without vectors.
  batch_view<const T> v_view() const QUINTET_LIFETIMEBOUND { return {v.data(), batch, size, v.empty() ? 0 : values}; }
  /// Eigenvalue j of matrix b, 0 <= j < k; not checked.
  accumulator_t<T> eigenvalue(std::int64_t b, std::int64_t j) const { return w[b * values + j]; }
};

/// Eigenvalues of every matrix of `a` [B x n x n], any strides, in rising order, and orthonormal eigenvectors. The
/// element of largest size of each vector is positive (the first among equals). T is double, float, half or bfloat16.
/// B = 0 and n = 0 are legal.
///
/// A matrix that holds NaN or infinity in the part that is read throws nothing: its results are NaN and its status is
/// not_finite. Its neighbours keep their bits. Throws InvalidArgument (matrices that are not square, n > 32768,
/// B > 2^29, a subset that the matrices do not have), OutOfMemory, DeviceError.
///
/// Cost: about 5 n^3 multiply-adds per matrix with vectors (3 n^3 by divide and conquer, less where eigenvalues are
/// equal), n^3 without. Memory: about 2 n^2 numbers (4 n^2) for each matrix in work at the same time, the result, and
/// on a device copies of both there. `a` may be on a device, which then does the work.
template <class T>
eigen_decomposition<T> eigen(batch_view<const T> a, const eigen_options& options = {},
                             const Device& device = Device::best());

/// The same of every batch of matrices and every matrix (quintet/core/arguments.hpp).
template <batch_argument A>
auto eigen(const A& a, const eigen_options& options = {}, const Device& device = Device::best()) {
  using T = element_of<A>;
  return eigen<T>(batch_view<const T>(batch_of(a)), options, device);
}

/// The same to the caller's memory; between arguments on one device nothing is transferred. Outputs must not overlap
/// each other or `a`. Throws InvalidArgument also for outputs of another shape. Returns the device that did it.
Device eigen(any_batch a, const eigen_outputs& out, const eigen_options& options,
             const Device& device = Device::best());

///@{
/// The generalised problem A x = w B x with B positive definite: w rising, and V with V^T B V = I. The same triangle of
/// both is read. By Cholesky's factor B = L L^T and eigen() of L^-1 A L^-T: |w_j - exact| <= c n eps |A| |B^-1|. The
/// status is not_definite where B is not positive definite. Not with options.positive. Cost: about 4 n^3
/// multiply-adds more than eigen(), one thread a matrix; memory 3 n^2 numbers for each matrix in work. Otherwise as
/// eigen().
template <class T>
eigen_decomposition<T> eigen_generalised(batch_view<const T> a, batch_view<const T> b,
                                         const eigen_options& options = {}, const Device& device = Device::best());
Device eigen_generalised(any_batch a, any_batch b, const eigen_outputs& out, const eigen_options& options,
                         const Device& device = Device::best());
///@}

/// Eigenvalues that lie together: numbers first ... first + count - 1.
struct eigen_range {
  std::int64_t first;  ///< its first number
  std::int64_t count;  ///< how many
};

/// The eigenvalues with above < w <= up_to of every matrix, of rising w [B x n]; none where all w are NaN. With
/// w of a call without vectors it gives eigen_options::first and count. Throws InvalidArgument unless above < up_to. On
/// the host, O(B log n).
std::vector<eigen_range> find_eigenvalues(any_matrix w, double above, double up_to);

namespace detail {

/// Eigenvalues of matrices of n rows that the options ask for. Throws InvalidArgument where there are not so many.
std::int64_t count_eigenvalues(std::int64_t n, const eigen_options& options);

/// solve(outputs) to memory for B matrices of n rows.
template <class T, class Solve>
eigen_decomposition<T> eigen_with(std::int64_t batch, std::int64_t n, const eigen_options& options, Solve solve) {
  const std::int64_t k = count_eigenvalues(n, options);
  eigen_decomposition<T> result{
      batch, n, k, std::vector<accumulator_t<T>>(batch * k), {}, std::vector<std::int32_t>(batch), {}};
  any_output_batch v;
  if (options.vectors) {
    result.v.resize(batch * n * k);
    v = any_output_batch(result.v.data(), batch, n, k);
  }
  result.ran_on = solve(eigen_outputs{any_output_matrix(result.w.data(), batch, k), v, result.status});
  return result;
}

}  // namespace detail

template <class T>
eigen_decomposition<T> eigen(batch_view<const T> a, const eigen_options& options, const Device& device) {
  return detail::eigen_with<T>(a.batch(), a.rows(), options,
                               [&](const eigen_outputs& out) { return eigen(any_batch(a), out, options, device); });
}

template <class T>
eigen_decomposition<T> eigen_generalised(batch_view<const T> a, batch_view<const T> b, const eigen_options& options,
                                         const Device& device) {
  return detail::eigen_with<T>(a.batch(), a.rows(), options, [&](const eigen_outputs& out) {
    return eigen_generalised(any_batch(a), any_batch(b), out, options, device);
  });
}

}  // namespace quintet::svd
