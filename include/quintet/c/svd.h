/// @file
/// Batched singular value decomposition in C: A_b = U_b diag(S_b) V_b^T, its gradient, and its applications.
/// Conventions of pointers, types, devices, errors and threads: quintet/c/core.h. Methods, accuracy, costs:
/// quintet/svd/*.hpp.
//
// A batch is a pointer, sizes and three strides: element (i, j) of matrix b is data[b * batch_stride + i * row_stride +
// j * col_stride], in elements, any strides. So row-major, column-major and transposed matrices are alike. Results of
// accessors and of all other functions are dense, row-major, one matrix after another. k = min(rows, cols), or
// options.top.
//
// Invalid everywhere: negative sizes, more than 2^63 - 1 bytes, NULL where there are elements. Memory: the results, and
// that of the C++ function; on a device also copies there.
#ifndef QUINTET_C_SVD_H
#define QUINTET_C_SVD_H

#include "quintet/c/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Which singular vectors.
typedef int32_t quintet_svd_vectors;
enum {
  QUINTET_SVD_NONE = 0,     ///< singular values only; half the cost up to 3 columns and from 48 (float batches: 24) on
  QUINTET_SVD_ECONOMY = 1,  ///< U [rows x k], V [cols x k]
  QUINTET_SVD_FULL = 2      ///< U [rows x rows], V [cols x cols]
};

/// Input of Jacobi's method.
typedef int32_t quintet_svd_preconditioning;
enum {
  QUINTET_SVD_AUTOMATIC = 0,
  QUINTET_SVD_UNCONDITIONED = 1,  ///< the matrix itself
  QUINTET_SVD_QR = 2,
  QUINTET_SVD_PIVOTED_QR = 3
};

/// Outcome for one matrix of a batch.
enum {
  QUINTET_SVD_CONVERGED = 0,
  QUINTET_SVD_NOT_CONVERGED = 1,  ///< options.max_sweeps were not enough
  QUINTET_SVD_NOT_FINITE = 2,     ///< the matrix holds NaN or infinity; its U, S, V are NaN
  QUINTET_SVD_NOT_DEFINITE = 3    ///< of eigenproblems: not positive (semi)definite, as it should be; results are NaN
};

/// Treatment of 1 / x in the gradient where x is a singular value, or a difference of two, close to zero.
typedef int32_t quintet_svd_degeneracy;
enum {
  QUINTET_SVD_EXACT = 0,   ///< 1 / x
  QUINTET_SVD_DROP = 1,    ///< 0 where |x| <= tolerance * s_0
  QUINTET_SVD_BROADEN = 2  ///< x / (x^2 + (tolerance * s_0)^2)
};

/// Options of quintet_svd_decompose() and quintet_svd_randomised(); each reads the members that concern it.
typedef struct quintet_svd_options {
  size_t size;                                  ///< of this struct
  quintet_svd_vectors vectors;                  ///< default QUINTET_SVD_ECONOMY
  quintet_svd_preconditioning preconditioning;  ///< default QUINTET_SVD_AUTOMATIC
  int64_t top;                                  ///< only so many largest singular values; 0 (default): all
  int64_t max_sweeps;                           ///< >= 1; default 30
  int32_t accurate;          ///< not 0: half the rounding errors at 75 to 90 % of the speed; default 0
  int32_t canonical_signs;   ///< not 0: the largest element of each column of U is positive; default 0
  int64_t rank;              ///< randomised: singular values wanted, >= 1; default 10
  int64_t oversampling;      ///< randomised: further random directions, >= 0; default 10
  int64_t power_iterations;  ///< randomised, 0 ... 1000; default 2
  uint64_t seed;             ///< randomised; default 0
  int32_t centre;            ///< not 0: decomposes A without the means of its columns; default 0. Not randomised
  int32_t reserved;          ///< 0
} quintet_svd_options;

/// *options := the defaults. `size` is sizeof *options.
QUINTET_API quintet_status quintet_svd_options_default(quintet_svd_options* options, size_t size) QUINTET_NOEXCEPT;

/// U, S, V of a batch.
typedef struct quintet_svd quintet_svd;

/// Decomposes every matrix of a [batch x rows x cols], of any type; sizes may be 0. *result is freed with
/// quintet_svd_free(). A matrix with NaN or infinity is no error, see quintet_svd_outcome(). Time about 7 cols^3
/// multiply-adds per sweep for square matrices, 5 to 10 sweeps. Invalid: shapes (rows or cols over 2^24, both over
/// 32768, batch over 2^29), options out of range, top with QUINTET_SVD_FULL; also out of memory, device error.
QUINTET_API quintet_status quintet_svd_decompose(const void* a, quintet_type type, int64_t batch, int64_t rows,
                                                 int64_t cols, int64_t batch_stride, int64_t row_stride,
                                                 int64_t col_stride, const quintet_svd_options* options,
                                                 const char* device, quintet_svd** result) QUINTET_NOEXCEPT;

/// The options.rank leading singular values and vectors by random projection (Halko, Martinsson, Tropp 2011), for ranks
/// far below rows and cols; float or double. Invalid: other types, options out of range, cols over 32768, rows over
/// 2^30; also out of memory, device error. Time (2 + 2 power_iterations) rows cols (rank + oversampling) multiply-adds.
QUINTET_API quintet_status quintet_svd_randomised(const void* a, quintet_type type, int64_t batch, int64_t rows,
                                                  int64_t cols, int64_t batch_stride, int64_t row_stride,
                                                  int64_t col_stride, const quintet_svd_options* options,
                                                  const char* device, quintet_svd** result) QUINTET_NOEXCEPT;

/// Frees a decomposition and all arrays that its accessors gave. NULL is allowed.
QUINTET_API void quintet_svd_free(quintet_svd* svd) QUINTET_NOEXCEPT;

/// Which triangle of a symmetric matrix is read.
typedef int32_t quintet_svd_triangle;
enum {
  QUINTET_SVD_LOWER = 0,  ///< elements (i, j) with i >= j
  QUINTET_SVD_UPPER = 1   ///< elements (i, j) with i <= j
};

/// Symmetric eigenproblems A_b = V_b diag(w_b) V_b^T of a [batch x size x size], of any type. w [batch x size], of the
/// real type, rises. v [batch x size x size], of the type of the batch, has the eigenvectors as columns, with the
/// element of largest size positive; NULL: eigenvalues alone. outcome [batch], QUINTET_SVD_CONVERGED, ..., may be NULL.
/// A matrix with NaN or infinity in the triangle that is read is no error: its results are NaN. Invalid: size over
/// 32768, batch over 2^29; also out of memory, device error. Time about 5 size^3 multiply-adds a matrix.
QUINTET_API quintet_status quintet_svd_eigen(const void* a, quintet_type type, int64_t batch, int64_t size,
                                             int64_t batch_stride, int64_t row_stride, int64_t col_stride,
                                             quintet_svd_triangle triangle, const char* device, void* w, void* v,
                                             int32_t* outcome) QUINTET_NOEXCEPT;

/// Some eigenvalues of all: `count` of them from number `first` on, where 0 is the smallest, and their vectors. w
/// [batch x count], v [batch x size x count]. A count of 0 with first = 0 stands for all. Otherwise as
/// quintet_svd_eigen(), in the same time. Invalid: a subset that matrices of this size do not have.
QUINTET_API quintet_status quintet_svd_eigen_subset(const void* a, quintet_type type, int64_t batch, int64_t size,
                                                    int64_t batch_stride, int64_t row_stride, int64_t col_stride,
                                                    quintet_svd_triangle triangle, int64_t first, int64_t count,
                                                    const char* device, void* w, void* v,
                                                    int32_t* outcome) QUINTET_NOEXCEPT;
/// first[batch] and count[batch] := the eigenvalues with above < w <= up_to, of rising w [batch x size] of type float
/// or double; 0 where all w are NaN. Invalid: another type, not above < up_to. Time log size.
QUINTET_API quintet_status quintet_svd_eigen_range(const void* w, quintet_type type, int64_t batch, int64_t size,
                                                   double above, double up_to, int64_t* first,
                                                   int64_t* count) QUINTET_NOEXCEPT;

/// The same of positive semidefinite matrices, with small eigenvalues to the last digits (one-sided Jacobi on a pivoted
/// Cholesky factor); see quintet/svd/eigen.hpp. Other matrices have QUINTET_SVD_NOT_DEFINITE.
QUINTET_API quintet_status quintet_svd_eigen_positive(const void* a, quintet_type type, int64_t batch, int64_t size,
                                                      int64_t batch_stride, int64_t row_stride, int64_t col_stride,
                                                      quintet_svd_triangle triangle, const char* device, void* w,
                                                      void* v, int32_t* outcome) QUINTET_NOEXCEPT;

/// The generalised problem A x = w B x with B positive definite, V^T B V = I. b is as a, with strides; the same
/// triangle of both is read. Matrices with another B have QUINTET_SVD_NOT_DEFINITE. Otherwise as quintet_svd_eigen().
QUINTET_API quintet_status quintet_svd_eigen_generalised(const void* a, quintet_type type, int64_t batch, int64_t size,
                                                         int64_t batch_stride, int64_t row_stride, int64_t col_stride,
                                                         const void* b, int64_t b_batch_stride, int64_t b_row_stride,
                                                         int64_t b_col_stride, quintet_svd_triangle triangle,
                                                         const char* device, void* w, void* v,
                                                         int32_t* outcome) QUINTET_NOEXCEPT;

/// Singular value decompositions of symmetric matrices by their eigenvalues: U_b = V_b sign(w_b), S_b = |w_b|, falling.
/// Faster than quintet_svd_decompose(); small values are right to eps s_0 only. Arguments as quintet_svd_eigen(),
/// *result as quintet_svd_decompose(), with `vectors` = 0 without U and V.
QUINTET_API quintet_status quintet_svd_decompose_symmetric(const void* a, quintet_type type, int64_t batch,
                                                           int64_t size, int64_t batch_stride, int64_t row_stride,
                                                           int64_t col_stride, quintet_svd_triangle triangle,
                                                           int32_t vectors, const char* device,
                                                           quintet_svd** result) QUINTET_NOEXCEPT;

// --- contents of a decomposition: arrays of the handle, O(1); outputs may be NULL. Invalid: a NULL handle ---

/// Sizes of a decomposition.
typedef struct quintet_svd_shape {
  size_t size;        ///< of this struct; set by the caller
  quintet_type type;  ///< of the batch, of U and of V
  int32_t reserved;   ///< 0
  int64_t batch;      ///< number of matrices
  int64_t rows;       ///< of each
  int64_t cols;       ///< of each
  int64_t values;     ///< singular values of each
  int64_t u_cols;     ///< columns of U; 0 without vectors
  int64_t v_cols;     ///< columns of V; 0 without vectors
} quintet_svd_shape;

/// *shape := sizes. shape->size must be set.
QUINTET_API quintet_status quintet_svd_get_shape(const quintet_svd* svd, quintet_svd_shape* shape) QUINTET_NOEXCEPT;
/// Singular values [batch x values] of the real type, falling, >= 0.
QUINTET_API quintet_status quintet_svd_s(const quintet_svd* svd, const void** s, int64_t* count) QUINTET_NOEXCEPT;
/// U [batch x rows x u_cols] of the type of the batch.
QUINTET_API quintet_status quintet_svd_u(const quintet_svd* svd, const void** u, int64_t* count) QUINTET_NOEXCEPT;
/// V [batch x cols x v_cols] of the type of the batch; not transposed.
QUINTET_API quintet_status quintet_svd_v(const quintet_svd* svd, const void** v, int64_t* count) QUINTET_NOEXCEPT;
/// The means of the columns [batch x cols], of the real type, which options.centre took off; otherwise a count of 0.
QUINTET_API quintet_status quintet_svd_means(const quintet_svd* svd, const void** means,
                                             int64_t* count) QUINTET_NOEXCEPT;
/// Outcome of every matrix [batch]: QUINTET_SVD_CONVERGED, ..., and the sweeps it took [batch]; count is `batch`.
QUINTET_API quintet_status quintet_svd_outcome(const quintet_svd* svd, const int32_t** outcome, const int32_t** sweeps,
                                               int64_t* count) QUINTET_NOEXCEPT;
/// |A - U S V^T|_F of every matrix [batch] of quintet_svd_randomised(); of no matrix after quintet_svd_decompose().
QUINTET_API quintet_status quintet_svd_residual(const quintet_svd* svd, const double** residual,
                                                int64_t* count) QUINTET_NOEXCEPT;

/// bound [batch] := rigorous bounds of max_j |s_j - exact singular value| of the matrices that were decomposed,
/// whatever the decomposition did: see quintet/svd/certify.hpp. Infinity where a bound does not exist. `a` and its
/// strides are those of quintet_svd_decompose(), without the means after options.centre. Invalid: a decomposition
/// without vectors or all values. Time 2 rows cols k multiply-adds a matrix.
QUINTET_API quintet_status quintet_svd_certify(const quintet_svd* svd, const void* a, int64_t batch_stride,
                                               int64_t row_stride, int64_t col_stride, const char* device,
                                               double* bound) QUINTET_NOEXCEPT;
/// The same of the w and v of quintet_svd_eigen(), for max_j |w_j - exact eigenvalue|.
QUINTET_API quintet_status quintet_svd_certify_eigen(const void* a, quintet_type type, int64_t batch, int64_t size,
                                                     int64_t batch_stride, int64_t row_stride, int64_t col_stride,
                                                     quintet_svd_triangle triangle, const void* w, const void* v,
                                                     const char* device, double* bound) QUINTET_NOEXCEPT;

// --- functions of a decomposition; all outputs are dense, of the type of the batch unless said otherwise ---

/// ga [batch x rows x cols] := gradient of a loss by A. Its inputs are gu [batch x rows x u_cols] by U, gs [batch x
/// values] of the real type by S, and gv [batch x cols x v_cols] by V. Each of the three may be NULL, which is zero; U
/// and V are batches with strides, gs has a stride. `tolerance` >= 0 is relative to s_0; 0: 10 max(rows, cols) eps.
/// Invalid: also a decomposition without vectors or of the top values alone. Time about 12 rows cols k a matrix.
QUINTET_API quintet_status quintet_svd_gradient(const quintet_svd* svd, const void* gu, int64_t gu_batch_stride,
                                                int64_t gu_row_stride, int64_t gu_col_stride, const void* gs,
                                                int64_t gs_stride, const void* gv, int64_t gv_batch_stride,
                                                int64_t gv_row_stride, int64_t gv_col_stride,
                                                quintet_svd_degeneracy policy, double tolerance, const char* device,
                                                void* ga) QUINTET_NOEXCEPT;

/// `tolerance` of quintet_svd_rank(), quintet_svd_pseudo_inverse() and quintet_svd_least_squares() that stands for
/// max(rows, cols) eps. A `relative` of this value does too, where `absolute` has it as well; otherwise it is 0. An
/// `absolute` of this value is 0.
#define QUINTET_SVD_DEFAULT_TOLERANCE (-1.0)

/// Drops the singular values at or below max(absolute, relative s_0), each >= 0 or QUINTET_SVD_DEFAULT_TOLERANCE. The
/// numbers of values and of columns of U and V become the largest rank in the batch; smaller ranks get values of 0.
/// rank [batch], may be NULL, receives the ranks. Arrays that accessors gave before are invalid. Time (rows + cols) k.
QUINTET_API quintet_status quintet_svd_truncate(quintet_svd* svd, double relative, double absolute,
                                                int64_t* rank) QUINTET_NOEXCEPT;
/// Orthonormal bases of the ranges: columns j < dimension[b] of out [batch x rows x k]; the others are zero. Invalid: a
/// decomposition without vectors or all values. Time rows k.
QUINTET_API quintet_status quintet_svd_range(const quintet_svd* svd, double relative, double absolute, void* out,
                                             int64_t* dimension) QUINTET_NOEXCEPT;
/// Orthonormal bases of the null spaces {x: A x = 0}: columns j < dimension[b] of out [batch x cols x cols]; the others
/// are zero. Invalid: also rows < cols without QUINTET_SVD_FULL. Time cols^2.
QUINTET_API quintet_status quintet_svd_null_space(const quintet_svd* svd, double relative, double absolute, void* out,
                                                  int64_t* dimension) QUINTET_NOEXCEPT;
/// Least squares in one call, for a [batch x rows x cols] and all right [batch x rows x r] at once. x [batch x cols x
/// r] are the solutions of least norm. residual [batch x r], of the real type, is |A x - right| of each column. rank
/// [batch] is the rank by the tolerance, outcome [batch] QUINTET_SVD_CONVERGED, .... The last three may be NULL.
/// Matrices with NaN or infinity are no error: their results are NaN. Errors and time: those of a decomposition, and
/// rows cols r.
QUINTET_API quintet_status quintet_svd_solve_least_squares(
    const void* a, quintet_type type, int64_t batch, int64_t rows, int64_t cols, int64_t batch_stride,
    int64_t row_stride, int64_t col_stride, const void* right, int64_t r, int64_t right_batch_stride,
    int64_t right_row_stride, int64_t right_col_stride, double relative, double absolute, const char* device, void* x,
    void* residual, int64_t* rank, int32_t* outcome) QUINTET_NOEXCEPT;

// `tolerance` of the next three, >= 0 or QUINTET_SVD_DEFAULT_TOLERANCE: singular values up to this part of the largest
// count as zero. All of them but rank and condition number, which run on the host, run on the first GPU, otherwise on
// the host. Invalid: another negative or a NaN tolerance, a decomposition without the needed parts: vectors (all but
// rank and condition number), all singular values (condition number, polar). Time is for a matrix, in multiply-adds.

/// rank [batch] := number of singular values above the tolerance. Time k.
QUINTET_API quintet_status quintet_svd_rank(const quintet_svd* svd, double tolerance, int64_t* rank) QUINTET_NOEXCEPT;
/// out [batch x cols x rows] := pseudo-inverses (Moore, Penrose). Time rows cols k.
QUINTET_API quintet_status quintet_svd_pseudo_inverse(const quintet_svd* svd, double tolerance,
                                                      void* out) QUINTET_NOEXCEPT;
/// out [batch x cols x r] := the X of least norm among those with least |A X - R|, for R = right [batch x rows x r].
/// r >= 0. Time (rows + cols) k r.
QUINTET_API quintet_status quintet_svd_least_squares(const quintet_svd* svd, const void* right, int64_t r,
                                                     int64_t batch_stride, int64_t row_stride, int64_t col_stride,
                                                     double tolerance, void* out) QUINTET_NOEXCEPT;

/// out [batch x rows x cols] := the nearest matrices of rank `rank` >= 0 (Eckart and Young 1936); more than k means k.
/// Time rows cols rank.
QUINTET_API quintet_status quintet_svd_low_rank(const quintet_svd* svd, int64_t rank, void* out) QUINTET_NOEXCEPT;
/// out [batch], of the real type := condition numbers in the spectral norm; infinity for singular matrices, 1 for empty
/// ones. Time 1, on the host.
QUINTET_API quintet_status quintet_svd_condition_number(const quintet_svd* svd, void* out) QUINTET_NOEXCEPT;
/// Polar factors A = W H: w [batch x rows x cols], h [batch x cols x cols]; either may be NULL. Time (rows + cols) cols
/// k.
QUINTET_API quintet_status quintet_svd_polar(const quintet_svd* svd, void* w, void* h) QUINTET_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
