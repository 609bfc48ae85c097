// The transpose of a sparse matrix.
#pragma once

#include "quintet/spgemm/csr.hpp"

namespace quintet::spgemm {

/// transpose(matrix): columns ascend; repeated entries of the matrix stay repeated, in their order.
/// Cost: two passes over the entries, by counting; 8 bytes a column beside the result. Throws as check() does, and
/// InvalidArgument when the rows are too many to be columns of Index.
template <class Value, class Index>
csr<Value, Index> transpose(const csr_view<Value, Index>& matrix, memory_source& memory = memory_source::standard());

}  // namespace quintet::spgemm
