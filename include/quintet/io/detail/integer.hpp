// Integers as files hold them.
#pragma once

#include <cstdint>
#include <limits>

#include "quintet/core/error.hpp"

namespace quintet::io::detail {

/// Any integer or truth value as 64 bits with a sign. Throws InvalidArgument for an unsigned one above 2^63 - 1.
template <class Integer>
std::int64_t to_int64(Integer value) {
  if constexpr (!std::numeric_limits<Integer>::is_signed && sizeof(Integer) >= sizeof(std::int64_t))
    require_argument(value <= Integer((std::numeric_limits<std::int64_t>::max)()), "integer", value, "<= 2^63 - 1");
  return static_cast<std::int64_t>(value);
}

}  // namespace quintet::io::detail
