#include "quintet/io/shared_matrix.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "instantiate.hpp"
#include "quintet/core/error.hpp"
#include "quintet/io/file_format.hpp"
#include "quintet/io/npy.hpp"

namespace quintet::io {

template <class T>
struct shared_matrix_file<T>::state {
  std::optional<npy_writer<T>> npy;
  std::optional<hdf5_writer> hdf5;
  shared_matrix_place place;
};

template <class T>
shared_matrix_file<T>::shared_matrix_file(const std::string& path, const std::string& dataset, std::int64_t rows,
                                          std::int64_t cols, const std::function<void(hdf5_writer&)>& more)
    : state_(std::make_unique<state>()) {
  const file_format format = format_of(path, {file_format::npy, file_format::hdf5});
  state_->place.cols = cols;
  if (format == file_format::npy) {
    state_->npy.emplace(path, rows, cols, atomic_file::temporary::named);
    state_->place.offset = state_->npy->leave_rows_to_others();
    state_->place.file = state_->npy->temporary_path();
  } else {
    state_->hdf5.emplace(path, atomic_file::temporary::named);
    if (more) more(*state_->hdf5);
    state_->place.offset = state_->hdf5->template leave_rows_to_others<T>(dataset, rows, cols);
    state_->place.file = state_->hdf5->temporary_path();
  }
  if (state_->place.file.empty())
    throw FileError(path, "cannot be written by several processes: it is no regular file");
}

template <class T>
shared_matrix_file<T>::~shared_matrix_file() = default;

template <class T>
const shared_matrix_place& shared_matrix_file<T>::place() const {
  return state_->place;
}

template <class T>
void shared_matrix_file<T>::commit() {
  if (state_->npy)
    state_->npy->commit();
  else
    state_->hdf5->commit();
}

template <class T>
void write_shared_rows(const shared_matrix_place& place, const std::string& path, std::int64_t first_row,
                       matrix_view<const T> rows) {
  require_argument(rows.rows() == 0 || rows.cols() == place.cols, "rows.cols", rows.cols(),
                   text("the cols of the file, ", place.cols));
  const auto fail = [&] { throw FileError(path, text("cannot be written: ", std::strerror(errno))); };
  struct file {
    int descriptor;
    ~file() {
      if (descriptor >= 0) ::close(descriptor);
    }
  } out{::open(place.file.c_str(), O_WRONLY | O_CLOEXEC)};
  if (out.descriptor < 0) fail();
  const std::int64_t row_bytes = place.cols * std::int64_t(sizeof(T));
  // Rows that follow one another in memory go in one piece.
  const std::int64_t piece = rows.stride() == rows.cols() ? std::max<std::int64_t>(rows.rows(), 1) : 1;
  for (std::int64_t i = 0; i < rows.rows() && row_bytes > 0; i += piece) {
    const char* from = reinterpret_cast<const char*>(rows.row(i));
    std::int64_t position = place.offset + (first_row + i) * row_bytes, left = piece * row_bytes;
    while (left > 0) {
      const ssize_t count = ::pwrite(out.descriptor, from, static_cast<std::size_t>(left), position);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail();
      from += count;
      position += count;
      left -= count;
    }
  }
  if (::fsync(out.descriptor) != 0 && errno != EINVAL && errno != ENOTSUP) fail();
}

#define QUINTET_INSTANTIATE(T)          \
  template class shared_matrix_file<T>; \
  template void write_shared_rows(const shared_matrix_place&, const std::string&, std::int64_t, matrix_view<const T>);
QUINTET_FOR_EACH_ELEMENT(QUINTET_INSTANTIATE)

}  // namespace quintet::io
