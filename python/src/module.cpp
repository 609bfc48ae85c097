// The extension module quintet._core: thin functions on prepared arrays. What users call, and what is documented, is in
// the Python files of the package.
#include <nanobind/nanobind.h>

#include "call.hpp"
#include "errors.hpp"

namespace quintet::python {

void bind_config(nanobind::module_& m);
void bind_svd(nanobind::module_& m);
void bind_poincare(nanobind::module_& m);
void bind_lorentz(nanobind::module_& m);
void bind_product(nanobind::module_& m);
void bind_stereographic(nanobind::module_& m);
void bind_hdbscan(nanobind::module_& m);
void bind_neighbours(nanobind::module_& m);
void bind_neighbours_index(nanobind::module_& m);
void bind_sparse(nanobind::module_& m);
void bind_snp(nanobind::module_& m);

}  // namespace quintet::python

// Python calls start.cpp first.
#define PyInit__core quintet_init_core
NB_MODULE(_core, m) {
  using namespace quintet::python;
  bind_errors(m);
  end_calls_at_exit();
  bind_config(m);
  bind_svd(m);
  bind_poincare(m);
  bind_lorentz(m);
  bind_product(m);
  bind_stereographic(m);
  bind_hdbscan(m);
  bind_neighbours(m);
  bind_neighbours_index(m);
  bind_sparse(m);
  bind_snp(m);
}
