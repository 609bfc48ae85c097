// Matrix Market coordinate files.
#pragma once

#include <string>

#include "quintet/io/sparse_file.hpp"
#include "quintet/spgemm/csr.hpp"

namespace quintet::io {

template <class Value, class Index>
spgemm::csr<Value, Index> read_matrix_market(const std::string& path, bool compressed, sparse_read_report* report);

template <class Value, class Index>
void write_matrix_market(const std::string& path, const spgemm::csr_view<Value, Index>& matrix, bool compressed);

}  // namespace quintet::io
