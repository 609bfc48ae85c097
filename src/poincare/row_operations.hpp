// Runs an operation of row_operations_kernel.hpp on a batch: copies to the device and back, status, `strict`.
#pragma once

#include "device/launch.hpp"
#include "device/staged.hpp"
#include "poincare/ball_points.hpp"
#include "poincare/checks.hpp"
#include "poincare/row_operations_kernel.hpp"
#include "quintet/poincare/operations.hpp"

namespace quintet::poincare {

/// Arguments of an operation; null where it does not take them.
struct row_inputs {
  const any_matrix *x = nullptr, *y = nullptr, *v = nullptr;  ///< [N x D], of one type
  const any_vector* scalar = nullptr;                         ///< 1 or N values
  double parameter = 0, rate = 0;
  const char *x_name = "x", *y_name = "y", *v_name = "v", *scalar_name = "r";  ///< in messages
  const char *second_name = "gradient_y", *number_name = "number";

  scalar_type type() const { return x != nullptr ? x->type : v->type; }
};

template <class T>
matrix_view<const T> rows_of(const any_matrix* rows, const char* name) {
  return rows == nullptr ? matrix_view<const T>() : rows->as<T>(name);
}

/// Applies Operation to every row of `out` (and `second`, and `number`).
template <class Operation, class Storage>
row_status run_rows(const row_inputs& in, const matrix_view<accumulator_t<Storage>>& out,
                    const matrix_view<accumulator_t<Storage>>& second, const ball_options& options,
                    const Device& requested_device, const vector_view<accumulator_t<Storage>>& number = {}) {
  using Real = accumulator_t<Storage>;
  const auto in_x = rows_of<Storage>(in.x, in.x_name), in_y = rows_of<Storage>(in.y, in.y_name),
             in_v = rows_of<Storage>(in.v, in.v_name);
  const auto in_scalar = in.scalar == nullptr ? vector_view<const Real>() : in.scalar->as<Real>(in.scalar_name);
  const ball b(options.curvature);
  const Device device = device::run_device(requested_device, {{in.x_name, in_x},
                                                              {in.y_name, in_y},
                                                              {in.v_name, in_v},
                                                              {in.scalar_name, in_scalar},
                                                              {"out", out},
                                                              {in.second_name, second},
                                                              {in.number_name, number}});
  const std::int64_t n = out.rows();
  const device::staged_in x(in_x, device), y(in_y, device), v(in_v, device);
  const device::staged_in scalar(in_scalar, device);
  device::staged_out to(out, device), to_second(second, device);
  device::staged_out to_number(number, device);
  Buffer<point_status> status(n, device);
  row_arguments<Storage> a{stored(x.view()), stored(y.view()), stored(v.view())};
  a.scalar = scalar.view().data();
  a.scalar_step = in_scalar.size() > 1 ? 1 : 0;
  a.out = to.view().data();
  a.out_stride = to.view().stride();
  a.second = to_second.view().data();
  a.second_stride = to_second.view().stride();
  a.number = to_number.view().data();
  a.status = status.data();
  a.dim = out.cols();
  a.c = b.c;
  a.root_c = b.root_c;
  a.parameter = in.parameter;
  a.rate = in.rate;
  device::with_shape<host_operation_shape, device_operation_shape>(device, [&](auto shape) {
    using kernel = row_kernel<Storage, Operation, decltype(shape)>;
    device::launch(kernel{a, n}, (n + kernel::rows_per_tile - 1) / kernel::rows_per_tile, device);
  });
  row_status result = status.to_vector();
  device::finish(to, to_second, to_number);
  return result;
}

/// Throws InvalidArgument for the first row of `status` that is not inside, if `strict`. The row is one of x, or of y.
template <class Storage>
void require_rows_inside(const row_inputs& in, const row_status& status, const ball_options& options) {
  if (!options.strict) return;
  const std::int64_t i = first_invalid(status);
  if (i < 0) return;
  const ball b(options.curvature);
  const auto look = [&](const matrix_view<const Storage>& rows) {
    const std::vector<Storage> row = device::host_copy(rows.slice(i, i + 1));
    return examine_point(rows.cols(), b.c, [&](std::int64_t k) { return double(accumulator_t<Storage>(row[k])); });
  };
  const auto x = rows_of<Storage>(in.x, "x"), y = rows_of<Storage>(in.y, "y");
  const bool is_of_x = y.rows() == 0 || !look(x).usable();
  row_status first_status(i + 1, point_status::inside);
  first_status[i] = status[i];
  require_inside(is_of_x ? x : y, first_status, is_of_x ? "x" : "y", b);
}

}  // namespace quintet::poincare
