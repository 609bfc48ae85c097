#include <nanobind/nanobind.h>

namespace quintet::python {

void bind_hdbscan(nanobind::module_&) {}

}  // namespace quintet::python
