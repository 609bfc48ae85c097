// Options of decompositions from Python (python/quintet/_svd_options.py), bound once and given to many calls.
#pragma once

#include <nanobind/nanobind.h>

#include "quintet/svd/decompose.hpp"

namespace quintet::python {

namespace nb = nanobind;

constexpr const char* svd_options_name = "quintet.svd_options";

/// A capsule: an object of a class of the module would count as leaked where a cache holds it until the interpreter
/// ends.
inline nb::capsule to_capsule(const svd::options& options) {
  return {new svd::options(options), svd_options_name,
          [](void* held) noexcept { delete static_cast<svd::options*>(held); }};
}

inline const svd::options& svd_options_of(const nb::capsule& held) {
  return *static_cast<const svd::options*>(held.data(svd_options_name));
}

}  // namespace quintet::python
