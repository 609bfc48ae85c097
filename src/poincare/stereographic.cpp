#include "quintet/poincare/stereographic.hpp"

#include <cmath>

#include "poincare/row_operations.hpp"
#include "poincare/stereographic_kernel.hpp"

namespace quintet::stereographic {

namespace {

using poincare::ball_options;
using poincare::row_inputs;

ball_options in_ball(const operation_options& options) { return {options.curvature, options.strict}; }

/// Whether the curvature is that of a sphere. Throws InvalidArgument for one out of range.
bool is_sphere(const operation_options& options) {
  const double k = options.curvature;
  require_argument(k == 0 || (std::fabs(k) >= 1e-30 && std::fabs(k) <= 1e30), "curvature", k,
                   "0, or of a magnitude in [1e-30, 1e30]");
  return k > 0;
}

/// Runs an operation on rows of one shape, that of `out`.
template <class Operation>
row_status run_on_sphere(const row_inputs& in, const any_output_matrix& out, const operation_options& options,
                         const Device& device) {
  poincare::check_rows(*in.x, in.x_name);
  for (const auto& [rows, name] : {std::pair(in.y, in.y_name), std::pair(in.v, in.v_name)})
    if (rows != nullptr) poincare::require_shape(*rows, name, in.x->rows, in.x->cols);
  poincare::require_shape(out, "out", in.x->rows, in.x->cols);
  return with_storage(in.type(), [&]<class T>() {
    using Real = accumulator_t<T>;
    row_status status = poincare::run_rows<Operation, T>(in, out.as<Real>("out"), {}, {-options.curvature}, device);
    if (const std::int64_t i = poincare::first_invalid(status); options.strict && i >= 0)
      require_argument(false, text("row ", i), status[i] == poincare::point_status::outside ? "outside" : "not finite",
                       "of points with a result");
    return status;
  });
}

void check_scalars(const any_vector& values, std::string_view name, std::int64_t rows) {
  require_argument(values.size == 1 || values.size == rows, text(name, ".size"), values.size, text("1 or N=", rows));
}

}  // namespace

row_status add(any_matrix x, any_matrix y, any_output_matrix out, const operation_options& options,
               const Device& device) {
  if (!is_sphere(options)) return poincare::mobius_add(x, y, out, in_ball(options), device);
  return run_on_sphere<sphere_add_row>({.x = &x, .y = &y}, out, options, device);
}

row_status scalar_mul(any_vector r, any_matrix x, any_output_matrix out, const operation_options& options,
                      const Device& device) {
  if (!is_sphere(options)) return poincare::mobius_scalar_mul(r, x, out, in_ball(options), device);
  check_scalars(r, "r", x.rows);
  return run_on_sphere<sphere_scalar_mul_row>({.x = &x, .scalar = &r}, out, options, device);
}

row_status exp_map(any_matrix x, any_matrix v, any_output_matrix out, const operation_options& options,
                   const Device& device) {
  if (!is_sphere(options)) return poincare::exp_map(x, v, out, in_ball(options), device);
  return run_on_sphere<sphere_exp_row>({.x = &x, .v = &v}, out, options, device);
}

row_status log_map(any_matrix x, any_matrix y, any_output_matrix out, const operation_options& options,
                   const Device& device) {
  if (!is_sphere(options)) return poincare::log_map(x, y, out, in_ball(options), device);
  return run_on_sphere<sphere_log_row>({.x = &x, .y = &y}, out, options, device);
}

row_status geodesic(any_matrix x, any_matrix y, any_vector t, any_output_matrix out, const operation_options& options,
                    const Device& device) {
  if (!is_sphere(options)) return poincare::geodesic(x, y, t, out, in_ball(options), device);
  check_scalars(t, "t", x.rows);
  return run_on_sphere<sphere_geodesic_row>({.x = &x, .y = &y, .scalar = &t, .scalar_name = "t"}, out, options, device);
}

}  // namespace quintet::stereographic
