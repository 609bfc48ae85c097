// Exceptions of the library as those of quintet._errors.
#pragma once

#include <nanobind/nanobind.h>

namespace quintet::python {

/// Maps the library's exceptions to the classes of quintet._errors; std::bad_alloc and std::length_error become
/// MemoryError.
void bind_errors(nanobind::module_& m);

}  // namespace quintet::python
