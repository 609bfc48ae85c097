#include <nanobind/nanobind.h>

namespace quintet::python {

void bind_poincare(nanobind::module_&) {}

}  // namespace quintet::python
