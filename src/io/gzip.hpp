// Compressed text: zlib's streams, read and written a block at a time.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "io/input_file.hpp"
#include "quintet/io/atomic_file.hpp"

namespace quintet::io {

/// Reads the content of a .gz file (several members one behind the other are one content). Errors as FileError.
class gzip_reader {
 public:
  explicit gzip_reader(input_file& file);
  ~gzip_reader();
  /// Up to `bytes` bytes; 0 only at the end.
  std::size_t read(void* data, std::size_t bytes);

 private:
  struct state;
  input_file& file_;
  std::unique_ptr<state> state_;
};

/// Compresses into a file; finish() before the file's commit().
class gzip_writer {
 public:
  explicit gzip_writer(atomic_file& file);
  ~gzip_writer();
  void write(std::string_view text);
  void finish();

 private:
  void run(int flush);
  struct state;
  atomic_file& file_;
  std::unique_ptr<state> state_;
};

}  // namespace quintet::io
