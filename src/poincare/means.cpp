#include "quintet/poincare/means.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "device/launch.hpp"
#include "device/staged.hpp"
#include "poincare/means_kernel.hpp"
#include "poincare/row_operations.hpp"

namespace quintet::poincare {

namespace {

template <class Storage>
void check_groups(matrix_view<const Storage> points, vector_view<const std::int64_t> given_offsets,
                  vector_view<const accumulator_t<Storage>> weights, matrix_view<accumulator_t<Storage>> out) {
  check_rows(points, "points");
  const std::vector<std::int64_t> offsets = device::host_copy(given_offsets);
  require_argument(!offsets.empty(), "offsets.size", offsets.size(), ">= 1");
  const auto groups = std::int64_t(offsets.size()) - 1;
  require_argument(offsets[0] == 0, "offsets[0]", offsets[0], "0");
  // Texts only where they are needed: they cost more than the comparisons.
  for (std::int64_t g = 0; g < groups; ++g)
    if (offsets[g + 1] < offsets[g])
      require_argument(false, text("offsets[", g + 1, "]"), offsets[g + 1], text(">= offsets[", g, "]=", offsets[g]));
  require_argument(offsets[groups] == points.rows(), text("offsets[", groups, "]"), offsets[groups],
                   text("points.rows=", points.rows()));
  require_argument(weights.size() == 0 || weights.size() == points.rows(), "weights.size", weights.size(),
                   text("0 or points.rows=", points.rows()));
  const auto values = device::host_copy(weights);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!(values[i] >= 0 && std::isfinite(values[i])))
      require_argument(false, text("weights[", i, "]"), values[i], ">= 0 and finite");
  if (out.rows() != groups || (groups > 0 && out.cols() != points.cols()))
    throw InvalidArgument(
        text("out must be ", groups, " x ", points.cols(), " (out=", out.rows(), " x ", out.cols(), ")"));
}

template <class Storage>
row_status status_of_points(matrix_view<const Storage> points, const ball_options& options, const Device& device) {
  // No result but the status: `out` has no columns.
  const matrix_view<accumulator_t<Storage>> no_columns(nullptr, points.rows(), 0);
  const any_matrix rows = points;
  const row_status status = run_rows<look_row, Storage>({.x = &rows}, no_columns, {}, options, device);
  if (options.strict) require_inside(points, status, "points", ball(options.curvature));
  return status;
}

template <class Storage>
mean_report means_of(matrix_view<const Storage> points, vector_view<const std::int64_t> offsets,
                     vector_view<const accumulator_t<Storage>> weights, matrix_view<accumulator_t<Storage>> out,
                     bool frechet, const frechet_options& options, const Device& requested_device) {
  const Device device = device::run_device(
      requested_device, {{"points", points}, {"offsets", offsets}, {"weights", weights}, {"out", out}});
  check_groups(points, offsets, weights, out);
  const ball b(options.curvature);
  mean_report report;
  report.points = status_of_points(points, {options.curvature, options.strict}, device);
  const std::int64_t groups = out.rows();
  const device::staged_in rows(points, device);
  const device::staged_in group_offsets(offsets, device);
  const device::staged_in point_weights(weights, device);
  const device::staged_in status(report.points, device);
  Buffer<double> workspace(groups * 3 * points.cols(), device);
  Buffer<mean_state> states(groups, device);
  device::staged_out result(out, device);
  mean_arguments<Storage> a{stored(rows.view()),
                            group_offsets.view().data(),
                            weights.size() == 0 ? nullptr : point_weights.view().data(),
                            status.view().data(),
                            b.c,
                            b.root_c,
                            options.tolerance,
                            options.max_iterations,
                            frechet,
                            true,
                            workspace.data(),
                            states.data(),
                            result.view().data(),
                            result.view().stride()};
  std::vector<mean_state> progress(groups);
  const auto is_done = [](const mean_state& s) { return s.phase == mean_phase::done; };
  device::with_shape<host_operation_shape, device_operation_shape>(device, [&](auto shape) {
    using kernel = mean_kernel<Storage, decltype(shape)>;
    do {
      device::launch(kernel{a, groups}, (groups + kernel::groups_per_tile - 1) / kernel::groups_per_tile, device);
      states.copy_to_host(progress.data(), groups);
      a.first_launch = false;
    } while (!std::all_of(progress.begin(), progress.end(), is_done));
  });
  for (const mean_state& s : progress) {
    report.iterations.push_back(s.iterations);
    report.converged.push_back(s.converged);
  }
  result.finish();
  return report;
}

mean_report means(any_matrix points, vector_view<const std::int64_t> offsets, any_vector weights, any_output_matrix out,
                  bool frechet, const frechet_options& options, const Device& device) {
  return with_storage(points.type, [&]<class T>() {
    using Real = accumulator_t<T>;
    const auto of_points = weights.size == 0 ? vector_view<const Real>() : weights.as<Real>("weights");
    return means_of<T>(points.as<T>("points"), offsets, of_points, out.as<Real>("out"), frechet, options, device);
  });
}

}  // namespace

mean_report gyromidpoint(any_matrix points, vector_view<const std::int64_t> offsets, any_vector weights,
                         any_output_matrix out, const ball_options& options, const Device& device) {
  return means(points, offsets, weights, out, false, {options.curvature, options.strict}, device);
}

mean_report frechet_mean(any_matrix points, vector_view<const std::int64_t> offsets, any_vector weights,
                         any_output_matrix out, const frechet_options& options, const Device& device) {
  require_argument(options.tolerance > 0, "tolerance", options.tolerance, "> 0");
  constexpr std::int64_t max = std::numeric_limits<std::int32_t>::max();  // mean_report counts them in 32 bits
  require_argument(options.max_iterations >= 0 && options.max_iterations <= max, "max_iterations",
                   options.max_iterations, text("in [0, ", max, "]"));
  return means(points, offsets, weights, out, true, options, device);
}

}  // namespace quintet::poincare
