#include "quintet/poincare/lorentz_operations.hpp"

#include "poincare/lorentz_operations_kernel.hpp"
#include "poincare/row_operations.hpp"

namespace quintet::lorentz {

namespace {

using poincare::row_inputs;

void check_sheet_rows(const row_inputs& in, const ball_options& options) {
  require_argument(poincare::checked_curvature(options.curvature) > 0, "curvature", options.curvature,
                   "negative: flat space has no hyperboloid");
  poincare::check_rows(*in.x, in.x_name);
  for (const auto& [rows, name] : {std::pair(in.y, in.y_name), std::pair(in.v, in.v_name)})
    if (rows != nullptr) poincare::require_shape(*rows, name, in.x->rows, in.x->cols);
  if (in.scalar != nullptr)
    require_argument(in.scalar->size == 1 || in.scalar->size == in.x->rows, text(in.scalar_name, ".size"),
                     in.scalar->size, text("1 or N=", in.x->rows));
}

void require_sheet_rows(const row_inputs& in, const row_status& status, const ball_options& options,
                        const char* allowed = "a point of the model") {
  if (const std::int64_t i = poincare::first_invalid(status); options.strict && i >= 0)
    require_argument(false, text(in.x_name, "[", i, "]"), status[i] == point_status::outside ? "outside" : "not finite",
                     allowed);
}

/// Runs an operation on rows of one shape, that of `out`.
template <class Operation>
row_status run_on_sheet(const row_inputs& in, const any_output_matrix& out, const ball_options& options,
                        const Device& device) {
  check_sheet_rows(in, options);
  poincare::require_shape(out, "out", in.x->rows, in.x->cols);
  return with_storage(in.type(), [&]<class T>() {
    using Real = accumulator_t<T>;
    row_status status = poincare::run_rows<Operation, T>(in, out.as<Real>("out"), {}, options, device);
    require_sheet_rows(in, status, options);
    return status;
  });
}

row_inputs plane_inputs(const any_matrix& x, const any_matrix& normals, const any_vector& offsets) {
  return {.x = &x,
          .y = &normals,
          .scalar = &offsets,
          .y_name = "normals",
          .scalar_name = "offsets",
          .second_name = "gradient_normals",
          .number_name = "gradient_offsets"};
}
constexpr const char* finite_plane = "finite, as its normal and offset";

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
  return run_on_sheet<sheet_geodesic_row>({.x = &x, .y = &y, .scalar = &t, .scalar_name = "t"}, out, options, device);
}

row_status parallel_transport(any_matrix x, any_matrix y, any_matrix v, any_output_matrix out,
                              const ball_options& options, const Device& device) {
  return run_on_sheet<transport_row>({.x = &x, .y = &y, .v = &v}, out, options, device);
}

row_status hyperplane_distances(any_matrix x, any_matrix normals, any_vector offsets, any_output_vector out,
                                const ball_options& options, const Device& device) {
  const row_inputs in = plane_inputs(x, normals, offsets);
  check_sheet_rows(in, options);
  require_argument(out.size == x.rows, "out.size", out.size, text("x.rows=", x.rows));
  return with_storage(x.type, [&]<class T>() {
    using Real = accumulator_t<T>;
    const any_output_matrix column{out.data, out.type, x.rows, 1, 1, out.device};
    row_status status = poincare::run_rows<plane_distance_row, T>(in, column.as<Real>("out"), {}, options, device);
    require_sheet_rows(in, status, options, finite_plane);
    return status;
  });
}

row_status hyperplane_gradients(any_matrix x, any_matrix normals, any_vector offsets, any_output_matrix gradient_x,
                                any_output_matrix gradient_normals, any_output_vector gradient_offsets,
                                const ball_options& options, const Device& device) {
  const row_inputs in = plane_inputs(x, normals, offsets);
  check_sheet_rows(in, options);
  poincare::require_shape(gradient_x, "gradient_x", x.rows, x.cols);
  poincare::require_shape(gradient_normals, "gradient_normals", x.rows, x.cols);
  require_argument(gradient_offsets.size == x.rows, "gradient_offsets.size", gradient_offsets.size,
                   text("x.rows=", x.rows));
  return with_storage(x.type, [&]<class T>() {
    using Real = accumulator_t<T>;
    row_status status = poincare::run_rows<plane_gradients_row, T>(
        in, gradient_x.as<Real>("gradient_x"), gradient_normals.as<Real>("gradient_normals"), options, device,
        gradient_offsets.as<Real>("gradient_offsets"));
    require_sheet_rows(in, status, options, finite_plane);
    return status;
  });
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
