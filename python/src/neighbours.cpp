// Exact neighbours: the k nearest, and all within a radius.
#include "quintet/neighbours/neighbours.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "arrays.hpp"
#include "call.hpp"
#include "metrics.hpp"

namespace quintet::python {

namespace {

neighbours::options options_of(const std::string& metric, double curvature) { return {metric_of(metric, curvature)}; }

nb::tuple nearest(const array& points, const array& queries, std::int64_t k, const std::string& metric,
                  double curvature, const std::string& device) {
  const auto how = options_of(metric, curvature);
  return with_storage(points.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto view = points.matrix<const T>(), rows = queries.matrix<const T>();
    auto found = run([&] {
      return queries.present() ? neighbours::nearest<T>(rows, view, k, how, Device::parse(device))
                               : neighbours::nearest<T>(view, k, how, Device::parse(device));
    });
    return nb::make_tuple(to_numpy(std::move(found.distance), {found.queries, found.k}),
                          to_numpy(std::move(found.index), {found.queries, found.k}),
                          to_numpy(std::move(found.invalid_queries)), to_numpy(std::move(found.invalid_points)),
                          found.pairs_evaluated);
  });
}

nb::tuple within_radius(const array& points, const array& queries, double radius, const std::string& metric,
                        double curvature, const std::string& device) {
  const auto how = options_of(metric, curvature);
  return with_storage(points.type(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto view = points.matrix<const T>(), rows = queries.matrix<const T>();
    auto found = run([&] {
      return queries.present() ? neighbours::within_radius<T>(rows, view, radius, how, Device::parse(device))
                               : neighbours::within_radius<T>(view, radius, how, Device::parse(device));
    });
    return nb::make_tuple(to_numpy(std::move(found.distance)), to_numpy(std::move(found.index)),
                          to_numpy(std::move(found.row_pointers)), found.queries, found.points,
                          to_numpy(std::move(found.invalid_queries)), to_numpy(std::move(found.invalid_points)),
                          found.pairs_evaluated);
  });
}

}  // namespace

void bind_neighbours(nb::module_& m) {
  using nb::arg;
  m.def("neighbours_nearest", &nearest, arg("points"), arg("queries").none(), arg("k"), arg("metric"), arg("curvature"),
        arg("device"));
  m.def("neighbours_within_radius", &within_radius, arg("points"), arg("queries").none(), arg("radius"), arg("metric"),
        arg("curvature"), arg("device"));
}

}  // namespace quintet::python
