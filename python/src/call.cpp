#include "call.hpp"

namespace quintet::python {

progress_callback progress_of(nb::handle callable) {
  if (!callable.is_valid() || callable.is_none()) return {};
  return [callable](std::string_view stage, double fraction) {
    const nb::gil_scoped_acquire acquired;
    const nb::object answer = callable(nb::str(stage.data(), stage.size()), fraction);
    return answer.ptr() != Py_False;
  };
}

void poll_signals() {
  const nb::gil_scoped_acquire acquired;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

}  // namespace quintet::python
