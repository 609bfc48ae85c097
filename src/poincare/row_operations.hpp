// Runs an operation of row_operations_kernel.hpp on a batch: copies to the device and back, status, `strict`.
#pragma once

#include "device/launch.hpp"
#include "device/staged.hpp"
#include "poincare/ball_points.hpp"
#include "poincare/checks.hpp"
#include "poincare/row_operations_kernel.hpp"
#include "quintet/poincare/operations.hpp"

namespace quintet::poincare {

template <class Storage>
struct row_inputs {
  matrix_view<const Storage> x = {}, y = {}, v = {};      ///< those that are used have N rows
  vector_view<const accumulator_t<Storage>> scalar = {};  ///< empty, 1 or N values
  double parameter = 0, rate = 0;
  const char *x_name = "x", *y_name = "y", *v_name = "v", *scalar_name = "r";  ///< in messages
};

/// Applies Operation to every row of `out` (and `second`).
template <class Operation, class Storage>
row_status run_rows(const row_inputs<Storage>& in, const matrix_view<accumulator_t<Storage>>& out,
                    const matrix_view<accumulator_t<Storage>>& second, const ball_options& options,
                    const Device& given) {
  const ball b(options.curvature);
  const Device device = device::run_device(given, {{in.x_name, in.x},
                                                   {in.y_name, in.y},
                                                   {in.v_name, in.v},
                                                   {in.scalar_name, in.scalar},
                                                   {"out", out},
                                                   {"gradient_y", second}});
  const std::int64_t n = out.rows();
  const device::staged_in x(in.x, device), y(in.y, device), v(in.v, device);
  const device::staged_in scalar(in.scalar, device);
  device::staged_out to(out, device), to_second(second, device);
  Buffer<point_status> status(n, device);
  row_arguments<Storage> a{stored(x.view()), stored(y.view()), stored(v.view())};
  a.scalar = scalar.view().data();
  a.scalar_step = in.scalar.size() > 1 ? 1 : 0;
  a.out = to.view().data();
  a.out_stride = to.view().stride();
  a.second = to_second.view().data();
  a.second_stride = to_second.view().stride();
  a.status = status.data();
  a.dim = out.cols();
  a.c = b.c;
  a.root_c = b.root_c;
  a.parameter = in.parameter;
  a.rate = in.rate;
  device::with_shape<host_rows, device_rows>(device, [&](auto shape) {
    using kernel = row_kernel<Storage, Operation, decltype(shape)>;
    device::launch(kernel{a, n}, (n + kernel::rows_per_tile - 1) / kernel::rows_per_tile, device);
  });
  row_status found = status.to_vector();
  to.finish();
  to_second.finish();
  return found;
}

/// Throws InvalidArgument for the first row of `status` that is not inside, if `strict`. The row is one of x, or of y.
template <class Storage>
void require_rows_inside(const row_inputs<Storage>& in, const row_status& status, const ball_options& options) {
  if (!options.strict) return;
  const std::int64_t i = first_invalid(status);
  if (i < 0) return;
  const ball b(options.curvature);
  const auto look = [&](const matrix_view<const Storage>& rows) {
    const std::vector<Storage> row = device::host_copy(rows.slice(i, i + 1));
    return examine_point(rows.cols(), b.c, [&](std::int64_t k) { return double(accumulator_t<Storage>(row[k])); });
  };
  const bool first = in.y.rows() == 0 || !look(in.x).usable();
  row_status only(i + 1, point_status::inside);
  only[i] = status[i];
  require_inside(first ? in.x : in.y, only, first ? "x" : "y", b);
}

}  // namespace quintet::poincare
