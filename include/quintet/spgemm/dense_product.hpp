// Sparse matrix times dense matrix (SpMM), and dense products where a sparse matrix has entries (SDDMM).
#pragma once

#include "quintet/core/view.hpp"
#include "quintet/device/device.hpp"
#include "quintet/spgemm/csr.hpp"

namespace quintet::spgemm {

/// y = A * x: A is m x k sparse, x is k x n dense, y is m x n dense and overwritten; any strides. Row i of y is the sum
/// of the rows of x that A's row i names, in the order of its entries: the same bits on every device and for any
/// number of threads. Columns of A may repeat. Rows of A without entries give zeros.
/// Cost: 2 * nnz(A) * n operations; on a device also the transfer of A, x and y, memory for them there, and for the
/// larger of x and y on the host. y must not overlap x. Throws as check() does, InvalidArgument for sizes that do not
/// fit, OutOfMemory, DeviceError. With n = 1 the product checks columns as it uses them: if one is out of range, y has
/// been written.
template <class Value, class Index>
void multiply_dense(const csr_view<Value, Index>& a, matrix_view<const Value> x, matrix_view<Value> y,
                    const Device& device = Device::best());

/// y = transpose(A) * x without the transpose: A is m x k, x is m x n, y is k x n. The sizes alone cut A's rows into at
/// most 16 blocks. An element of y is the sum of the blocks' sums, each in the order of A's entries. These are the
/// same bits on every device and for any number of threads, but not those of multiply_dense() of the transpose.
///
/// Cost: 2 * nnz(A) * n operations; A is read once for every 8 columns of x. A device forms the transpose. Memory on
/// the host: a y of at most 8 columns for each block; there are at most nnz(A) / (8 k) blocks. Throws as
/// multiply_dense() does. Columns out of range are found while the product runs; y has then been written.
template <class Value, class Index>
void multiply_dense_transposed(const csr_view<Value, Index>& a, matrix_view<const Value> x, matrix_view<Value> y,
                               const Device& device = Device::best());

/// What x * transpose(y) has where `mask` has entries (SDDMM): values[e] = sum over c of x(i, c) * y(j, c) for entry e
/// = (i, j), in the order of the entries. The mask is m x k, x is m x n, y is k x n, `values` a row of nnz(mask)
/// numbers. The mask's values are not read. A sum is that of eight sums over every eighth column: the same bits on
/// every device and for any number of threads.
///
/// Cost: 2 * nnz(mask) * n operations; on a device also the transfers, and copies of all there. Throws as check() does,
/// InvalidArgument for sizes that do not fit, OutOfMemory, DeviceError.
template <class Value, class Index>
void multiply_sampled(const csr_view<Value, Index>& mask, matrix_view<const Value> x, matrix_view<const Value> y,
                      matrix_view<Value> values, const Device& device = Device::best());

}  // namespace quintet::spgemm
