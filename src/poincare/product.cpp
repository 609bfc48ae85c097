#include "quintet/poincare/product.hpp"

#include <cmath>
#include <vector>

#include "device/launch.hpp"
#include "device/small_call.hpp"
#include "device/staged.hpp"
#include "pairwise/product_rows.hpp"
#include "poincare/checks.hpp"
#include "poincare/product_kernel.hpp"

namespace quintet::product {

namespace {

using poincare::device_operation_shape;
using poincare::host_operation_shape;

std::vector<placed_factor> placed(std::span<const factor> space, std::int64_t cols, bool has_rows) {
  const std::int64_t columns = pairwise::check_factors(space);
  std::vector<placed_factor> factors;
  std::int64_t first = 0;
  for (const factor& f : space) {
    const bool is_flat = f.kind == geometry::euclidean || f.curvature == 0;
    const double root = is_flat ? 1 : std::sqrt(std::fabs(f.curvature));
    factors.push_back({f.kind, first, f.dim, f.curvature, root, std::sqrt(f.weight)});
    first += f.dim;
  }
  if (has_rows) require_argument(cols == columns, "points.cols", cols, text("the sum of the dimensions, ", columns));
  return factors;
}

/// Points of a call with what every part of them is.
template <class Storage>
class parted_points {
 public:
  parted_points(matrix_view<const Storage> points, const char* name, const Buffer<placed_factor>& factors,
                const product_options& options, const Device& device)
      : rows_(points, device), parts_(points.rows() * factors.size(), device), status_(points.rows(), device) {
    device::with_shape<host_operation_shape, device_operation_shape>(device, [&](auto shape) {
      using kernel = part_kernel<Storage, decltype(shape)>;
      device::launch(kernel{rows(), factors.data(), factors.size(), parts_.data(), status_.data()},
                     (points.rows() + kernel::rows_per_tile - 1) / kernel::rows_per_tile, device);
    });
    statuses = status_.to_vector();
    if (const std::int64_t i = poincare::first_invalid(statuses); options.strict && i >= 0)
      require_argument(false, text(name, "[", i, "]"),
                       statuses[i] == point_status::outside ? "outside a factor" : "not finite",
                       "a point of the space");
  }

  stored_rows<Storage> rows() const { return poincare::stored(rows_.view()); }
  const looked_part* parts() const { return parts_.data(); }

  std::vector<point_status> statuses;

 private:
  device::staged_in<matrix_view<const Storage>> rows_;
  Buffer<looked_part> parts_;
  Buffer<point_status> status_;
};

template <class Storage>
point_report measure(matrix_view<const Storage> x_rows, matrix_view<const Storage> y_rows, const char* x_name,
                     const char* y_name, bool side_by_side, std::int64_t pairs, accumulator_t<Storage>* out,
                     std::int64_t stride, std::span<const factor> space, const product_options& options,
                     const Device& device) {
  const bool has_x = x_rows.rows() > 0;
  const std::vector<placed_factor> on_host =
      placed(space, has_x ? x_rows.cols() : y_rows.cols(), has_x || y_rows.rows() > 0);
  const Buffer<placed_factor> factors(on_host, device);
  const device::small_call serial_if_small(double(pairs) * double(60 * std::int64_t(space.size()) + 6 * x_rows.cols()),
                                           1, device);
  parted_points<Storage> x(x_rows, x_name, factors, options, device), y(y_rows, y_name, factors, options, device);
  device::with_shape<host_operation_shape, device_operation_shape>(device, [&](auto shape) {
    using kernel = product_kernel<Storage, decltype(shape)>;
    device::launch(kernel{x.rows(), y.rows(), x.parts(), y.parts(), factors.data(), factors.size(), side_by_side, pairs,
                          out, stride},
                   (pairs + kernel::pairs_per_tile - 1) / kernel::pairs_per_tile, device);
  });
  return {std::move(x.statuses), std::move(y.statuses)};
}

template <class Storage>
point_report measure_matrix(matrix_view<const Storage> queries, matrix_view<const Storage> points,
                            matrix_view<accumulator_t<Storage>> out, std::span<const factor> space,
                            const product_options& options, const Device& where) {
  const Device device = device::run_device(where, {{"queries", queries}, {"points", points}, {"out", out}});
  poincare::check_sets(queries, points);
  poincare::require_shape(out, "out", queries.rows(), points.rows());
  device::staged_out result(out, device);
  point_report report = measure<Storage>(queries, points, "queries", "points", false, queries.rows() * points.rows(),
                                         result.view().data(), result.view().stride(), space, options, device);
  result.finish();
  return report;
}

template <class Storage>
point_report measure_pairs(matrix_view<const Storage> x, matrix_view<const Storage> y,
                           vector_view<accumulator_t<Storage>> out, std::span<const factor> space,
                           const product_options& options, const Device& where) {
  const Device device = device::run_device(where, {{"x", x}, {"y", y}, {"out", out}});
  poincare::check_sets(x, y);
  require_argument(x.rows() == y.rows(), "y.rows", y.rows(), text("x.rows=", x.rows()));
  require_argument(out.size() == x.rows(), "out.size", out.size(), text("x.rows=", x.rows()));
  device::staged_out result(out, device);
  point_report report =
      measure<Storage>(x, y, "x", "y", true, x.rows(), result.view().data(), 0, space, options, device);
  result.finish();
  return report;
}

}  // namespace

point_report distances(any_matrix queries, any_matrix points, any_output_matrix out, std::span<const factor> space,
                       const product_options& options, const Device& device) {
  return with_storage(queries.type, [&]<class T>() {
    return measure_matrix<T>(queries.as<T>("queries"), points.as<T>("points"), out.as<accumulator_t<T>>("out"), space,
                             options, device);
  });
}

point_report pair_distances(any_matrix x, any_matrix y, any_output_vector out, std::span<const factor> space,
                            const product_options& options, const Device& device) {
  return with_storage(x.type, [&]<class T>() {
    return measure_pairs<T>(x.as<T>("x"), y.as<T>("y"), out.as<accumulator_t<T>>("out"), space, options, device);
  });
}

}  // namespace quintet::product
