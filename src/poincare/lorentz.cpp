#include "quintet/poincare/lorentz.hpp"

#include <algorithm>
#include <cmath>

#include "device/small_call.hpp"
#include "poincare/lorentz_points.hpp"

namespace quintet::lorentz {

namespace {

template <class Storage>
void write_distances(const looked_points<Storage>& x, const looked_points<Storage>& y, bool side_by_side,
                     std::int64_t pairs, accumulator_t<Storage>* out, std::int64_t stride,
                     const distance_options& options, const Device& device) {
  const haversine<accumulator_t<Storage>> measure{x.rows().dim(), std::sqrt(checked_c(options.curvature))};
  device::with_shape<host_operation_shape, device_operation_shape>(device, [&](auto shape) {
    using kernel = haversine_kernel<Storage, decltype(shape)>;
    device::launch(kernel{x.rows(), y.rows(), x.radii(), y.radii(), measure, side_by_side, pairs, out, stride},
                   (pairs + kernel::pairs_per_tile - 1) / kernel::pairs_per_tile, device);
  });
}

// Columns that are packed at a time.
constexpr std::int64_t columns_together = 8192;

/// All pairs on the host, for results of 4 bytes.
template <class Storage>
void write_by_directions(const looked_points<Storage>& x, const looked_points<Storage>& y, matrix_view<float> out,
                         const distance_options& options, const Device& device) {
  using Shape = pairwise::host_shape<double>;
  using pack_kernel = pack_directions_kernel<Storage, Shape>;
  using tile_kernel = direction_tile_kernel<Storage, Shape>;
  constexpr std::int64_t at_once = columns_together / Shape::side * Shape::side;
  const std::int64_t rows = x.rows().stored.count, columns = y.rows().stored.count, dim = y.rows().dim();
  const haversine<float> measure{dim, std::sqrt(checked_c(options.curvature))};
  const auto panels_of = [](std::int64_t count) {
    return (count + Shape::side - 1) / Shape::side * (int(Shape::side) / int(pack_kernel::lanes));
  };
  const auto packed = [&](std::int64_t count) {
    return Buffer<double>(panels_of(std::min(count, at_once)) * pack_kernel::lanes * dim, device);
  };
  Buffer<double> of_rows = packed(rows), of_columns = packed(columns);
  for (std::int64_t i = 0; i < rows; i += at_once) {
    const std::int64_t row_count = std::min(rows - i, at_once);
    device::launch(pack_kernel{x.rows(), x.radii(), i, row_count, of_rows.data()}, panels_of(row_count), device);
    for (std::int64_t j = 0; j < columns; j += at_once) {
      const std::int64_t count = std::min(columns - j, at_once);
      device::launch(pack_kernel{y.rows(), y.radii(), j, count, of_columns.data()}, panels_of(count), device);
      const tile_kernel tiles{x.rows(), y.rows(),  x.radii(), y.radii(), measure,    of_rows.data(), of_columns.data(),
                              i,        row_count, j,         count,     out.data(), out.stride()};
      device::launch(tiles, tiles.tiles(), device);
    }
  }
}

/// All pairs, by packs of columns on the host.
template <class Storage>
void write_matrix(const looked_points<Storage>& x, const looked_points<Storage>& y,
                  matrix_view<accumulator_t<Storage>> out, const distance_options& options, const Device& device) {
  const std::int64_t columns = y.rows().stored.count, dim = y.rows().dim();
  if (device.kind() != device_kind::host)
    return write_distances(x, y, false, x.rows().stored.count * columns, out.data(), out.stride(), options, device);
  if constexpr (sizeof(accumulator_t<Storage>) == 4) {
    write_by_directions(x, y, out, options, device);
  } else {
    using Shape = host_operation_shape;
    using pack_kernel = pack_columns_kernel<Storage, Shape>;
    using tile_kernel = haversine_tile_kernel<Storage, Shape>;
    const haversine<accumulator_t<Storage>> measure{dim, std::sqrt(checked_c(options.curvature))};
    const auto padded = [](std::int64_t count) { return (count + pack_kernel::lanes - 1) / pack_kernel::lanes; };
    Buffer<double> packs(padded(std::min(columns, columns_together)) * pack_kernel::lanes * dim, device);
    for (std::int64_t first = 0; first < columns; first += columns_together) {
      const std::int64_t count = std::min(columns - first, columns_together);
      device::launch(pack_kernel{y.rows(), first, count, packs.data()}, padded(count), device);
      const tile_kernel tiles{x.rows(),     y.rows(), x.radii(), y.radii(),  measure,
                              packs.data(), first,    count,     out.data(), out.stride()};
      device::launch(tiles, tiles.tiles(), device);
    }
  }
}

template <class Storage>
point_report measure_matrix(matrix_view<const Storage> queries, matrix_view<const Storage> points,
                            matrix_view<accumulator_t<Storage>> out, const distance_options& options,
                            const Device& where) {
  const Device device = device::run_device(where, {{"queries", queries}, {"points", points}, {"out", out}});
  poincare::check_sets(queries, points);
  if ((points.rows() > 0 && out.rows() != queries.rows()) || out.cols() != points.rows())
    throw InvalidArgument(text("out must be Q x N (out=", out.rows(), " x ", out.cols(), ", Q=", queries.rows(),
                               ", N=", points.rows(), ")"));
  const double pairs = double(queries.rows()) * double(points.rows());
  const device::small_call serial_if_small(pairs * double(30 + 4 * points.cols()), 1, device);
  looked_points<Storage> x(queries, "queries", options, device), y(points, "points", options, device);
  device::staged_out result(out, device);
  if (queries.rows() > 0 && points.rows() > 0) write_matrix(x, y, result.view(), options, device);
  result.finish();
  return {std::move(x.statuses), std::move(y.statuses)};
}

template <class Storage>
point_report measure_pairs(matrix_view<const Storage> x_rows, matrix_view<const Storage> y_rows,
                           vector_view<accumulator_t<Storage>> out, const distance_options& options,
                           const Device& where) {
  const Device device = device::run_device(where, {{"x", x_rows}, {"y", y_rows}, {"out", out}});
  poincare::check_sets(x_rows, y_rows);
  require_argument(x_rows.rows() == y_rows.rows(), "y.rows", y_rows.rows(), text("x.rows=", x_rows.rows()));
  require_argument(out.size() == x_rows.rows(), "out.size", out.size(), text("x.rows=", x_rows.rows()));
  const device::small_call serial_if_small(double(out.size()) * double(30 + 4 * x_rows.cols()), 1, device);
  looked_points<Storage> x(x_rows, "x", options, device), y(y_rows, "y", options, device);
  device::staged_out result(out, device);
  write_distances(x, y, true, out.size(), result.view().data(), 0, options, device);
  result.finish();
  return {std::move(x.statuses), std::move(y.statuses)};
}

template <class Storage>
std::vector<point_status> measure_from_origin(matrix_view<const Storage> x, vector_view<accumulator_t<Storage>> out,
                                              const distance_options& options, const Device& where) {
  const Device device = device::run_device(where, {{"x", x}, {"out", out}});
  require_argument(out.size() == x.rows(), "out.size", out.size(), text("x.rows=", x.rows()));
  device::staged_out result(out, device);
  looked_points<Storage> looked(x, "x", options, device, result.view().data());
  result.finish();
  return std::move(looked.statuses);
}

}  // namespace

point_report distances(any_matrix queries, any_matrix points, any_output_matrix out, const distance_options& options,
                       const Device& device) {
  return with_storage(queries.type, [&]<class T>() {
    return measure_matrix<T>(queries.as<T>("queries"), points.as<T>("points"), out.as<accumulator_t<T>>("out"), options,
                             device);
  });
}

point_report pair_distances(any_matrix x, any_matrix y, any_output_vector out, const distance_options& options,
                            const Device& device) {
  return with_storage(x.type, [&]<class T>() {
    return measure_pairs<T>(x.as<T>("x"), y.as<T>("y"), out.as<accumulator_t<T>>("out"), options, device);
  });
}

std::vector<point_status> origin_distances(any_matrix x, any_output_vector out, const distance_options& options,
                                           const Device& device) {
  return with_storage(x.type, [&]<class T>() {
    return measure_from_origin<T>(x.as<T>("x"), out.as<accumulator_t<T>>("out"), options, device);
  });
}

}  // namespace quintet::lorentz
