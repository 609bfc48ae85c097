#include "quintet/poincare/gradient_weights.hpp"

#include <cmath>
#include <vector>

#include "device/launch.hpp"
#include "device/small_call.hpp"
#include "device/staged.hpp"
#include "poincare/checks.hpp"
#include "poincare/gradient_weights_kernel.hpp"
#include "poincare/row_operations_kernel.hpp"

namespace quintet::poincare {

namespace {

void check_points_of(const weight_points& points, std::int64_t count, bool in_ball, const char* name) {
  require_argument(points.square.size() == count, text(name, ".square.size"), points.square.size(), text(count));
  const std::int64_t gaps = in_ball ? count : 0;
  require_argument(points.gap.size() == gaps, text(name, ".gap.size"), points.gap.size(), text(gaps));
}

template <class Real>
std::int64_t weigh(matrix_view<const Real> distances, matrix_view<const Real> gradients, const weight_points& x,
                   const weight_points& y, matrix_view<double> weights, matrix_view<double> shares,
                   const weight_options& options, const Device& where) {
  const Device device = device::run_device(where, {{"distances", distances}, {"weights", weights}});
  const std::int64_t rows = distances.rows(), cols = distances.cols();
  const bool in_ball = options.model == distance_model::ball;
  require_argument(options.curvature >= -1e30 && options.curvature <= -1e-30, "curvature", options.curvature,
                   "in [-1e30, -1e-30]");
  require_argument(options.near_part >= 0, "near_part", options.near_part, ">= 0");
  require_shape(gradients, "gradients", rows, cols);
  require_shape(weights, "weights", rows, cols);
  require_shape(shares, "shares", in_ball ? rows : 0, in_ball ? cols : 0);
  check_points_of(x, rows, in_ball, "x");
  check_points_of(y, cols, in_ball, "y");
  device::staged_in of_distances(distances, device), of_gradients(gradients, device);
  device::staged_in x_square(x.square, device), y_square(y.square, device), x_gap(x.gap, device), y_gap(y.gap, device);
  device::staged_out to_weights(weights, device);
  device::staged_out to_shares(shares, device);
  Buffer<std::int64_t> near_count(std::vector<std::int64_t>{0}, device);
  const device::small_call serial_if_small(double(rows) * double(cols) * 4, 1, device);
  device::with_shape<host_operation_shape, device_operation_shape>(device, [&](auto shape) {
    using kernel = gradient_weights_kernel<Real, decltype(shape)>;
    device::launch(
        kernel{stored(of_distances.view()), stored(of_gradients.view()), in_ball ? x_gap.view().data() : nullptr,
               y_gap.view().data(), x_square.view().data(), y_square.view().data(), std::sqrt(-options.curvature),
               options.near_part * options.near_part, to_weights.view().data(), to_shares.view().data(),
               to_weights.view().stride(), to_shares.view().stride(), near_count.data()},
        rows, device);
  });
  device::finish(to_weights, to_shares);
  return near_count.to_vector()[0];
}

}  // namespace

std::int64_t gradient_weights(any_matrix distances, any_matrix gradients, const weight_points& x,
                              const weight_points& y, matrix_view<double> weights, matrix_view<double> shares,
                              const weight_options& options, const Device& device) {
  if (distances.type == scalar_type::float64)
    return weigh(distances.as<double>("distances"), gradients.as<double>("gradients"), x, y, weights, shares, options,
                 device);
  return weigh(distances.as<float>("distances"), gradients.as<float>("gradients"), x, y, weights, shares, options,
               device);
}

}  // namespace quintet::poincare
