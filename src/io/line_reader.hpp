// Lines of a text file, read in blocks so that a file of any size takes little memory.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/gzip.hpp"
#include "io/input_file.hpp"

namespace quintet::io {

class line_reader {
 public:
  /// `compressed`: the file is gzip's.
  explicit line_reader(std::string path, bool compressed = false);

  /// The next line without its line end; false at the end of the file. The text is valid until the next call.
  bool next(std::string_view& line);
  /// Number of the line that next() returned last, from 1.
  std::int64_t number() const noexcept { return number_; }
  const input_file& file() const noexcept { return file_; }

 private:
  bool refill();

  input_file file_;
  std::unique_ptr<gzip_reader> gzip_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // what has been read and not returned
  std::int64_t number_ = 0;
  std::int64_t unchecked_ = 0;  // bytes of text since the last look at the memory that is left
  bool at_end_ = false;
};

}  // namespace quintet::io
