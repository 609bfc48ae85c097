// The transpose of a sparse matrix.
#pragma once

#include "quintet/spgemm/csr.hpp"

namespace quintet::spgemm {

/// transpose(matrix): columns ascend; repeated entries of the matrix stay repeated, in their order.
/// Cost: O(rows + cols + nnz), two passes over the entries by counting, on one thread of the host; no memory but the
/// result's, which is of `memory`. Throws as check() does, InvalidArgument when the rows are too many to be columns of
/// Index, OutOfMemory.
template <class Value, class Index>
csr<Value, Index> transpose(const csr_view<Value, Index>& matrix, memory_source& memory = memory_source::standard());

}  // namespace quintet::spgemm
