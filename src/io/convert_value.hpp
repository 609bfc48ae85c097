// Conversion of stored numbers to the type that was asked for, without silent loss.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "quintet/core/storage16.hpp"

namespace quintet::io {

/// Converts; false when `To` cannot hold the value. Rounding of real numbers is no loss in this sense; a finite number
/// that becomes infinite is, and so is a fraction or an overflow on the way to an integer.
template <class To, class From>
bool convert_value(From from, To& to) {
  if constexpr (std::is_same_v<From, half> || std::is_same_v<From, bfloat16>) {
    return convert_value(static_cast<float>(from), to);
  } else if constexpr (std::is_floating_point_v<To>) {
    to = static_cast<To>(from);
    if constexpr (std::is_floating_point_v<From> && sizeof(From) > sizeof(To))
      return std::isfinite(to) || !std::isfinite(from);
    return true;
  } else if constexpr (std::is_floating_point_v<From>) {
    // 2^63 (2^31) is the first value too large; -2^63 still fits. NaN fails both comparisons.
    const double limit = std::ldexp(1.0, 8 * static_cast<int>(sizeof(To)) - 1);
    const double value = from;
    if (!(value >= -limit && value < limit) || value != std::trunc(value)) return false;
    to = static_cast<To>(value);
    return true;
  } else {
    if (!std::in_range<To>(from)) return false;
    to = static_cast<To>(from);
    return true;
  }
}

/// Names as they go into messages.
template <class T>
constexpr const char* type_name() {
  if constexpr (std::is_same_v<T, float>) return "float32";
  if constexpr (std::is_same_v<T, double>) return "float64";
  if constexpr (std::is_same_v<T, std::int32_t>) return "int32";
  return "int64";
}

}  // namespace quintet::io
