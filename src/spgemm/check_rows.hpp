// The part of check() that does not look at the columns.
#pragma once

#include "quintet/spgemm/csr.hpp"

namespace quintet::spgemm {

/// Throws as check() does, except for columns outside [0, cols): for kernels that compare columns as they use them.
template <class Value, class Index>
void check_rows(const csr_view<Value, Index>& matrix, const char* name);

}  // namespace quintet::spgemm
