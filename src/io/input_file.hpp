// A file opened for reading, with errors as FileError.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace quintet::io {

/// Bytes that are read in order, from a position on: those of a file, or of a member of one.
class byte_source {
 public:
  virtual ~byte_source() = default;
  /// Reads up to `bytes` bytes from the current position on; fewer only at the end.
  virtual std::size_t read(void* data, std::size_t bytes) = 0;
  /// The next read begins at `position`, in bytes from the start.
  virtual void seek(std::int64_t position) = 0;
  /// Reads exactly `bytes` bytes; throws FileError ("ends within <what>") when there are fewer.
  void read_exactly(void* data, std::size_t bytes, std::string_view label);

  /// The name for messages.
  const std::string& path() const noexcept { return path_; }
  /// Number of bytes.
  std::int64_t size() const noexcept { return size_; }

 protected:
  explicit byte_source(std::string path, std::int64_t size = 0) : path_(std::move(path)), size_(size) {}
  byte_source(const byte_source&) = default;
  byte_source& operator=(const byte_source&) = default;
  std::string path_;
  std::int64_t size_ = 0;
};

/// Owns the descriptor of an open file. A missing or unreadable path or a folder is a FileError at once. size() is that
/// of a regular file when it was opened, and 0 for pipes and devices, which cannot seek().
class input_file final : public byte_source {
 public:
  explicit input_file(std::string path);
  ~input_file() override;
  input_file(const input_file&) = delete;
  input_file& operator=(const input_file&) = delete;

  std::size_t read(void* data, std::size_t bytes) override;
  void seek(std::int64_t position) override;

  int descriptor() const noexcept { return descriptor_; }
  bool regular() const noexcept { return regular_; }

 private:
  int descriptor_ = -1;
  bool regular_ = false;
};

/// Throws FileError when `elements` x `element_bytes` is more than the memory that is available now (of the machine, of
/// the control group, of the process): a header that lies, or a file that this machine cannot hold. Without it the
/// system would hand out the memory and kill the program later.
void require_memory(std::string_view path, std::int64_t elements, std::int64_t element_bytes);

/// Throws InvalidArgument unless first ... first + count - 1 are rows of a dataset that has `rows` of them.
void require_rows(std::int64_t first, std::int64_t count, std::int64_t rows);

/// Product of the sizes, 0 when one of them is. Throws FileError for a negative size or a product over 2^63 - 1.
std::int64_t element_count(std::string_view path, std::span<const std::int64_t> shape);
/// The same of an array that is to be written: throws InvalidArgument.
std::int64_t checked_element_count(std::span<const std::int64_t> shape);

}  // namespace quintet::io
