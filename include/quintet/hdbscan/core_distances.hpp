// Core distances: the distance of every point to its k-th nearest other point (Campello, Moulavi, Sander 2013).
//
//   auto core = quintet::hdbscan::core_distances(points, {.min_samples = 5});
//   core.distances[i]
#pragma once

#include <cstdint>
#include <vector>

#include "quintet/core/arguments.hpp"
#include "quintet/device/device.hpp"
#include "quintet/pairwise/metric.hpp"

namespace quintet::hdbscan {

/// Which neighbour makes the core distance.
struct core_options {
  /// k >= 0. The point itself is not counted, as in scikit-learn-contrib/hdbscan; duplicates are. 5 is what that
  /// program takes for clusters of at least 5 points.
  std::int64_t min_samples = 5;
  /// Count the point itself, as scikit-learn and the paper do: then k = min_samples - 1, min_samples >= 1.
  bool count_self = false;
  point_metric distance = metric::euclidean;  ///< d of points
};

/// Core distances of N points.
template <class Real>
struct core_result {
  std::vector<Real> distances;  ///< N; NaN for invalid rows
  std::int64_t neighbours = 0;  ///< the k that was used
  bool clamped = false;         ///< k was larger than the number of other valid points and was lowered to it
  std::vector<std::int64_t>
      invalid_rows;  ///< rows with NaN or infinity (cosine: or without length); no neighbours of any
  Device ran_on;     ///< where distances were computed
};

/// The k of `options` for points of which `valid` can be used: min_samples (less one with count_self), at most
/// valid - 1, at least 0. Throws InvalidArgument if min_samples < 0 (< 1 with count_self). O(1).
std::int64_t neighbour_count(const core_options& options, std::int64_t valid);

/// Core distances of the rows of `points` [N x D], N >= 0, D >= 1, any row stride. k = 0 gives 0 everywhere.
///
/// Storage is float, double, half or bfloat16; 16-bit coordinates are computed with as floats. Distances are taken in
/// difference form, sqrt(sum (x - y)^2): identical points have distance exactly 0, and the relative error is below (D /
/// 2 + 4) epsilon, in practice below 4 sqrt(D) epsilon. The result has the same bits on every device and for any number
/// of threads. Throws InvalidArgument (N over 2^31 - 1025, D < 1, min_samples or curvature out of range), OutOfMemory,
/// DeviceError. Cost: N^2 D / 2 multiply-adds on the host, N^2 D on a device; memory for one copy of the points and k
/// entries per point, in many dimensions half a copy more and three times the entries.
template <class Storage, class = only_storage<Storage>>
core_result<accumulator_t<Storage>> core_distances(matrix_view<const Storage> points, const core_options& options = {},
                                                   const Device& device = Device::best());
/// \overload
template <matrix_argument Points>
auto core_distances(const Points& points, const core_options& options = {}, const Device& device = Device::best()) {
  return core_distances<element_of<Points>>(matrix_of(points), options, device);
}

/// The same into N values of host or device memory; `distances` of the result is empty. Throws InvalidArgument also for
/// another size.
template <class Storage, class = only_storage<Storage>>
core_result<accumulator_t<Storage>> core_distances_into(matrix_view<const Storage> points,
                                                        vector_view<accumulator_t<Storage>> out,
                                                        const core_options& options = {},
                                                        const Device& device = Device::best());
/// \overload
template <matrix_argument Points, vector_argument Out>
auto core_distances_into(const Points& points, Out&& out, const core_options& options = {},
                         const Device& device = Device::best()) {
  return core_distances_into<element_of<Points>>(matrix_of(points), values_of(out), options, device);
}

}  // namespace quintet::hdbscan
