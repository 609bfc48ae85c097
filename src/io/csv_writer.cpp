#include <charconv>
#include <cmath>
#include <type_traits>
#include <variant>

#include "instantiate.hpp"
#include "quintet/core/error.hpp"
#include "quintet/io/csv.hpp"

namespace quintet::io {

namespace {

// The longest: "-1.7976931348623157e+308".
constexpr std::size_t number_bytes = 32;

template <class T>
std::string_view to_text(T value, char (&buffer)[number_bytes]) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(value)) return "nan";  // to_chars would tell the sign, which says nothing
  const std::to_chars_result end = std::to_chars(buffer, buffer + number_bytes, value);
  return {buffer, static_cast<std::size_t>(end.ptr - buffer)};
}

}  // namespace

csv_writer::csv_writer(std::string path, std::span<const std::string> names) : file_(std::move(path)) {
  for (const std::string& name : names) quoted(name);
  if (!names.empty()) end_row();
}

csv_writer::csv_writer(std::string path, std::initializer_list<std::string> names)
    : csv_writer(std::move(path), std::span<const std::string>(names.begin(), names.size())) {}

void csv_writer::separate() {
  if (fields_++ > 0) file_.write(",");
}

void csv_writer::number(float value) {
  char buffer[number_bytes];
  separate();
  file_.write(to_text(value, buffer));
}

void csv_writer::number(double value) {
  char buffer[number_bytes];
  separate();
  file_.write(to_text(value, buffer));
}

void csv_writer::integer(std::int64_t value) {
  char buffer[number_bytes];
  separate();
  file_.write(to_text(value, buffer));
}

void csv_writer::quoted(std::string_view value) {
  separate();
  // A bare empty field or leading '#' would be read as something else.
  if (!value.empty() && value.find_first_of(",;\t \"\r\n#") == std::string_view::npos) return file_.write(value);
  std::string result = "\"";
  for (const char c : value) {
    if (c == '"') result += '"';
    result += c;
  }
  file_.write(result + '"');
}

void csv_writer::end_row() {
  if (columns_ == 0) columns_ = fields_;
  require_argument(fields_ == columns_ && fields_ > 0, "fields of a row", fields_,
                   text("as many as the first line of ", file_.path(), " has: ", columns_));
  fields_ = 0;
  file_.write("\n");
}

void write_csv(const std::string& path, std::span<const column> columns) {
  const auto rows_of = [](const column& c) { return std::visit([](auto values) { return values.size(); }, c.values); };
  require_argument(!columns.empty(), "columns", columns.size(), ">= 1");
  const std::size_t rows = rows_of(columns[0]);
  std::vector<std::string> names;
  for (const column& c : columns) {
    if (rows_of(c) != rows)
      throw InvalidArgument(text("column \"", c.name, "\" must have as many rows as column \"", columns[0].name, "\" (",
                                 rows_of(c), " and ", rows, ")"));
    names.push_back(c.name);
  }
  csv_writer out(path, names);
  for (std::size_t i = 0; i < rows; ++i) {
    for (const column& c : columns) std::visit([&](auto values) { out.field(values[i]); }, c.values);
    out.end_row();
  }
  out.commit();
}

template <class T>
void write_csv(const std::string& path, matrix_view<const T> values, std::span<const std::string> names) {
  if (!names.empty())
    require_argument(static_cast<std::int64_t>(names.size()) == values.cols(), "names", names.size(),
                     text("one for each of the ", values.cols(), " columns"));
  csv_writer out(path, names);
  for (std::int64_t i = 0; i < values.rows() && values.cols() > 0; ++i) {
    for (std::int64_t j = 0; j < values.cols(); ++j) out.field(values(i, j));
    out.end_row();
  }
  out.commit();
}

#define QUINTET_INSTANTIATE(T) \
  template void write_csv<T>(const std::string&, matrix_view<const T>, std::span<const std::string>);
QUINTET_FOR_EACH_ELEMENT(QUINTET_INSTANTIATE)

}  // namespace quintet::io
