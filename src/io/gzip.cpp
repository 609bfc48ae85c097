#include "io/gzip.hpp"

#include <zlib.h>

#include <vector>

#include "quintet/core/error.hpp"

namespace quintet::io {

namespace {
constexpr std::size_t block_bytes = std::size_t{1} << 18;
constexpr int gzip_window = 15 + 16;  // largest window, with gzip's header
}  // namespace

struct gzip_reader::state {
  z_stream stream{};
  std::vector<unsigned char> input = std::vector<unsigned char>(block_bytes);
  bool between_members = true;
};

gzip_reader::gzip_reader(input_file& file) : file_(file), state_(std::make_unique<state>()) {
  if (inflateInit2(&state_->stream, gzip_window) != Z_OK) throw FileError(file.path(), "cannot be decompressed");
}

gzip_reader::~gzip_reader() { inflateEnd(&state_->stream); }

std::size_t gzip_reader::read(void* data, std::size_t bytes) {
  z_stream& stream = state_->stream;
  stream.next_out = static_cast<unsigned char*>(data);
  stream.avail_out = static_cast<uInt>(bytes);
  while (stream.avail_out == bytes) {
    if (stream.avail_in == 0) {
      stream.next_in = state_->input.data();
      stream.avail_in = static_cast<uInt>(file_.read(state_->input.data(), block_bytes));
      if (stream.avail_in == 0) {
        if (state_->between_members && stream.total_in > 0) return 0;
        throw FileError(file_.path(), "is a gzip file that ends too early");
      }
    }
    if (state_->between_members && stream.total_in > 0) inflateReset(&stream);
    state_->between_members = false;
    const int status = inflate(&stream, Z_NO_FLUSH);
    if (status == Z_STREAM_END)
      state_->between_members = true;
    else if (status != Z_OK && status != Z_BUF_ERROR)
      throw FileError(file_.path(), text("is no gzip file or damaged: ", stream.msg != nullptr ? stream.msg : "error"));
  }
  return bytes - stream.avail_out;
}

struct gzip_writer::state {
  z_stream stream{};
  std::vector<unsigned char> output = std::vector<unsigned char>(block_bytes);
};

gzip_writer::gzip_writer(atomic_file& file) : file_(file), state_(std::make_unique<state>()) {
  if (deflateInit2(&state_->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw FileError(file.path(), "cannot be compressed");
}

gzip_writer::~gzip_writer() { deflateEnd(&state_->stream); }

void gzip_writer::run(int flush) {
  z_stream& stream = state_->stream;
  do {
    stream.next_out = state_->output.data();
    stream.avail_out = static_cast<uInt>(block_bytes);
    deflate(&stream, flush);
    file_.write(state_->output.data(), block_bytes - stream.avail_out);
  } while (stream.avail_out == 0);
}

void gzip_writer::write(std::string_view text) {
  state_->stream.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(text.data()));
  state_->stream.avail_in = static_cast<uInt>(text.size());
  run(Z_NO_FLUSH);
}

void gzip_writer::finish() { run(Z_FINISH); }

}  // namespace quintet::io
