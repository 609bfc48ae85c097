// Randomised singular value decomposition (Halko, Martinsson and Tropp 2011) for a rank far below min(m, n).
//
//   auto r = quintet::svd::randomised(quintet::matrix_view(a.data(), m, n), {.rank = 20});
//   r.factors.u_view()(0, i, j);   r.residual[0];
//
// Y = A Omega with a Gaussian Omega [n, rank + oversampling], Q = orth(Y); a power iteration replaces Q by
// orth(A orth(A^T Q)); then the decomposition of Q^T A by decompose(). orth is Householder's QR, which is orthogonal to
// working precision whatever the condition of Y.
#pragma once

#include <cstdint>
#include <vector>

#include "quintet/svd/decompose.hpp"

namespace quintet::svd {

/// Options of randomised(): size of the sketch and quality.
struct randomised_options {
  std::int64_t rank = 10;             ///< singular values wanted, >= 1
  std::int64_t oversampling = 10;     ///< further random directions, >= 0; 8 or more are advisable
  std::int64_t power_iterations = 2;  ///< 0 ... 1000; 0 is enough when the singular values fall fast
  std::uint64_t seed = 0;             ///< of Omega, a pure function of (seed, matrix, row, column)
  bool canonical_signs = false;       ///< see svd::options
};

/// Leading factors of every matrix, and their residual.
template <class T>
struct randomised_decomposition {
  decomposition<T> factors;  ///< values = u_cols = v_cols = min(rank, m, n)
  /// |A - U S V^T|_F [B], measured afterwards as (|A|_F^2 - sum S_j^2)^(1/2) in double; below about 1e-8 |A|_F (double)
  /// or 3e-4 |A|_F (float) it is rounding noise of the difference.
  std::vector<double> residual;
};

/// The leading `rank` singular values and vectors of every matrix of `a` [B x m x n], any strides. T is double or
/// float.
///
/// The result is exact up to rounding if the rank of the matrix is at most rank + oversampling. Otherwise let p =
/// oversampling. Without power iterations E |A - U S V^T|_F <= sqrt(1 + rank / (p - 1)) times the error of the best
/// approximation of that rank. With q power iterations the factor of the spectral error goes to 1 like its (2q + 1)-th
/// root.
///
/// Throws InvalidArgument for options out of range, m > 2^30 or n > 32768 (of a wider matrix take the transpose);
/// OutOfMemory, DeviceError. Non-finite matrices: as decompose(), with a residual of NaN.
///
/// Cost: (2 + 2q) m n l multiply-adds with l = rank + oversampling rounded up to a multiple of 4, at most min(m, n),
/// and (4 + 4q) (m + n) l^2 for QR. Memory: m n + 4 (m + n) l numbers for each matrix in work, the result, and (m + n)
/// l numbers for each matrix of the batch. If `a` is on a device, that device does the work; other inputs are copied to
/// it. All threads and all teams share large matrices. The result has the same bits for any number of threads.
template <class T>
randomised_decomposition<T> randomised(batch_view<const T> a, const randomised_options& options,
                                       const Device& device = Device::best());

/// The same of every batch of matrices and every matrix (quintet/core/arguments.hpp), of float or double.
template <batch_argument A>
auto randomised(const A& a, const randomised_options& options, const Device& device = Device::best()) {
  using T = element_of<A>;
  static_assert(sizeof(T) >= sizeof(float),
                "quintet: randomised() takes float or double: convert half and bfloat16 to float");
  return randomised<T>(batch_view<const T>(batch_of(a)), options, device);
}

/// Outputs of the second form of randomised(), with r = min(rank, m, n), in memory of the host or of the device.
struct randomised_outputs {
  any_output_batch u;            ///< [B, m, r], any strides
  any_output_batch v;            ///< [B, n, r], any strides
  any_output_matrix s;           ///< [B, r]
  vector_view<double> residual;  ///< [B]
  ///@{
  /// [B] each, as in decomposition.
  vector_view<std::int32_t> status, sweeps;
  ///@}
};

/// The same to the caller's memory; between arguments on one device only the status of the matrices is transferred.
/// Outputs must not overlap each other or `a`. Throws InvalidArgument also for outputs of another shape. Returns the
/// device that did it.
Device randomised(any_batch a, const randomised_outputs& out, const randomised_options& options,
                  const Device& device = Device::best());

/// The sizes that randomised() gives. O(1). Throws as randomised() does for options and sizes.
decomposition_shape shape_of(std::int64_t batch, std::int64_t rows, std::int64_t cols,
                             const randomised_options& options);

template <class T>
randomised_decomposition<T> randomised(batch_view<const T> a, const randomised_options& options, const Device& device) {
  const decomposition_shape shape = shape_of(a.batch(), a.rows(), a.cols(), options);
  randomised_decomposition<T> result{decomposition<T>(shape), std::vector<double>(shape.batch)};
  const svd::outputs out = result.factors.outputs();
  result.factors.ran_on =
      randomised(any_batch(a), {out.u, out.v, out.s, result.residual, out.status, out.sweeps}, options, device);
  return result;
}

}  // namespace quintet::svd
