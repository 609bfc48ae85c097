// Sums of sparse matrices.
#pragma once

#include "quintet/spgemm/csr.hpp"

namespace quintet::spgemm {

template <class Value, class Index>
struct device_csr;

/// alpha * A + beta * B. An entry exists where A or B has one; columns ascend; repeated columns of an operand add up.
/// A and B have the same size; alpha and beta are any numbers. On `device`, or, when that is the host, where an operand
/// is. Cost: O(nnz(A) + nnz(B)), two passes over both, rows side by side; an operand with unsorted or repeated columns
/// is sorted in a copy first. Memory: the result, and 8 bytes per entry where an operand is sorted. Throws as check()
/// does, InvalidArgument when the sizes differ, OutOfMemory, DeviceError.
template <class Value, class Index>
csr<Value, Index> add(Value alpha, const csr_view<Value, Index>& a, Value beta, const csr_view<Value, Index>& b,
                      const Device& device = Device::best());
/// The same on the device that has both; only sizes come to the host. Throws InvalidArgument for two devices.
template <class Value, class Index>
device_csr<Value, Index> add(Value alpha, const device_csr<Value, Index>& a, Value beta,
                             const device_csr<Value, Index>& b);

}  // namespace quintet::spgemm
