/// @file
/// Sparse matrices in C: products over semirings, masks, plans, sums, transposes, products with dense matrices.
/// Conventions of pointers, types, devices, errors and threads: quintet/c/core.h. Methods, memory, costs:
/// quintet/spgemm/*.hpp.
//
// Results have strictly ascending columns in every row (quintet_spgemm_multiply_top() by value has not), and the same
// bits on every device, for any number of threads and any options. Values are float or double, columns 32 or 64 bits
// wide, the same for all operands of a function.
//
// Invalid everywhere: a matrix with rows outside [0, 2^60), negative columns, row pointers that fall or begin below 0,
// columns outside the matrix, or NULL arrays for elements. Also invalid: types that differ, options out of range.
// Products and plans also return out of memory and device error. All threads check operands in one pass.
#ifndef QUINTET_C_SPGEMM_H
#define QUINTET_C_SPGEMM_H

#include "quintet/c/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Type of column numbers.
typedef int32_t quintet_index_type;
enum { QUINTET_INT32 = 1, QUINTET_INT64 = 2 };

/// A matrix in compressed rows that the caller owns: row i holds columns[k] and values[k] for row_pointers[i] <= k <
/// row_pointers[i + 1]. As an operand, columns may come in any order and repeatedly (such entries are added with the
/// semiring's addition), and row_pointers need not begin with 0. Never changes.
typedef struct quintet_csr {
  int64_t rows;                   ///< >= 0
  int64_t cols;                   ///< >= 0
  const int64_t* row_pointers;    ///< rows + 1, not falling
  const void* columns;            ///< of index_type, in [0, cols)
  const void* values;             ///< of value_type
  quintet_index_type index_type;  ///< QUINTET_INT32 or QUINTET_INT64
  quintet_type value_type;  ///< QUINTET_FLOAT or QUINTET_DOUBLE; or complex, for quintet_spgemm_multiply_complex()
} quintet_csr;

/// Types of complex values: pairs of a real and an imaginary part, as float _Complex and double _Complex are.
enum { QUINTET_COMPLEX_FLOAT = 5, QUINTET_COMPLEX_DOUBLE = 6 };

/// What of a complex operand is multiplied.
typedef int32_t quintet_operand_form;
enum {
  QUINTET_PLAIN = 0,       ///< the matrix
  QUINTET_TRANSPOSED = 1,  ///< its transpose
  QUINTET_ADJOINT = 2      ///< its conjugate transpose
};

/// Meaning of multiply and add in a product.
typedef int32_t quintet_semiring;
enum {
  QUINTET_PLUS_TIMES = 0,
  QUINTET_MIN_PLUS = 1,  ///< shortest paths; NaN is passed over
  QUINTET_OR_AND = 2     ///< reachability: results are 0 or 1
};

/// Options of products. None of them changes a result.
typedef struct quintet_spgemm_options {
  size_t size;  ///< of this struct
  ///@{
  /// Without effect since version 0.2, kept for programs that set them: in (0, 1e6], default 1; default -1; >= 8,
  /// default 2^30.
  double prediction_scale;
  int64_t arena_entries;
  int64_t table_size_cap;
  ///@}
  int64_t host_products;  ///< products below which "auto" means the host, >= 0; default 0
} quintet_spgemm_options;

/// *options := the defaults. `size` is sizeof *options.
QUINTET_API quintet_status quintet_spgemm_options_default(quintet_spgemm_options* options,
                                                          size_t size) QUINTET_NOEXCEPT;

/// Report of a product.
typedef struct quintet_spgemm_report {
  size_t size;          ///< of this struct; set by the caller
  int64_t products;     ///< scalar multiplications
  int64_t upper_bound;  ///< entries that the result could not exceed
  int64_t predicted;    ///< entries expected
  int64_t retries;      ///< times the result had to grow; chunks that a device computed again
  /// Most memory in use at one time, result included, operands not. Up to 64 MB of released memory that the library
  /// keeps for the next product are the process's and are not counted.
  int64_t peak_bytes;
  int64_t scratch_bytes;  ///< of that, accumulators and buffers
  int32_t ran_on_host;    ///< 0: a device did the work
  int32_t reserved;       ///< 0
  double seconds;         ///< in all
} quintet_spgemm_report;

/// Sizes of a product without computing it.
typedef struct quintet_spgemm_estimate {
  size_t size;              ///< of this struct; set by the caller
  int64_t products;         ///< scalar multiplications
  int64_t upper_bound;      ///< entries at most
  int64_t predicted_nnz;    ///< within 30 %
  int64_t upper_bytes;      ///< of a result of upper_bound entries
  int64_t predicted_bytes;  ///< of a result of predicted_nnz entries
  int64_t minimum_budget;   ///< the least budget that quintet_spgemm_multiply_in_blocks() takes
} quintet_spgemm_estimate;

/// A matrix that owns its memory: a result.
typedef struct quintet_spgemm_matrix quintet_spgemm_matrix;
/// The structure of a product that is computed again and again.
typedef struct quintet_spgemm_plan quintet_spgemm_plan;

/// *view := the arrays of a result; they live as long as it does, and can be operands. O(1). Invalid: NULL.
QUINTET_API quintet_status quintet_spgemm_view(const quintet_spgemm_matrix* matrix, quintet_csr* view) QUINTET_NOEXCEPT;
/// Frees a result. NULL is allowed.
QUINTET_API void quintet_spgemm_free(quintet_spgemm_matrix* matrix) QUINTET_NOEXCEPT;
/// Frees a plan. NULL is allowed.
QUINTET_API void quintet_spgemm_plan_free(quintet_spgemm_plan* plan) QUINTET_NOEXCEPT;

/// *result := a * b over the semiring, to be freed with quintet_spgemm_free(). a is m x k, b is k x n. An entry exists
/// where at least one product does. `report` may be NULL; report->size must be set.
/// Invalid: sizes or types that do not fit, row pointers that fall, columns outside the matrix, options; also out of
/// memory, device error. Time: about 1 to 3 ns per product and thread.
QUINTET_API quintet_status quintet_spgemm_multiply(const quintet_csr* a, const quintet_csr* b,
                                                   quintet_semiring semiring, const quintet_spgemm_options* options,
                                                   const char* device, quintet_spgemm_report* report,
                                                   quintet_spgemm_matrix** result) QUINTET_NOEXCEPT;

/// *result := a * b where `mask` (m x n) has an entry, whatever its value; nothing is computed elsewhere. Invalid: also
/// a mask of another size. Time: a pass over the products. Memory: also up to 9 bytes per entry of the mask.
QUINTET_API quintet_status quintet_spgemm_multiply_masked(const quintet_csr* a, const quintet_csr* b,
                                                          const quintet_csr* mask, quintet_semiring semiring,
                                                          const quintet_spgemm_options* options, const char* device,
                                                          quintet_spgemm_matrix** result) QUINTET_NOEXCEPT;

/// *result := a * transpose(b); b is n x k. `report`, errors and time as for quintet_spgemm_multiply(), and the
/// transpose.
QUINTET_API quintet_status quintet_spgemm_multiply_transposed(const quintet_csr* a, const quintet_csr* b,
                                                              quintet_semiring semiring,
                                                              const quintet_spgemm_options* options, const char* device,
                                                              quintet_spgemm_report* report,
                                                              quintet_spgemm_matrix** result) QUINTET_NOEXCEPT;

/// *result := transpose(a) * b; a is k x m. `report`, errors and time as for quintet_spgemm_multiply(), and the
/// transpose.
QUINTET_API quintet_status quintet_spgemm_multiply_left_transposed(const quintet_csr* a, const quintet_csr* b,
                                                                   quintet_semiring semiring,
                                                                   const quintet_spgemm_options* options,
                                                                   const char* device, quintet_spgemm_report* report,
                                                                   quintet_spgemm_matrix** result) QUINTET_NOEXCEPT;

/// *result := alpha a * b + beta c, plus-times; c is m x n, the factors are rounded to the type. An entry exists where
/// a product or an entry of c does. The report counts the entries of c as products. Invalid: also a c of another size,
/// and more rows of a and b together than index_type counts. Time: that of quintet_spgemm_multiply(), and a pass over
/// the operands; memory: also a copy of them.
QUINTET_API quintet_status quintet_spgemm_multiply_add(double alpha, const quintet_csr* a, const quintet_csr* b,
                                                       double beta, const quintet_csr* c,
                                                       const quintet_spgemm_options* options, const char* device,
                                                       quintet_spgemm_report* report,
                                                       quintet_spgemm_matrix** result) QUINTET_NOEXCEPT;

/// *result := form_a(a) * form_b(b) of complex matrices, plus-times, from four products of their parts; the others
/// refuse complex values. Invalid: also values that are not complex, forms outside their names. Time: four real
/// products; memory: the parts of a, b and the result. `report` has all products of real numbers.
QUINTET_API quintet_status quintet_spgemm_multiply_complex(const quintet_csr* a, quintet_operand_form form_a,
                                                           const quintet_csr* b, quintet_operand_form form_b,
                                                           const quintet_spgemm_options* options, const char* device,
                                                           quintet_spgemm_report* report,
                                                           quintet_spgemm_matrix** result) QUINTET_NOEXCEPT;

/// *result := transpose(matrix) * matrix, or with of_rows matrix * transpose(matrix); with is_upper only the columns >=
/// the row, from half of the multiplications. The bits are those of quintet_spgemm_multiply(). Invalid: also more rows,
/// or with is_upper more entries, than index_type counts.
QUINTET_API quintet_status quintet_spgemm_gram(const quintet_csr* matrix, int32_t of_rows, int32_t is_upper,
                                               quintet_semiring semiring, const quintet_spgemm_options* options,
                                               const char* device, quintet_spgemm_report* report,
                                               quintet_spgemm_matrix** result) QUINTET_NOEXCEPT;

/// *result := of every row of a * b the first `count` >= 1 entries. Larger values rank first, with QUINTET_MIN_PLUS
/// smaller ones; of equal values the smaller column; NaN behind all numbers. *threshold, unless it is NULL: values that
/// rank behind it are left out, and NaN. by_value: 0 for ascending columns, else the entries of a row by rank. Invalid:
/// also count < 1, a NaN threshold. Time as for quintet_spgemm_multiply(); memory: the result, not a * b.
QUINTET_API quintet_status quintet_spgemm_multiply_top(const quintet_csr* a, const quintet_csr* b,
                                                       quintet_semiring semiring, int64_t count,
                                                       const double* threshold, int32_t by_value,
                                                       const quintet_spgemm_options* options, const char* device,
                                                       quintet_spgemm_report* report,
                                                       quintet_spgemm_matrix** result) QUINTET_NOEXCEPT;

/// Gets rows [first_row, first_row + block->rows) of a product, of them the columns [first_col, last_col), which are
/// all, unless a single row was too large. The block is valid during the call only. Returning 0 stops the work.
typedef int32_t (*quintet_spgemm_block)(int64_t first_row, int64_t first_col, int64_t last_col,
                                        const quintet_csr* block, void* user);

/// Computes a * b in blocks of rows, in order. The arrays of a block never exceed `budget` bytes. QUINTET_CANCELLED
/// when `take` stopped it. Invalid: also a budget below quintet_spgemm_estimate.minimum_budget. Time as for
/// quintet_spgemm_multiply(); memory: a block, and the accumulators of the threads.
QUINTET_API quintet_status quintet_spgemm_multiply_in_blocks(const quintet_csr* a, const quintet_csr* b,
                                                             quintet_semiring semiring, int64_t budget,
                                                             const quintet_spgemm_options* options, const char* device,
                                                             quintet_spgemm_block take, void* user) QUINTET_NOEXCEPT;

/// *estimate := sizes of a * b; estimate->size must be set. Time: a pass over a and b, and 1 % of the products.
QUINTET_API quintet_status quintet_spgemm_estimate_product(const quintet_csr* a, const quintet_csr* b,
                                                           quintet_spgemm_estimate* estimate) QUINTET_NOEXCEPT;

/// *plan := the structure of a * b, to be freed with quintet_spgemm_plan_free(). Time as much as a product; memory: row
/// pointers and columns of the result.
QUINTET_API quintet_status quintet_spgemm_plan_create(const quintet_csr* a, const quintet_csr* b,
                                                      quintet_semiring semiring, const quintet_spgemm_options* options,
                                                      const char* device, quintet_spgemm_plan** plan) QUINTET_NOEXCEPT;
/// *nnz := entries of the product. O(1). Invalid: NULL.
QUINTET_API quintet_status quintet_spgemm_plan_nnz(const quintet_spgemm_plan* plan, int64_t* nnz) QUINTET_NOEXCEPT;
/// *result := a * b for operands of the structure that the plan was made for; the same bits as without a plan. Invalid:
/// also other sizes, types or numbers of entries; another structure of the same size is not detected, and the values
/// are then unspecified. Time: a pass over the products.
QUINTET_API quintet_status quintet_spgemm_plan_execute(const quintet_spgemm_plan* plan, const quintet_csr* a,
                                                       const quintet_csr* b,
                                                       quintet_spgemm_matrix** result) QUINTET_NOEXCEPT;
/// The same into a result of this plan: its values are replaced, nothing is allocated for them. Invalid: also a matrix
/// that is no result of this plan. After another error than that its values are unspecified. For R A P again and again
/// make a plan of A P and one of R times its result; then refill both results.
QUINTET_API quintet_status quintet_spgemm_plan_refill(const quintet_spgemm_plan* plan, const quintet_csr* a,
                                                      const quintet_csr* b,
                                                      quintet_spgemm_matrix* result) QUINTET_NOEXCEPT;

/// *result := transpose of `matrix`. Columns ascend; repeated entries stay repeated. Time: two passes, on the host.
/// Invalid: also more rows than columns can be numbered.
QUINTET_API quintet_status quintet_spgemm_transpose(const quintet_csr* matrix,
                                                    quintet_spgemm_matrix** result) QUINTET_NOEXCEPT;
/// *result := alpha a + beta b, of the same sizes; the factors are rounded to the type. Time: one pass, on the host.
/// Invalid: also sizes that differ.
QUINTET_API quintet_status quintet_spgemm_add(double alpha, const quintet_csr* a, double beta, const quintet_csr* b,
                                              quintet_spgemm_matrix** result) QUINTET_NOEXCEPT;
/// y [a.rows x n] := a * x for a dense x [a.cols x n], both of the value type of a, any row strides >= n; y must not
/// overlap x. Time 2 nnz n; on a device also the transfers, and copies of all three there.
QUINTET_API quintet_status quintet_spgemm_multiply_dense(const quintet_csr* a, const void* x, int64_t n,
                                                         int64_t x_stride, void* y, int64_t y_stride,
                                                         const char* device) QUINTET_NOEXCEPT;
/// y [a.cols x n] := transpose(a) * x for a dense x [a.rows x n], without the transpose, otherwise like
/// quintet_spgemm_multiply_dense(). The sums have another order than those of a transpose, the same for any threads.
/// Memory: up to 16 times y, but no more than a has.
QUINTET_API quintet_status quintet_spgemm_multiply_dense_transposed(const quintet_csr* a, const void* x, int64_t n,
                                                                    int64_t x_stride, void* y, int64_t y_stride,
                                                                    const char* device) QUINTET_NOEXCEPT;

/// For every entry (i, j) of `mask`, in its order: values [nnz(mask)] := row i of x [mask.rows x n] times row j of y
/// [mask.cols x n]. The mask's values are not read. All have one value type. Time 2 nnz n; on a device also the
/// transfers.
QUINTET_API quintet_status quintet_spgemm_multiply_sampled(const quintet_csr* mask, const void* x, int64_t x_stride,
                                                           const void* y, int64_t y_stride, int64_t n, void* values,
                                                           const char* device) QUINTET_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
