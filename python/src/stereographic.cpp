// The kappa-stereographic model. Arrays are matrices with one point per row; outputs are allocated by the caller.
#include "quintet/poincare/stereographic.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "arrays.hpp"
#include "ball_status.hpp"
#include "call.hpp"

namespace quintet::python {

namespace {

template <auto operation>
nb::object joined_rows(const array& x, const array& y, const array& out, double curvature, bool strict,
                       bool want_status, const std::string& device) {
  const stereographic::operation_options options{curvature, strict};
  return status_or_none(
      run([&] { return operation(x.rows(), y.rows(), out.output_rows(), options, Device::parse(device)); }),
      want_status);
}

nb::object stereographic_scalar_mul(const array& x, const array& r, const array& out, double curvature, bool strict,
                                    bool want_status, const std::string& device) {
  const stereographic::operation_options options{curvature, strict};
  return status_or_none(run([&] {
                          return stereographic::scalar_mul(r.values(), x.rows(), out.output_rows(), options,
                                                           Device::parse(device));
                        }),
                        want_status);
}

nb::object stereographic_geodesic(const array& x, const array& y, const array& t, const array& out, double curvature,
                                  bool strict, bool want_status, const std::string& device) {
  const stereographic::operation_options options{curvature, strict};
  return status_or_none(run([&] {
                          return stereographic::geodesic(x.rows(), y.rows(), t.values(), out.output_rows(), options,
                                                         Device::parse(device));
                        }),
                        want_status);
}

}  // namespace

void bind_stereographic(nb::module_& m) {
  const auto def = [&](const char* name, auto* f, auto... names) {
    m.def(name, f, nb::arg(names)..., nb::arg("out"), nb::arg("curvature") = 0.0, nb::arg("strict") = false,
          nb::arg("want_status") = false, nb::arg("device") = "auto");
  };
  def("stereographic_add", &joined_rows<&stereographic::add>, "x", "y");
  def("stereographic_scalar_mul", &stereographic_scalar_mul, "x", "r");
  def("stereographic_exp_map", &joined_rows<&stereographic::exp_map>, "x", "v");
  def("stereographic_log_map", &joined_rows<&stereographic::log_map>, "x", "y");
  def("stereographic_geodesic", &stereographic_geodesic, "x", "y", "t");
}

}  // namespace quintet::python
