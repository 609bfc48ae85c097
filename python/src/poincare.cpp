// The Poincare ball. Arrays are matrices with one point per row; outputs are allocated by the caller.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "arrays.hpp"
#include "ball_status.hpp"
#include "call.hpp"
#include "quintet/poincare/poincare.hpp"

namespace quintet::python {

namespace {

using poincare::ball_options;

nb::object distances(const array& x, const array& y, const array& out, int expression, double curvature, bool strict,
                     bool want_status, const std::string& device) {
  const poincare::distance_options options{curvature, poincare::formula(expression), strict};
  return report_or_none(
      run([&] { return poincare::distances(x.rows(), y.rows(), out.output_rows(), options, Device::parse(device)); }),
      want_status);
}

nb::object pair_distances(const array& x, const array& y, const array& out, int expression, double curvature,
                          bool strict, bool want_status, const std::string& device) {
  const poincare::distance_options options{curvature, poincare::formula(expression), strict};
  return report_or_none(run([&] {
                          return poincare::pair_distances(x.rows(), y.rows(), out.output_values(), options,
                                                          Device::parse(device));
                        }),
                        want_status);
}

nb::object origin_distances(const array& x, const array& out, double curvature, bool strict, bool want_status,
                            const std::string& device) {
  const poincare::distance_options options{curvature, poincare::formula::geodesic, strict};
  return status_or_none(
      run([&] { return poincare::origin_distances(x.rows(), out.output_values(), options, Device::parse(device)); }),
      want_status);
}

/// Gaps are None on the hyperboloid. The number of near pairs.
std::int64_t gradient_weights(const array& distances, const array& gradients, const array& x_square,
                              const array& y_square, const array& x_gap, const array& y_gap, const array& weights,
                              const array& shares, double curvature, double near_part, const std::string& device) {
  const auto model = x_gap.present() ? poincare::distance_model::ball : poincare::distance_model::hyperboloid;
  return run([&] {
    return poincare::gradient_weights(
        distances.rows(), gradients.rows(), {x_gap.vector<const double>(), x_square.vector<const double>()},
        {y_gap.vector<const double>(), y_square.vector<const double>()}, weights.matrix<double>(),
        shares.matrix<double>(), {model, curvature, near_part}, Device::parse(device));
  });
}

nb::object nearest(const array& queries, const array& points, const array& index, const array& distance,
                   double curvature, bool strict, bool exclude_self, std::int64_t budget_bytes, bool want_status,
                   const std::string& device) {
  const poincare::nearest_options options{curvature, strict, exclude_self, budget_bytes};
  return report_or_none(run([&] {
                          return poincare::nearest(queries.rows(), points.rows(), index.matrix<std::int64_t>(),
                                                   distance.output_rows(), options, Device::parse(device));
                        }),
                        want_status);
}

// Operations of rows: f(x, out), f(x, y, out), f(x, y, v, out), f(value, x, out) and so on.

/// call(options, device): the status of the rows, without the interpreter's lock.
template <class Call>
nb::object row_operation(double curvature, bool strict, bool want_status, const std::string& device, Call&& call) {
  const ball_options options{curvature, strict};
  return status_or_none(run([&] { return call(options, Device::parse(device)); }), want_status);
}

template <auto operation>
nb::object unary(const array& x, const array& out, double curvature, bool strict, bool want_status,
                 const std::string& device) {
  return row_operation(curvature, strict, want_status, device, [&](const ball_options& options, const Device& where) {
    return operation(x.rows(), out.output_rows(), options, where);
  });
}

template <auto operation>
nb::object binary(const array& x, const array& y, const array& out, double curvature, bool strict, bool want_status,
                  const std::string& device) {
  return row_operation(curvature, strict, want_status, device, [&](const ball_options& options, const Device& where) {
    return operation(x.rows(), y.rows(), out.output_rows(), options, where);
  });
}

nb::object mobius_scalar_mul(const array& r, const array& x, const array& out, double curvature, bool strict,
                             bool want_status, const std::string& device) {
  return row_operation(curvature, strict, want_status, device, [&](const ball_options& options, const Device& where) {
    return poincare::mobius_scalar_mul(r.values(), x.rows(), out.output_rows(), options, where);
  });
}

nb::object geodesic(const array& x, const array& y, const array& t, const array& out, double curvature, bool strict,
                    bool want_status, const std::string& device) {
  return row_operation(curvature, strict, want_status, device, [&](const ball_options& options, const Device& where) {
    return poincare::geodesic(x.rows(), y.rows(), t.values(), out.output_rows(), options, where);
  });
}

nb::object parallel_transport(const array& x, const array& y, const array& v, const array& out, double curvature,
                              bool strict, bool want_status, const std::string& device) {
  return row_operation(curvature, strict, want_status, device, [&](const ball_options& options, const Device& where) {
    return poincare::parallel_transport(x.rows(), y.rows(), v.rows(), out.output_rows(), options, where);
  });
}

nb::object conformal_factor(const array& x, const array& out, double curvature, bool strict, bool want_status,
                            const std::string& device) {
  return row_operation(curvature, strict, want_status, device, [&](const ball_options& options, const Device& where) {
    return poincare::conformal_factor(x.rows(), out.output_values(), options, where);
  });
}

nb::object distance_gradients(const array& x, const array& y, const array& gradient_x, const array& gradient_y,
                              double curvature, bool strict, bool want_status, const std::string& device) {
  return row_operation(curvature, strict, want_status, device, [&](const ball_options& options, const Device& where) {
    return poincare::distance_gradients(x.rows(), y.rows(), gradient_x.output_rows(), gradient_y.output_rows(), options,
                                        where);
  });
}

/// (status or None, points that were moved).
nb::tuple project(const array& x, double epsilon, const array& out, double curvature, bool strict, bool want_status,
                  const std::string& device) {
  const ball_options options{curvature, strict};
  const auto report =
      run([&] { return poincare::project(x.rows(), epsilon, out.output_rows(), options, Device::parse(device)); });
  return nb::make_tuple(status_or_none(report.status, want_status), report.moved);
}

nb::tuple rsgd_step(const array& x, const array& gradient, double rate, double epsilon, const array& out,
                    double curvature, bool strict, bool want_status, const std::string& device) {
  const ball_options options{curvature, strict};
  const auto report = run([&] {
    return poincare::rsgd_step(x.rows(), gradient.rows(), rate, epsilon, out.output_rows(), options,
                               Device::parse(device));
  });
  return nb::make_tuple(status_or_none(report.status, want_status), report.moved);
}

nb::tuple adam_step(const array& x, const array& gradient, double margin, const array& first, const array& second,
                    const array& out, double rate, double beta1, double beta2, double epsilon, double weight_decay,
                    std::int64_t step, double curvature, bool strict, bool want_status, const std::string& device) {
  const ball_options options{curvature, strict};
  const poincare::adam_options settings{rate, beta1, beta2, epsilon, weight_decay, step};
  const auto report = run([&] {
    return poincare::adam_step(x.rows(), gradient.rows(), margin, first.output_rows(), second.output_values(),
                               out.output_rows(), settings, options, Device::parse(device));
  });
  return nb::make_tuple(status_or_none(report.status, want_status), report.moved);
}

nb::object negative_sampling(const array& points, const array& links, const array& losses, const array& gradient,
                             double curvature, bool strict, bool want_status, const std::string& device) {
  return row_operation(curvature, strict, want_status, device, [&](const ball_options& options, const Device& where) {
    return poincare::negative_sampling(points.rows(), links.matrix<const std::int64_t>(), losses.output_values(),
                                       gradient.output_rows(), options, where);
  });
}

/// (status of the points, converged).
nb::tuple gyromidpoint(const array& points, const array& offsets, const array& weights, const array& out,
                       double curvature, bool strict, const std::string& device) {
  const ball_options options{curvature, strict};
  auto report = run([&] {
    return poincare::gyromidpoint(points.rows(), offsets.vector<const std::int64_t>(), weights.values(),
                                  out.output_rows(), options, Device::parse(device));
  });
  return nb::make_tuple(to_numpy_status(report.points), to_numpy(std::move(report.converged)));
}

/// (status of the points, converged, iterations).
nb::tuple frechet_mean(const array& points, const array& offsets, const array& weights, const array& out,
                       double tolerance, std::int64_t max_iterations, double curvature, bool strict,
                       const std::string& device) {
  const poincare::frechet_options options{curvature, strict, tolerance, max_iterations};
  auto report = run([&] {
    return poincare::frechet_mean(points.rows(), offsets.vector<const std::int64_t>(), weights.values(),
                                  out.output_rows(), options, Device::parse(device));
  });
  return nb::make_tuple(to_numpy_status(report.points), to_numpy(std::move(report.converged)),
                        to_numpy(std::move(report.iterations)));
}

}  // namespace

void bind_poincare(nb::module_& m) {
  const auto curvature = [] { return nb::arg("curvature") = -1.0; };
  const auto strict = [] { return nb::arg("strict") = false; };
  const auto status = [] { return nb::arg("want_status") = false; };
  const auto device = [] { return nb::arg("device") = "auto"; };
  // expression: 0 geodesic, 1 clamped_artanh.
  m.def("poincare_distances", &distances, nb::arg("x"), nb::arg("y"), nb::arg("out"), nb::arg("expression") = 0,
        curvature(), strict(), status(), device());
  m.def("poincare_gradient_weights", &gradient_weights, nb::arg("distances"), nb::arg("gradients"), nb::arg("x_square"),
        nb::arg("y_square"), nb::arg("x_gap").none(), nb::arg("y_gap").none(), nb::arg("weights"),
        nb::arg("shares").none(), curvature(), nb::arg("near_part") = 0.0, device());
  m.def("poincare_pair_distances", &pair_distances, nb::arg("x"), nb::arg("y"), nb::arg("out"),
        nb::arg("expression") = 0, curvature(), strict(), status(), device());
  m.def("poincare_origin_distances", &origin_distances, nb::arg("x"), nb::arg("out"), curvature(), strict(), status(),
        device());
  m.def("poincare_nearest", &nearest, nb::arg("queries"), nb::arg("points"), nb::arg("index"), nb::arg("distance"),
        curvature(), strict(), nb::arg("exclude_self") = false, nb::arg("budget_bytes") = std::int64_t(256) << 20,
        status(), device());
  const auto def_unary = [&](const char* name, auto* f) {
    m.def(name, f, nb::arg("x"), nb::arg("out"), curvature(), strict(), status(), device());
  };
  def_unary("poincare_exp_map_origin", &unary<&poincare::exp_map_origin>);
  def_unary("poincare_log_map_origin", &unary<&poincare::log_map_origin>);
  def_unary("poincare_to_hyperboloid", &unary<&poincare::to_hyperboloid>);
  def_unary("poincare_from_hyperboloid", &unary<&poincare::from_hyperboloid>);
  def_unary("poincare_conformal_factor", &conformal_factor);
  const auto def_binary = [&](const char* name, auto* f) {
    m.def(name, f, nb::arg("x"), nb::arg("y"), nb::arg("out"), curvature(), strict(), status(), device());
  };
  def_binary("poincare_mobius_add", &binary<&poincare::mobius_add>);
  def_binary("poincare_exp_map", &binary<&poincare::exp_map>);
  def_binary("poincare_log_map", &binary<&poincare::log_map>);
  def_binary("poincare_riemannian_gradient", &binary<&poincare::riemannian_gradient>);
  def_binary("poincare_mobius_scalar_mul", &mobius_scalar_mul);
  m.def("poincare_geodesic", &geodesic, nb::arg("x"), nb::arg("y"), nb::arg("t"), nb::arg("out"), curvature(), strict(),
        status(), device());
  m.def("poincare_parallel_transport", &parallel_transport, nb::arg("x"), nb::arg("y"), nb::arg("v"), nb::arg("out"),
        curvature(), strict(), status(), device());
  m.def("poincare_distance_gradients", &distance_gradients, nb::arg("x"), nb::arg("y"), nb::arg("gradient_x"),
        nb::arg("gradient_y"), curvature(), strict(), status(), device());
  m.def("poincare_project", &project, nb::arg("x"), nb::arg("epsilon"), nb::arg("out"), curvature(), strict(), status(),
        device());
  m.def("poincare_rsgd_step", &rsgd_step, nb::arg("x"), nb::arg("gradient"), nb::arg("rate"), nb::arg("epsilon"),
        nb::arg("out"), curvature(), strict(), status(), device());
  m.def("poincare_adam_step", &adam_step, nb::arg("x"), nb::arg("gradient"), nb::arg("margin"), nb::arg("first"),
        nb::arg("second"), nb::arg("out"), nb::arg("rate"), nb::arg("beta1"), nb::arg("beta2"), nb::arg("epsilon"),
        nb::arg("weight_decay"), nb::arg("step"), curvature(), strict(), status(), device());
  m.def("poincare_negative_sampling", &negative_sampling, nb::arg("points"), nb::arg("links"), nb::arg("losses"),
        nb::arg("gradient"), curvature(), strict(), status(), device());
  m.def("poincare_gyromidpoint", &gyromidpoint, nb::arg("points"), nb::arg("offsets"), nb::arg("weights").none(),
        nb::arg("out"), curvature(), strict(), device());
  m.def("poincare_frechet_mean", &frechet_mean, nb::arg("points"), nb::arg("offsets"), nb::arg("weights").none(),
        nb::arg("out"), nb::arg("tolerance") = 1e-15, nb::arg("max_iterations") = 500, curvature(), strict(), device());
}

}  // namespace quintet::python
