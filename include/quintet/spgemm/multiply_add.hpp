// Products that are added to a matrix: alpha * A * B + beta * C, in one pass over the products.
#pragma once

#include "quintet/spgemm/device_csr.hpp"
#include "quintet/spgemm/multiply.hpp"

namespace quintet::spgemm {

/// alpha * A * B + beta * C, what GEMM computes (Dongarra et al. 1990), of sparse matrices:
///
///   D(i, j) = sum over k of (alpha A(i, k)) B(k, j), in the order of the entries of A's row i, and then beta C(i, j).
///
/// An entry exists where a product or an entry of C exists, also for factors of 0; columns ascend. alpha and beta are
/// any numbers; NaN and infinity follow the arithmetic. For alpha = 1 an entry with products has the bits that add()
/// gives the result of multiply(). A is m x k, B is k x n, C is m x n; columns may be unsorted and repeated. Bits are
/// the same on every device and for any number of threads.
///
/// The product is that of (alpha A, beta I) and of B above C, so A B is never in memory. `stats`, if not null, counts
/// the entries of C as products. Time: that of multiply(), and a pass over A, B and C. Memory: that of multiply(), and
/// a copy of A, B and C. Throws as multiply() does; InvalidArgument also for a C of another size, and if k + m rows are
/// more than Index counts.
template <class Value, class Index>
csr<Value, Index> multiply_add(Value alpha, const csr_view<Value, Index>& a, const csr_view<Value, Index>& b,
                               Value beta, const csr_view<Value, Index>& c, const options& settings = {},
                               const Device& device = Device::best(), report* stats = nullptr);
/// The same on the device that has all three; only sizes and row pointers come to the host. Throws InvalidArgument for
/// two devices.
template <class Value, class Index>
device_csr<Value, Index> multiply_add(Value alpha, const device_csr<Value, Index>& a, const device_csr<Value, Index>& b,
                                      Value beta, const device_csr<Value, Index>& c, const options& settings = {},
                                      report* stats = nullptr);

}  // namespace quintet::spgemm
