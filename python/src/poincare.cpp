// The Poincare ball. Arrays are matrices with one point per row; outputs are allocated by the caller.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "arrays.hpp"
#include "call.hpp"
#include "quintet/poincare/poincare.hpp"

namespace quintet::python {

namespace {

using poincare::ball_options;
using poincare::point_status;

/// 0 inside, 1 outside, 2 not finite, as uint8.
nb::object to_numpy_status(const std::vector<point_status>& status) {
  std::vector<std::uint8_t> values(status.size());
  for (std::size_t i = 0; i < status.size(); ++i) values[i] = std::uint8_t(status[i]);
  return to_numpy(std::move(values));
}

nb::object status_or_none(const std::vector<point_status>& status, bool wanted) {
  return wanted ? to_numpy_status(status) : nb::none();
}

nb::object report_or_none(const poincare::point_report& report, bool wanted) {
  if (!wanted) return nb::none();
  return nb::make_tuple(to_numpy_status(report.queries), to_numpy_status(report.points));
}

nb::object distances(const array& x, const array& y, const array& out, int expression, double curvature, bool strict,
                     bool want_status, const std::string& device) {
  const poincare::distance_options options{curvature, poincare::formula(expression), strict};
  return with_storage(x.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto queries = x.matrix<const T>(), points = y.matrix<const T>();
    const auto to = out.matrix<accumulator_t<T>>();
    return report_or_none(
        run([&] { return poincare::distances<T>(queries, points, to, options, Device::parse(device)); }), want_status);
  });
}

nb::object pair_distances(const array& x, const array& y, const array& out, int expression, double curvature,
                          bool strict, bool want_status, const std::string& device) {
  const poincare::distance_options options{curvature, poincare::formula(expression), strict};
  return with_storage(x.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto first = x.matrix<const T>(), second = y.matrix<const T>();
    const auto to = out.vector<accumulator_t<T>>();
    return report_or_none(
        run([&] { return poincare::pair_distances<T>(first, second, to, options, Device::parse(device)); }),
        want_status);
  });
}

nb::object origin_distances(const array& x, const array& out, double curvature, bool strict, bool want_status,
                            const std::string& device) {
  const poincare::distance_options options{curvature, poincare::formula::geodesic, strict};
  return with_storage(x.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto points = x.matrix<const T>();
    const auto to = out.vector<accumulator_t<T>>();
    return status_or_none(
        run([&] { return poincare::origin_distances<T>(points, to, options, Device::parse(device)); }), want_status);
  });
}

nb::object nearest(const array& queries, const array& points, const array& index, const array& distance,
                   double curvature, bool strict, bool exclude_self, std::int64_t budget_bytes, bool want_status,
                   const std::string& device) {
  const poincare::nearest_options options{curvature, strict, exclude_self, budget_bytes};
  return with_storage(queries.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto x = queries.matrix<const T>(), y = points.matrix<const T>();
    const auto to_index = index.matrix<std::int64_t>();
    const auto to_distance = distance.matrix<accumulator_t<T>>();
    return report_or_none(
        run([&] { return poincare::nearest<T>(x, y, to_index, to_distance, options, Device::parse(device)); }),
        want_status);
  });
}

// Operations of rows: f(x, out), f(x, y, out), f(x, y, v, out), f(value, x, out) and so on.

#define QUINTET_UNARY(name)                                                                                   \
  nb::object name(const array& x, const array& out, double curvature, bool strict, bool want_status,          \
                  const std::string& device) {                                                                \
    const ball_options options{curvature, strict};                                                            \
    return with_storage(x.type(), [&](auto tag) {                                                             \
      using T = typename decltype(tag)::type;                                                                 \
      const auto rows = x.matrix<const T>();                                                                  \
      const auto to = out.matrix<accumulator_t<T>>();                                                         \
      return status_or_none(run([&] { return poincare::name<T>(rows, to, options, Device::parse(device)); }), \
                            want_status);                                                                     \
    });                                                                                                       \
  }

#define QUINTET_BINARY(name)                                                                                           \
  nb::object name(const array& x, const array& y, const array& out, double curvature, bool strict, bool want_status,   \
                  const std::string& device) {                                                                         \
    const ball_options options{curvature, strict};                                                                     \
    return with_storage(x.type(), [&](auto tag) {                                                                      \
      using T = typename decltype(tag)::type;                                                                          \
      const auto first = x.matrix<const T>(), second = y.matrix<const T>();                                            \
      const auto to = out.matrix<accumulator_t<T>>();                                                                  \
      return status_or_none(run([&] { return poincare::name<T>(first, second, to, options, Device::parse(device)); }), \
                            want_status);                                                                              \
    });                                                                                                                \
  }

QUINTET_UNARY(exp_map_origin)
QUINTET_UNARY(log_map_origin)
QUINTET_UNARY(to_hyperboloid)
QUINTET_UNARY(from_hyperboloid)
QUINTET_BINARY(mobius_add)
QUINTET_BINARY(exp_map)
QUINTET_BINARY(log_map)
QUINTET_BINARY(riemannian_gradient)

#undef QUINTET_UNARY
#undef QUINTET_BINARY

nb::object mobius_scalar_mul(const array& r, const array& x, const array& out, double curvature, bool strict,
                             bool want_status, const std::string& device) {
  const ball_options options{curvature, strict};
  return with_storage(x.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto factor = r.vector<const accumulator_t<T>>();
    const auto rows = x.matrix<const T>();
    const auto to = out.matrix<accumulator_t<T>>();
    return status_or_none(
        run([&] { return poincare::mobius_scalar_mul<T>(factor, rows, to, options, Device::parse(device)); }),
        want_status);
  });
}

nb::object geodesic(const array& x, const array& y, const array& t, const array& out, double curvature, bool strict,
                    bool want_status, const std::string& device) {
  const ball_options options{curvature, strict};
  return with_storage(x.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto first = x.matrix<const T>(), second = y.matrix<const T>();
    const auto at = t.vector<const accumulator_t<T>>();
    const auto to = out.matrix<accumulator_t<T>>();
    return status_or_none(
        run([&] { return poincare::geodesic<T>(first, second, at, to, options, Device::parse(device)); }), want_status);
  });
}

nb::object parallel_transport(const array& x, const array& y, const array& v, const array& out, double curvature,
                              bool strict, bool want_status, const std::string& device) {
  const ball_options options{curvature, strict};
  return with_storage(x.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto from = x.matrix<const T>(), to_point = y.matrix<const T>(), vectors = v.matrix<const T>();
    const auto to = out.matrix<accumulator_t<T>>();
    return status_or_none(run([&] {
                            return poincare::parallel_transport<T>(from, to_point, vectors, to, options,
                                                                   Device::parse(device));
                          }),
                          want_status);
  });
}

nb::object conformal_factor(const array& x, const array& out, double curvature, bool strict, bool want_status,
                            const std::string& device) {
  const ball_options options{curvature, strict};
  return with_storage(x.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto rows = x.matrix<const T>();
    const auto to = out.vector<accumulator_t<T>>();
    return status_or_none(run([&] { return poincare::conformal_factor<T>(rows, to, options, Device::parse(device)); }),
                          want_status);
  });
}

nb::object distance_gradients(const array& x, const array& y, const array& gradient_x, const array& gradient_y,
                              double curvature, bool strict, bool want_status, const std::string& device) {
  const ball_options options{curvature, strict};
  return with_storage(x.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto first = x.matrix<const T>(), second = y.matrix<const T>();
    const auto to_x = gradient_x.matrix<accumulator_t<T>>(), to_y = gradient_y.matrix<accumulator_t<T>>();
    return status_or_none(
        run([&] { return poincare::distance_gradients<T>(first, second, to_x, to_y, options, Device::parse(device)); }),
        want_status);
  });
}

/// (status or None, points that were moved).
nb::tuple project(const array& x, double epsilon, const array& out, double curvature, bool strict, bool want_status,
                  const std::string& device) {
  const ball_options options{curvature, strict};
  return with_storage(x.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto rows = x.matrix<const T>();
    const auto to = out.matrix<accumulator_t<T>>();
    const auto report = run([&] { return poincare::project<T>(rows, epsilon, to, options, Device::parse(device)); });
    return nb::make_tuple(status_or_none(report.status, want_status), report.moved);
  });
}

nb::tuple rsgd_step(const array& x, const array& gradient, double rate, double epsilon, const array& out,
                    double curvature, bool strict, bool want_status, const std::string& device) {
  const ball_options options{curvature, strict};
  return with_storage(x.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto rows = x.matrix<const T>(), g = gradient.matrix<const T>();
    const auto to = out.matrix<accumulator_t<T>>();
    const auto report =
        run([&] { return poincare::rsgd_step<T>(rows, g, rate, epsilon, to, options, Device::parse(device)); });
    return nb::make_tuple(status_or_none(report.status, want_status), report.moved);
  });
}

/// (status of the points, converged).
nb::tuple gyromidpoint(const array& points, const array& offsets, const array& weights, const array& out,
                       double curvature, bool strict, const std::string& device) {
  const ball_options options{curvature, strict};
  return with_storage(points.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto rows = points.matrix<const T>();
    const auto groups = offsets.vector<const std::int64_t>();
    const auto w = weights.vector<const accumulator_t<T>>();
    const auto to = out.matrix<accumulator_t<T>>();
    auto report = run([&] { return poincare::gyromidpoint<T>(rows, groups, w, to, options, Device::parse(device)); });
    return nb::make_tuple(to_numpy_status(report.points), to_numpy(std::move(report.converged)));
  });
}

/// (status of the points, converged, iterations).
nb::tuple frechet_mean(const array& points, const array& offsets, const array& weights, const array& out,
                       double tolerance, std::int64_t max_iterations, double curvature, bool strict,
                       const std::string& device) {
  const poincare::frechet_options options{curvature, strict, tolerance, max_iterations};
  return with_storage(points.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto rows = points.matrix<const T>();
    const auto groups = offsets.vector<const std::int64_t>();
    const auto w = weights.vector<const accumulator_t<T>>();
    const auto to = out.matrix<accumulator_t<T>>();
    auto report = run([&] { return poincare::frechet_mean<T>(rows, groups, w, to, options, Device::parse(device)); });
    return nb::make_tuple(to_numpy_status(report.points), to_numpy(std::move(report.converged)),
                          to_numpy(std::move(report.iterations)));
  });
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
  m.def("poincare_pair_distances", &pair_distances, nb::arg("x"), nb::arg("y"), nb::arg("out"),
        nb::arg("expression") = 0, curvature(), strict(), status(), device());
  m.def("poincare_origin_distances", &origin_distances, nb::arg("x"), nb::arg("out"), curvature(), strict(), status(),
        device());
  m.def("poincare_nearest", &nearest, nb::arg("queries"), nb::arg("points"), nb::arg("index"), nb::arg("distance"),
        curvature(), strict(), nb::arg("exclude_self") = false, nb::arg("budget_bytes") = std::int64_t(256) << 20,
        status(), device());
  const auto unary = [&](const char* name, auto* f) {
    m.def(name, f, nb::arg("x"), nb::arg("out"), curvature(), strict(), status(), device());
  };
  unary("poincare_exp_map_origin", &exp_map_origin);
  unary("poincare_log_map_origin", &log_map_origin);
  unary("poincare_to_hyperboloid", &to_hyperboloid);
  unary("poincare_from_hyperboloid", &from_hyperboloid);
  unary("poincare_conformal_factor", &conformal_factor);
  const auto binary = [&](const char* name, auto* f) {
    m.def(name, f, nb::arg("x"), nb::arg("y"), nb::arg("out"), curvature(), strict(), status(), device());
  };
  binary("poincare_mobius_add", &mobius_add);
  binary("poincare_exp_map", &exp_map);
  binary("poincare_log_map", &log_map);
  binary("poincare_riemannian_gradient", &riemannian_gradient);
  binary("poincare_mobius_scalar_mul", &mobius_scalar_mul);
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
  m.def("poincare_gyromidpoint", &gyromidpoint, nb::arg("points"), nb::arg("offsets"), nb::arg("weights").none(),
        nb::arg("out"), curvature(), strict(), device());
  m.def("poincare_frechet_mean", &frechet_mean, nb::arg("points"), nb::arg("offsets"), nb::arg("weights").none(),
        nb::arg("out"), nb::arg("tolerance") = 1e-15, nb::arg("max_iterations") = 500, curvature(), strict(), device());
}

}  // namespace quintet::python
