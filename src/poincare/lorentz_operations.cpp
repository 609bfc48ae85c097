#include "quintet/poincare/lorentz_operations.hpp"

#include "poincare/lorentz_operations_kernel.hpp"
#include "poincare/row_operations.hpp"

namespace quintet::lorentz {

namespace {

using poincare::row_inputs;

/// Runs an operation on rows of one shape, that of `out`.
template <class Operation>
row_status run_on_sheet(const row_inputs& in, const any_output_matrix& out, const ball_options& options,
                        const Device& device) {
  require_argument(poincare::checked_curvature(options.curvature) > 0, "curvature", options.curvature,
                   "negative: flat space has no hyperboloid");
  poincare::check_rows(*in.x, in.x_name);
  for (const auto& [rows, name] : {std::pair(in.y, in.y_name), std::pair(in.v, in.v_name)})
    if (rows != nullptr) poincare::require_shape(*rows, name, in.x->rows, in.x->cols);
  poincare::require_shape(out, "out", in.x->rows, in.x->cols);
  return with_storage(in.type(), [&]<class T>() {
    using Real = accumulator_t<T>;
    row_status status = poincare::run_rows<Operation, T>(in, out.as<Real>("out"), {}, options, device);
    if (const std::int64_t i = poincare::first_invalid(status); options.strict && i >= 0)
      require_argument(false, text(in.x_name, "[", i, "]"),
                       status[i] == point_status::outside ? "outside" : "not finite", "a point of the model");
    return status;
  });
}

}  // namespace

row_status exp_map(any_matrix x, any_matrix v, any_output_matrix out, const ball_options& options,
                   const Device& device) {
  return run_on_sheet<exp_row>({.x = &x, .v = &v}, out, options, device);
}

row_status log_map(any_matrix x, any_matrix y, any_output_matrix out, const ball_options& options,
                   const Device& device) {
  return run_on_sheet<log_row>({.x = &x, .y = &y}, out, options, device);
}

row_status geodesic(any_matrix x, any_matrix y, any_vector t, any_output_matrix out, const ball_options& options,
                    const Device& device) {
  require_argument(t.size == 1 || t.size == x.rows, "t.size", t.size, text("1 or N=", x.rows));
  return run_on_sheet<sheet_geodesic_row>({.x = &x, .y = &y, .scalar = &t, .scalar_name = "t"}, out, options, device);
}

row_status parallel_transport(any_matrix x, any_matrix y, any_matrix v, any_output_matrix out,
                              const ball_options& options, const Device& device) {
  return run_on_sheet<transport_row>({.x = &x, .y = &y, .v = &v}, out, options, device);
}

row_status to_ball(any_matrix x, any_output_matrix out, const ball_options& options, const Device& device) {
  return run_on_sheet<to_ball_row<1>>({.x = &x}, out, options, device);
}

row_status to_klein(any_matrix x, any_output_matrix out, const ball_options& options, const Device& device) {
  return run_on_sheet<to_ball_row<0>>({.x = &x}, out, options, device);
}

row_status from_ball(any_matrix p, any_output_matrix out, const ball_options& options, const Device& device) {
  return run_on_sheet<from_ball_row<1>>({.x = &p, .x_name = "p"}, out, options, device);
}

row_status from_klein(any_matrix p, any_output_matrix out, const ball_options& options, const Device& device) {
  return run_on_sheet<from_ball_row<0>>({.x = &p, .x_name = "p"}, out, options, device);
}

row_status to_half_space(any_matrix x, any_output_matrix out, const ball_options& options, const Device& device) {
  return run_on_sheet<to_half_space_row>({.x = &x}, out, options, device);
}

row_status from_half_space(any_matrix y, any_output_matrix out, const ball_options& options, const Device& device) {
  return run_on_sheet<from_half_space_row>({.x = &y, .x_name = "y"}, out, options, device);
}

}  // namespace quintet::lorentz
