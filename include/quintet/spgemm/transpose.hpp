// The transpose of a sparse matrix.
#pragma once

#include "quintet/spgemm/csr.hpp"

namespace quintet::spgemm {

template <class Value, class Index>
struct device_csr;

/// transpose(matrix): columns ascend; repeated entries of the matrix stay repeated, in their order. It runs on
/// `device`, or, if that is the host, where the matrix is.
///
/// Cost: O(rows + cols + nnz), two passes over the entries by counting, in blocks of rows that threads take side by
/// side. Memory, of `memory`: the result, and 8 bytes per column for each of the blocks. There are as many blocks as
/// threads on the host (one below 100,000 entries), and 256 on a device, but never so many that this exceeds 32 bytes
/// per entry. Throws as check() does, InvalidArgument if the rows are too many to be columns of Index, OutOfMemory,
/// DeviceError.
template <class Value, class Index>
csr<Value, Index> transpose(const csr_view<Value, Index>& matrix, memory_source& memory = memory_source::standard(),
                            const Device& device = Device::best());
/// The same on the device that has the matrix; only sizes come to the host.
template <class Value, class Index>
device_csr<Value, Index> transpose(const device_csr<Value, Index>& matrix);

}  // namespace quintet::spgemm
