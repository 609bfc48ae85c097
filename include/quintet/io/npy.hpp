// NumPy's .npy files, versions 1, 2 and 3: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "quintet/core/view.hpp"
#include "quintet/io/atomic_file.hpp"
#include "quintet/io/matrix.hpp"

namespace quintet::io {

/// Reads an array of any rank; T is float, double, std::int32_t or std::int64_t. Stored types: float16, 32 and 64,
/// signed and unsigned integers of 8 to 64 bits, bool; little and big endian; C and Fortran order (the result is
/// row-major either way). Real numbers are rounded to T. Throws FileError if the file is not such an array, if its size
/// is not that of its header, or if the array is larger than the machine's memory. It also throws if a value does not
/// fit into T (too large, or not integral for an integer). One pass over the file. Memory: the result and 1 MB.
template <class T>
array<T> read_npy(const std::string& path);

/// Extents of the array of a file, from its header alone. Throws FileError as read_npy() does for the header. O(1).
std::vector<std::int64_t> npy_shape(const std::string& path);

/// Whether float holds every number of the stored type: float16, float32, integers of 8 and 16 bits, bool. Errors and
/// cost as for npy_shape().
bool npy_fits_float(const std::string& path);

/// The part with indices first ... first + count - 1 of the first dimension: rows of a matrix, matrices of a batch. No
/// other element is read, so errors in others are not found. Types and errors are those of read_npy(); InvalidArgument
/// for rows that are not there, FileError for a single number. Time and memory in the size of the part.
template <class T>
array<T> read_npy_rows(const std::string& path, std::int64_t first, std::int64_t count);

/// Writes a row-major array, atomically; T is float, double, std::int32_t or std::int64_t.
/// Throws InvalidArgument when `data` has another number of elements than `shape`, for a negative size and for more
/// than 32 of them; FileError as atomic_file does. One pass over the data; memory about 1 MB.
template <class T>
void write_npy(const std::string& path, std::span<const T> data, std::span<const std::int64_t> shape);

/// Writes a matrix of two dimensions by blocks of rows, in order; nothing appears at `path` before commit(). T is
/// float, double, std::int32_t or std::int64_t. Throws FileError as atomic_file does.
template <class T>
class npy_writer {
 public:
  /// A matrix of this size. Writes the header. Throws InvalidArgument for rows or cols < 0.
  npy_writer(std::string path, std::int64_t rows, std::int64_t cols,
             atomic_file::temporary kind = atomic_file::temporary::automatic);
  /// The next rows, with any stride. Throws InvalidArgument when they have another number of columns, or are too many.
  void write_rows(matrix_view<const T> values);
  /// See atomic_file::commit. Throws InvalidArgument when rows are missing.
  void commit();

  /// Puts the header and an empty place for all rows into the temporary, for other processes to write there; commit()
  /// then does not count them. The byte where the first row begins. See shared_matrix.hpp.
  std::int64_t leave_rows_to_others();
  /// See atomic_file::temporary_path.
  const std::string& temporary_path() const noexcept { return file_.temporary_path(); }

 private:
  atomic_file file_;
  std::int64_t rows_, cols_;
  std::int64_t written_ = 0;  // rows
};

/// Writes a matrix, with any stride, as a dense array of two dimensions; T and errors as for npy_writer.
template <class T>
void write_npy(const std::string& path, matrix_view<const T> values);

}  // namespace quintet::io
