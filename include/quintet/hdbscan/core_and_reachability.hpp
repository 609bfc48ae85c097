// Core distances and the matrix of mutual reachability together, for one set of points or for many.
#pragma once

#include <span>
#include <vector>

#include "quintet/hdbscan/core_distances.hpp"
#include "quintet/hdbscan/mutual_reachability.hpp"

namespace quintet::hdbscan {

/// Core distances of `points` [N x D], and out [N x N] := their mutual reachability.
///
/// The bits are those of core_distances() followed by mutual_reachability(), but every distance is computed once: the
/// matrix itself holds the distances until the core distances are known. `core.distance` and `options.distance` must be
/// the same; `core` says which neighbour counts, `options` the rest. Throws InvalidArgument as those two functions do,
/// and for metrics that differ; OutOfMemory, DeviceError. Cost: N^2 D / 2 multiply-adds, and `out` is read twice and
/// written twice; memory for one copy of the points. On an offload device a matrix of over 4 GiB comes from one
/// function after the other, at the cost of both.
template <class Storage, class = only_storage<Storage>>
core_result<accumulator_t<Storage>> core_and_reachability(matrix_view<const Storage> points, const core_options& core,
                                                          matrix_view<accumulator_t<Storage>> out,
                                                          const reachability_options& options = {},
                                                          const Device& device = Device::best());

/// One set of points of a batch and where its matrix goes.
template <class Storage>
struct reachability_task {
  matrix_view<const Storage> points;        ///< N x D; N and D may differ from task to task
  matrix_view<accumulator_t<Storage>> out;  ///< N x N
};

/// core_and_reachability() of every task. Sets of fewer than 2000 points run side by side, one per host thread, which
/// on a device launches its kernels, after the larger ones. The results do not depend on the batch. Throws what the
/// first task does that fails, a larger one before a small one; the matrices of the other tasks are unspecified then.
/// Cost: the sum of the tasks'; memory for the points of those that run at the same time.
template <class Storage>
std::vector<core_result<accumulator_t<Storage>>> core_and_reachability_batch(
    std::span<const reachability_task<Storage>> tasks, const core_options& core,
    const reachability_options& options = {}, const Device& device = Device::best());

}  // namespace quintet::hdbscan
