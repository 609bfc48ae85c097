// A matrix that several processes write into one file, each its own rows.
//
// One process makes the file, under a temporary name, with everything but the values. Each process opens it and writes
// its rows. When all have done that without an error, the first process gives the file its name. Until then nothing
// appears at the path, and if the first process ends without a commit, it leaves nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "quintet/core/view.hpp"
#include "quintet/io/hdf5.hpp"

namespace quintet::io {

/// The place of rows: the data that a process needs to write its own.
struct shared_matrix_place {
  std::string file;         ///< under its temporary name
  std::int64_t offset = 0;  ///< byte where the first row begins
  std::int64_t cols = 0;    ///< values of a row
};

/// The file, in the process that makes it. T is float, double, std::int32_t or std::int64_t.
template <class T>
class shared_matrix_file {
 public:
  /// A .npy or .h5 file for rows x cols values. In an .h5 file they are the contiguous dataset `dataset`, and `more`
  /// may add attributes and other datasets. Throws FileError as atomic_file does, for other extensions, and where
  /// `path` is no regular file; InvalidArgument for rows or cols < 0. Time and memory do not grow with the matrix.
  shared_matrix_file(const std::string& path, const std::string& dataset, std::int64_t rows, std::int64_t cols,
                     const std::function<void(hdf5_writer&)>& more = {});
  ~shared_matrix_file();
  shared_matrix_file(const shared_matrix_file&) = delete;
  shared_matrix_file& operator=(const shared_matrix_file&) = delete;

  /// For write_shared_rows().
  const shared_matrix_place& place() const;
  /// Gives the file its name, when all rows are written. Throws FileError.
  void commit();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Writes rows first_row, first_row + 1, ... and waits until they are on the disk. Throws FileError with the reason
/// ("No space left on device"), under the name `path`, and InvalidArgument for another number of columns.
template <class T>
void write_shared_rows(const shared_matrix_place& place, const std::string& path, std::int64_t first_row,
                       matrix_view<const T> rows);

}  // namespace quintet::io
