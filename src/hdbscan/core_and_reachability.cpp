#include "quintet/hdbscan/core_and_reachability.hpp"

#include <vector>

#include "device/parallel.hpp"
#include "hdbscan/checks.hpp"
#include "hdbscan/row_selection.hpp"
#include "hdbscan/scan_points.hpp"
#include "pairwise/metric.hpp"

namespace quintet::hdbscan {

namespace {

/// A matrix of distances becomes one of mutual reachability, in place. Tile = one row.
template <class Real>
struct reach_kernel {
  using shape = device::host_only_shape;
  struct scratch {};
  matrix_view<Real> matrix;
  const Real* core;
  Real alpha;
  bool core_on_diagonal;

  template <class Team>
  void operator()(const Team&, std::int64_t i, scratch&) const {
    Real* row = matrix.row(i);
    const Real core_i = core[i], diagonal = row[i];
    if (alpha != 1)
#pragma omp simd
      for (std::int64_t j = 0; j < matrix.cols(); ++j) row[j] /= alpha;
#pragma omp simd
    for (std::int64_t j = 0; j < matrix.cols(); ++j) row[j] = pairwise::mutual_reachability(core_i, core[j], row[j]);
    row[i] = diagonal == diagonal && core_on_diagonal ? core_i : diagonal;
  }
};

/// In host memory: distances first, then core distances from them.
template <class Storage, class Real = accumulator_t<Storage>>
core_result<Real> in_place(matrix_view<const Storage> points, const core_options& core, matrix_view<Real> out,
                           const reachability_options& options, const Device& device) {
  core_result<Real> result;
  const auto scan = scan_points(points, core.distance);
  result.neighbours = neighbour_count(core, scan.valid_count());
  result.clamped = is_clamped(core, result.neighbours);
  result.invalid_rows = invalid_rows(scan);
  mutual_reachability<Storage>(points, {}, out, {.distance = options.distance}, device);
  result.distances.assign(points.rows(), 0);
  if (result.neighbours > 0) result.distances = kth_smallest_of_rows<Real>(out, result.neighbours);
  for (const std::int64_t i : result.invalid_rows) result.distances[i] = std::numeric_limits<Real>::quiet_NaN();
  device::launch(reach_kernel<Real>{out, result.distances.data(), Real(options.alpha), options.core_on_diagonal},
                 points.rows(), Device::host());
  return result;
}

// Sets of fewer points than this run side by side; larger ones keep all threads busy alone.
constexpr std::int64_t small_set = 2000;

}  // namespace

template <class Storage>
core_result<accumulator_t<Storage>> core_and_reachability(matrix_view<const Storage> points, const core_options& core,
                                                          matrix_view<accumulator_t<Storage>> out,
                                                          const reachability_options& options, const Device& device) {
  using Real = accumulator_t<Storage>;
  check_points(points);
  check_alpha<Real>(options.alpha);
  if (core.distance != options.distance)
    throw InvalidArgument(text("core.distance and options.distance must be the same (", to_string(core.distance), ", ",
                               to_string(options.distance), ")"));
  if (device.shares_host_memory()) return in_place<Storage>(points, core, out, options, device);
  core_result<Real> result = core_distances(points, core, device);
  mutual_reachability<Storage>(points, result.distances, out, options, device);
  return result;
}

template <class Storage>
std::vector<core_result<accumulator_t<Storage>>> core_and_reachability_batch(
    std::span<const reachability_task<Storage>> tasks, const core_options& core, const reachability_options& options,
    const Device& device) {
  std::vector<core_result<accumulator_t<Storage>>> results(tasks.size());
  const auto run = [&](std::int64_t t) {
    results[t] = core_and_reachability<Storage>(tasks[t].points, core, tasks[t].out, options, device);
  };
  std::vector<std::int64_t> small;
  for (std::int64_t t = 0; t < std::int64_t(tasks.size()); ++t)
    if (device.kind() == device_kind::host && tasks[t].points.rows() < small_set)
      small.push_back(t);
    else
      run(t);
  device::for_each_side_by_side(std::int64_t(small.size()), [&](std::int64_t s) { run(small[s]); });
  return results;
}

#define QUINTET_INSTANTIATE(Storage, Real)                                                                             \
  template core_result<Real> core_and_reachability(matrix_view<const Storage>, const core_options&, matrix_view<Real>, \
                                                   const reachability_options&, const Device&);                        \
  template std::vector<core_result<Real>> core_and_reachability_batch(                                                 \
      std::span<const reachability_task<Storage>>, const core_options&, const reachability_options&, const Device&);
QUINTET_INSTANTIATE(float, float)
QUINTET_INSTANTIATE(double, double)
QUINTET_INSTANTIATE(half, float)
QUINTET_INSTANTIATE(bfloat16, float)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::hdbscan
