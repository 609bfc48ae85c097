// Matrices from and to files of any supported format; the extension of the path says which (see file_format.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "quintet/core/view.hpp"
#include "quintet/io/matrix.hpp"

namespace quintet::io {

/// Reads a matrix; Real is float or double. `dataset` names the dataset of an HDF5 file; empty means its only one. An
/// array of one dimension becomes a matrix of one column. Throws FileError: unknown extension, unreadable or malformed
/// file (see csv.hpp, npy.hpp, hdf5.hpp), an array of other than one or two dimensions, or a dataset name for a file
/// without datasets. Cost: one pass over the file; memory for the result and about 1 MB.
template <class Real>
matrix<Real> read_matrix(const std::string& path, const std::string& dataset = "");

/// The same for integers, such as pairs of indices: a value that is not integral or not within 64 bits is a FileError.
matrix<std::int64_t> read_table(const std::string& path, const std::string& dataset = "");

/// Whether a file can be read as float without a change of any number. Either float holds its type (see
/// npy_fits_float(), hdf5_fits_float()), or it is text and float holds every number of it (csv_fits_float()). False for
/// text that is not a regular file, because a pipe can be read only once. The array may have any number of dimensions.
/// Errors as for read_matrix(), but missing text is found only when it is read.
bool fits_float(const std::string& path, const std::string& dataset = "");

/// Rows and columns of a matrix that is in a file.
struct matrix_extent {
  ///@{
  /// >= 0
  std::int64_t rows = 0, cols = 0;
  ///@}
};

/// Whether parts of a file can be read without the rest: .npy and .h5, not text. Throws FileError for an unknown
/// extension. O(1).
bool has_row_access(const std::string& path);

/// Size of the matrix that read_matrix() would read, with its errors; it reads values only of a CSV file, which must be
/// read whole.
matrix_extent matrix_shape(const std::string& path, const std::string& dataset = "");

/// Rows first ... first + count - 1 of the matrix that read_matrix() would read, with its errors; InvalidArgument for
/// rows that are not there. Of .npy and .h5 files nothing else is read, in time and memory of the part; a CSV file is
/// read whole.
template <class Real>
matrix<Real> read_matrix_rows(const std::string& path, const std::string& dataset, std::int64_t first,
                              std::int64_t count);

/// Writes a matrix, atomically; Real is float or double. `dataset` is its name in an HDF5 file; `names` become the
/// header line of a CSV file; both are ignored by formats that have no place for them. Throws FileError, before
/// anything is written when the extension is unknown; InvalidArgument for names that are not one per column, and for an
/// empty dataset name. Cost: one pass over the values; memory about 1 MB.
template <class Real>
void write_matrix(const std::string& path, matrix_view<const Real> values, const std::string& dataset = "matrix",
                  std::span<const std::string> names = {});

}  // namespace quintet::io
