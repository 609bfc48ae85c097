#include "quintet/poincare/gradients.hpp"

#include <algorithm>
#include <cmath>

#include "instantiate.hpp"
#include "poincare/row_operations.hpp"

namespace quintet::poincare {

namespace {

template <class Operation, class Storage>
row_status run(const row_inputs<Storage>& in, const matrix_view<accumulator_t<Storage>>& out,
               const ball_options& options, const Device& device) {
  const row_status status = run_rows<Operation, Storage>(in, out, {}, options, device);
  require_rows_inside(in, status, options);
  return status;
}

/// Arguments of one shape, that of `out`.
template <class Storage>
void check_same_shape(const matrix_view<accumulator_t<Storage>>& out, const matrix_view<const Storage>& first,
                      const char* name) {
  check_rows(first, name);
  require_shape(out, "out", first.rows(), first.cols());
}
template <class Storage, class... More>
void check_same_shape(const matrix_view<accumulator_t<Storage>>& out, const matrix_view<const Storage>& first,
                      const char* name, const matrix_view<const Storage>& second, const char* second_name,
                      const More&... more) {
  require_shape(second, second_name, first.rows(), first.cols());
  check_same_shape<Storage>(out, first, name, more...);
}

template <class Real>
void check_scalars(const vector_view<const Real>& values, const char* name, std::int64_t n) {
  const std::int64_t size = values.size();
  require_argument(size == 1 || size == n, text(name, ".size"), size, text("1 or N=", n));
}

void require_curved(double curvature) {
  require_argument(checked_curvature(curvature) > 0, "curvature", curvature,
                   "negative: a flat ball has no hyperboloid");
}

template <class Real>
void check_epsilon(double epsilon) {
  constexpr double min = 2 * std::numeric_limits<Real>::epsilon();
  require_argument(epsilon >= min && epsilon < 1, "epsilon", epsilon, text("in [", min, ", 1)"));
}

template <class Operation, class Storage>
projection_report run_projection(const row_inputs<Storage>& in, const matrix_view<accumulator_t<Storage>>& out,
                                 const ball_options& options, const Device& device) {
  using Real = accumulator_t<Storage>;
  std::vector<Real> factor(out.rows());
  projection_report report;
  report.status = run_rows<Operation, Storage>(in, out, {factor.data(), out.rows(), 1}, options, device);
  report.moved = out.rows() - std::count(factor.begin(), factor.end(), Real(1));
  return report;
}

}  // namespace

template <class Storage, class>
row_status mobius_add(matrix_view<const Storage> x, matrix_view<const Storage> y,
                      matrix_view<accumulator_t<Storage>> out, const ball_options& options, const Device& device) {
  const row_inputs<Storage> in{.x = x, .y = y};
  check_same_shape<Storage>(out, x, "x", y, "y");
  return run<mobius_add_row>(in, out, options, device);
}

template <class Storage, class>
row_status mobius_scalar_mul(vector_view<const accumulator_t<Storage>> r, matrix_view<const Storage> x,
                             matrix_view<accumulator_t<Storage>> out, const ball_options& options,
                             const Device& device) {
  const row_inputs<Storage> in{.x = x, .scalar = r};
  check_same_shape<Storage>(out, x, "x");
  check_scalars<accumulator_t<Storage>>(r, "r", x.rows());
  return run<scalar_mul_row>(in, out, options, device);
}

template <class Storage, class>
row_status exp_map(matrix_view<const Storage> x, matrix_view<const Storage> v, matrix_view<accumulator_t<Storage>> out,
                   const ball_options& options, const Device& device) {
  const row_inputs<Storage> in{.x = x, .v = v};
  check_same_shape<Storage>(out, x, "x", v, "v");
  return run<exp_map_row>(in, out, options, device);
}

template <class Storage, class>
row_status log_map(matrix_view<const Storage> x, matrix_view<const Storage> y, matrix_view<accumulator_t<Storage>> out,
                   const ball_options& options, const Device& device) {
  const row_inputs<Storage> in{.x = x, .y = y};
  check_same_shape<Storage>(out, x, "x", y, "y");
  return run<log_map_row>(in, out, options, device);
}

template <class Storage, class>
row_status exp_map_origin(matrix_view<const Storage> v, matrix_view<accumulator_t<Storage>> out,
                          const ball_options& options, const Device& device) {
  const row_inputs<Storage> in{.v = v};
  check_same_shape<Storage>(out, v, "v");
  return run<exp_map_origin_row>(in, out, options, device);
}

template <class Storage, class>
row_status log_map_origin(matrix_view<const Storage> y, matrix_view<accumulator_t<Storage>> out,
                          const ball_options& options, const Device& device) {
  const row_inputs<Storage> in{.x = y, .x_name = "y"};
  check_same_shape<Storage>(out, y, "y");
  return run<log_map_origin_row>(in, out, options, device);
}

template <class Storage, class>
row_status geodesic(matrix_view<const Storage> x, matrix_view<const Storage> y,
                    vector_view<const accumulator_t<Storage>> t, matrix_view<accumulator_t<Storage>> out,
                    const ball_options& options, const Device& device) {
  const row_inputs<Storage> in{.x = x, .y = y, .scalar = t, .scalar_name = "t"};
  check_same_shape<Storage>(out, x, "x", y, "y");
  check_scalars<accumulator_t<Storage>>(t, "t", x.rows());
  return run<geodesic_row>(in, out, options, device);
}

template <class Storage, class>
row_status parallel_transport(matrix_view<const Storage> x, matrix_view<const Storage> y, matrix_view<const Storage> v,
                              matrix_view<accumulator_t<Storage>> out, const ball_options& options,
                              const Device& device) {
  const row_inputs<Storage> in{.x = x, .y = y, .v = v};
  check_same_shape<Storage>(out, x, "x", y, "y", v, "v");
  return run<parallel_transport_row>(in, out, options, device);
}

template <class Storage, class>
projection_report project(matrix_view<const Storage> x, double epsilon, matrix_view<accumulator_t<Storage>> out,
                          const ball_options& options, const Device& device) {
  const row_inputs<Storage> in{.x = x, .parameter = epsilon};
  check_same_shape<Storage>(out, x, "x");
  check_epsilon<accumulator_t<Storage>>(epsilon);
  projection_report report = run_projection<project_row>(in, out, options, device);
  require_rows_inside(in, report.status, options);
  return report;
}

template <class Storage, class>
row_status conformal_factor(matrix_view<const Storage> x, vector_view<accumulator_t<Storage>> out,
                            const ball_options& options, const Device& device) {
  check_rows(x, "x");
  require_argument(out.size() == x.rows(), "out.size", out.size(), text("x.rows=", x.rows()));
  return run<conformal_factor_row>(row_inputs<Storage>{.x = x}, out.as_rows(x.rows(), 1), options, device);
}

template <class Storage, class>
row_status to_hyperboloid(matrix_view<const Storage> x, matrix_view<accumulator_t<Storage>> out,
                          const ball_options& options, const Device& device) {
  require_curved(options.curvature);
  check_rows(x, "x");
  require_shape(out, "out", x.rows(), x.cols() + 1);
  return run<to_hyperboloid_row>(row_inputs<Storage>{.x = x}, out, options, device);
}

template <class Storage, class>
row_status from_hyperboloid(matrix_view<const Storage> h, matrix_view<accumulator_t<Storage>> out,
                            const ball_options& options, const Device& device) {
  require_curved(options.curvature);
  check_rows(h, "h");
  if (h.rows() > 0) require_argument(h.cols() >= 2, "h.cols", h.cols(), ">= 2");
  require_shape(out, "out", h.rows(), h.cols() - 1);
  const row_status status = run_rows<from_hyperboloid_row, Storage>({.x = h, .x_name = "h"}, out, {}, options, device);
  if (const std::int64_t i = first_invalid(status); options.strict && i >= 0)
    require_argument(false, text("h[", i, "]"),
                     text("x_0 ", accumulator_t<Storage>(device::host_copy(h.slice(i, i + 1))[0])),
                     "finite with x_0 > 0");
  return status;
}

template <class Storage, class>
row_status distance_gradients(matrix_view<const Storage> x, matrix_view<const Storage> y,
                              matrix_view<accumulator_t<Storage>> gradient_x,
                              matrix_view<accumulator_t<Storage>> gradient_y, const ball_options& options,
                              const Device& device) {
  const row_inputs<Storage> in{.x = x, .y = y};
  require_shape(gradient_x, "gradient_x", x.rows(), x.cols());
  check_same_shape<Storage>(gradient_x, x, "x", y, "y");
  require_shape(gradient_y, "gradient_y", x.rows(), x.cols());
  const row_status status = run_rows<distance_gradients_row, Storage>(in, gradient_x, gradient_y, options, device);
  require_rows_inside(in, status, options);
  return status;
}

template <class Storage, class>
row_status riemannian_gradient(matrix_view<const Storage> x, matrix_view<const Storage> gradient,
                               matrix_view<accumulator_t<Storage>> out, const ball_options& options,
                               const Device& device) {
  const row_inputs<Storage> in{.x = x, .v = gradient, .v_name = "gradient"};
  check_same_shape<Storage>(out, x, "x", gradient, "gradient");
  return run<riemannian_gradient_row>(in, out, options, device);
}

template <class Storage, class>
projection_report rsgd_step(matrix_view<const Storage> x, matrix_view<const Storage> gradient, double rate,
                            double epsilon, matrix_view<accumulator_t<Storage>> out, const ball_options& options,
                            const Device& device) {
  const row_inputs<Storage> in{.x = x, .v = gradient, .parameter = epsilon, .rate = rate, .v_name = "gradient"};
  check_same_shape<Storage>(out, x, "x", gradient, "gradient");
  check_epsilon<accumulator_t<Storage>>(epsilon);
  require_argument(std::isfinite(rate), "rate", rate, "finite");
  projection_report report = run_projection<rsgd_step_row>(in, out, options, device);
  require_rows_inside(in, report.status, options);
  return report;
}

#define QUINTET_INSTANTIATE(R)                                                                                         \
  template row_status mobius_add(matrix_view<const R>, matrix_view<const R>, matrix_view<accumulator_t<R>>,            \
                                 const ball_options&, const Device&);                                                  \
  template row_status mobius_scalar_mul(vector_view<const accumulator_t<R>>, matrix_view<const R>,                     \
                                        matrix_view<accumulator_t<R>>, const ball_options&, const Device&);            \
  template row_status exp_map(matrix_view<const R>, matrix_view<const R>, matrix_view<accumulator_t<R>>,               \
                              const ball_options&, const Device&);                                                     \
  template row_status log_map(matrix_view<const R>, matrix_view<const R>, matrix_view<accumulator_t<R>>,               \
                              const ball_options&, const Device&);                                                     \
  template row_status exp_map_origin(matrix_view<const R>, matrix_view<accumulator_t<R>>, const ball_options&,         \
                                     const Device&);                                                                   \
  template row_status log_map_origin(matrix_view<const R>, matrix_view<accumulator_t<R>>, const ball_options&,         \
                                     const Device&);                                                                   \
  template row_status geodesic(matrix_view<const R>, matrix_view<const R>, vector_view<const accumulator_t<R>>,        \
                               matrix_view<accumulator_t<R>>, const ball_options&, const Device&);                     \
  template row_status parallel_transport(matrix_view<const R>, matrix_view<const R>, matrix_view<const R>,             \
                                         matrix_view<accumulator_t<R>>, const ball_options&, const Device&);           \
  template projection_report project(matrix_view<const R>, double, matrix_view<accumulator_t<R>>, const ball_options&, \
                                     const Device&);                                                                   \
  template row_status conformal_factor(matrix_view<const R>, vector_view<accumulator_t<R>>, const ball_options&,       \
                                       const Device&);                                                                 \
  template row_status to_hyperboloid(matrix_view<const R>, matrix_view<accumulator_t<R>>, const ball_options&,         \
                                     const Device&);                                                                   \
  template row_status from_hyperboloid(matrix_view<const R>, matrix_view<accumulator_t<R>>, const ball_options&,       \
                                       const Device&);                                                                 \
  template row_status distance_gradients(matrix_view<const R>, matrix_view<const R>, matrix_view<accumulator_t<R>>,    \
                                         matrix_view<accumulator_t<R>>, const ball_options&, const Device&);           \
  template row_status riemannian_gradient(matrix_view<const R>, matrix_view<const R>, matrix_view<accumulator_t<R>>,   \
                                          const ball_options&, const Device&);                                         \
  template projection_report rsgd_step(matrix_view<const R>, matrix_view<const R>, double, double,                     \
                                       matrix_view<accumulator_t<R>>, const ball_options&, const Device&);
QUINTET_FOR_EACH_STORAGE(QUINTET_INSTANTIATE)

}  // namespace quintet::poincare
