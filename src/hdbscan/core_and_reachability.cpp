#include "quintet/hdbscan/core_and_reachability.hpp"

#include <limits>
#include <vector>

#include "device/parallel.hpp"
#include "device/staged.hpp"
#include "hdbscan/checks.hpp"
#include "hdbscan/reachability_source.hpp"
#include "hdbscan/row_blocks.hpp"
#include "hdbscan/row_selection.hpp"
#include "pairwise/metric.hpp"

namespace quintet::hdbscan {

namespace {

/// A matrix of distances becomes one of mutual reachability, in place: max(core_i, core_j, d / alpha) (Campello,
/// Moulavi, Sander 2013). Tile = one row.
template <class Real, class Shape>
struct reach_kernel {
  using shape = Shape;
  struct scratch {};
  enum { threads = 128, emulated_threads = 4 };
  Real* matrix;
  std::int64_t n, stride;
  const Real* core;
  Real alpha;
  bool core_on_diagonal;

  template <class Team>
  void operator()(const Team& team, std::int64_t i, scratch&) const {
    Real* row = matrix + i * stride;
    const Real core_i = core[i];
    const std::int64_t first = team.rank(), step = team.size();
    if (alpha != 1)
#pragma omp simd
      for (std::int64_t j = first; j < n; j += step) row[j] /= alpha;
#pragma omp simd
    for (std::int64_t j = first; j < n; j += step)
      row[j] = j != i ? pairwise::mutual_reachability(core_i, core[j], row[j]) : row[j];
    if (i % step == first && core_on_diagonal && row[i] == row[i]) row[i] = core_i;
  }
};

/// What becomes of the k-th reduced distances, or of nothing where k = 0: core distances (Campello, Moulavi, Sander
/// 2013).
template <class Real>
struct finish_core_of_set {
  const Real* number;  ///< of every point, >= 0 if it is valid
  bool none;
  Real* core;
  void operator()(std::int64_t i) const {
    if (none) core[i] = 0;
    if (!(number[i] >= 0)) core[i] = std::numeric_limits<Real>::quiet_NaN();
  }
};

/// The matrix holds distances first, and core distances come from them.
template <class Storage, class Real = accumulator_t<Storage>>
core_summary in_place(matrix_view<const Storage> points, const core_options& core, vector_view<Real> core_out,
                      matrix_view<Real> out, const reachability_options& options, const Device& device) {
  const std::int64_t n = points.rows();
  if (out.rows() != n || out.cols() != n)
    throw InvalidArgument(text("out must be N x N (out=", out.rows(), " x ", out.cols(), ", N=", n, ")"));
  const pairwise::scanned_points<Storage> scanned(points, core.distance, device);
  core_summary result;
  result.ran_on = device;
  result.neighbours = neighbour_count(core, scanned.valid_count());
  result.clamped = is_clamped(core, result.neighbours);
  result.invalid_rows = scanned.invalid_rows();
  const auto panels = scanned.pack();
  device::staged_out staged(out, device);
  const matrix_view<Real> matrix = staged.view();
  pairwise::dense_arguments<Real> arguments = distance_arguments(panels, scanned.measure);
  arguments.out = matrix.data();
  arguments.out_stride = matrix.stride();
  pairwise::dense(arguments, device);
  Buffer<Real> cores(n, device);
  if (result.neighbours > 0) kth_smallest_of_rows<Real>(matrix, result.neighbours, cores.data(), device);
  device::for_each(n, finish_core_of_set<Real>{scanned.numbers(), result.neighbours == 0, cores.data()}, device);
  device::with_shape<pairwise::host_shape<Real>, pairwise::device_shape<Real>>(device, [&](auto shape) {
    device::launch(reach_kernel<Real, decltype(shape)>{matrix.data(), n, matrix.stride(), cores.data(),
                                                       Real(options.alpha), options.core_on_diagonal},
                   n, device);
  });
  staged.finish();
  if (core_out.size() > 0)
    device::detail::download<Real>(device::detail::as_batch(core_out),
                                   device::detail::as_batch(vector_view<const Real>(cores)));
  return result;
}

// A larger matrix is not held on an offload device: core distances come first then, and the matrix by blocks of rows.
constexpr std::int64_t max_whole_bytes = std::int64_t(4) << 30;

// Sets of fewer points than this run side by side, on a device launched by as many host threads; larger ones keep all
// threads busy alone.
constexpr std::int64_t small_set = 2000;

template <class Storage>
core_summary write_both(matrix_view<const Storage> points, vector_view<accumulator_t<Storage>> core_out,
                        matrix_view<accumulator_t<Storage>> out, const core_options& core,
                        const reachability_options& options, const Device& requested_device) {
  using Real = accumulator_t<Storage>;
  const Device device = device::run_device(requested_device, {{"points", points}, {"core", core_out}, {"out", out}});
  check_points(points);
  check_distance(options.distance);
  check_alpha<Real>(options.alpha);
  if (core.distance != options.distance)
    throw InvalidArgument(text("core.distance and options.distance must be the same (", to_string(core.distance), ", ",
                               to_string(options.distance), ")"));
  const std::int64_t n = points.rows();
  if (core_out.size() > 0)
    require_argument(core_out.size() == n, "core.size", core_out.size(), text("0 or points.rows=", n));
  if (device::reaches(device, out.device()) || n * n * std::int64_t(sizeof(Real)) <= max_whole_bytes)
    return in_place<Storage>(points, core, core_out, out, options, device);
  std::vector<Real> own;
  if (core_out.size() == 0) {
    own.resize(n);
    core_out = own;
  }
  const core_summary result = core_distances_into(points, core_out, core, device);
  mutual_reachability(points, core_out, out, options, device);
  return result;
}

}  // namespace

core_summary core_and_reachability_into(any_matrix points, any_output_vector core, any_output_matrix out,
                                        const core_options& core_settings, const reachability_options& options,
                                        const Device& device) {
  return with_storage(points.type, [&]<class T>() {
    using Real = accumulator_t<T>;
    const auto core_out = core.size == 0 ? vector_view<Real>() : core.as<Real>("core");
    return write_both<T>(points.as<T>("points"), core_out, out.as<Real>("out"), core_settings, options, device);
  });
}

std::vector<core_summary> core_and_reachability_batch(std::span<const reachability_task> tasks,
                                                      const core_options& core_settings,
                                                      const reachability_options& options, const Device& device) {
  std::vector<core_summary> results(tasks.size());
  const auto run = [&](std::int64_t t) {
    results[t] =
        core_and_reachability_into(tasks[t].points, tasks[t].core, tasks[t].out, core_settings, options, device);
  };
  std::vector<std::int64_t> small;
  for (std::int64_t t = 0; t < std::int64_t(tasks.size()); ++t)
    if (tasks[t].points.rows < small_set)
      small.push_back(t);
    else
      run(t);
  device::for_each_side_by_side(std::int64_t(small.size()), [&](std::int64_t s) { run(small[s]); });
  return results;
}

}  // namespace quintet::hdbscan
