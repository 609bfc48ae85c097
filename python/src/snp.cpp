#include <nanobind/nanobind.h>

namespace quintet::python {

void bind_snp(nanobind::module_&) {}

}  // namespace quintet::python
