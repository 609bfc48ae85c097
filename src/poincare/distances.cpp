#include "quintet/poincare/distances.hpp"

#include "device/launch.hpp"
#include "pairwise/sinks.hpp"
#include "poincare/ball_points.hpp"
#include "poincare/checks.hpp"
#include "poincare/host_rows.hpp"
#include "poincare/pairs_kernel.hpp"

namespace quintet::poincare {

namespace {

template <class Real>
void write_matrix(const ball_points<Real>& queries, const ball_points<Real>& points, const ball& b, formula expression,
                  matrix_view<Real> out) {
  const pairwise::panels<Real>&rows = queries.panels, &cols = points.panels;
  pairwise::cross<Real>({rows.data.data(),
                         cols.data.data(),
                         rows.dim,
                         rows.count,
                         cols.count,
                         b.surrogate<Real>(expression),
                         {rows.factor.data(), cols.factor.data()},
                         out.data(),
                         out.stride()},
                        rows.device());
}

template <class Storage>
void require_both_inside(bool strict, matrix_view<const Storage> queries, matrix_view<const Storage> points,
                         const point_report& report, const ball& b) {
  if (!strict) return;
  require_inside(queries, report.queries, "queries", b);
  require_inside(points, report.points, "points", b);
}

}  // namespace

template <class Storage>
point_report distances(matrix_view<const Storage> queries, matrix_view<const Storage> points,
                       matrix_view<accumulator_t<Storage>> out, const distance_options& options, const Device& device) {
  const ball b(options.curvature);
  check_sets(queries, points);
  if (out.rows() != queries.rows() || out.cols() != points.rows())
    throw InvalidArgument(text("out must be Q x N (out=", out.rows(), " x ", out.cols(), ", Q=", queries.rows(),
                               ", N=", points.rows(), ")"));
  auto packed_queries = pack_ball(queries, b, device), packed_points = pack_ball(points, b, device);
  point_report report{std::move(packed_queries.status), std::move(packed_points.status)};
  require_both_inside(options.strict, queries, points, report, b);
  if (out.rows() == 0 || out.cols() == 0) return report;
  rows_from_device<accumulator_t<Storage>> result(out, device);
  write_matrix(packed_queries, packed_points, b, options.expression, result.view());
  result.copy_back();
  return report;
}

template <class Storage>
point_report distances(const Buffer<Storage>& queries, const Buffer<Storage>& points, std::int64_t dim,
                       Buffer<accumulator_t<Storage>>& out, const distance_options& options) {
  const ball b(options.curvature);
  const Device& device = queries.device();
  require_argument(dim >= 1, "dim", dim, ">= 1");
  require_argument(queries.size() % dim == 0, "queries.size", queries.size(), text("a multiple of dim=", dim));
  require_argument(points.size() % dim == 0, "points.size", points.size(), text("a multiple of dim=", dim));
  const std::int64_t q = queries.size() / dim, n = points.size() / dim;
  require_argument(out.size() == q * n, "out.size", out.size(), text("Q N = ", q, " * ", n));
  if (points.device() != device || out.device() != device)
    throw InvalidArgument(text("queries, points and out must be on one device (", device.name(), ", ",
                               points.device().name(), ", ", out.device().name(), ")"));
  const matrix_view<const Storage> query_rows(queries.data(), q, dim), point_rows(points.data(), n, dim);
  check_sets(query_rows, point_rows);
  auto packed_queries = pack_ball_on_device(query_rows, b, device);
  auto packed_points = pack_ball_on_device(point_rows, b, device);
  point_report report{std::move(packed_queries.status), std::move(packed_points.status)};
  if (options.strict && !report.all_inside()) {
    const std::vector<Storage> host_queries = queries.to_vector(), host_points = points.to_vector();
    require_both_inside<Storage>(true, {host_queries.data(), q, dim}, {host_points.data(), n, dim}, report, b);
  }
  if (q > 0 && n > 0)
    write_matrix(packed_queries, packed_points, b, options.expression,
                 matrix_view<accumulator_t<Storage>>(out.data(), q, n));
  return report;
}

template <class Storage>
point_report pair_distances(matrix_view<const Storage> x, matrix_view<const Storage> y,
                            std::span<accumulator_t<Storage>> out, const distance_options& options,
                            const Device& device) {
  using Real = accumulator_t<Storage>;
  const ball b(options.curvature);
  check_sets(x, y);
  require_argument(x.rows() == y.rows(), "y.rows", y.rows(), text("x.rows=", x.rows()));
  require_argument(std::int64_t(out.size()) == x.rows(), "out.size", out.size(), text("x.rows=", x.rows()));
  const std::int64_t n = x.rows();
  const rows_on_device<Storage> x_rows(x, device), y_rows(y, device);
  Buffer<point_status> x_status(n, device), y_status(n, device);
  rows_from_device<Real> result(matrix_view<Real>(out.data(), n, 1), device);
  device::with_shape<pairwise::host_shape<Real>, pairwise::device_shape<Real>>(device, [&](auto shape) {
    using kernel = pairs_kernel<Storage, decltype(shape)>;
    device::launch(
        kernel{stored(x_rows.view()), stored(y_rows.view()), b.c, b.scale, b.numerator,
               b.surrogate<Real>(options.expression), result.view().data(), x_status.data(), y_status.data()},
        (n + kernel::pairs_per_tile - 1) / kernel::pairs_per_tile, device);
  });
  point_report report{x_status.to_vector(), y_status.to_vector()};
  if (options.strict) {
    require_inside(x, report.queries, "x", b);
    require_inside(y, report.points, "y", b);
  }
  result.copy_back();
  return report;
}

template <class Storage>
accumulator_t<Storage> distance(std::span<const Storage> x, std::span<const Storage> y,
                                const distance_options& options) {
  accumulator_t<Storage> result[1];
  const matrix_view<const Storage> x_row(x.data(), 1, std::int64_t(x.size())),
      y_row(y.data(), 1, std::int64_t(y.size()));
  pair_distances<Storage>(x_row, y_row, result, options, Device::host());
  return result[0];
}

template <class Storage>
std::vector<point_status> origin_distances(matrix_view<const Storage> x, std::span<accumulator_t<Storage>> out,
                                           const distance_options& options, const Device& device) {
  using Real = accumulator_t<Storage>;
  const ball b(options.curvature);
  check_rows(x, "x");
  if (options.expression != formula::geodesic)
    throw InvalidArgument("options.expression must be formula::geodesic for distances from the origin");
  require_argument(std::int64_t(out.size()) == x.rows(), "out.size", out.size(), text("x.rows=", x.rows()));
  const std::int64_t n = x.rows();
  const rows_on_device<Storage> rows(x, device);
  Buffer<point_status> status(n, device);
  rows_from_device<Real> result(matrix_view<Real>(out.data(), n, 1), device);
  device::with_shape<pairwise::host_shape<Real>, pairwise::device_shape<Real>>(device, [&](auto shape) {
    using kernel = origin_kernel<Storage, decltype(shape)>;
    device::launch(kernel{stored(rows.view()), b.c, b.root_c, result.view().data(), status.data()},
                   (n + kernel::rows_per_tile - 1) / kernel::rows_per_tile, device);
  });
  const std::vector<point_status> found = status.to_vector();
  if (options.strict) require_inside(x, found, "x", b);
  result.copy_back();
  return found;
}

#define QUINTET_INSTANTIATE(Storage)                                                                                 \
  template point_report distances(matrix_view<const Storage>, matrix_view<const Storage>,                            \
                                  matrix_view<accumulator_t<Storage>>, const distance_options&, const Device&);      \
  template point_report distances(const Buffer<Storage>&, const Buffer<Storage>&, std::int64_t,                      \
                                  Buffer<accumulator_t<Storage>>&, const distance_options&);                         \
  template point_report pair_distances(matrix_view<const Storage>, matrix_view<const Storage>,                       \
                                       std::span<accumulator_t<Storage>>, const distance_options&, const Device&);   \
  template accumulator_t<Storage> distance(std::span<const Storage>, std::span<const Storage>,                       \
                                           const distance_options&);                                                 \
  template std::vector<point_status> origin_distances(matrix_view<const Storage>, std::span<accumulator_t<Storage>>, \
                                                      const distance_options&, const Device&);
QUINTET_INSTANTIATE(float)
QUINTET_INSTANTIATE(double)
QUINTET_INSTANTIATE(half)
QUINTET_INSTANTIATE(bfloat16)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::poincare
