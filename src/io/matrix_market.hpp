// Matrix Market coordinate files.
#pragma once

#include <string>

#include "quintet/io/complex_file.hpp"
#include "quintet/io/sparse_file.hpp"
#include "quintet/spgemm/csr.hpp"

namespace quintet::io {

template <class Value, class Index>
spgemm::csr<Value, Index> read_matrix_market(const std::string& path, bool compressed, sparse_read_report* report);

template <class Value, class Index>
void write_matrix_market(const std::string& path, const spgemm::csr_view<Value, Index>& matrix, bool compressed);

template <class Real, class Index>
spgemm::complex_csr<Real, Index> read_complex_matrix_market(const std::string& path, bool compressed,
                                                            sparse_read_report* report);

template <class Real, class Index>
void write_complex_matrix_market(const std::string& path, const spgemm::complex_csr_view<Real, Index>& matrix,
                                 bool compressed);

/// Whether the first line says that the values are complex.
bool is_complex_matrix_market(const std::string& path, bool compressed);

}  // namespace quintet::io
