// Mutual reachability (Campello, Moulavi, Sander 2013):
//
//   m(i, j) = max(core_i, core_j, d(i, j) / alpha)   for i != j,   m(i, i) = 0
//
// as a matrix, for listed pairs, and streamed by blocks of rows for a matrix that does not fit. All three give the same
// bits. A row with NaN or infinity is NaN throughout (its diagonal as well); infinity is not produced otherwise.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "quintet/core/view.hpp"
#include "quintet/device/device.hpp"
#include "quintet/pairwise/metric.hpp"

namespace quintet::hdbscan {

struct reachability_options {
  double alpha = 1;               ///< > 0: divides distances, not core distances
  bool core_on_diagonal = false;  ///< m(i, i) = core_i, as scikit-learn and contrib/hdbscan have it, instead of 0
  metric distance = metric::euclidean;
};

/// out [N x N] := mutual reachability of the rows of `points` [N x D] with the given core distances (N; an empty span
/// stands for 0: plain distances divided by alpha). Symmetric bit for bit. `out` may have any row stride.
///
/// Throws InvalidArgument (also for a core distance that is negative, or NaN where the point is not), OutOfMemory.
/// Cost: N^2 D / 2 multiply-adds and N^2 values written.
template <class Real>
void mutual_reachability(matrix_view<const Real> points, std::span<const Real> core, matrix_view<Real> out,
                         const reachability_options& options = {}, const Device& device = Device::best());

/// m for the pairs (i0, j0), (i1, j1), ... of `pairs` [P x 2], indices in [0, N). A pair (i, i) gives the diagonal.
/// Throws InvalidArgument naming the first index out of range. Cost: 2 D loads a pair, on the host.
template <class Real>
std::vector<Real> mutual_reachability_pairs(matrix_view<const Real> points, std::span<const Real> core,
                                            matrix_view<const std::int64_t> pairs,
                                            const reachability_options& options = {});

/// Receives rows first_row ... of the matrix; the view is valid during the call only. Return false to stop.
template <class Real>
using row_block_callback = std::function<bool(std::int64_t first_row, matrix_view<const Real> rows)>;

/// The matrix by blocks of rows, in ascending order, within `budget_bytes` of memory for the block (at least one tile
/// of rows is used: 96 N values). Nothing N x N is held. Returns false if the callback stopped it. Cost: N^2 D
/// multiply-adds (twice the dense function: rows are computed without their mirror images).
template <class Real>
bool mutual_reachability_rows(matrix_view<const Real> points, std::span<const Real> core,
                              const row_block_callback<Real>& receive, std::int64_t budget_bytes = 256 << 20,
                              const reachability_options& options = {}, const Device& device = Device::best());

}  // namespace quintet::hdbscan
