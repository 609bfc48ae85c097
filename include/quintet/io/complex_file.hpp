// Complex sparse matrices from and to Matrix Market files, .mtx and .mtx.gz.
//
// Field complex, or any of read_sparse(): real values get imaginary parts of 0. Symmetry is general, symmetric,
// skew-symmetric or hermitian (the diagonal is real; the other triangle has the conjugates). Files of other formats
// are refused. Otherwise all is as in quintet/io/sparse_file.hpp. Written files are "coordinate complex general".
#pragma once

#include <string>

#include "quintet/io/sparse_file.hpp"
#include "quintet/spgemm/complex_product.hpp"

namespace quintet::io {

/// Whether a Matrix Market file says that its values are complex; false for the extensions of other formats, and for
/// what is no regular file: what is read of a pipe is gone. Reads the first line. Throws FileError for an unknown
/// extension, and when the file cannot be read or is empty.
bool has_complex_values(const std::string& path);

/// Reads a matrix; Real is float or double, Index std::int32_t or std::int64_t. If `report` is not null it gets the
/// unusual properties. Throws FileError as read_sparse() does, also for other formats, and for a diagonal of a
/// Hermitian matrix that is not real. Memory: the matrix, and 32 bytes per entry while it is read.
template <class Real, class Index>
spgemm::complex_csr<Real, Index> read_complex_sparse(const std::string& path, sparse_read_report* report = nullptr);

/// Writes a matrix; nothing appears at `path` before it is complete. Throws InvalidArgument as spgemm::check() does,
/// FileError as atomic_file does and for other formats. One pass over the entries; memory about 1 MB.
template <class Real, class Index>
void write_complex_sparse(const std::string& path, const spgemm::complex_csr_view<Real, Index>& matrix);

}  // namespace quintet::io
