// Sums of sparse matrices.
#pragma once

#include "quintet/spgemm/csr.hpp"

namespace quintet::spgemm {

/// alpha * A + beta * B. An entry exists where A or B has one; columns ascend; repeated columns of an operand add up.
/// A and B have the same size. Cost: one pass over both, on one thread of the host. Throws as check() does, and
/// InvalidArgument when the sizes differ.
template <class Value, class Index>
csr<Value, Index> add(Value alpha, const csr_view<Value, Index>& a, Value beta, const csr_view<Value, Index>& b);

}  // namespace quintet::spgemm
