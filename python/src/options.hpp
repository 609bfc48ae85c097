// Options out of Python: a list names the members of a structure once, list(visit) calls visit(attribute, member).
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <type_traits>

namespace quintet::python {

namespace nb = nanobind;

/// options.*member := object.attribute for all of the list; enumerators come as their numbers. Needs the GIL.
template <class List, class Options>
void copy_options(List list, nb::handle object, Options& options) {
  list([&]<class Owner, class Value>(const char* attribute, Value Owner::* member) {
    const nb::object value = object.attr(attribute);
    if constexpr (std::is_enum_v<Value>)
      options.*member = Value(nb::cast<std::int32_t>(value));
    else
      options.*member = nb::cast<Value>(value);
  });
}

}  // namespace quintet::python
