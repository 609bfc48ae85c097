// Core distances: the distance of every point to its k-th nearest other point (Campello, Moulavi, Sander 2013).
//
//   auto core = quintet::hdbscan::core_distances(points, {.min_samples = 5});
//   core.distances[i]
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "quintet/core/any_view.hpp"
#include "quintet/device/device.hpp"
#include "quintet/pairwise/metric.hpp"

namespace quintet::hdbscan {

/// Which neighbour makes the core distance.
struct core_options {
  /// k >= 0. The point itself is not counted, as in scikit-learn-contrib/hdbscan; duplicates are. 5 is the default of
  /// that program for clusters of at least 5 points.
  std::int64_t min_samples = 5;
  /// Count the point itself, as scikit-learn and the paper do: then k = min_samples - 1, min_samples >= 1.
  bool count_self = false;
  point_metric distance = metric::euclidean;  ///< d of points
};

/// Facts about core distances, without their values.
struct core_summary {
  std::int64_t neighbours = 0;  ///< the k that was used
  bool clamped = false;         ///< k was larger than the number of other valid points and was lowered to it
  std::vector<std::int64_t>
      invalid_rows;  ///< rows with NaN or infinity (cosine: or without length); no neighbours of any
  std::vector<std::int64_t> excluded_rows;  ///< rows of weight 0, which count as absent; none of invalid_rows
  Device ran_on;                            ///< where distances were computed
};

/// Core distances of N points.
template <class Real>
struct core_result : core_summary {
  std::vector<Real> distances;  ///< N; NaN for invalid and excluded rows
};

namespace detail {
/// N, checked before memory for N results is asked for.
std::int64_t checked_count(const any_matrix& points);
}  // namespace detail

/// The k of `options` for points with `valid` usable rows: min_samples (less one with count_self), at most valid - 1,
/// at least 0. Throws InvalidArgument if min_samples < 0 (< 1 with count_self). O(1).
std::int64_t neighbour_count(const core_options& options, std::int64_t valid);

/// Core distances of the rows of `points` [N x D], N >= 0, D >= 1, any row stride. k = 0 gives 0 everywhere.
///
/// Points are float, double, half or bfloat16; 16-bit coordinates are computed as floats. Distances are taken in
/// difference form, sqrt(sum (x - y)^2). So identical points have distance exactly 0, and the relative error is below
/// (D / 2 + 4) epsilon, in practice below 4 sqrt(D) epsilon. The result has the same bits on every device and for any
/// number of threads.
///
/// Throws InvalidArgument (N over 2^31 - 1025, D < 1, min_samples or curvature out of range), OutOfMemory, DeviceError.
/// Cost: N^2 D / 2 multiply-adds on the host, N^2 D on a device. Memory: one copy of the points and k entries per
/// point, in many dimensions half a copy more and three times the entries.
///
/// `weights`: N values >= 0, finite, how often each point counts; empty: 1 each. The core distance of i is the smallest
/// radius within which the weights sum to k + 1, its own with them (0 if that is enough): for whole numbers that of
/// repeated points. Sums are rounded once. Where all points weigh less it is the largest distance, and `clamped` is
/// set.
///
/// Into N values of host or device memory: float, or double for points of double. Throws InvalidArgument also for
/// another size or type.
core_summary core_distances_into(any_matrix points, any_output_vector out, const core_options& options = {},
                                 const Device& device = Device::best(), std::span<const double> weights = {});
/// Into memory of the result.
template <storage_type Storage>
core_result<accumulator_t<Storage>> core_distances(matrix_view<const Storage> points, const core_options& options = {},
                                                   const Device& device = Device::best(),
                                                   std::span<const double> weights = {}) {
  core_result<accumulator_t<Storage>> result;
  result.distances.resize(detail::checked_count(points));
  static_cast<core_summary&>(result) = core_distances_into(points, result.distances, options, device, weights);
  return result;
}
/// The same of every matrix type.
template <matrix_argument Points>
auto core_distances(const Points& points, const core_options& options = {}, const Device& device = Device::best(),
                    std::span<const double> weights = {}) {
  return core_distances<element_of<Points>>(matrix_view<const element_of<Points>>(matrix_of(points)), options, device,
                                            weights);
}

}  // namespace quintet::hdbscan
