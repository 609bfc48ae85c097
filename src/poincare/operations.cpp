#include "quintet/poincare/gradients.hpp"

#include <algorithm>
#include <cmath>

#include "poincare/row_operations.hpp"

namespace quintet::poincare {

namespace {

template <class Operation, class Real>
row_status run(const row_inputs<Real>& in, matrix_view<Real> out, const ball_options& options, const Device& device) {
  const row_status status = run_rows<Operation, Real>(in, out, {}, options, device);
  require_rows_inside(in, status, options);
  return status;
}

/// Two or three arguments of one shape, that of `out`.
template <class Real>
void check_same_shape(const row_inputs<Real>& in, matrix_view<Real> out) {
  const matrix_view<const Real> first = in.x.rows() > 0 ? in.x : in.v;
  check_rows(first, "x");
  require_shape(out, "out", first.rows(), first.cols());
  if (in.y.data() != nullptr) require_shape(in.y, "y", first.rows(), first.cols());
  if (in.v.data() != nullptr) require_shape(in.v, "v", first.rows(), first.cols());
}

template <class Real>
void check_scalars(std::span<const Real> values, const char* name, std::int64_t n) {
  const auto size = std::int64_t(values.size());
  require_argument(size == 1 || size == n, text(name, ".size"), size, text("1 or N=", n));
}

void require_curved(double curvature) {
  require_argument(checked_curvature(curvature) > 0, "curvature", curvature,
                   "negative: a flat ball has no hyperboloid");
}

template <class Real>
void check_epsilon(double epsilon) {
  constexpr double least = 2 * std::numeric_limits<Real>::epsilon();
  require_argument(epsilon >= least && epsilon < 1, "epsilon", epsilon, text("in [", least, ", 1)"));
}

template <class Operation, class Real>
projection_report run_projection(const row_inputs<Real>& in, matrix_view<Real> out, const ball_options& options,
                                 const Device& device) {
  std::vector<Real> factor(out.rows());
  projection_report report;
  report.status = run_rows<Operation, Real>(in, out, {factor.data(), out.rows(), 1}, options, device);
  report.moved = out.rows() - std::count(factor.begin(), factor.end(), Real(1));
  return report;
}

}  // namespace

template <class Real>
row_status mobius_add(matrix_view<const Real> x, matrix_view<const Real> y, matrix_view<Real> out,
                      const ball_options& options, const Device& device) {
  const row_inputs<Real> in{.x = x, .y = y};
  check_same_shape(in, out);
  return run<mobius_add_row>(in, out, options, device);
}

template <class Real>
row_status mobius_scalar_mul(std::span<const Real> r, matrix_view<const Real> x, matrix_view<Real> out,
                             const ball_options& options, const Device& device) {
  const row_inputs<Real> in{.x = x, .scalar = r};
  check_same_shape(in, out);
  check_scalars(r, "r", x.rows());
  return run<scalar_mul_row>(in, out, options, device);
}

template <class Real>
row_status exp_map(matrix_view<const Real> x, matrix_view<const Real> v, matrix_view<Real> out,
                   const ball_options& options, const Device& device) {
  const row_inputs<Real> in{.x = x, .v = v};
  check_same_shape(in, out);
  return run<exp_map_row>(in, out, options, device);
}

template <class Real>
row_status log_map(matrix_view<const Real> x, matrix_view<const Real> y, matrix_view<Real> out,
                   const ball_options& options, const Device& device) {
  const row_inputs<Real> in{.x = x, .y = y};
  check_same_shape(in, out);
  return run<log_map_row>(in, out, options, device);
}

template <class Real>
row_status exp_map_origin(matrix_view<const Real> v, matrix_view<Real> out, const ball_options& options,
                          const Device& device) {
  const row_inputs<Real> in{.v = v};
  check_same_shape(in, out);
  return run<exp_map_origin_row>(in, out, options, device);
}

template <class Real>
row_status log_map_origin(matrix_view<const Real> y, matrix_view<Real> out, const ball_options& options,
                          const Device& device) {
  const row_inputs<Real> in{.x = y};
  check_same_shape(in, out);
  return run<log_map_origin_row>(in, out, options, device);
}

template <class Real>
row_status geodesic(matrix_view<const Real> x, matrix_view<const Real> y, std::span<const Real> t,
                    matrix_view<Real> out, const ball_options& options, const Device& device) {
  const row_inputs<Real> in{.x = x, .y = y, .scalar = t};
  check_same_shape(in, out);
  check_scalars(t, "t", x.rows());
  return run<geodesic_row>(in, out, options, device);
}

template <class Real>
row_status parallel_transport(matrix_view<const Real> x, matrix_view<const Real> y, matrix_view<const Real> v,
                              matrix_view<Real> out, const ball_options& options, const Device& device) {
  const row_inputs<Real> in{.x = x, .y = y, .v = v};
  check_same_shape(in, out);
  return run<parallel_transport_row>(in, out, options, device);
}

template <class Real>
projection_report project(matrix_view<const Real> x, double epsilon, matrix_view<Real> out, const ball_options& options,
                          const Device& device) {
  const row_inputs<Real> in{.x = x, .parameter = epsilon};
  check_same_shape(in, out);
  check_epsilon<Real>(epsilon);
  projection_report report = run_projection<project_row>(in, out, options, device);
  require_rows_inside(in, report.status, options);
  return report;
}

template <class Real>
row_status conformal_factor(matrix_view<const Real> x, std::span<Real> out, const ball_options& options,
                            const Device& device) {
  check_rows(x, "x");
  require_argument(std::int64_t(out.size()) == x.rows(), "out.size", out.size(), text("x.rows=", x.rows()));
  return run<conformal_factor_row>(row_inputs<Real>{.x = x}, matrix_view<Real>(out.data(), x.rows(), 1), options,
                                   device);
}

template <class Real>
row_status to_hyperboloid(matrix_view<const Real> x, matrix_view<Real> out, const ball_options& options,
                          const Device& device) {
  require_curved(options.curvature);
  check_rows(x, "x");
  require_shape(out, "out", x.rows(), x.cols() + 1);
  return run<to_hyperboloid_row>(row_inputs<Real>{.x = x}, out, options, device);
}

template <class Real>
row_status from_hyperboloid(matrix_view<const Real> h, matrix_view<Real> out, const ball_options& options,
                            const Device& device) {
  require_curved(options.curvature);
  check_rows(h, "h");
  if (h.rows() > 0) require_argument(h.cols() >= 2, "h.cols", h.cols(), ">= 2");
  require_shape(out, "out", h.rows(), h.cols() - 1);
  const row_status status = run_rows<from_hyperboloid_row, Real>({.x = h}, out, {}, options, device);
  if (const std::int64_t i = first_invalid(status); options.strict && i >= 0)
    require_argument(false, text("h[", i, "]"), text("x_0 ", h(i, 0)), "finite with x_0 > 0");
  return status;
}

template <class Real>
row_status distance_gradients(matrix_view<const Real> x, matrix_view<const Real> y, matrix_view<Real> gradient_x,
                              matrix_view<Real> gradient_y, const ball_options& options, const Device& device) {
  const row_inputs<Real> in{.x = x, .y = y};
  check_same_shape(in, gradient_x);
  require_shape(gradient_y, "gradient_y", x.rows(), x.cols());
  const row_status status = run_rows<distance_gradients_row, Real>(in, gradient_x, gradient_y, options, device);
  require_rows_inside(in, status, options);
  return status;
}

template <class Real>
row_status riemannian_gradient(matrix_view<const Real> x, matrix_view<const Real> gradient, matrix_view<Real> out,
                               const ball_options& options, const Device& device) {
  const row_inputs<Real> in{.x = x, .v = gradient};
  check_same_shape(in, out);
  return run<riemannian_gradient_row>(in, out, options, device);
}

template <class Real>
projection_report rsgd_step(matrix_view<const Real> x, matrix_view<const Real> gradient, double rate, double epsilon,
                            matrix_view<Real> out, const ball_options& options, const Device& device) {
  const row_inputs<Real> in{.x = x, .v = gradient, .parameter = epsilon, .rate = rate};
  check_same_shape(in, out);
  check_epsilon<Real>(epsilon);
  require_argument(std::isfinite(rate), "rate", rate, "finite");
  projection_report report = run_projection<rsgd_step_row>(in, out, options, device);
  require_rows_inside(in, report.status, options);
  return report;
}

#define QUINTET_INSTANTIATE(R)                                                                                         \
  template row_status mobius_add(matrix_view<const R>, matrix_view<const R>, matrix_view<R>, const ball_options&,      \
                                 const Device&);                                                                       \
  template row_status mobius_scalar_mul(std::span<const R>, matrix_view<const R>, matrix_view<R>, const ball_options&, \
                                        const Device&);                                                                \
  template row_status exp_map(matrix_view<const R>, matrix_view<const R>, matrix_view<R>, const ball_options&,         \
                              const Device&);                                                                          \
  template row_status log_map(matrix_view<const R>, matrix_view<const R>, matrix_view<R>, const ball_options&,         \
                              const Device&);                                                                          \
  template row_status exp_map_origin(matrix_view<const R>, matrix_view<R>, const ball_options&, const Device&);        \
  template row_status log_map_origin(matrix_view<const R>, matrix_view<R>, const ball_options&, const Device&);        \
  template row_status geodesic(matrix_view<const R>, matrix_view<const R>, std::span<const R>, matrix_view<R>,         \
                               const ball_options&, const Device&);                                                    \
  template row_status parallel_transport(matrix_view<const R>, matrix_view<const R>, matrix_view<const R>,             \
                                         matrix_view<R>, const ball_options&, const Device&);                          \
  template projection_report project(matrix_view<const R>, double, matrix_view<R>, const ball_options&,                \
                                     const Device&);                                                                   \
  template row_status conformal_factor(matrix_view<const R>, std::span<R>, const ball_options&, const Device&);        \
  template row_status to_hyperboloid(matrix_view<const R>, matrix_view<R>, const ball_options&, const Device&);        \
  template row_status from_hyperboloid(matrix_view<const R>, matrix_view<R>, const ball_options&, const Device&);      \
  template row_status distance_gradients(matrix_view<const R>, matrix_view<const R>, matrix_view<R>, matrix_view<R>,   \
                                         const ball_options&, const Device&);                                          \
  template row_status riemannian_gradient(matrix_view<const R>, matrix_view<const R>, matrix_view<R>,                  \
                                          const ball_options&, const Device&);                                         \
  template projection_report rsgd_step(matrix_view<const R>, matrix_view<const R>, double, double, matrix_view<R>,     \
                                       const ball_options&, const Device&);
QUINTET_INSTANTIATE(float)
QUINTET_INSTANTIATE(double)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::poincare
