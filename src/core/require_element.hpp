// Checks of the elements of arrays.
#pragma once

#include <cstdint>
#include <string_view>

#include "quintet/core/error.hpp"

namespace quintet {

/// require_argument() for element i of `name`; texts are made only where they are needed.
template <class Value>
void require_element(bool condition, std::string_view name, std::int64_t i, const Value& value,
                     std::string_view allowed) {
  if (!condition) require_argument(false, text(name, "[", i, "]"), value, allowed);
}

}  // namespace quintet
