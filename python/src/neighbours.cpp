#include <nanobind/nanobind.h>

namespace quintet::python {

void bind_neighbours(nanobind::module_&) {}

}  // namespace quintet::python
