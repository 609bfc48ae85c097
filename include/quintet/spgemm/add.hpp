// Sums of sparse matrices.
#pragma once

#include "quintet/spgemm/csr.hpp"

namespace quintet::spgemm {

/// alpha * A + beta * B. An entry exists where A or B has one; columns ascend; repeated columns of an operand add up.
/// A and B have the same size; alpha and beta are any numbers. Cost: O(nnz(A) + nnz(B)), one pass over both on one
/// thread of the host; an operand with unsorted or repeated columns is sorted in a copy first. Memory: the entries of
/// both, of which what is too much is given back. Throws as check() does, InvalidArgument when the sizes differ,
/// OutOfMemory.
template <class Value, class Index>
csr<Value, Index> add(Value alpha, const csr_view<Value, Index>& a, Value beta, const csr_view<Value, Index>& b);

}  // namespace quintet::spgemm
