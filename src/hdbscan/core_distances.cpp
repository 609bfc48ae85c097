#include "quintet/hdbscan/core_distances.hpp"

#include <algorithm>
#include <limits>

#include "hdbscan/checks.hpp"
#include "hdbscan/scan_points.hpp"
#include "pairwise/neighbours.hpp"
#include "quintet/core/error.hpp"

namespace quintet::hdbscan {

std::int64_t neighbour_count(const core_options& options, std::int64_t valid) {
  const std::int64_t least = options.count_self ? 1 : 0;
  require_argument(options.min_samples >= least, "min_samples", options.min_samples, text(">= ", least));
  return std::clamp<std::int64_t>(options.min_samples - least, 0, std::max<std::int64_t>(valid - 1, 0));
}

template <class Storage>
core_result<accumulator_t<Storage>> core_distances(matrix_view<const Storage> points, const core_options& options,
                                                   const Device& device) {
  using Real = accumulator_t<Storage>;
  check_points(points);
  const pairwise::row_scan<Real> scan = scan_points(points, options.distance);
  const std::int64_t n = points.rows(), valid = scan.valid_count();
  core_result<Real> result;
  result.neighbours = neighbour_count(options, valid);
  result.clamped = is_clamped(options, result.neighbours);
  result.invalid_rows = invalid_rows(scan);
  result.distances.assign(n, 0);
  for (const std::int64_t i : result.invalid_rows) result.distances[i] = std::numeric_limits<Real>::quiet_NaN();
  if (result.neighbours == 0) return result;

  const auto table = pairwise::nearest_others(pairwise::pack_points(points, scan, {}, device), int(result.neighbours));
  for (std::int64_t i = 0; i < n; ++i)
    if (scan.valid[i]) result.distances[i] = scan.surrogate.distance(table.farthest(i));
  return result;
}

template core_result<float> core_distances(matrix_view<const float>, const core_options&, const Device&);
template core_result<double> core_distances(matrix_view<const double>, const core_options&, const Device&);
template core_result<float> core_distances(matrix_view<const half>, const core_options&, const Device&);
template core_result<float> core_distances(matrix_view<const bfloat16>, const core_options&, const Device&);

}  // namespace quintet::hdbscan
