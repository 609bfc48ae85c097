#include "io/zip_file.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "quintet/core/error.hpp"

namespace quintet::io {

namespace {

constexpr std::uint32_t local_signature = 0x04034b50, central_signature = 0x02014b50, end_signature = 0x06054b50,
                        end64_signature = 0x06064b50, locator_signature = 0x07064b50;
constexpr std::int64_t local_bytes = 30, central_bytes = 46, end_bytes = 22, end64_bytes = 56, locator_bytes = 20;
constexpr std::int64_t longest_comment = 0xffff;
constexpr std::uint32_t elsewhere = 0xffffffff;  // the number is in the 64-bit field
constexpr int stored = 0, deflated = 8, encrypted_flag = 1;
constexpr std::size_t zip_block_bytes = std::size_t{1} << 18;
// Deflate makes at most 1032 bytes of one.
constexpr std::int64_t largest_ratio = 1040;

// Little-endian numbers of a record.
class record {
 public:
  explicit record(std::string_view bytes) : bytes_(bytes) {}
  template <class Number>
  Number number(std::int64_t position) const {
    std::uint64_t value = 0;
    for (std::size_t i = sizeof(Number); i-- > 0;)
      value = value << 8 | static_cast<unsigned char>(bytes_[static_cast<std::size_t>(position) + i]);
    return static_cast<Number>(value);
  }

 private:
  std::string_view bytes_;
};

template <class Number>
void append_number(std::string& out, Number number) {
  for (std::size_t i = 0; i < sizeof(Number); ++i) out += static_cast<char>(std::uint64_t(number) >> (8 * i) & 0xff);
}

[[noreturn]] void refuse_archive(const std::string& path, std::string_view reason) {
  throw FileError(path, text("is no zip archive or damaged: ", reason));
}

std::string read_bytes(input_file& file, std::int64_t begin, std::int64_t bytes) {
  if (begin < 0 || bytes < 0 || begin > file.size() - bytes) refuse_archive(file.path(), "it ends too early");
  std::string result(static_cast<std::size_t>(bytes), '\0');
  file.seek(begin);
  file.read_exactly(result.data(), result.size(), "the directory of the archive");
  return result;
}

// Sizes and position that do not fit into 32 bits are in an extra field, those alone, in this order.
void read_large_numbers(const std::string& path, std::string_view extra, std::initializer_list<std::int64_t*> numbers) {
  while (extra.size() >= 4) {
    const record r(extra);
    const auto kind = r.number<std::uint16_t>(0), bytes = r.number<std::uint16_t>(2);
    if (bytes > extra.size() - 4) break;
    if (kind == 1) {
      std::int64_t position = 4;
      for (std::int64_t* const number : numbers) {
        if (*number != elsewhere) continue;
        if (position + 8 > 4 + bytes) refuse_archive(path, "a size is missing");
        *number = r.number<std::int64_t>(position);
        position += 8;
      }
      return;
    }
    extra.remove_prefix(std::size_t(4) + bytes);
  }
}

}  // namespace

zip_reader::zip_reader(std::string path) : file_(std::move(path)) {
  if (!file_.regular()) throw FileError(file_.path(), "is not a regular file, which a zip archive must be");
  const std::int64_t tail_bytes = std::min(file_.size(), end_bytes + longest_comment);
  const std::string tail = read_bytes(file_, file_.size() - tail_bytes, tail_bytes);
  std::int64_t at = tail_bytes - end_bytes;
  while (at >= 0 && record(tail).number<std::uint32_t>(at) != end_signature) --at;
  if (at < 0) refuse_archive(file_.path(), "it has no directory");
  const record end(std::string_view(tail).substr(static_cast<std::size_t>(at)));
  std::int64_t count = end.number<std::uint16_t>(10), bytes = end.number<std::uint32_t>(12),
               begin = end.number<std::uint32_t>(16);
  const std::int64_t end_position = file_.size() - tail_bytes + at;
  if (end_position >= locator_bytes) {
    const std::string locator = read_bytes(file_, end_position - locator_bytes, locator_bytes);
    if (record(locator).number<std::uint32_t>(0) == locator_signature) {
      const std::string large = read_bytes(file_, record(locator).number<std::int64_t>(8), end64_bytes);
      if (record(large).number<std::uint32_t>(0) != end64_signature)
        refuse_archive(file_.path(), "a record is missing");
      count = record(large).number<std::int64_t>(32);
      bytes = record(large).number<std::int64_t>(40);
      begin = record(large).number<std::int64_t>(48);
    }
  }
  read_directory(begin, bytes, count);
}

void zip_reader::read_directory(std::int64_t begin, std::int64_t bytes, std::int64_t count) {
  require_memory(file_.path(), bytes, 2);
  const std::string directory = read_bytes(file_, begin, bytes);
  std::int64_t at = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (at > bytes - central_bytes) refuse_archive(file_.path(), "its directory ends too early");
    const record r(std::string_view(directory).substr(static_cast<std::size_t>(at)));
    if (r.number<std::uint32_t>(0) != central_signature) refuse_archive(file_.path(), "its directory is damaged");
    const std::int64_t name_bytes = r.number<std::uint16_t>(28), extra_bytes = r.number<std::uint16_t>(30),
                       comment_bytes = r.number<std::uint16_t>(32);
    const std::int64_t whole = central_bytes + name_bytes + extra_bytes + comment_bytes;
    if (at > bytes - whole) refuse_archive(file_.path(), "its directory ends too early");
    member m;
    m.name = directory.substr(static_cast<std::size_t>(at + central_bytes), static_cast<std::size_t>(name_bytes));
    m.flags = r.number<std::uint16_t>(8);
    m.method = r.number<std::uint16_t>(10);
    m.checksum = r.number<std::uint32_t>(16);
    m.packed_bytes = r.number<std::uint32_t>(20);
    m.bytes = r.number<std::uint32_t>(24);
    m.begin = r.number<std::uint32_t>(42);
    read_large_numbers(file_.path(),
                       std::string_view(directory).substr(static_cast<std::size_t>(at + central_bytes + name_bytes),
                                                          static_cast<std::size_t>(extra_bytes)),
                       {&m.bytes, &m.packed_bytes, &m.begin});
    members_.push_back(std::move(m));
    at += whole;
  }
}

const zip_reader::member* zip_reader::find(std::string_view name) const {
  for (const member& m : members_)
    if (m.name == name) return &m;
  return nullptr;
}

// Names and extra fields in front of the data may differ from those of the directory.
std::int64_t zip_reader::find_data(const member& m) {
  const std::string head = read_bytes(file_, m.begin, local_bytes);
  const record r(head);
  if (r.number<std::uint32_t>(0) != local_signature)
    refuse_archive(file_.path(), text("member ", m.name, " is missing"));
  return m.begin + local_bytes + r.number<std::uint16_t>(26) + r.number<std::uint16_t>(28);
}

void zip_reader::unpack(const member& m, std::vector<char>& content) {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw FileError(file_.path(), "cannot be decompressed");
  std::vector<unsigned char> input(zip_block_bytes);
  std::int64_t left = m.packed_bytes;
  std::size_t size = 0;
  int status = Z_OK;
  // One byte more than the content has: what is too long shows.
  unsigned char surplus = 0;
  while (status != Z_STREAM_END) {
    if (stream.avail_in == 0) {
      if (left == 0) break;
      const auto part = static_cast<std::size_t>(std::min<std::int64_t>(left, zip_block_bytes));
      if (file_.read(input.data(), part) != part) break;
      left -= static_cast<std::int64_t>(part);
      stream.next_in = input.data();
      stream.avail_in = static_cast<uInt>(part);
    }
    const bool is_full = size == content.size();
    const std::size_t room = is_full ? 1 : std::min(content.size() - size, std::size_t{1} << 30);
    stream.next_out = is_full ? &surplus : reinterpret_cast<unsigned char*>(content.data()) + size;
    stream.avail_out = static_cast<uInt>(room);
    status = inflate(&stream, Z_NO_FLUSH);
    const std::size_t written = room - stream.avail_out;
    if ((status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) || (is_full && written > 0)) {
      status = Z_DATA_ERROR;
      break;
    }
    size += is_full ? 0 : written;
  }
  inflateEnd(&stream);
  if (status != Z_STREAM_END || size != content.size())
    refuse_archive(file_.path(), text("member ", m.name, " cannot be decompressed"));
}

std::vector<char> zip_reader::read(std::string_view name) {
  const member* const m = find(name);
  if (m == nullptr) throw FileError(file_.path(), text("has no member \"", name, "\""));
  if ((m->flags & encrypted_flag) != 0) throw FileError(file_.path(), text("member ", m->name, " is encrypted"));
  if (m->method != stored && m->method != deflated)
    throw FileError(file_.path(),
                    text("member ", m->name, " is compressed by method ", m->method, "; 0 and 8 (deflate) are known"));
  const std::int64_t begin = find_data(*m);
  if (m->bytes < 0 || m->packed_bytes < 0 || begin > file_.size() - m->packed_bytes ||
      (m->method == stored ? m->bytes != m->packed_bytes : m->bytes / largest_ratio > m->packed_bytes))
    refuse_archive(file_.path(), text("member ", m->name, " has an impossible size"));
  require_memory(file_.path(), m->bytes, 1);
  std::vector<char> content(static_cast<std::size_t>(m->bytes));
  file_.seek(begin);
  if (m->method == stored)
    file_.read_exactly(content.data(), content.size(), m->name);
  else
    unpack(*m, content);
  if (crc32_z(0, reinterpret_cast<const unsigned char*>(content.data()), content.size()) != m->checksum)
    refuse_archive(file_.path(), text("the checksum of member ", m->name, " is another"));
  return content;
}

bytes_source::bytes_source(std::string path, std::vector<char> bytes)
    : byte_source(std::move(path), static_cast<std::int64_t>(bytes.size())), bytes_(std::move(bytes)) {}

std::size_t bytes_source::read(void* data, std::size_t bytes) {
  const std::size_t count = std::min(bytes, bytes_.size() - std::min(position_, bytes_.size()));
  if (count > 0) std::memcpy(data, bytes_.data() + position_, count);
  position_ += count;
  return count;
}

struct zip_writer::state {
  z_stream stream{};
  std::vector<unsigned char> output = std::vector<unsigned char>(zip_block_bytes);
  std::string name, directory;
  std::int64_t written = 0, begin = 0, bytes = 0, packed_bytes = 0, count = 0;
  unsigned long checksum = 0;
};

zip_writer::zip_writer(atomic_file& file) : file_(file), state_(std::make_unique<state>()) {
  if (!file.regular()) throw FileError(file.path(), "must be a regular file: sizes are filled in at the end");
  if (deflateInit2(&state_->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw FileError(file.path(), "cannot be compressed");
}

zip_writer::~zip_writer() { deflateEnd(&state_->stream); }

void zip_writer::append(std::string_view bytes) {
  file_.write(bytes);
  state_->written += static_cast<std::int64_t>(bytes.size());
}

namespace {

constexpr std::uint16_t version_of_large_numbers = 45;
// 1 January 1980: the bytes of a file do not depend on when it was written.
constexpr std::uint16_t no_time = 0, first_day = 1 << 5 | 1;
constexpr std::int64_t checksum_position = 14, local_extra_bytes = 20;

// What the local header and the directory both have, from the version on. Sizes always have 64 bits.
void append_description(std::string& out, std::uint32_t checksum, std::size_t name_bytes, std::uint16_t extra_bytes) {
  append_number(out, version_of_large_numbers);
  append_number<std::uint16_t>(out, 0);
  append_number<std::uint16_t>(out, deflated);
  append_number(out, no_time);
  append_number(out, first_day);
  append_number(out, checksum);
  append_number(out, elsewhere);
  append_number(out, elsewhere);
  append_number(out, static_cast<std::uint16_t>(name_bytes));
  append_number(out, extra_bytes);
}

void append_sizes(std::string& out, std::int64_t bytes, std::int64_t packed_bytes) {
  append_number(out, bytes);
  append_number(out, packed_bytes);
}

}  // namespace

void zip_writer::begin(std::string_view name) {
  state& s = *state_;
  s.name = name;
  s.begin = s.written;
  s.bytes = s.packed_bytes = 0;
  s.checksum = crc32_z(0, nullptr, 0);
  std::string head;
  append_number(head, local_signature);
  append_description(head, 0, name.size(), local_extra_bytes);
  head += name;
  append_number<std::uint16_t>(head, 1);
  append_number<std::uint16_t>(head, 16);
  append_sizes(head, 0, 0);
  append(head);
  deflateReset(&s.stream);
}

void zip_writer::run(int flush) {
  state& s = *state_;
  do {
    s.stream.next_out = s.output.data();
    s.stream.avail_out = static_cast<uInt>(zip_block_bytes);
    deflate(&s.stream, flush);
    const std::size_t bytes = zip_block_bytes - s.stream.avail_out;
    append({reinterpret_cast<const char*>(s.output.data()), bytes});
    s.packed_bytes += static_cast<std::int64_t>(bytes);
  } while (s.stream.avail_out == 0);
}

void zip_writer::write(const void* data, std::size_t bytes) {
  state& s = *state_;
  auto* next = static_cast<unsigned char*>(const_cast<void*>(data));
  s.checksum = crc32_z(s.checksum, next, bytes);
  s.bytes += static_cast<std::int64_t>(bytes);
  for (std::size_t left = bytes; left > 0;) {
    const std::size_t part = std::min(left, std::size_t{1} << 30);
    s.stream.next_in = next;
    s.stream.avail_in = static_cast<uInt>(part);
    run(Z_NO_FLUSH);
    next += part;
    left -= part;
  }
}

void zip_writer::end() {
  state& s = *state_;
  s.stream.avail_in = 0;
  run(Z_FINISH);
  const auto checksum = static_cast<std::uint32_t>(s.checksum);
  std::string bytes, sizes;
  append_number(bytes, checksum);
  file_.overwrite(s.begin + checksum_position, bytes);
  append_sizes(sizes, s.bytes, s.packed_bytes);
  file_.overwrite(s.begin + local_bytes + static_cast<std::int64_t>(s.name.size()) + 4, sizes);
  append_number(s.directory, central_signature);
  append_number(s.directory, version_of_large_numbers);
  append_description(s.directory, checksum, s.name.size(), 28);
  for (int i = 0; i < 3; ++i) append_number<std::uint16_t>(s.directory, 0);  // comment, disk, kind
  append_number<std::uint32_t>(s.directory, 0);                              // attributes
  append_number(s.directory, elsewhere);
  s.directory += s.name;
  append_number<std::uint16_t>(s.directory, 1);
  append_number<std::uint16_t>(s.directory, 24);
  append_sizes(s.directory, s.bytes, s.packed_bytes);
  append_number(s.directory, s.begin);
  ++s.count;
}

void zip_writer::finish() {
  state& s = *state_;
  const std::int64_t begin = s.written;
  const auto directory_bytes = static_cast<std::int64_t>(s.directory.size());
  append(s.directory);
  std::string end;
  append_number(end, end64_signature);
  append_number<std::int64_t>(end, end64_bytes - 12);
  append_number(end, version_of_large_numbers);
  append_number(end, version_of_large_numbers);
  append_number<std::uint64_t>(end, 0);  // disks
  for (const std::int64_t number : {s.count, s.count, directory_bytes, begin}) append_number(end, number);
  append_number(end, locator_signature);
  append_number<std::uint32_t>(end, 0);
  append_number(end, begin + directory_bytes);
  append_number<std::uint32_t>(end, 1);
  append_number(end, end_signature);
  append_number<std::uint32_t>(end, 0);
  for (int i = 0; i < 2; ++i) append_number(end, static_cast<std::uint16_t>(s.count));
  append_number(end, elsewhere);
  append_number(end, elsewhere);
  append_number<std::uint16_t>(end, 0);
  append(end);
}

}  // namespace quintet::io
