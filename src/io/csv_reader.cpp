#include <algorithm>
#include <cctype>
#include <cmath>
#include <new>

#include "core/parse_number.hpp"
#include "instantiate.hpp"
#include "io/convert_value.hpp"
#include "io/line_reader.hpp"
#include "quintet/core/error.hpp"
#include "quintet/io/csv.hpp"

namespace quintet::io {

namespace {

constexpr char blanks = ' ';  // as a separator: any number of blanks and tabs

bool is_blank(char c) { return c == ' ' || c == '\t'; }

bool is_skipped(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  return first == std::string_view::npos || line[first] == '#';
}

char separator_of(std::string_view line) {
  bool quoted = false, comma = false, tab = false;
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == ';') return ';';
    comma |= c == ',';
    tab |= c == '\t';
  }
  return comma ? ',' : tab ? '\t' : blanks;
}

// Text of a field as it goes into a message.
std::string shown(std::string_view field) {
  std::string result = "\"";
  for (const char c : field.substr(0, 40)) result += std::isprint(static_cast<unsigned char>(c)) != 0 ? c : '?';
  return result + (field.size() > 40 ? "...\"" : "\"");
}

// Walks over the fields of one line.
class field_cursor {
 public:
  field_cursor(const line_reader& reader, std::string_view line, char separator)
      : reader_(reader), position_(line.data()), end_(line.data() + line.size()), separator_(separator) {
    if (separator_ == blanks) skip_blanks();
  }

  /// Reads the next field as a number. The common case: no quotes, one pass over the characters.
  template <class T>
  parse_status number(T& value) {
    start_field();
    if (position_ == end_ || *position_ == '"') return quoted_number(value);
    const char* start = position_;
    const parse_status status = parse_number(&position_, end_, value);
    if (status != parse_status::ok || !at_separator()) {
      position_ = start;
      field_ = plain_field();
      return status == parse_status::ok ? parse_status::not_a_number : status;
    }
    return status;
  }
  /// Reads the next field as text, without quotes and surrounding blanks.
  const std::string& text_field() {
    start_field();
    field_ = position_ != end_ && *position_ == '"' ? quoted_field() : plain_field();
    return field_;
  }
  /// Whether another field follows; consumes the separator.
  bool more() {
    if (separator_ == blanks) return position_ != end_;
    if (position_ == end_) return false;
    ++position_;
    return true;
  }
  /// The field that was read last, after a failed number() or text_field().
  const std::string& field() const { return field_; }
  /// Its number in the line, from 1.
  std::int64_t index() const { return index_; }

 private:
  void skip_blanks() {
    while (position_ != end_ && is_blank(*position_) && (*position_ != separator_ || separator_ == blanks)) ++position_;
  }
  void start_field() {
    ++index_;
    skip_blanks();
  }
  // Skips blanks behind a field; whether the field ends there.
  bool at_separator() {
    if (position_ == end_) return true;
    if (separator_ == blanks) {
      const bool separated = is_blank(*position_);
      skip_blanks();
      return separated;
    }
    skip_blanks();
    return position_ == end_ || *position_ == separator_;
  }
  std::string plain_field() {
    const char* start = position_;
    while (position_ != end_ && (separator_ == blanks ? !is_blank(*position_) : *position_ != separator_)) ++position_;
    const char* stop = position_;
    while (stop != start && is_blank(stop[-1])) --stop;
    if (separator_ == blanks) skip_blanks();
    return {start, stop};
  }
  std::string quoted_field() {
    std::string content;
    for (++position_; position_ != end_; ++position_) {
      if (*position_ == '"') {
        if (position_ + 1 == end_ || position_[1] != '"') break;
        ++position_;  // a doubled quote stands for one
      }
      content += *position_;
    }
    if (position_ == end_) fail("a quote is not closed on its line");
    ++position_;
    if (!at_separator()) fail("text follows a closing quote");
    return content;
  }
  template <class T>
  parse_status quoted_number(T& value) {
    if (position_ == end_) {
      field_.clear();
      return parse_status::not_a_number;
    }
    field_ = quoted_field();
    const std::size_t first = field_.find_first_not_of(" \t");
    const std::size_t last = field_.find_last_not_of(" \t");
    field_ = first == std::string::npos ? "" : field_.substr(first, last - first + 1);
    const char* begin = field_.data();
    const char* end = begin + field_.size();
    const parse_status status = parse_number(&begin, end, value);
    return status == parse_status::ok && begin != end ? parse_status::not_a_number : status;
  }
  [[noreturn]] void fail(std::string_view reason) const {
    throw FileError(reader_.file().path(), reader_.number(), text("field ", index_, ": ", reason));
  }

  const line_reader& reader_;
  const char* position_;
  const char* end_;
  char separator_;
  std::int64_t index_ = 0;
  std::string field_;
};

// The names, when no field of the line is a number; nothing otherwise.
std::vector<std::string> header_names(const line_reader& reader, std::string_view line, char separator) {
  std::vector<std::string> names;
  field_cursor cursor(reader, line, separator);
  do {
    const std::string& name = cursor.text_field();
    const char* begin = name.data();
    const char* end = begin + name.size();
    double number = 0;
    if (parse_number(&begin, end, number) != parse_status::not_a_number && begin == end) return {};
    names.push_back(name);
  } while (cursor.more());
  return names;
}

// Room for as many lines of this length as the file can hold, so that nothing is copied while the rows come in; a
// little more, because other lines may be shorter. Memory that is not touched costs nothing.
template <class T>
void reserve_rows(std::vector<T>& data, const line_reader& reader, std::string_view line, char separator) {
  const std::int64_t lines = reader.file().size() / static_cast<std::int64_t>(line.size() + 1) + 1;
  std::int64_t fields = 1;
  for (const char c : line) fields += separator == blanks ? is_blank(c) : c == separator;
  const std::int64_t expected = lines * fields;
  try {
    data.reserve(static_cast<std::size_t>(expected + expected / 8));
  } catch (const std::bad_alloc&) {
    // Only a guess was refused.
  }
}

template <class T>
[[noreturn]] void fail_on_field(const line_reader& reader, const field_cursor& cursor, parse_status status) {
  const std::string& field = cursor.field();
  std::string reason;
  if (field.empty())
    reason = "is empty; write nan for a missing value";
  else if (status == parse_status::too_large)
    reason = text(shown(field), " is too large for ", type_name<T>());
  else if (status == parse_status::not_an_integer)
    reason = text(shown(field), " is not an integer");
  else if (field.find('\0') != std::string::npos)
    reason = "holds a NUL byte: this is not a text file";
  else
    reason = text(shown(field), " is not a number");
  throw FileError(reader.file().path(), reader.number(), text("field ", cursor.index(), " ", reason));
}

/// Appends the rows of a file to `result`, up to one after which `wants_more` says no.
template <class T, class WantsMore>
void read_rows(const std::string& path, table<T>& result, const WantsMore& wants_more) {
  line_reader reader(path);
  matrix<T>& values = result.values;
  std::string_view line;
  std::int64_t first_line = 0;  // number of the line that set the number of columns
  char separator = ',';
  while (reader.next(line)) {
    if (is_skipped(line)) continue;
    if (first_line == 0) {
      first_line = reader.number();
      separator = separator_of(line);
      result.names = header_names(reader, line, separator);
      if (!result.names.empty()) {
        values.cols = static_cast<std::int64_t>(result.names.size());
        continue;
      }
    }
    if (values.rows == 0) reserve_rows(values.data, reader, line, separator);
    field_cursor cursor(reader, line, separator);
    do {
      T value;
      const parse_status status = cursor.number(value);
      if (status != parse_status::ok) fail_on_field<T>(reader, cursor, status);
      values.data.push_back(value);
    } while (cursor.more());
    if (values.cols == 0) values.cols = cursor.index();
    if (cursor.index() != values.cols)
      throw FileError(path, reader.number(),
                      text("has ", cursor.index(), " fields where line ", first_line, " has ", values.cols));
    ++values.rows;
    if (!wants_more()) return;
  }
  if (first_line == 0) throw FileError(path, "is empty: there is no line with numbers in it");
}

}  // namespace

template <class T>
table<T> read_csv(const std::string& path) {
  table<T> result;
  read_rows(path, result, [] { return true; });
  return result;
}

bool csv_fits_float(const std::string& path) {
  table<double> rows;
  bool fits = true;
  read_rows(path, rows, [&] {
    std::vector<double>& row = rows.values.data;
    fits = std::all_of(row.begin(), row.end(), [](double x) { return std::isnan(x) || double(float(x)) == x; });
    row.clear();
    return fits;
  });
  return fits;
}

#define QUINTET_INSTANTIATE(Real) template table<Real> read_csv<Real>(const std::string&);
QUINTET_FOR_EACH_REAL(QUINTET_INSTANTIATE)
template table<std::int64_t> read_csv<std::int64_t>(const std::string&);

}  // namespace quintet::io
