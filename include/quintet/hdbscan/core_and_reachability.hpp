// Core distances and the matrix of mutual reachability together, for one set of points or for many.
#pragma once

#include <span>
#include <vector>

#include "quintet/hdbscan/core_distances.hpp"
#include "quintet/hdbscan/mutual_reachability.hpp"

namespace quintet::hdbscan {

/// core [N] := core distances of `points` [N x D], and out [N x N] := their mutual reachability. `core` may be empty.
///
/// The bits are those of core_distances() followed by mutual_reachability(), but every distance is computed once: the
/// matrix itself holds the distances until the core distances are known. `core_settings.distance` and
/// `options.distance` must be the same; the former say which neighbour counts, the latter the rest. Throws
/// InvalidArgument as those two functions do, and for metrics that differ; OutOfMemory, DeviceError. Cost: N^2 D / 2
/// multiply-adds, and `out` is read twice and written twice; memory for one copy of the points. On an offload device a
/// matrix of over 4 GiB comes from one function after the other, at the cost of both.
core_summary core_and_reachability_into(any_matrix points, any_output_vector core, any_output_matrix out,
                                        const core_options& core_settings, const reachability_options& options = {},
                                        const Device& device = Device::best());
/// With the core distances in the result.
template <storage_type Storage>
core_result<accumulator_t<Storage>> core_and_reachability(matrix_view<const Storage> points,
                                                          const core_options& core_settings, any_output_matrix out,
                                                          const reachability_options& options = {},
                                                          const Device& device = Device::best()) {
  core_result<accumulator_t<Storage>> result;
  result.distances.resize(detail::checked_count(points));
  static_cast<core_summary&>(result) =
      core_and_reachability_into(points, result.distances, out, core_settings, options, device);
  return result;
}

/// One set of points of a batch and where its results go: see core_and_reachability_into().
struct reachability_task {
  any_matrix points;       ///< N x D; N, D and the type may differ from task to task
  any_output_vector core;  ///< N values, or empty
  any_output_matrix out;   ///< N x N
};

/// core_and_reachability_into() of every task. Sets of fewer than 2000 points run side by side, one per host thread,
/// which on a device launches its kernels, after the larger ones. The results do not depend on the batch. Throws the
/// error of the first task that fails, larger tasks before small ones; the results of the other tasks are then
/// unspecified. Cost: the sum of the tasks'; memory for the points of those that run at the same time.
std::vector<core_summary> core_and_reachability_batch(std::span<const reachability_task> tasks,
                                                      const core_options& core_settings,
                                                      const reachability_options& options = {},
                                                      const Device& device = Device::best());

}  // namespace quintet::hdbscan
