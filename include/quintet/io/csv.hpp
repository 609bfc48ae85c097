// Tables of numbers as text.
//
// Reading. One row per line; fields apart by comma, semicolon, tab or blanks, whichever the first line uses (in this
// order: a line with a semicolon is not looked at for commas). Line ends LF or CRLF. Fields may be in double quotes;
// blanks around them do not count. Empty lines and lines that start with '#' are skipped, as is a UTF-8 byte order
// mark. Numbers are decimal with a point, "nan" and "inf" in any case; they are rounded once, to the type asked for. A
// first line without a single number in it is a header. Every error is a FileError with the line's number: a row of
// another length, text that is not a number, a number too large for the type, an empty field.
//
// A quoted field ends on its line. Time: one pass over the bytes of the file, on one thread.
//
// Writing. Comma, LF; the shortest text that reads back as the same number of the same type. Texts are quoted if
// necessary; a text with an end of line is written as it is, and read_csv() refuses it. FileError as atomic_file throws
// it; O(fields) time, memory of atomic_file alone.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "quintet/core/view.hpp"
#include "quintet/io/atomic_file.hpp"
#include "quintet/io/detail/integer.hpp"
#include "quintet/io/matrix.hpp"

namespace quintet::io {

/// Numbers with the names of their columns; `names` is empty when the file has no header.
template <class T>
struct table {
  std::vector<std::string> names;  ///< one per column, or none
  matrix<T> values;                ///< one row per line
};

/// Reads a whole file; T is float, double or std::int64_t. A file with a header and no rows has 0 rows; one without
/// either is a FileError. For integers "3" and "3.0" are 3; "3.5" and values beyond 64 bits are errors.
/// Memory: the numbers and about 1 MB.
template <class T>
table<T> read_csv(const std::string& path);

/// Whether float holds every number of a file as exactly as double; NaN and infinity count as held. Throws FileError as
/// read_csv<double>() does, for the lines up to the first number that float does not hold: no other line is read.
bool csv_fits_float(const std::string& path);

/// Writes rows one after another; nothing appears at `path` before commit().
///
///   csv_writer out("labels.csv", {"label", "probability"});
///   for (...) out.row(label[i], probability[i]);
///   out.commit();
class csv_writer {
 public:
  /// `names` become the header line; with none there is no header. Throws FileError as atomic_file does.
  explicit csv_writer(std::string path, std::span<const std::string> names = {});
  /// The same with the names in braces.
  csv_writer(std::string path, std::initializer_list<std::string> names);

  /// One line; a field is a floating-point number, an integer of up to 64 bits, a truth value (0 or 1) or a text.
  /// Throws InvalidArgument when the number of fields is not that of the header or of the first row, and for an
  /// unsigned integer above 2^63 - 1.
  template <class... Fields>
  void row(const Fields&... fields) {
    (field(fields), ...);
    end_row();
  }
  /// One field of the current line; for lines with a length that is known only at run time.
  template <class T>
  void field(const T& value) {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
      number(value);
    else if constexpr (std::is_integral_v<T>)
      integer(detail::to_int64(value));
    else
      quoted(value);
  }
  /// Ends the present line. Throws InvalidArgument as row() does, and when it has no field.
  void end_row();

  /// See atomic_file::commit.
  void commit() { file_.commit(); }

 private:
  void separate();
  void number(float value);
  void number(double value);
  void integer(std::int64_t value);
  void quoted(std::string_view value);

  atomic_file file_;
  std::int64_t columns_ = 0;  // 0: not known yet
  std::int64_t fields_ = 0;   // in the present line
};

/// A named column of numbers, not owned.
struct column {
  std::string name;  ///< in the header line
  /// One number per row.
  std::variant<std::span<const float>, std::span<const double>, std::span<const std::int32_t>,
               std::span<const std::int64_t>>
      values;
};

/// Writes a header and one line per row. Throws InvalidArgument if the columns differ in length, and without columns.
void write_csv(const std::string& path, std::span<const column> columns);

/// Writes a matrix, with a header when `names` are given. T is float, double, int32 or int64. Throws InvalidArgument
/// when there are names, but not one per column. A matrix without columns writes only the header.
template <class T>
void write_csv(const std::string& path, matrix_view<const T> values, std::span<const std::string> names = {});

}  // namespace quintet::io
