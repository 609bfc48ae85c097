// Product spaces. Arrays are matrices with one point per row; outputs are allocated by the caller.
#include "quintet/poincare/product.hpp"

#include <tuple>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "ball_status.hpp"
#include "call.hpp"

namespace quintet::python {

namespace {

/// (geometry, dimension, curvature, weight).
using factor_tuple = std::tuple<int, std::int64_t, double, double>;

std::vector<product::factor> space_of(const std::vector<factor_tuple>& factors) {
  std::vector<product::factor> space;
  for (const auto& [kind, dim, curvature, weight] : factors)
    space.push_back({product::geometry(kind), dim, curvature, weight});
  return space;
}

nb::object product_distances(const array& x, const array& y, const array& out, const std::vector<factor_tuple>& space,
                             bool strict, bool want_status, const std::string& device) {
  return report_or_none(run([&] {
                          return product::distances(x.rows(), y.rows(), out.output_rows(), space_of(space), {strict},
                                                    Device::parse(device));
                        }),
                        want_status);
}

nb::object product_pair_distances(const array& x, const array& y, const array& out,
                                  const std::vector<factor_tuple>& space, bool strict, bool want_status,
                                  const std::string& device) {
  return report_or_none(run([&] {
                          return product::pair_distances(x.rows(), y.rows(), out.output_values(), space_of(space),
                                                         {strict}, Device::parse(device));
                        }),
                        want_status);
}

}  // namespace

void bind_product(nb::module_& m) {
  const auto def = [&](const char* name, auto* f) {
    m.def(name, f, nb::arg("x"), nb::arg("y"), nb::arg("out"), nb::arg("space"), nb::arg("strict") = false,
          nb::arg("want_status") = false, nb::arg("device") = "auto");
  };
  def("product_distances", &product_distances);
  def("product_pair_distances", &product_pair_distances);
}

}  // namespace quintet::python
