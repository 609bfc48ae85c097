// The points of a call to the Lorentz model, looked at: radii, statuses and what their numbers are.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "device/launch.hpp"
#include "device/staged.hpp"
#include "poincare/checks.hpp"
#include "poincare/lorentz_kernel.hpp"
#include "poincare/lorentz_status.hpp"
#include "quintet/poincare/lorentz.hpp"

namespace quintet::lorentz {

inline double checked_c(double curvature) {
  const double c = -curvature;
  require_argument(c >= 1e-30 && c <= 1e30, "curvature", curvature,
                   "negative, of a magnitude in [1e-30, 1e30]: flat space has no hyperboloid");
  return c;
}

template <class Storage>
double checked_tolerance(const distance_options& options) {
  if (options.form != coordinates::time_and_space) return std::numeric_limits<double>::infinity();
  constexpr bool is_half = std::is_same_v<Storage, half>, is_wide = sizeof(Storage) == 8;
  constexpr double rounding = sizeof(Storage) == 2 ? (is_half ? 0x1p-10 : 0x1p-7) : is_wide ? 0x1p-52 : 0x1p-23;
  const double tolerance = options.tolerance.value_or(16 * rounding);
  require_argument(tolerance > 0, "tolerance", tolerance, "> 0");
  return tolerance;
}

/// Points of a call where its kernels see them, with their radii.
template <class Storage>
class looked_points {
 public:
  using Real = accumulator_t<Storage>;

  looked_points(matrix_view<const Storage> points, const char* name, const distance_options& options,
                const Device& device, Real* from_origin = nullptr)
      : rows_(points, device), radii_(points.rows(), device), status_(points.rows(), device) {
    const double c = checked_c(options.curvature);
    skip_ = options.form == coordinates::space ? 0 : 1;
    poincare::check_rows(points, name);
    if (points.rows() > 0)
      require_argument(points.cols() > skip_, text(name, ".cols"), points.cols(), text(">= ", 1 + skip_));
    const double tolerance = checked_tolerance<Storage>(options);
    device::with_shape<host_operation_shape, device_operation_shape>(device, [&](auto shape) {
      using kernel = look_kernel<Storage, decltype(shape)>;
      device::launch(kernel{rows(), std::sqrt(c), tolerance, radii_.data(), status_.data(), from_origin},
                     (points.rows() + kernel::rows_per_tile - 1) / kernel::rows_per_tile, device);
    });
    statuses = status_.to_vector();
    if (options.strict) require_usable(statuses, name);
  }

  sheet_rows<Storage> rows() const { return {poincare::stored(rows_.view()), skip_}; }
  const radius* radii() const { return radii_.data(); }

  std::vector<point_status> statuses;

 private:
  device::staged_in<matrix_view<const Storage>> rows_;
  Buffer<radius> radii_;
  Buffer<point_status> status_;
  int skip_ = 0;
};

}  // namespace quintet::lorentz
