#include "io/line_reader.hpp"

#include <algorithm>
#include <cstring>

namespace quintet::io {

namespace {

/// A small file is held whole, a large one by pieces.
std::size_t buffer_bytes(const input_file& file, bool compressed) {
  constexpr std::int64_t min = 4096, max = 1 << 20;
  return std::size_t(compressed || !file.regular() ? max : std::clamp(file.size() + 1, min, max));
}

}  // namespace

line_reader::line_reader(std::string path, bool compressed)
    : file_(std::move(path)),
      gzip_(compressed ? std::make_unique<gzip_reader>(file_) : nullptr),
      buffer_(buffer_bytes(file_, compressed)) {}

bool line_reader::refill() {
  if (at_end_) return false;
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  // A line longer than the buffer.
  if (end_ == buffer_.size()) {
    require_memory(file_.path(), std::int64_t(buffer_.size()), 2);
    buffer_.resize(2 * buffer_.size());
  }
  char* const place = buffer_.data() + end_;
  const std::size_t space = buffer_.size() - end_;
  const std::size_t count = gzip_ != nullptr ? gzip_->read(place, space) : file_.read(place, space);
  end_ += count;
  // Two characters of text may become a value of eight bytes; what compressed text becomes its size does not tell.
  constexpr std::int64_t block = std::int64_t(1) << 26;
  unchecked_ += std::int64_t(count);
  if (unchecked_ >= block) {
    require_memory(file_.path(), block, 4);
    unchecked_ = 0;
  }
  at_end_ = count == 0;
  return count > 0;
}

bool line_reader::next(std::string_view& line) {
  std::size_t searched = 0;
  while (true) {
    const char* start = buffer_.data() + begin_;
    const std::size_t length = end_ - begin_;
    const void* newline = length > searched ? std::memchr(start + searched, '\n', length - searched) : nullptr;
    if (newline != nullptr) {
      line = std::string_view(start, static_cast<std::size_t>(static_cast<const char*>(newline) - start));
      begin_ += line.size() + 1;
      break;
    }
    searched = length;
    if (refill()) continue;
    if (length == 0) return false;
    line = std::string_view(buffer_.data() + begin_, length);
    begin_ = end_;
    break;
  }
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (number_++ == 0 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
  return true;
}

}  // namespace quintet::io
