// Sparse matrix times dense matrix (SpMM).
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
/// fit, OutOfMemory, DeviceError.
template <class Value, class Index>
void multiply_dense(const csr_view<Value, Index>& a, matrix_view<const Value> x, matrix_view<Value> y,
                    const Device& device = Device::best());

}  // namespace quintet::spgemm
