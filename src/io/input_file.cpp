#include "io/input_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/host_memory.hpp"
#include "quintet/core/error.hpp"

namespace quintet::io {

input_file::input_file(std::string path) : byte_source(std::move(path)) {
  if (path_.empty()) throw FileError("\"\"", "is an empty path; a file name is needed");
  descriptor_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) throw FileError(path_, text("cannot be read: ", std::strerror(errno)));
  struct stat status;
  std::string reason;
  if (::fstat(descriptor_, &status) != 0)
    reason = std::strerror(errno);
  else if (S_ISDIR(status.st_mode))
    reason = "it is a folder";
  if (!reason.empty()) {
    ::close(descriptor_);
    throw FileError(path_, text("cannot be read: ", reason));
  }
  regular_ = S_ISREG(status.st_mode);
  size_ = regular_ ? static_cast<std::int64_t>(status.st_size) : 0;
}

input_file::~input_file() { ::close(descriptor_); }

std::size_t input_file::read(void* data, std::size_t bytes) {
  std::size_t written = 0;
  while (written < bytes) {
    const ssize_t count = ::read(descriptor_, static_cast<char*>(data) + written, bytes - written);
    if (count == 0) break;
    if (count > 0)
      written += static_cast<std::size_t>(count);
    else if (errno != EINTR)
      throw FileError(path_, text("cannot be read: ", std::strerror(errno)));
  }
  return written;
}

void byte_source::read_exactly(void* data, std::size_t bytes, std::string_view label) {
  const std::size_t count = read(data, bytes);
  if (count != bytes)
    throw FileError(path_, text("ends within ", label, ": ", bytes - count, " of ", bytes, " bytes are missing"));
}

void input_file::seek(std::int64_t position) {
  if (::lseek(descriptor_, position, SEEK_SET) < 0)
    throw FileError(path_, text("cannot be read: ", std::strerror(errno)));
}

void require_rows(std::int64_t first, std::int64_t count, std::int64_t rows) {
  require_argument(first >= 0 && first <= rows, "first", first, text("in [0, ", rows, "]"));
  require_argument(count >= 0 && count <= rows - first, "count", count,
                   text("in [0, ", rows - first, "] from row ", first, " on"));
}

void require_memory(std::string_view path, std::int64_t elements, std::int64_t element_bytes) {
  // Looking costs more than reading a small file.
  constexpr std::int64_t small = std::int64_t(1) << 24;
  if (elements <= small / element_bytes) return;
  const std::int64_t memory = available_host_memory();
  if (elements > memory / element_bytes)
    throw FileError(path, text("needs ", elements, " x ", element_bytes, " bytes of memory; available are ", memory));
}

namespace {

// `fail(reason)` does not return.
template <class Fail>
std::int64_t product_of(std::span<const std::int64_t> shape, const Fail& fail) {
  std::int64_t count = 1;
  bool empty = false, overflow = false;
  for (const std::int64_t size : shape) {
    if (size < 0) fail(text("has the negative size ", size, " in its shape"));
    // A zero anywhere makes an empty array, however large the other sizes are.
    if (size == 0)
      empty = true;
    else if (__builtin_mul_overflow(count, size, &count))
      overflow = true;
  }
  if (empty) return 0;
  if (overflow) fail("has a shape of more than 2^63 elements");
  return count;
}

}  // namespace

std::int64_t element_count(std::string_view path, std::span<const std::int64_t> shape) {
  return product_of(shape, [&](const std::string& reason) { throw FileError(path, reason); });
}

std::int64_t checked_element_count(std::span<const std::int64_t> shape) {
  return product_of(shape, [](const std::string& reason) { throw InvalidArgument("the array " + reason); });
}

}  // namespace quintet::io
