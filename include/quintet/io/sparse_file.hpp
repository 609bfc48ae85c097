// Sparse matrices from and to files; the extension says which format: .mtx and .mtx.gz are Matrix Market files (the
// second compressed), .npz those of SciPy; .h5, .hdf5 and .h5ad hold compressed rows or columns.
//
// Matrix Market (math.nist.gov/MatrixMarket/formats.html): field real, double, integer, unsigned-integer or pattern
// (every entry is 1), exponents with E or D, comments in any line after the first. Symmetry is general, symmetric or
// skew-symmetric; the reader fills in the other triangle. In the format array, elements that are 0 are no entries.
// Complex values are refused (complex_file.hpp reads them). Entries keep their order inside a row; repeated entries and
// explicit zeros stay; a product adds the former with its semiring's addition. Written files are "coordinate real
// general", with numbers in the shortest form that reads back the same.
//
// NPZ: what scipy.sparse.save_npz writes, in its formats csr, csc, coo, bsr and dia, of the types of read_npy(). The
// zeros inside the blocks of bsr are entries, those of diagonals are not, as in SciPy. Written files are csr, deflated;
// scipy.sparse.load_npz reads them. An archive must be a regular file.
//
// HDF5: datasets row_pointers [rows + 1], columns [nnz], values [nnz] and shape [2] = rows, cols. With `group` all are
// in that group. The reader takes two other layouts, too. AnnData has indptr, indices, data, and the attributes shape
// and encoding-type (csr_matrix or csc_matrix) of their group. 10x Genomics has the same with a dataset shape, stored
// by columns. Without `group` it looks for them in the groups X and matrix.
//
// Errors are FileErrors with the line and the reason: no banner, an unknown kind, invalid sizes, an index outside the
// matrix, malformed or out-of-range numbers, too few or too many entries, damaged compression. Also errors: an entry
// and its mirror image in a symmetric file, and more rows or entries than fit into memory. Time: one pass over the
// file, and a counting sort of the entries by rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "quintet/io/atomic_file.hpp"
#include "quintet/io/hdf5.hpp"
#include "quintet/spgemm/csr.hpp"

namespace quintet::io {

/// Unusual properties of a file.
struct sparse_read_report {
  /// Entries above the diagonal of a Matrix Market file that claims symmetry. The format allows them below only, files
  /// in circulation have them; each stands for its mirror image too, as in SciPy and GraphBLAS.
  std::int64_t above_diagonal = 0;
};

/// Reads a sparse matrix; Value is float or double, Index std::int32_t or std::int64_t. If `report` is not null it gets
/// the unusual properties. Throws FileError, also for a group in a format without groups. Memory: the matrix, and
/// during the reading as much again from HDF5 and NPZ, 24 bytes per entry from Matrix Market.
template <class Value, class Index>
spgemm::csr<Value, Index> read_sparse(const std::string& path, const std::string& group = "",
                                      sparse_read_report* report = nullptr);

/// Size and row pointers of a sparse matrix.
struct sparse_rows {
  ///@{
  /// Size of the matrix.
  std::int64_t rows = 0, cols = 0;
  ///@}
  std::vector<std::int64_t> row_pointers;  ///< rows + 1, from 0 to the number of entries
  ///@{
  /// Datasets of the entries; empty: columns and values of the group.
  std::string columns, values;
  ///@}
};

/// Whether rows can be read without the others: from HDF5, not from text. Throws FileError for an unknown extension.
bool has_sparse_row_access(const std::string& path);

/// Size and row pointers of an HDF5 file, with the errors of read_sparse(), and FileError for a matrix that is stored
/// by columns. Memory: 8 bytes per row.
sparse_rows read_sparse_rows(const std::string& path, const std::string& group = "");

/// Rows first ... first + count - 1 of the matrix with the row pointers `all`, from an HDF5 file; nothing else of
/// columns and values is read. Errors as for read_sparse(); InvalidArgument for rows that do not exist.
template <class Value, class Index>
spgemm::csr<Value, Index> read_sparse_part(const std::string& path, const std::string& group, const sparse_rows& all,
                                           std::int64_t first, std::int64_t count);

/// Writes a sparse matrix; nothing appears at `path` before it is complete. `group` is for HDF5 alone. Throws
/// InvalidArgument as spgemm::check() does, FileError as atomic_file does and for an unknown extension. One pass over
/// the entries; memory about 1 MB, for HDF5 also 8 bytes per row.
template <class Value, class Index>
void write_sparse(const std::string& path, const spgemm::csr_view<Value, Index>& matrix, const std::string& group = "");

/// Writes a Matrix Market file with entries that come block by block, so the matrix is never stored. Nothing appears at
/// the path before commit().
class sparse_block_writer {
 public:
  /// A matrix of this size, in Matrix Market's format whatever the extension. `path` must be a regular file, because
  /// the number of entries is filled in at the end. Throws InvalidArgument for rows or cols < 0, FileError as
  /// atomic_file does.
  sparse_block_writer(std::string path, std::int64_t rows, std::int64_t cols);
  /// Entries of `block`, which has the columns of the matrix; its row 0 is row `first_row`. Blocks may come in any
  /// order, no row twice. Throws InvalidArgument as spgemm::check() does, and for a block outside the matrix;
  /// FileError.
  template <class Value, class Index>
  void write(std::int64_t first_row, const spgemm::csr_view<Value, Index>& block);
  /// See atomic_file::commit. Throws FileError also for a pipe or device.
  void commit();

 private:
  atomic_file out_;
  std::int64_t rows_, cols_, entries_ = 0, count_position_ = 0;
};

/// The datasets of a matrix in a file with other content. Throws as spgemm::check() and hdf5_writer do; 8 bytes per
/// row.
template <class Value, class Index>
void write_csr(hdf5_writer& out, const spgemm::csr_view<Value, Index>& matrix, const std::string& group = "");

///@{
/// Throws FileError when `path` is no sparse format's name; for an output also when it cannot be written. Nothing is
/// opened or written.
void check_sparse_input(const std::string& path);
void check_sparse_output(const std::string& path);
///@}

}  // namespace quintet::io
