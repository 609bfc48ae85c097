// Sparse matrices as scipy.sparse.save_npz writes them.
#pragma once

#include <string>

#include "quintet/spgemm/csr.hpp"

namespace quintet::io {

template <class Value, class Index>
spgemm::csr<Value, Index> read_sparse_npz(const std::string& path);

template <class Value, class Index>
void write_sparse_npz(const std::string& path, const spgemm::csr_view<Value, Index>& matrix);

}  // namespace quintet::io
