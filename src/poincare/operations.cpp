#include "quintet/poincare/gradients.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

#include "poincare/row_operations.hpp"

namespace quintet::poincare {

namespace {

struct named_rows {
  const any_matrix& rows;
  const char* name;
};

/// Arguments of one shape, that of `out`.
void check_same_shape(const any_output_matrix& out, named_rows first, std::initializer_list<named_rows> operands = {}) {
  const std::int64_t n = first.rows.rows, dim = first.rows.cols;
  for (const named_rows& other : operands) require_shape(other.rows, other.name, n, dim);
  check_rows(first.rows, first.name);
  require_shape(out, "out", n, dim);
}

void check_scalars(const any_vector& values, const char* name, std::int64_t n) {
  require_argument(values.size == 1 || values.size == n, text(name, ".size"), values.size, text("1 or N=", n));
}

void require_curved(double curvature) {
  require_argument(checked_curvature(curvature) > 0, "curvature", curvature,
                   "negative: a flat ball has no hyperboloid");
}

template <class Operation>
row_status run(const row_inputs& in, const any_output_matrix& out, const ball_options& options, const Device& device,
               const any_output_matrix* second = nullptr) {
  return with_storage(in.type(), [&]<class T>() {
    using Real = accumulator_t<T>;
    const auto to_second = second == nullptr ? matrix_view<Real>() : second->as<Real>("gradient_y");
    const row_status status = run_rows<Operation, T>(in, out.as<Real>("out"), to_second, options, device);
    require_rows_inside<T>(in, status, options);
    return status;
  });
}

template <class Operation>
projection_report run_projection(const row_inputs& in, const any_output_matrix& out, const ball_options& options,
                                 const Device& device) {
  return with_storage(in.type(), [&]<class T>() {
    using Real = accumulator_t<T>;
    std::vector<Real> factor(out.rows);
    projection_report report;
    report.status = run_rows<Operation, T>(in, out.as<Real>("out"), {factor.data(), out.rows, 1}, options, device);
    report.moved = out.rows - std::count(factor.begin(), factor.end(), Real(1));
    require_rows_inside<T>(in, report.status, options);
    return report;
  });
}

}  // namespace

row_status mobius_add(any_matrix x, any_matrix y, any_output_matrix out, const ball_options& options,
                      const Device& device) {
  check_same_shape(out, {x, "x"}, {{y, "y"}});
  return run<mobius_add_row>({.x = &x, .y = &y}, out, options, device);
}

row_status mobius_scalar_mul(any_vector r, any_matrix x, any_output_matrix out, const ball_options& options,
                             const Device& device) {
  check_same_shape(out, {x, "x"});
  check_scalars(r, "r", x.rows);
  return run<scalar_mul_row>({.x = &x, .scalar = &r}, out, options, device);
}

row_status exp_map(any_matrix x, any_matrix v, any_output_matrix out, const ball_options& options,
                   const Device& device) {
  check_same_shape(out, {x, "x"}, {{v, "v"}});
  return run<exp_map_row>({.x = &x, .v = &v}, out, options, device);
}

row_status log_map(any_matrix x, any_matrix y, any_output_matrix out, const ball_options& options,
                   const Device& device) {
  check_same_shape(out, {x, "x"}, {{y, "y"}});
  return run<log_map_row>({.x = &x, .y = &y}, out, options, device);
}

row_status exp_map_origin(any_matrix v, any_output_matrix out, const ball_options& options, const Device& device) {
  check_same_shape(out, {v, "v"});
  return run<exp_map_origin_row>({.v = &v}, out, options, device);
}

row_status log_map_origin(any_matrix y, any_output_matrix out, const ball_options& options, const Device& device) {
  check_same_shape(out, {y, "y"});
  return run<log_map_origin_row>({.x = &y, .x_name = "y"}, out, options, device);
}

row_status geodesic(any_matrix x, any_matrix y, any_vector t, any_output_matrix out, const ball_options& options,
                    const Device& device) {
  check_same_shape(out, {x, "x"}, {{y, "y"}});
  check_scalars(t, "t", x.rows);
  return run<geodesic_row>({.x = &x, .y = &y, .scalar = &t, .scalar_name = "t"}, out, options, device);
}

row_status parallel_transport(any_matrix x, any_matrix y, any_matrix v, any_output_matrix out,
                              const ball_options& options, const Device& device) {
  check_same_shape(out, {x, "x"}, {{y, "y"}, {v, "v"}});
  return run<parallel_transport_row>({.x = &x, .y = &y, .v = &v}, out, options, device);
}

projection_report project(any_matrix x, double epsilon, any_output_matrix out, const ball_options& options,
                          const Device& device) {
  check_same_shape(out, {x, "x"});
  check_margin(epsilon, x.type, "epsilon");
  return run_projection<project_row>({.x = &x, .parameter = epsilon}, out, options, device);
}

row_status conformal_factor(any_matrix x, any_output_vector out, const ball_options& options, const Device& device) {
  check_rows(x, "x");
  require_argument(out.size == x.rows, "out.size", out.size, text("x.rows=", x.rows));
  return run<conformal_factor_row>({.x = &x}, {out.data, out.type, x.rows, 1, 1, out.device}, options, device);
}

row_status to_hyperboloid(any_matrix x, any_output_matrix out, const ball_options& options, const Device& device) {
  require_curved(options.curvature);
  check_rows(x, "x");
  require_shape(out, "out", x.rows, x.cols + 1);
  return run<to_hyperboloid_row>({.x = &x}, out, options, device);
}

row_status from_hyperboloid(any_matrix h, any_output_matrix out, const ball_options& options, const Device& device) {
  require_curved(options.curvature);
  check_rows(h, "h");
  if (h.rows > 0) require_argument(h.cols >= 2, "h.cols", h.cols, ">= 2");
  require_shape(out, "out", h.rows, h.cols - 1);
  return with_storage(h.type, [&]<class T>() {
    using Real = accumulator_t<T>;
    const row_status status =
        run_rows<from_hyperboloid_row, T>({.x = &h, .x_name = "h"}, out.as<Real>("out"), {}, options, device);
    if (const std::int64_t i = first_invalid(status); options.strict && i >= 0)
      require_argument(false, text("h[", i, "]"),
                       text("x_0 ", Real(device::host_copy(h.as<T>("h").slice(i, i + 1))[0])), "finite with x_0 > 0");
    return status;
  });
}

row_status distance_gradients(any_matrix x, any_matrix y, any_output_matrix gradient_x, any_output_matrix gradient_y,
                              const ball_options& options, const Device& device) {
  require_shape(gradient_x, "gradient_x", x.rows, x.cols);
  check_same_shape(gradient_x, {x, "x"}, {{y, "y"}});
  require_shape(gradient_y, "gradient_y", x.rows, x.cols);
  return run<distance_gradients_row>({.x = &x, .y = &y}, gradient_x, options, device, &gradient_y);
}

row_status riemannian_gradient(any_matrix x, any_matrix gradient, any_output_matrix out, const ball_options& options,
                               const Device& device) {
  check_same_shape(out, {x, "x"}, {{gradient, "gradient"}});
  return run<riemannian_gradient_row>({.x = &x, .v = &gradient, .v_name = "gradient"}, out, options, device);
}

projection_report rsgd_step(any_matrix x, any_matrix gradient, double rate, double epsilon, any_output_matrix out,
                            const ball_options& options, const Device& device) {
  check_same_shape(out, {x, "x"}, {{gradient, "gradient"}});
  check_margin(epsilon, x.type, "epsilon");
  require_argument(std::isfinite(rate), "rate", rate, "finite");
  return run_projection<rsgd_step_row>(
      {.x = &x, .v = &gradient, .parameter = epsilon, .rate = rate, .v_name = "gradient"}, out, options, device);
}

}  // namespace quintet::poincare
