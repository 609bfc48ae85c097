// Options of the functions of quintet/svd, and their report for each matrix.
#pragma once

#include <cstdint>

#include "quintet/core/compiler.hpp"

namespace quintet::svd {

/// Which singular vectors. k = min(m, n).
enum class vectors {
  none,     ///< singular values only; half the cost up to 3 columns and from 48 (float batches: 24) on: docs/svd.md
  economy,  ///< U [m x k], V [n x k]
  full,     ///< U [m x m], V [n x n]; the columns from k on complete an orthonormal basis, otherwise arbitrary
};

/// Input of Jacobi's method.
enum class preconditioning {
  automatic,  ///< pivoted_qr for matrices with rows or columns that differ in size by more than 1e3; qr for
              ///< m >= 1.5 n (n >= 1.5 m) and for full vectors of a matrix that is not square; otherwise none. The
              ///< choice is per matrix. On the host matrices of 28 (float: 64; with AVX-512 58, 100) or more columns of
              ///< one size, and those alone of 8 or more, start from eigenvectors of A^T A
  none,       ///< the matrix itself; relative accuracy for any scaling of the columns (rows, when m < n)
  qr,         ///< R of a QR factorisation
  pivoted_qr,  ///< R^T of a QR factorisation with column pivoting and sorted rows (Drmac and Veselic 2008): relative
               ///< accuracy for D1 B D2 with diagonal D1, D2 and a well-conditioned B
};

/// Options of decompose().
struct options {
  svd::vectors vectors = svd::vectors::economy;  ///< which singular vectors
  /// Only the `top` largest singular values and their vectors, >= 1; 0: all. Not with vectors::full.
  std::int64_t top = 0;
  /// Input of Jacobi's method.
  svd::preconditioning preconditioning = svd::preconditioning::automatic;
  /// Rotations in Rutishauser's form: about half the rounding errors, at 10 to 25 % of the speed.
  bool accurate = false;
  /// The element of largest size of each column of U is made positive (the first among equals). Otherwise the
  /// computation decides the signs: they are the same on every run, but not on every device.
  bool canonical_signs = false;
  /// Decomposes A - 1 means^T, A without the means of its columns, and returns the means (principal components). Tall
  /// matrices need no copy for it.
  bool centre = false;
  /// U and V are rotations, determinant 1, and the last singular value has the sign of det A (McAdams et al. 2011). For
  /// 2 x 2, 3 x 3 and 4 x 4 matrices with all values and vectors; not with canonical_signs.
  bool proper_rotations = false;
  /// A matrix that needs more sweeps gets status::not_converged, >= 1 (above 2^20 as 2^20). 12 are enough for most
  /// float matrices. From 20 on, `automatic` first gives a matrix that needs more pivoted QR and as many sweeps again.
  std::int64_t max_sweeps = 30;
  /// Matrices of the batch that this batch is a part of; 0 or less than its size: this is all. The size of a batch
  /// decides whether matrices are side by side in registers, which rounds differently. With part_of, parts have the
  /// bits of the whole.
  std::int64_t part_of = 0;
};

/// Outcome for one matrix.
enum status : std::int32_t {
  ok = 0,
  not_converged = 1,  ///< max_sweeps were not enough; the result is the last iterate
  not_finite = 2,     ///< the matrix holds NaN or infinity; its U, S and V are NaN
  not_definite = 3,   ///< of eigenproblems: the matrix is not positive (semi)definite, as it should be; results are NaN
};

}  // namespace quintet::svd
