#include "quintet/io/npy.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

#include "instantiate.hpp"
#include "io/convert_value.hpp"
#include "io/input_file.hpp"
#include "io/npy_source.hpp"
#include "quintet/core/error.hpp"
#include "quintet/core/storage16.hpp"
#include "quintet/io/atomic_file.hpp"

namespace quintet::io {

namespace {

constexpr std::string_view magic("\x93NUMPY", 6);
// NumPy itself refuses headers over 10000 bytes.
constexpr std::int64_t largest_header = 1 << 20;
constexpr std::int64_t largest_rank = 32;

struct npy_header {
  std::string type;  // as it stands in the file
  char kind = 0;     // 'f', 'i', 'u', 'b' for numbers; 'S', 'U' for texts
  std::int64_t item_bytes = 0;
  bool swapped = false;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;

  std::int64_t elements_of_a_row() const {
    std::int64_t count = 1;
    for (std::size_t d = 1; d < shape.size(); ++d) count *= shape[d];
    return count;
  }
  // The product was checked when the header was read.
  std::int64_t data_bytes() const { return (shape.empty() ? 1 : shape[0] * elements_of_a_row()) * item_bytes; }
};

[[noreturn]] void refuse_type(std::string_view path, const npy_header& header) {
  throw FileError(path, text("holds elements of type '", header.type,
                             "'; allowed are f2, f4, f8, i1 to i8, u1 to u8 and b1, little or big endian"));
}

void require_numbers(std::string_view path, const npy_header& header) {
  const std::int64_t bytes = header.item_bytes;
  const bool power = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
  const bool known = (header.kind == 'f' && power && bytes > 1) ||
                     ((header.kind == 'i' || header.kind == 'u') && power) || (header.kind == 'b' && bytes == 1);
  if (!known) refuse_type(path, header);
}

void require_word(std::string_view path, const npy_header& header) {
  const std::int64_t most = 4096;  // a word is short
  if ((header.kind != 'U' && header.kind != 'S') || header.item_bytes < 1 || header.item_bytes > most ||
      element_count(path, header.shape) != 1)
    throw FileError(path, text("must hold a word (it has elements of type '", header.type, "')"));
}

// The header is the text of a Python dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class header_parser {
 public:
  header_parser(std::string_view path, std::string_view text) : path_(path), text_(text) {}

  npy_header parse() {
    npy_header header;
    bool has_type = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (key == "descr") {
        parse_type(header);
        has_type = true;
      } else if (key == "fortran_order") {
        header.fortran_order = boolean();
        has_order = true;
      } else if (key == "shape") {
        parse_shape(header.shape);
        has_shape = true;
      } else {
        fail(text("unknown key '", key, "'"));
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip_blanks();
    if (position_ != text_.size()) fail("text follows the dictionary");
    if (!has_type || !has_order || !has_shape) fail("'descr', 'fortran_order' or 'shape' is missing");
    return header;
  }

 private:
  [[noreturn]] void fail(std::string_view reason) const {
    throw FileError(path_, text("has a malformed npy header: ", reason));
  }
  void skip_blanks() {
    while (position_ < text_.size() && std::strchr(" \t\r\n", text_[position_]) != nullptr && text_[position_] != '\0')
      ++position_;
  }
  char peek() {
    skip_blanks();
    return position_ < text_.size() ? text_[position_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++position_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(text("'", c, "' is missing at character ", position_));
  }
  std::string_view quoted() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail(text("a quoted text is missing at character ", position_));
    const std::size_t end = text_.find(quote, ++position_);
    if (end == std::string_view::npos) fail("a quote is not closed");
    const std::string_view result = text_.substr(position_, end - position_);
    position_ = end + 1;
    return result;
  }
  bool boolean() {
    skip_blanks();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(position_).starts_with(word)) {
        position_ += word.size();
        return value;
      }
    }
    fail("'fortran_order' must be True or False");
  }
  void parse_type(npy_header& header) {
    if (peek() == '[') throw FileError(path_, "holds a structured array; only arrays of plain numbers can be read");
    header.type = quoted();
    std::string_view rest = header.type;
    char order = '=';
    if (!rest.empty() && std::strchr("<>=|", rest[0]) != nullptr) {
      order = rest[0];
      rest.remove_prefix(1);
    }
    if (!rest.empty()) {
      header.kind = rest[0];
      rest.remove_prefix(1);
    }
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), header.item_bytes);
    if (error != std::errc() || end != rest.data() + rest.size() || header.item_bytes < 1) refuse_type(path_, header);
    constexpr std::int64_t bytes_of_character = 4;
    if (header.kind == 'U' && __builtin_mul_overflow(header.item_bytes, bytes_of_character, &header.item_bytes))
      refuse_type(path_, header);
    header.swapped = order == (std::endian::native == std::endian::little ? '>' : '<');
  }
  void parse_shape(std::vector<std::int64_t>& shape) {
    expect('(');
    while (!accept(')')) {
      std::int64_t size = 0;
      skip_blanks();
      const char* begin = text_.data() + position_;
      const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), size);
      if (error == std::errc::result_out_of_range) fail("a size in 'shape' is larger than 2^63");
      if (error != std::errc() || size < 0) fail("'shape' must be sizes >= 0");
      position_ += static_cast<std::size_t>(end - begin);
      if (position_ < text_.size() && text_[position_] == 'L') ++position_;  // Python 2
      shape.push_back(size);
      if (static_cast<std::int64_t>(shape.size()) > largest_rank) fail(text("more than ", largest_rank, " dimensions"));
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
  }

  std::string_view path_, text_;
  std::size_t position_ = 0;
};

// `require_type` refuses elements of another type than the caller reads.
npy_header read_header(byte_source& file, void (*require_type)(std::string_view, const npy_header&)) {
  const std::string& path = file.path();
  unsigned char start[12];
  file.read_exactly(start, 8, "the npy signature");
  if (std::memcmp(start, magic.data(), magic.size()) != 0) throw FileError(path, "is not an npy file");
  const int version = start[6];
  if (version < 1 || version > 3)
    throw FileError(path, text("has npy version ", version, "; versions 1, 2 and 3 are known"));
  const int length_bytes = version == 1 ? 2 : 4;
  file.read_exactly(start + 8, static_cast<std::size_t>(length_bytes), "the npy header");
  std::int64_t length = 0;
  for (int i = length_bytes - 1; i >= 0; --i) length = 256 * length + start[8 + i];
  const std::int64_t left = file.size() - 8 - length_bytes;
  if (length > left || length > largest_header)
    throw FileError(path, text("has an npy header of ", length, " bytes; ", std::min(left, largest_header),
                               " are the most possible"));
  std::string words(static_cast<std::size_t>(length), '\0');
  file.read_exactly(words.data(), words.size(), "the npy header");
  npy_header header = header_parser(path, words).parse();
  require_type(path, header);

  const std::int64_t stored = left - length, count = element_count(path, header.shape);
  // Division, not multiplication: the count may be anything.
  if (stored % header.item_bytes != 0 || stored / header.item_bytes != count)
    throw FileError(path, text("is damaged: its header tells of ", count, " elements of ", header.item_bytes,
                               " bytes, and ", stored, " bytes follow"));
  return header;
}

// A file with one array of numbers, behind the header.
struct npy_file {
  explicit npy_file(const std::string& path) : file(path) {
    if (!file.regular()) throw FileError(path, "is not a regular file, so the size of its array cannot be checked");
    header = read_header(file, require_numbers);
  }
  input_file file;
  npy_header header;
};

template <class From>
From load(const char* bytes, bool swapped) {
  char ordered[sizeof(From)];
  std::memcpy(ordered, bytes, sizeof(From));
  if (swapped) std::reverse(ordered, ordered + sizeof(From));
  From value;
  std::memcpy(&value, ordered, sizeof(From));
  return value;
}

// Position in the row-major result of the elements of a Fortran-ordered file, one after another.
class fortran_position {
 public:
  explicit fortran_position(const std::vector<std::int64_t>& shape) : shape_(shape), index_(shape.size(), 0) {
    strides_.assign(shape.size(), 1);
    for (std::size_t d = shape.size(); d-- > 1;) strides_[d - 1] = strides_[d] * shape[d];
  }
  std::int64_t operator*() const { return position_; }
  void operator++() {
    for (std::size_t d = 0; d < shape_.size(); ++d) {
      position_ += strides_[d];
      if (++index_[d] < shape_[d]) return;
      position_ -= strides_[d] * shape_[d];
      index_[d] = 0;
    }
  }

 private:
  std::vector<std::int64_t> shape_, index_, strides_;
  std::int64_t position_ = 0;
};

// Indices of the first dimension that are read.
struct row_range {
  std::int64_t first, count;
};

template <class From, class T>
void read_elements(byte_source& file, const npy_header& header, row_range rows, std::vector<T>& result) {
  const bool reorder = header.fortran_order && header.shape.size() > 1;
  const bool is_part = !header.shape.empty() && rows.count != header.shape[0];
  // In Fortran order the rows of a part lie in runs, one for every index of the other dimensions.
  const std::size_t run = is_part && reorder ? static_cast<std::size_t>(rows.count) : result.size();
  std::int64_t position = file.size() - header.data_bytes();
  if (is_part) position += rows.first * (reorder ? 1 : header.elements_of_a_row()) * std::int64_t(sizeof(From));
  const auto seek_run = [&](std::size_t first) {
    const auto number = static_cast<std::int64_t>(first / run);
    if (is_part) file.seek(position + number * header.shape[0] * std::int64_t(sizeof(From)));
  };
  if constexpr (std::is_same_v<From, T>) {
    if (!header.swapped && !reorder) {
      if (is_part) file.seek(position);
      return file.read_exactly(result.data(), result.size() * sizeof(T), "the elements");
    }
  }
  std::vector<char> block(std::min(result.size() * sizeof(From), std::size_t{1} << 20));
  std::vector<std::int64_t> shape = header.shape;
  if (!shape.empty()) shape[0] = rows.count;
  fortran_position scattered(shape);
  for (std::size_t first = 0; first < result.size();) {
    if (first % run == 0) seek_run(first);
    const std::size_t part = std::min(run - first % run, block.size() / sizeof(From));
    file.read_exactly(block.data(), part * sizeof(From), "the elements");
    for (std::size_t i = 0; i < part; ++i) {
      const From value = load<From>(block.data() + i * sizeof(From), header.swapped);
      T& target = result[reorder ? static_cast<std::size_t>(*scattered) : first + i];
      if (!convert_value(value, target))
        throw FileError(file.path(), text(is_part ? text("element ", first + i, " from row ", rows.first, " on")
                                                  : text("element ", first + i),
                                          " (", +value, ") does not fit into ", type_name<T>()));
      if (reorder) ++scattered;
    }
    first += part;
  }
}

template <class T>
constexpr std::string_view descriptor() {
  constexpr bool little = std::endian::native == std::endian::little;
  if constexpr (std::is_same_v<T, float>) return little ? "<f4" : ">f4";
  if constexpr (std::is_same_v<T, double>) return little ? "<f8" : ">f8";
  if constexpr (std::is_same_v<T, std::int32_t>) return little ? "<i4" : ">i4";
  return little ? "<i8" : ">i8";
}

std::string header_text(std::string_view type, std::span<const std::int64_t> shape) {
  std::string header = text("{'descr': '", type, "', 'fortran_order': False, 'shape': (");
  for (std::size_t d = 0; d < shape.size(); ++d) header += text(d > 0 ? " " : "", shape[d], ",");
  if (shape.size() > 1) header.pop_back();  // (3, 4) but (3,)
  header += "), }";
  // Blanks and a line feed until the data starts at a multiple of 64 bytes.
  header.append((64 - (magic.size() + 4 + header.size() + 1) % 64) % 64, ' ').append("\n");
  const char version_and_length[4] = {1, 0, static_cast<char>(header.size() & 0xff),
                                      static_cast<char>(header.size() >> 8)};
  return std::string(magic).append(version_and_length, sizeof version_and_length).append(header);
}

template <class T>
void write_header(atomic_file& out, std::span<const std::int64_t> shape) {
  out.write(header_text(descriptor<T>(), shape));
}

}  // namespace

namespace {

template <class T>
array<T> read_rows(byte_source& file, const npy_header& header, row_range rows) {
  array<T> result;
  result.shape = header.shape;
  if (!result.shape.empty()) result.shape[0] = rows.count;
  const std::int64_t elements = element_count(file.path(), result.shape);
  require_memory(file.path(), elements, sizeof(T));
  result.data.resize(static_cast<std::size_t>(elements));
  if (result.data.empty()) return result;
  const std::int64_t bytes = header.item_bytes;
  const auto read = [&]<class From>(From) { read_elements<From>(file, header, rows, result.data); };
  switch (header.kind) {
    case 'f':
      bytes == 2 ? read(half()) : bytes == 4 ? read(float()) : read(double());
      break;
    case 'i':
      bytes == 1   ? read(std::int8_t())
      : bytes == 2 ? read(std::int16_t())
      : bytes == 4 ? read(std::int32_t())
                   : read(std::int64_t());
      break;
    default:  // unsigned and bool
      bytes == 1   ? read(std::uint8_t())
      : bytes == 2 ? read(std::uint16_t())
      : bytes == 4 ? read(std::uint32_t())
                   : read(std::uint64_t());
  }
  return result;
}

}  // namespace

template <class T>
array<T> read_npy(const std::string& path) {
  npy_file in(path);
  return read_rows<T>(in.file, in.header, {0, in.header.shape.empty() ? 0 : in.header.shape[0]});
}

template <class T>
array<T> read_npy(byte_source& source) {
  const npy_header header = read_header(source, require_numbers);
  return read_rows<T>(source, header, {0, header.shape.empty() ? 0 : header.shape[0]});
}

std::string read_npy_word(byte_source& source) {
  const npy_header header = read_header(source, require_word);
  const bool wide = header.kind == 'U';
  std::vector<unsigned char> bytes(static_cast<std::size_t>(header.item_bytes));
  source.read_exactly(bytes.data(), bytes.size(), "the elements");
  std::string word;
  for (std::size_t i = 0; i < bytes.size(); i += wide ? 4 : 1) {
    if (wide && header.swapped != (std::endian::native == std::endian::big)) std::reverse(&bytes[i], &bytes[i] + 4);
    if (bytes[i] == 0) break;
    word += static_cast<char>(bytes[i]);
  }
  return word;
}

std::vector<std::int64_t> npy_shape(const std::string& path) { return npy_file(path).header.shape; }

bool npy_fits_float(const std::string& path) {
  const npy_header header = npy_file(path).header;
  return header.item_bytes <= (header.kind == 'f' ? 4 : 2);
}

template <class T>
array<T> read_npy_rows(const std::string& path, std::int64_t first, std::int64_t count) {
  npy_file in(path);
  if (in.header.shape.empty()) throw FileError(path, "holds a single number, which has no rows");
  require_rows(first, count, in.header.shape[0]);
  return read_rows<T>(in.file, in.header, {first, count});
}

template <class T>
std::string npy_header_text(std::span<const std::int64_t> shape) {
  return header_text(descriptor<T>(), shape);
}

std::string npy_word(std::string_view word) { return header_text(text("|S", word.size()), {}).append(word); }

template <class T>
void write_npy(const std::string& path, std::span<const T> data, std::span<const std::int64_t> shape) {
  require_argument(static_cast<std::int64_t>(shape.size()) <= largest_rank, "dimensions of the shape", shape.size(),
                   text("<= ", largest_rank));
  const std::int64_t count = checked_element_count(shape);
  require_argument(static_cast<std::int64_t>(data.size()) == count, "number of values", data.size(),
                   text("that of the shape, ", count));
  atomic_file out(path);
  write_header<T>(out, shape);
  out.write(data.data(), data.size_bytes());
  out.commit();
}

template <class T>
npy_writer<T>::npy_writer(std::string path, std::int64_t rows, std::int64_t cols, atomic_file::temporary kind)
    : file_(std::move(path), kind), rows_(rows), cols_(cols) {
  require_argument(rows >= 0, "rows", rows, ">= 0");
  require_argument(cols >= 0, "cols", cols, ">= 0");
  const std::int64_t shape[2] = {rows, cols};
  write_header<T>(file_, shape);
}

template <class T>
void npy_writer<T>::write_rows(matrix_view<const T> values) {
  require_argument(values.cols() == cols_, "values.cols", values.cols(), text("the cols of the file, ", cols_));
  require_argument(values.rows() <= rows_ - written_, "values.rows", values.rows(),
                   text("<= the rows still missing, ", rows_ - written_));
  for (std::int64_t i = 0; i < values.rows() && cols_ > 0; ++i)
    file_.write(values.row(i), static_cast<std::size_t>(cols_) * sizeof(T));
  written_ += values.rows();
}

template <class T>
std::int64_t npy_writer<T>::leave_rows_to_others() {
  require_argument(written_ == 0, "rows written", written_, "0: all are written by others");
  const std::int64_t offset = file_.reserve(rows_ * cols_ * std::int64_t(sizeof(T)));
  written_ = rows_;
  return offset;
}

template <class T>
void npy_writer<T>::commit() {
  require_argument(written_ == rows_, "rows written", written_, text("the rows of the file, ", rows_));
  file_.commit();
}

template <class T>
void write_npy(const std::string& path, matrix_view<const T> values) {
  npy_writer<T> out(path, values.rows(), values.cols());
  out.write_rows(values);
  out.commit();
}

#define QUINTET_INSTANTIATE(T)                                                                       \
  template array<T> read_npy<T>(const std::string&);                                                 \
  template array<T> read_npy<T>(byte_source&);                                                       \
  template std::string npy_header_text<T>(std::span<const std::int64_t>);                            \
  template array<T> read_npy_rows<T>(const std::string&, std::int64_t, std::int64_t);                \
  template void write_npy<T>(const std::string&, std::span<const T>, std::span<const std::int64_t>); \
  template void write_npy<T>(const std::string&, matrix_view<const T>);                              \
  template class npy_writer<T>;
QUINTET_FOR_EACH_ELEMENT(QUINTET_INSTANTIATE)

}  // namespace quintet::io
