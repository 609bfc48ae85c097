#include "io/matrix_market.hpp"

#include <algorithm>
#include <charconv>
#include <complex>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/parse_number.hpp"
#include "instantiate.hpp"
#include "io/line_reader.hpp"
#include "io/sparse_entries.hpp"
#include "quintet/core/error.hpp"
#include "quintet/io/sparse_file.hpp"

namespace quintet::io {

namespace {

enum class symmetry { general, symmetric, skew, hermitian };

struct header {
  bool pattern = false, integer = false, is_unsigned = false, is_complex = false, is_array = false;
  symmetry shape = symmetry::general;
  std::int64_t rows = 0, cols = 0, entries = 0;
};

// The words of a line, apart by blanks and tabs.
class words {
 public:
  explicit words(std::string_view line) : at_(line.data()), end_(line.data() + line.size()) {}
  std::string_view next() {
    skip();
    const char* begin = at_;
    while (at_ != end_ && *at_ != ' ' && *at_ != '\t') ++at_;
    return {begin, static_cast<std::size_t>(at_ - begin)};
  }
  template <class T>
  parse_status number(T& value) {
    skip();
    const char* const begin = at_;
    const parse_status status = at_ == end_ ? parse_status::not_a_number : parse_number(&at_, end_, value);
    if (status != parse_status::ok || at_end_of_word()) return status;
    if constexpr (std::is_floating_point_v<T>)
      if (*at_ == 'D' || *at_ == 'd') return number_of_fortran(begin, value);
    return parse_status::not_a_number;
  }
  bool at_end() {
    skip();
    return at_ == end_;
  }

 private:
  void skip() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\t')) ++at_;
  }
  // Fortran writes D for the exponent of a double; the number was read up to there.
  template <class T>
  parse_status number_of_fortran(const char* begin, T& value) {
    const auto exponent = static_cast<std::size_t>(at_ - begin);
    at_ = begin;
    std::string word(next());
    word[exponent] = 'e';
    return words(word).number(value);
  }
  bool at_end_of_word() const { return at_ == end_ || *at_ == ' ' || *at_ == '\t'; }
  const char *at_, *end_;
};

std::string lower(std::string_view word) {
  std::string result(word);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

[[noreturn]] void fail(const line_reader& in, const std::string& reason) {
  throw FileError(in.file().path(), in.number(), reason);
}

void require_word(const line_reader& in, const std::string& word, const std::vector<std::string_view>& allowed,
                  std::string_view label) {
  std::string list;
  for (const std::string_view a : allowed) {
    if (a == word) return;
    list.append(list.empty() ? "" : ", ").append(a);
  }
  fail(in, text("the ", label, " is \"", word, "\"; supported: ", list));
}

void read_banner(line_reader& in, header& h, bool takes_complex) {
  std::string_view line;
  if (!in.next(line)) throw FileError(in.file().path(), "is empty");
  words w(line);
  if (lower(w.next()) != "%%matrixmarket")
    fail(in, "no Matrix Market file: the first line must begin with %%MatrixMarket");
  require_word(in, lower(w.next()), {"matrix"}, "object");
  const std::string format = lower(w.next()), field = lower(w.next()), shape = lower(w.next());
  require_word(in, format, {"coordinate", "array"}, "format");
  std::vector<std::string_view> fields{"real", "integer", "pattern", "double", "unsigned-integer"};
  std::vector<std::string_view> shapes{"general", "symmetric", "skew-symmetric"};
  if (takes_complex) {
    fields.push_back("complex");
    shapes.push_back("hermitian");
  }
  require_word(in, field, fields, "field");
  require_word(in, shape, shapes, "symmetry");
  h.is_array = format == "array";
  h.pattern = field == "pattern";
  if (h.pattern && h.is_array) fail(in, "a pattern has coordinates; this one is an array");
  h.is_unsigned = field == "unsigned-integer";
  h.integer = field == "integer" || h.is_unsigned;
  h.is_complex = field == "complex";
  h.shape = shape == "general"     ? symmetry::general
            : shape == "symmetric" ? symmetry::symmetric
            : shape == "hermitian" ? symmetry::hermitian
                                   : symmetry::skew;
  if (h.pattern && h.shape == symmetry::skew) fail(in, "a pattern cannot be skew-symmetric");
}

bool next_content(line_reader& in, std::string_view& line) {
  while (in.next(line))
    if (const std::string_view word = words(line).next(); !word.empty() && !word.starts_with('%')) return true;
  return false;
}

// Elements that an array lists: of a symmetric one those from the diagonal on down, of a skew-symmetric one below it.
void count_elements(const line_reader& in, header& h) {
  const std::int64_t half = h.shape == symmetry::skew ? h.rows - 1 : h.rows + 1;
  const bool is_half = h.shape != symmetry::general;
  if (__builtin_mul_overflow(h.rows, is_half ? half : h.cols, &h.entries))
    fail(in, text(h.rows, " x ", h.cols, " elements are too many"));
  if (is_half) h.entries = h.rows == 0 ? 0 : h.entries / 2;
}

void read_sizes(line_reader& in, header& h, std::int64_t max_cols) {
  std::string_view line;
  if (!next_content(in, line)) fail(in, "the file ends before the line with the sizes");
  words w(line);
  if (w.number(h.rows) != parse_status::ok || w.number(h.cols) != parse_status::ok ||
      (!h.is_array && w.number(h.entries) != parse_status::ok) || !w.at_end())
    fail(in, h.is_array ? "this line must be two integers: rows, columns"
                        : "this line must be three integers: rows, columns, entries");
  if (h.rows < 0 || h.cols < 0 || h.entries < 0) fail(in, "sizes must be >= 0");
  if (h.cols - 1 > max_cols) fail(in, text(h.cols, " columns need 64-bit indices"));
  if (h.shape != symmetry::general && h.rows != h.cols)
    fail(in, text("a symmetric matrix must be square; this one is ", h.rows, " x ", h.cols));
  if (h.is_array) count_elements(in, h);
  // An entry takes at least four bytes of text, an element two; compressed text is at most a thousand times smaller.
  if (in.file().regular() && h.entries / (h.is_array ? 512 : 256) > in.file().size())
    fail(in, text(h.entries, " entries cannot be in a file of ", in.file().size(), " bytes"));
}

// Row pointers, twice while rows are counted; the entries as they are read, and then as rows.
void require_memory_of(const line_reader& in, const header& h, std::int64_t entry_bytes) {
  const std::string& path = in.file().path();
  const std::int64_t row_bytes = 16;
  require_memory(path, h.rows, row_bytes);
  require_memory(path, h.entries, entry_bytes);
  require_memory(path, h.rows * row_bytes + h.entries * entry_bytes, 1);
}

template <class Value>
struct entry {
  std::int64_t row, col;
  Value value;
};

template <class Integer, class Value>
parse_status read_integer(words& w, Value& value) {
  Integer integer = 0;
  const parse_status status = w.number(integer);
  value = static_cast<Value>(integer);
  return status;
}

template <class Value>
void read_value(const line_reader& in, words& w, const header& h, Value& value) {
  const parse_status status = !h.integer      ? w.number(value)
                              : h.is_unsigned ? read_integer<std::uint64_t>(w, value)
                                              : read_integer<std::int64_t>(w, value);
  if (status == parse_status::too_large) fail(in, "the value is too large for its type");
  if (status == parse_status::not_an_integer)
    fail(in, text("the value is not an ", h.is_unsigned ? "unsigned " : "", "integer, as the first line says"));
  if (status != parse_status::ok) fail(in, "the entry has no value that is a number");
}

template <class Real>
void read_value(const line_reader& in, words& w, const header& h, std::complex<Real>& value) {
  Real real = 0, imaginary = 0;
  read_value(in, w, h, real);
  if (h.is_complex) read_value(in, w, h, imaginary);
  value = {real, imaginary};
}

// The value on the other side of the diagonal.
template <class Value>
Value mirrored(const header& h, Value value) {
  if constexpr (!std::is_floating_point_v<Value>)
    if (h.shape == symmetry::hermitian) return std::conj(value);
  return h.shape == symmetry::skew ? -value : value;
}

// Entries on the diagonal are their own mirror images.
template <class Value>
void check_diagonal(const line_reader& in, const header& h, Value value) {
  if (h.shape == symmetry::skew && value != Value(0))
    fail(in, "a skew-symmetric matrix has only zeros on its diagonal");
  if constexpr (!std::is_floating_point_v<Value>)
    if (h.shape == symmetry::hermitian && !(value.imag() == 0))
      fail(in, "a Hermitian matrix has only real numbers on its diagonal");
}

template <class Value>
entry<Value> read_entry(const line_reader& in, std::string_view line, const header& h) {
  words w(line);
  entry<Value> e{0, 0, Value(1)};
  if (w.number(e.row) != parse_status::ok || w.number(e.col) != parse_status::ok)
    fail(in, "an entry begins with two integers: row and column");
  if (e.row < 1 || e.row > h.rows) fail(in, text("row ", e.row, " is not in 1 ... ", h.rows));
  if (e.col < 1 || e.col > h.cols) fail(in, text("column ", e.col, " is not in 1 ... ", h.cols));
  if (!h.pattern) read_value(in, w, h, e.value);
  if (!w.at_end())
    fail(in, text("more than ", h.pattern ? "two" : h.is_complex ? "four" : "three", " fields in an entry"));
  if (e.col == e.row) check_diagonal(in, h, e.value);
  --e.row;
  --e.col;
  return e;
}

template <class Value>
std::vector<entry<Value>> read_entries(line_reader& in, const header& h) {
  std::vector<entry<Value>> entries;
  entries.reserve(static_cast<std::size_t>(h.entries));
  std::string_view line;
  while (next_content(in, line)) {
    if (std::int64_t(entries.size()) == h.entries) fail(in, text("more entries than the ", h.entries, " announced"));
    entries.push_back(read_entry<Value>(in, line, h));
  }
  if (std::int64_t(entries.size()) < h.entries)
    fail(in, text("the file ends after ", entries.size(), " of ", h.entries, " entries"));
  return entries;
}

// Elements by columns, one a line; those that are 0 are no entries.
template <class Value>
std::vector<entry<Value>> read_elements_of_array(line_reader& in, const header& h) {
  std::vector<entry<Value>> entries;
  std::string_view line;
  std::int64_t count = 0;
  const auto first_row = [&](std::int64_t col) {
    return h.shape == symmetry::general ? 0 : h.shape == symmetry::skew ? col + 1 : col;
  };
  std::int64_t col = 0, row = first_row(0);
  for (; next_content(in, line); ++count) {
    if (count == h.entries) fail(in, text("more elements than the ", h.entries, " of the sizes"));
    words w(line);
    Value value{};
    read_value(in, w, h, value);
    if (!w.at_end())
      fail(in, text("more than ", h.is_complex ? "two numbers" : "one number", " in the line of an element"));
    if (row == col) check_diagonal(in, h, value);
    if (value != Value(0)) entries.push_back({row, col, value});
    if (++row == h.rows) row = first_row(++col);
  }
  if (count < h.entries) fail(in, text("the file ends after ", count, " of ", h.entries, " elements"));
  return entries;
}

// Files of large collections claim symmetry and give entries above the diagonal: such an entry stands for its mirror
// image as one below does. How many there are. Both images of one entry are an error.
template <class Value>
std::int64_t above_diagonal(const std::string& path, const header& h, const std::vector<entry<Value>>& entries) {
  if (h.shape == symmetry::general) return 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> above;
  for (const auto& e : entries)
    if (e.col > e.row) above.emplace_back(e.row, e.col);
  if (above.empty()) return 0;
  std::sort(above.begin(), above.end());
  for (const auto& e : entries)
    if (e.col < e.row && std::binary_search(above.begin(), above.end(), std::pair(e.col, e.row)))
      throw FileError(path, text("gives both the entry ", e.row + 1, " ", e.col + 1, " and the entry ", e.col + 1, " ",
                                 e.row + 1, " of a matrix that it calls symmetric; one of them stands for both"));
  return std::int64_t(above.size());
}

// The rows of the entries, with part(value) of each as its value.
template <class Real, class Index, class Value, class Part>
spgemm::csr<Real, Index> compress(const header& h, const std::vector<entry<Value>>& entries, const Part& part) {
  return rows_of_entries<Real, Index>(h.rows, h.cols, [&](const auto& append) {
    for (const auto& e : entries) {
      append(e.row, e.col, part(e.value));
      if (h.shape != symmetry::general && e.row != e.col) append(e.col, e.row, part(mirrored(h, e.value)));
    }
  });
}

// Entries in the order of the file, and what kind of matrix they are of.
template <class Value, class Index>
std::vector<entry<Value>> read_market_entries(const std::string& path, bool compressed, header& h,
                                              sparse_read_report* report) {
  line_reader in(path, compressed);
  read_banner(in, h, !std::is_floating_point_v<Value>);
  read_sizes(in, h, std::numeric_limits<Index>::max());
  const std::int64_t stored = sizeof(Value) + sizeof(Index);
  require_memory_of(in, h, std::int64_t(sizeof(entry<Value>)) + (h.shape == symmetry::general ? 1 : 2) * stored);
  auto entries = h.is_array ? read_elements_of_array<Value>(in, h) : read_entries<Value>(in, h);
  const std::int64_t above = above_diagonal(path, h, entries);
  if (report != nullptr) report->above_diagonal = above;
  return entries;
}

constexpr std::string_view banner = "%%MatrixMarket matrix coordinate real general\n";
constexpr std::string_view complex_banner = "%%MatrixMarket matrix coordinate complex general\n";
constexpr std::size_t count_digits = 20;

template <class Number>
void append(std::string& text, Number number) {
  char digits[32];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, number);
  text.append(digits, end);
}

template <class Real>
void append(std::string& text, std::complex<Real> number) {
  append(text, number.real());
  text += ' ';
  append(text, number.imag());
}

template <class Matrix, class Write>
void write_entries(const Matrix& matrix, std::int64_t first_row, const Write& write) {
  std::string block;
  for (std::int64_t i = 0; i < matrix.rows; ++i)
    for (std::int64_t k = matrix.row_pointers[i]; k < matrix.row_pointers[i + 1]; ++k) {
      append(block, first_row + i + 1);
      block += ' ';
      append(block, std::int64_t(matrix.columns[k]) + 1);
      block += ' ';
      append(block, matrix.values[k]);
      block += '\n';
      if (block.size() < std::size_t{1} << 18) continue;
      write(block);
      block.clear();
    }
  write(block);
}

template <class Matrix>
void write_market_file(const std::string& path, const Matrix& matrix, std::string_view first_line, bool compressed) {
  atomic_file out(path);
  std::unique_ptr<gzip_writer> gzip = compressed ? std::make_unique<gzip_writer>(out) : nullptr;
  const auto write = [&](std::string_view part) { gzip != nullptr ? gzip->write(part) : out.write(part); };
  write(text(first_line, matrix.rows, " ", matrix.cols, " ", matrix.nnz(), "\n"));
  write_entries(matrix, 0, write);
  if (gzip != nullptr) gzip->finish();
  out.commit();
}

}  // namespace

template <class Value, class Index>
spgemm::csr<Value, Index> read_matrix_market(const std::string& path, bool compressed, sparse_read_report* report) {
  header h;
  const auto entries = read_market_entries<Value, Index>(path, compressed, h, report);
  return compress<Value, Index>(h, entries, [](Value value) { return value; });
}

template <class Real, class Index>
spgemm::complex_csr<Real, Index> read_complex_matrix_market(const std::string& path, bool compressed,
                                                            sparse_read_report* report) {
  using number = std::complex<Real>;
  header h;
  const auto entries = read_market_entries<number, Index>(path, compressed, h, report);
  auto real = compress<Real, Index>(h, entries, [](number value) { return value.real(); });
  const auto imaginary = compress<Real, Index>(h, entries, [](number value) { return value.imag(); });
  spgemm::complex_csr<Real, Index> m{h.rows, h.cols, std::move(real.row_pointers), std::move(real.columns),
                                     spgemm::array<number>(imaginary.nnz())};
  for (std::int64_t k = 0; k < m.nnz(); ++k) m.values[k] = {real.values[k], imaginary.values[k]};
  return m;
}

bool is_complex_matrix_market(const std::string& path, bool compressed) {
  line_reader in(path, compressed);
  std::string_view line;
  if (!in.next(line)) throw FileError(path, "is empty");
  words w(line);
  for (int word = 0; word < 3; ++word) w.next();
  return lower(w.next()) == "complex";
}

template <class Value, class Index>
void write_matrix_market(const std::string& path, const spgemm::csr_view<Value, Index>& matrix, bool compressed) {
  write_market_file(path, matrix, banner, compressed);
}

template <class Real, class Index>
void write_complex_matrix_market(const std::string& path, const spgemm::complex_csr_view<Real, Index>& matrix,
                                 bool compressed) {
  write_market_file(path, matrix, complex_banner, compressed);
}

sparse_block_writer::sparse_block_writer(std::string path, std::int64_t rows, std::int64_t cols)
    : out_(std::move(path)), rows_(rows), cols_(cols) {
  require_argument(rows >= 0, "rows", rows, ">= 0");
  require_argument(cols >= 0, "cols", cols, ">= 0");
  // Blanks keep the place of the number of entries, which is known at the end.
  out_.write(text(banner, rows_, " ", cols_, " "));
  count_position_ = std::int64_t(text(banner, rows_, " ", cols_, " ").size());
  out_.write(std::string(count_digits, ' ') + "\n");
}

template <class Value, class Index>
void sparse_block_writer::write(std::int64_t first_row, const spgemm::csr_view<Value, Index>& block) {
  spgemm::check(block, "block");
  require_argument(first_row >= 0 && first_row <= rows_ - block.rows, "first_row", first_row,
                   text("in [0, ", rows_ - block.rows, "]"));
  require_argument(block.cols == cols_, "block.cols", block.cols, text("cols=", cols_));
  write_entries(block, first_row, [&](std::string_view part) { out_.write(part); });
  entries_ += block.nnz();
}

void sparse_block_writer::commit() {
  out_.overwrite(count_position_, text(entries_));
  out_.commit();
}

#define QUINTET_SPARSE_BLOCKS(Value, Index) \
  template void sparse_block_writer::write(std::int64_t, const spgemm::csr_view<Value, Index>&);
QUINTET_SPARSE_BLOCKS(float, std::int32_t)
QUINTET_SPARSE_BLOCKS(float, std::int64_t)
QUINTET_SPARSE_BLOCKS(double, std::int32_t)
QUINTET_SPARSE_BLOCKS(double, std::int64_t)
#undef QUINTET_SPARSE_BLOCKS

#define QUINTET_INSTANTIATE(Value, Index)                                                               \
  template spgemm::csr<Value, Index> read_matrix_market(const std::string&, bool, sparse_read_report*); \
  template void write_matrix_market(const std::string&, const spgemm::csr_view<Value, Index>&, bool);   \
  template spgemm::complex_csr<Value, Index> read_complex_matrix_market(const std::string&, bool,       \
                                                                        sparse_read_report*);           \
  template void write_complex_matrix_market(const std::string&, const spgemm::complex_csr_view<Value, Index>&, bool);
QUINTET_FOR_EACH_SPARSE(QUINTET_INSTANTIATE)

}  // namespace quintet::io
