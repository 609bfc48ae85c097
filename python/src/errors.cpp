#include "errors.hpp"

#include <exception>
#include <new>
#include <stdexcept>

#include "quintet/core/error.hpp"
#include "quintet/snp/network/newick.hpp"

namespace quintet::python {

namespace nb = nanobind;

namespace {

/// The classes, for the life of the process.
struct error_types {
  PyObject *error, *invalid_argument, *network_error, *file_error, *device_error, *out_of_memory, *cancelled;
};

PyObject* class_of(const nb::module_& module, const char* name) {
  return nb::object(module.attr(name)).release().ptr();
}

const char* name_of(snp::NetworkError::rule rule) {
  static constexpr const char* names[] = {"empty",  "node_index", "cycle", "root", "disconnected",  "binary",
                                          "length", "theta",      "gamma", "name", "unknown_taxon", "syntax"};
  return names[int(rule)];
}

void set_network_error(PyObject* type, const snp::NetworkError& error, std::int64_t position) {
  nb::object exception = nb::handle(type)(error.what());
  exception.attr("reason") = name_of(error.reason());
  exception.attr("position") = position >= 0 ? nb::object(nb::int_(position)) : nb::none();
  PyErr_SetObject(type, exception.ptr());
}

void translate(const std::exception_ptr& thrown, void* payload) {
  const auto& types = *static_cast<const error_types*>(payload);
  // Derived classes come first. What is not of the library passes on to nanobind.
  try {
    std::rethrow_exception(thrown);
  } catch (const snp::NewickError& error) {
    set_network_error(types.network_error, error, error.position());
  } catch (const snp::NetworkError& error) {
    set_network_error(types.network_error, error, -1);
  } catch (const InvalidArgument& error) {
    PyErr_SetString(types.invalid_argument, error.what());
  } catch (const FileError& error) {
    PyErr_SetString(types.file_error, error.what());
  } catch (const OutOfMemory& error) {
    PyErr_SetString(types.out_of_memory, error.what());
  } catch (const DeviceError& error) {
    PyErr_SetString(types.device_error, error.what());
  } catch (const Cancelled& error) {
    PyErr_SetString(types.cancelled, error.what());
  } catch (const Error& error) {
    PyErr_SetString(types.error, error.what());
  } catch (const std::bad_alloc&) {
    PyErr_SetString(PyExc_MemoryError, "not enough memory");
  } catch (const std::length_error&) {
    PyErr_SetString(PyExc_MemoryError, "more elements than can be addressed");
  }
}

}  // namespace

void bind_errors(nb::module_&) {
  const nb::module_ module = nb::module_::import_("quintet._errors");
  static const error_types types{class_of(module, "Error"),        class_of(module, "InvalidArgument"),
                                 class_of(module, "NetworkError"), class_of(module, "FileError"),
                                 class_of(module, "DeviceError"),  class_of(module, "OutOfMemory"),
                                 class_of(module, "Cancelled")};
  nb::register_exception_translator(translate, const_cast<error_types*>(&types));
}

}  // namespace quintet::python
