#include "quintet/poincare/distances.hpp"

#include "device/for_each.hpp"
#include "device/launch.hpp"
#include "device/small_call.hpp"
#include "device/staged.hpp"
#include "pairwise/sinks.hpp"
#include "poincare/ball_points.hpp"
#include "poincare/checks.hpp"
#include "poincare/packed_pairs.hpp"
#include "poincare/pairs_kernel.hpp"
#include "quintet/core/profile.hpp"

namespace quintet::poincare {

namespace {

/// Distances of the written matrix whose squares Real could not hold, again: see ball_constants::lost(). A function of
/// a row and a panel of columns. Nickel, Kiela 2017, equation 1, in difference form.
template <class Real>
struct measure_again {
  packed_pairs<Real> pairs;
  matrix_view<Real> out;

  enum { columns = pairwise::panel_points<Real> };

  void operator()(std::int64_t e) const {
    const std::int64_t panels = (out.cols() + columns - 1) / columns, row = e / panels, first = e % panels * columns;
    const int count = out.cols() - first < columns ? int(out.cols() - first) : int(columns);
    bool any = false;
    for (int j = 0; j < count; ++j) any |= pairs.ball.lost(out(row, first + j));
    if (!any) return;
    for (int j = 0; j < count; ++j)
      if (pairs.ball.lost(out(row, first + j)))
        out(row, first + j) = pairs.measured_again(row, first + j, out(row, first + j));
  }
};

template <class Real>
void write_matrix(const ball_points<Real>& queries, const ball_points<Real>& points, const ball& b, formula expression,
                  matrix_view<Real> out) {
  const pairwise::panels<Real>&rows = queries.panels, &cols = points.panels;
  pairwise::cross<Real>({rows.data.data(),
                         cols.data.data(),
                         rows.dim,
                         rows.count,
                         cols.count,
                         b.measure<Real>(expression),
                         {rows.factor.data(), cols.factor.data()},
                         out.data(),
                         out.stride()},
                        rows.device());
  if (!queries.may_lose && !points.may_lose) return;
  const std::int64_t panels = (out.cols() + measure_again<Real>::columns - 1) / measure_again<Real>::columns;
  device::for_each(out.rows() * panels, measure_again<Real>{packed_pairs<Real>::of(rows, cols, b), out}, rows.device());
}

template <class Storage>
void require_both_inside(bool strict, matrix_view<const Storage> queries, matrix_view<const Storage> points,
                         const point_report& report, const ball& b) {
  if (!strict) return;
  require_inside(queries, report.queries, "queries", b);
  require_inside(points, report.points, "points", b);
}

template <class Storage>
point_report measure_distances(matrix_view<const Storage> queries, matrix_view<const Storage> points,
                               matrix_view<accumulator_t<Storage>> out, const distance_options& options,
                               const Device& requested_device) {
  const stage_region stage("distances");
  const ball b(options.curvature);
  const Device device = device::run_device(requested_device, {{"queries", queries}, {"points", points}, {"out", out}});
  check_sets(queries, points);
  const double pairs = double(queries.rows()) * double(points.rows());
  const device::small_call serial_if_small(pairs * (0.4 + 0.02 * double(points.cols())), 2, device);
  if ((points.rows() > 0 && out.rows() != queries.rows()) || out.cols() != points.rows())
    throw InvalidArgument(text("out must be Q x N (out=", out.rows(), " x ", out.cols(), ", Q=", queries.rows(),
                               ", N=", points.rows(), ")"));
  auto packed_queries = pack_ball(queries, b, device), packed_points = pack_ball(points, b, device);
  point_report report{std::move(packed_queries.status), std::move(packed_points.status)};
  require_both_inside(options.strict, queries, points, report, b);
  if (queries.rows() == 0 || points.rows() == 0) return report;
  device::staged_out result(out, device);
  write_matrix(packed_queries, packed_points, b, options.expression, result.view());
  result.finish();
  return report;
}

template <class Storage>
point_report measure_pairs(matrix_view<const Storage> x, matrix_view<const Storage> y,
                           vector_view<accumulator_t<Storage>> out, const distance_options& options,
                           const Device& requested_device) {
  using Real = accumulator_t<Storage>;
  const stage_region stage("distances");
  const ball b(options.curvature);
  const Device device = device::run_device(requested_device, {{"x", x}, {"y", y}, {"out", out}});
  check_sets(x, y);
  require_argument(x.rows() == y.rows(), "y.rows", y.rows(), text("x.rows=", x.rows()));
  require_argument(out.size() == x.rows(), "out.size", out.size(), text("x.rows=", x.rows()));
  const std::int64_t n = x.rows();
  const device::small_call serial_if_small(double(n) * double(20 + 2 * x.cols()), 1, device);
  const device::staged_in x_rows(x, device), y_rows(y, device);
  Buffer<point_status> x_status(n, device), y_status(n, device);
  device::staged_out result(out, device);
  device::with_shape<pairwise::host_shape<Real>, pairwise::device_shape<Real>>(device, [&](auto shape) {
    using kernel = pairs_kernel<Storage, decltype(shape)>;
    device::launch(kernel{stored(x_rows.view()), stored(y_rows.view()), b, b.measure<Real>(options.expression),
                          result.view().data(), x_status.data(), y_status.data()},
                   (n + kernel::pairs_per_tile - 1) / kernel::pairs_per_tile, device);
  });
  point_report report{x_status.to_vector(), y_status.to_vector()};
  if (options.strict) {
    require_inside(x, report.queries, "x", b);
    require_inside(y, report.points, "y", b);
  }
  result.finish();
  return report;
}

template <class Storage>
std::vector<point_status> measure_from_origin(matrix_view<const Storage> x, vector_view<accumulator_t<Storage>> out,
                                              const distance_options& options, const Device& requested_device) {
  using Real = accumulator_t<Storage>;
  const ball b(options.curvature);
  const Device device = device::run_device(requested_device, {{"x", x}, {"out", out}});
  check_rows(x, "x");
  if (options.expression != formula::geodesic)
    throw InvalidArgument("options.expression must be formula::geodesic for distances from the origin");
  require_argument(out.size() == x.rows(), "out.size", out.size(), text("x.rows=", x.rows()));
  const std::int64_t n = x.rows();
  const device::staged_in rows(x, device);
  Buffer<point_status> status(n, device);
  device::staged_out result(out, device);
  device::with_shape<pairwise::host_shape<Real>, pairwise::device_shape<Real>>(device, [&](auto shape) {
    using kernel = origin_kernel<Storage, decltype(shape)>;
    device::launch(kernel{stored(rows.view()), b.c, b.root_c, result.view().data(), status.data()},
                   (n + kernel::rows_per_tile - 1) / kernel::rows_per_tile, device);
  });
  const std::vector<point_status> row_status = status.to_vector();
  if (options.strict) require_inside(x, row_status, "x", b);
  result.finish();
  return row_status;
}

}  // namespace

point_report distances(any_matrix queries, any_matrix points, any_output_matrix out, const distance_options& options,
                       const Device& device) {
  return with_storage(queries.type, [&]<class T>() {
    return measure_distances<T>(queries.as<T>("queries"), points.as<T>("points"), out.as<accumulator_t<T>>("out"),
                                options, device);
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

}  // namespace quintet::poincare
