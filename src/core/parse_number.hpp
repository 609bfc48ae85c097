// Text to number: std::from_chars with the corners that files need.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <type_traits>

namespace quintet {

enum class parse_status { ok, not_a_number, too_large, not_an_integer };

namespace detail {

// from_chars says "out of range" for numbers that are too large and for those that are too small alike, and leaves no
// value. Too small is zero: tells the two apart by the position of the first digit that counts.
inline bool rounds_to_zero(std::string_view number) {
  const std::size_t exponent_at = number.find_first_of("eE");
  const std::string_view mantissa = number.substr(0, exponent_at);
  std::int64_t exponent = 0;
  if (exponent_at != std::string_view::npos) {
    std::string_view digits = number.substr(exponent_at + 1);
    const bool negative = digits.starts_with('-');
    if (negative || digits.starts_with('+')) digits.remove_prefix(1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (error == std::errc::result_out_of_range) return negative;
    if (negative) exponent = -exponent;
  }
  const std::size_t point = mantissa.find('.');
  const std::size_t first = mantissa.find_first_of("123456789");
  if (first == std::string_view::npos) return true;
  const auto before_point = static_cast<std::int64_t>(point == std::string_view::npos ? mantissa.size() : point);
  return exponent < static_cast<std::int64_t>(first) - before_point;
}

}  // namespace detail

/// Reads a number at `*position` and moves `*position` behind it. Real numbers: nearest value of the type; too small
/// for it is zero. Integers may be written as a real number with an integral value. A number that is too large is a
/// number: `*position` moves behind it too.
template <class T>
parse_status parse_number(const char** position, const char* end, T& value) {
  const char* begin = *position;
  // from_chars takes no plus sign.
  if (end - begin > 1 && *begin == '+' && begin[1] != '-' && begin[1] != '+') ++begin;
  const auto [stop, error] = std::from_chars(begin, end, value);
  if constexpr (std::is_integral_v<T>) {
    const bool real =
        error != std::errc::invalid_argument && stop != end && (*stop == '.' || *stop == 'e' || *stop == 'E');
    if (real || (error == std::errc::invalid_argument && begin != end && *begin == '.')) {
      double number = 0;
      const parse_status status = parse_number<double>(position, end, number);
      if (status != parse_status::ok) return status;
      if (number != std::trunc(number)) return parse_status::not_an_integer;
      // Beyond 2^53 a double may not be the integer that was written.
      if (!(std::abs(number) <= 0x1p53)) return parse_status::too_large;
      value = static_cast<T>(number);
      return parse_status::ok;
    }
    if (error == std::errc::result_out_of_range) {
      *position = stop;
      return parse_status::too_large;
    }
  } else if (error == std::errc::result_out_of_range) {
    const std::string_view number(begin, static_cast<std::size_t>(stop - begin));
    if (!detail::rounds_to_zero(number)) {
      *position = stop;
      return parse_status::too_large;
    }
    value = number.starts_with('-') ? T(-0.0) : T(0);
  }
  if (error == std::errc::invalid_argument) {
    double probe = 0;
    if constexpr (std::is_integral_v<T>)  // "nan" and "inf" are numbers, only no integers
      if (std::from_chars(begin, end, probe).ec == std::errc()) return parse_status::not_an_integer;
    return parse_status::not_a_number;
  }
  *position = stop;
  return parse_status::ok;
}

}  // namespace quintet
