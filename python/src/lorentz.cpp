// The Lorentz model. Arrays are matrices with one point per row; outputs are allocated by the caller.
#include "quintet/poincare/lorentz.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "arrays.hpp"
#include "ball_status.hpp"
#include "call.hpp"
#include "quintet/poincare/adam.hpp"
#include "quintet/poincare/lorentz_means.hpp"
#include "quintet/poincare/lorentz_operations.hpp"
#include "quintet/poincare/training.hpp"

namespace quintet::python {

namespace {

/// form: 0 space, 1 time and space, 2 time ignored. Reports are None unless they are wanted.
nb::object lorentz_distances(const array& x, const array& y, const array& out, int form,
                             std::optional<double> tolerance, double curvature, bool strict, bool want_status,
                             const std::string& device) {
  const lorentz::distance_options options{curvature, lorentz::coordinates(form), tolerance, strict};
  return report_or_none(
      run([&] { return lorentz::distances(x.rows(), y.rows(), out.output_rows(), options, Device::parse(device)); }),
      want_status);
}

nb::object lorentz_pair_distances(const array& x, const array& y, const array& out, int form,
                                  std::optional<double> tolerance, double curvature, bool strict, bool want_status,
                                  const std::string& device) {
  const lorentz::distance_options options{curvature, lorentz::coordinates(form), tolerance, strict};
  return report_or_none(run([&] {
                          return lorentz::pair_distances(x.rows(), y.rows(), out.output_values(), options,
                                                         Device::parse(device));
                        }),
                        want_status);
}

nb::object lorentz_origin_distances(const array& x, const array& out, int form, std::optional<double> tolerance,
                                    double curvature, bool strict, bool want_status, const std::string& device) {
  const lorentz::distance_options options{curvature, lorentz::coordinates(form), tolerance, strict};
  return status_or_none(
      run([&] { return lorentz::origin_distances(x.rows(), out.output_values(), options, Device::parse(device)); }),
      want_status);
}

template <auto operation>
nb::object map_rows(const array& x, const array& out, double curvature, bool strict, bool want_status,
                    const std::string& device) {
  const lorentz::ball_options options{curvature, strict};
  return status_or_none(run([&] { return operation(x.rows(), out.output_rows(), options, Device::parse(device)); }),
                        want_status);
}

template <auto operation>
nb::object join_rows(const array& x, const array& y, const array& out, double curvature, bool strict, bool want_status,
                     const std::string& device) {
  const lorentz::ball_options options{curvature, strict};
  return status_or_none(
      run([&] { return operation(x.rows(), y.rows(), out.output_rows(), options, Device::parse(device)); }),
      want_status);
}

nb::object lorentz_geodesic(const array& x, const array& y, const array& t, const array& out, double curvature,
                            bool strict, bool want_status, const std::string& device) {
  const lorentz::ball_options options{curvature, strict};
  return status_or_none(run([&] {
                          return lorentz::geodesic(x.rows(), y.rows(), t.values(), out.output_rows(), options,
                                                   Device::parse(device));
                        }),
                        want_status);
}

nb::object lorentz_hyperplane_distances(const array& x, const array& normals, const array& offsets, const array& out,
                                        double curvature, bool strict, bool want_status, const std::string& device) {
  const lorentz::ball_options options{curvature, strict};
  return status_or_none(run([&] {
                          return lorentz::hyperplane_distances(x.rows(), normals.rows(), offsets.values(),
                                                               out.output_values(), options, Device::parse(device));
                        }),
                        want_status);
}

nb::object lorentz_hyperplane_gradients(const array& x, const array& normals, const array& offsets,
                                        const array& gradient_x, const array& gradient_normals,
                                        const array& gradient_offsets, double curvature, bool strict, bool want_status,
                                        const std::string& device) {
  const lorentz::ball_options options{curvature, strict};
  return status_or_none(run([&] {
                          return lorentz::hyperplane_gradients(x.rows(), normals.rows(), offsets.values(),
                                                               gradient_x.output_rows(), gradient_normals.output_rows(),
                                                               gradient_offsets.output_values(), options,
                                                               Device::parse(device));
                        }),
                        want_status);
}

nb::object lorentz_parallel_transport(const array& x, const array& y, const array& v, const array& out,
                                      double curvature, bool strict, bool want_status, const std::string& device) {
  const lorentz::ball_options options{curvature, strict};
  return status_or_none(run([&] {
                          return lorentz::parallel_transport(x.rows(), y.rows(), v.rows(), out.output_rows(), options,
                                                             Device::parse(device));
                        }),
                        want_status);
}

nb::object lorentz_adam_step(const array& x, const array& gradient, const array& first, const array& second,
                             const array& out, int form, double rate, double beta1, double beta2, double epsilon,
                             double weight_decay, std::int64_t step, double curvature, bool strict, bool want_status,
                             const std::string& device) {
  const lorentz::distance_options options{curvature, lorentz::coordinates(form), std::nullopt, strict};
  const lorentz::adam_options settings{rate, beta1, beta2, epsilon, weight_decay, step};
  return status_or_none(run([&] {
                          return lorentz::adam_step(x.rows(), gradient.rows(), first.output_rows(),
                                                    second.output_values(), out.output_rows(), settings, options,
                                                    Device::parse(device));
                        }),
                        want_status);
}

nb::object lorentz_negative_sampling(const array& points, const array& links, const array& losses,
                                     const array& gradient, int form, std::optional<double> tolerance, double curvature,
                                     bool strict, bool want_status, const std::string& device) {
  const lorentz::distance_options options{curvature, lorentz::coordinates(form), tolerance, strict};
  return status_or_none(run([&] {
                          return lorentz::negative_sampling(points.rows(), links.matrix<const std::int64_t>(),
                                                            losses.output_values(), gradient.output_rows(), options,
                                                            Device::parse(device));
                        }),
                        want_status);
}

/// (status of the points, converged, iterations).
template <auto mean, class Options>
nb::tuple mean_of_groups(const array& points, const array& offsets, const array& weights, const array& out,
                         double curvature, bool strict, const std::string& device) {
  auto report = run([&] {
    return mean(points.rows(), offsets.vector<const std::int64_t>(), weights.values(), out.output_rows(),
                Options{curvature, strict}, Device::parse(device));
  });
  return nb::make_tuple(to_numpy_status(report.points), to_numpy(std::move(report.converged)),
                        to_numpy(std::move(report.iterations)));
}

}  // namespace

void bind_lorentz(nb::module_& m) {
  const auto def_pairs = [&](const char* name, auto* f) {
    m.def(name, f, nb::arg("x"), nb::arg("y"), nb::arg("out"), nb::arg("form") = 0, nb::arg("tolerance") = nb::none(),
          nb::arg("curvature") = -1.0, nb::arg("strict") = false, nb::arg("want_status") = false,
          nb::arg("device") = "auto");
  };
  def_pairs("lorentz_distances", &lorentz_distances);
  def_pairs("lorentz_pair_distances", &lorentz_pair_distances);
  m.def("lorentz_origin_distances", &lorentz_origin_distances, nb::arg("x"), nb::arg("out"), nb::arg("form") = 0,
        nb::arg("tolerance") = nb::none(), nb::arg("curvature") = -1.0, nb::arg("strict") = false,
        nb::arg("want_status") = false, nb::arg("device") = "auto");
  const auto def_operation = [&](const char* name, auto* f, auto... names) {
    m.def(name, f, nb::arg(names)..., nb::arg("out"), nb::arg("curvature") = -1.0, nb::arg("strict") = false,
          nb::arg("want_status") = false, nb::arg("device") = "auto");
  };
  m.def("lorentz_adam_step", &lorentz_adam_step, nb::arg("x"), nb::arg("gradient"), nb::arg("first"), nb::arg("second"),
        nb::arg("out"), nb::arg("form"), nb::arg("rate"), nb::arg("beta1"), nb::arg("beta2"), nb::arg("epsilon"),
        nb::arg("weight_decay"), nb::arg("step"), nb::arg("curvature") = -1.0, nb::arg("strict") = false,
        nb::arg("want_status") = false, nb::arg("device") = "auto");
  m.def("lorentz_negative_sampling", &lorentz_negative_sampling, nb::arg("points"), nb::arg("links"), nb::arg("losses"),
        nb::arg("gradient"), nb::arg("form") = 0, nb::arg("tolerance") = nb::none(), nb::arg("curvature") = -1.0,
        nb::arg("strict") = false, nb::arg("want_status") = false, nb::arg("device") = "auto");
  const auto def_mean = [&](const char* name, auto* f) {
    m.def(name, f, nb::arg("points"), nb::arg("offsets"), nb::arg("weights").none(), nb::arg("out"),
          nb::arg("curvature") = -1.0, nb::arg("strict") = false, nb::arg("device") = "auto");
  };
  def_mean("lorentz_centroid", &mean_of_groups<&lorentz::centroid, lorentz::ball_options>);
  def_mean("lorentz_frechet_mean", &mean_of_groups<&lorentz::frechet_mean, lorentz::frechet_options>);
  def_operation("lorentz_exp_map", &join_rows<&lorentz::exp_map>, "x", "v");
  def_operation("lorentz_log_map", &join_rows<&lorentz::log_map>, "x", "y");
  def_operation("lorentz_geodesic", &lorentz_geodesic, "x", "y", "t");
  def_operation("lorentz_hyperplane_distances", &lorentz_hyperplane_distances, "x", "normals", "offsets");
  m.def("lorentz_hyperplane_gradients", &lorentz_hyperplane_gradients, nb::arg("x"), nb::arg("normals"),
        nb::arg("offsets"), nb::arg("gradient_x"), nb::arg("gradient_normals"), nb::arg("gradient_offsets"),
        nb::arg("curvature") = -1.0, nb::arg("strict") = false, nb::arg("want_status") = false,
        nb::arg("device") = "auto");
  def_operation("lorentz_parallel_transport", &lorentz_parallel_transport, "x", "y", "v");
  def_operation("lorentz_to_ball", &map_rows<&lorentz::to_ball>, "x");
  def_operation("lorentz_from_ball", &map_rows<&lorentz::from_ball>, "x");
  def_operation("lorentz_to_klein", &map_rows<&lorentz::to_klein>, "x");
  def_operation("lorentz_from_klein", &map_rows<&lorentz::from_klein>, "x");
  def_operation("lorentz_to_half_space", &map_rows<&lorentz::to_half_space>, "x");
  def_operation("lorentz_from_half_space", &map_rows<&lorentz::from_half_space>, "x");
}

}  // namespace quintet::python
