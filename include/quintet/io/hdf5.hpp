// HDF5 files. The HDF5 library itself stays behind these functions; its own messages never reach the terminal, they are
// part of the exceptions. Calls from several threads are safe: they wait for each other.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "quintet/core/view.hpp"
#include "quintet/io/atomic_file.hpp"
#include "quintet/io/detail/integer.hpp"
#include "quintet/io/matrix.hpp"

namespace quintet::io {

/// Paths of all datasets of a file ("points", "model/weights"), in alphabetic order; in a file without datasets those
/// of soft and external links to datasets. Throws FileError if it cannot be read or is not an HDF5 file. Time and
/// memory in the number of objects, not in their sizes.
std::vector<std::string> hdf5_datasets(const std::string& path);

/// Reads a dataset of any rank; T is float, double, std::int32_t or std::int64_t. An empty name means the only dataset
/// of the file; soft and external links are followed. Stored types: real numbers of 16 to 64 bits, integers of 8 to 64
/// bits of either byte order, and booleans as h5py writes them.
///
/// Throws FileError with file and dataset: not an HDF5 file, no such dataset (the text lists those of the file),
/// several datasets and no name, another type, or more elements than the available memory holds. It also throws for a
/// value that does not fit into T (too large, or not integral for an integer). One pass over the dataset. Memory: the
/// result and 1 MB.
template <class T>
array<T> read_hdf5(const std::string& path, const std::string& dataset = "");

/// Extents of a dataset; names and errors as for read_hdf5(). Values are not read.
std::vector<std::int64_t> hdf5_shape(const std::string& path, const std::string& dataset = "");

/// Whether float holds every number of the stored type: real numbers of up to 24 bits of mantissa and 8 of exponent,
/// integers of up to 24 bits, booleans. Names and errors as for read_hdf5(). Values are not read.
bool hdf5_fits_float(const std::string& path, const std::string& dataset = "");

/// The part with indices first ... first + count - 1 of the first dimension: rows of a matrix, matrices of a batch.
/// Names, types and errors are those of read_hdf5(); InvalidArgument for rows that do not exist, FileError for a single
/// number. Several processes may read one file at the same time: nothing is locked. Time and memory in the size of the
/// part, or of the chunks that it touches.
template <class T>
array<T> read_hdf5_rows(const std::string& path, const std::string& dataset, std::int64_t first, std::int64_t count);

/// Writes a file piece by piece; nothing appears at `path` before commit(), as with atomic_file.
/// T is float, double, std::int32_t or std::int64_t. Names may hold '/', which makes groups. All members throw
/// FileError when the file cannot be written (disk full) or was committed, and InvalidArgument for an empty name or one
/// that is already there. Values are written as they are, without a copy: time O(values), memory about 1 MB.
///
///   hdf5_writer out("result.h5");
///   out.write<float>("probabilities", probabilities);
///   out.attribute("", "min_samples", 5);
///   out.commit();
class hdf5_writer {
 public:
  /// Throws FileError as atomic_file does, and when the path is a pipe or device: HDF5 needs a regular file.
  explicit hdf5_writer(std::string path, atomic_file::temporary kind = atomic_file::temporary::automatic);
  ~hdf5_writer();
  hdf5_writer(const hdf5_writer&) = delete;
  hdf5_writer& operator=(const hdf5_writer&) = delete;

  /// A dataset of one dimension.
  template <class T>
  void write(std::string_view name, std::span<const T> values);
  /// The same from a vector.
  template <class T>
  void write(std::string_view name, const std::vector<T>& values) {
    write<T>(name, std::span<const T>(values));
  }
  /// A dataset of up to 32 dimensions, from dense row-major values; no dimension makes a scalar. Throws InvalidArgument
  /// for a negative size, and when `values` has another number of elements than `shape`.
  template <class T>
  void write(std::string_view name, std::span<const T> values, std::span<const std::int64_t> shape);
  /// A dataset of two dimensions, from rows with any stride.
  template <class T>
  void write(std::string_view name, matrix_view<const T> values);

  /// A dataset of two dimensions with rows that come later, in any order; missing rows are zero. Throws InvalidArgument
  /// for rows or cols < 0.
  template <class T>
  void create(std::string_view name, std::int64_t rows, std::int64_t cols);
  /// Rows first_row, first_row + 1, ... of a dataset made by create() with the same T. Throws InvalidArgument when they
  /// are not inside it.
  template <class T>
  void write_rows(std::string_view name, std::int64_t first_row, matrix_view<const T> values);

  /// An attribute of a dataset; of the file as a whole when `object` is empty. Throws InvalidArgument when there is no
  /// such dataset.
  void attribute(std::string_view object, std::string_view name, std::string_view value);
  /// The same from a literal.
  void attribute(std::string_view object, std::string_view name, const char* value) {
    attribute(object, name, std::string_view(value));
  }
  /// A real number, stored as a double.
  template <std::floating_point Number>
  void attribute(std::string_view object, std::string_view name, Number value) {
    real_attribute(object, name, static_cast<double>(value));
  }
  /// An integer or a truth value, stored as a 64-bit integer. Throws InvalidArgument above 2^63 - 1.
  template <std::integral Number>
  void attribute(std::string_view object, std::string_view name, Number value) {
    integer_attribute(object, name, detail::to_int64(value));
  }

  /// Makes a contiguous dataset, closes the temporary and leaves its values to other processes; nothing but commit()
  /// may follow. The byte where the first row begins. See shared_matrix.hpp.
  template <class T>
  std::int64_t leave_rows_to_others(std::string_view name, std::int64_t rows, std::int64_t cols);
  /// See atomic_file::temporary_path.
  const std::string& temporary_path() const noexcept;

  /// Closes, checks and renames. Nothing can be written afterwards.
  void commit();

 private:
  void real_attribute(std::string_view object, std::string_view name, double value);
  void integer_attribute(std::string_view object, std::string_view name, std::int64_t value);

  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace quintet::io
