// Options out of Python: a list names the members of a structure once, list(visit) calls visit(attribute, member).
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <limits>
#include <type_traits>

#include "quintet/core/error.hpp"

namespace quintet::python {

namespace nb = nanobind;

/// options.*member := object.attribute for all of the list; enumerators come as their numbers, None changes nothing.
/// Needs the GIL. Throws InvalidArgument for an integer that the member's type cannot hold.
template <class List, class Options>
void copy_options(List list, nb::handle object, Options& options) {
  list([&]<class Owner, class Value>(const char* attribute, Value Owner::* member) {
    const nb::object value = object.attr(attribute);
    if (value.is_none()) return;
    if constexpr (std::is_enum_v<Value>) {
      options.*member = Value(nb::cast<std::int32_t>(value));
    } else if constexpr (std::is_integral_v<Value>) {
      require_argument(nb::try_cast(value, options.*member), attribute, nb::str(value).c_str(),
                       text("within ", std::numeric_limits<Value>::min(), " ... ", std::numeric_limits<Value>::max()));
    } else {
      options.*member = nb::cast<Value>(value);
    }
  });
}

/// Default options with what `object` sets.
template <class Options, class List>
Options options_from(List list, nb::handle object) {
  Options options;
  copy_options(list, object, options);
  return options;
}

}  // namespace quintet::python
