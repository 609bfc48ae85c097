#include <nanobind/nanobind.h>

namespace quintet::python {

void bind_sparse(nanobind::module_&) {}

}  // namespace quintet::python
