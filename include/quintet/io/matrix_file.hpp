// Matrices from and to files of any supported format; the extension of the path says which (see file_format.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "quintet/core/view.hpp"
#include "quintet/io/matrix.hpp"

namespace quintet::io {

/// Reads a matrix; Real is float or double. `dataset` names the dataset of an HDF5 file; empty means its only one.
/// An array of one dimension becomes a matrix of one column.
/// Throws FileError: unknown extension, unreadable or malformed file (see csv.hpp, npy.hpp, hdf5.hpp), an array of
/// other than one or two dimensions, or a dataset named for a file that has none. Cost: one pass over the file; memory
/// for the result and about 1 MB.
template <class Real>
matrix<Real> read_matrix(const std::string& path, const std::string& dataset = "");

/// The same for integers, such as pairs of indices: a value that is not integral or not within 64 bits is a FileError.
matrix<std::int64_t> read_table(const std::string& path, const std::string& dataset = "");

/// Writes a matrix, atomically; Real is float or double. `dataset` is its name in an HDF5 file; `names` become the
/// header line of a CSV file; both are ignored by formats that have no place for them. Throws FileError, before
/// anything is written when the extension is unknown; InvalidArgument for names that are not one a column, and for an
/// empty dataset name. Cost: one pass over the values; memory about 1 MB.
template <class Real>
void write_matrix(const std::string& path, matrix_view<const Real> values, const std::string& dataset = "matrix",
                  std::span<const std::string> names = {});

}  // namespace quintet::io
