// Mutual reachability (Campello, Moulavi, Sander 2013):
//
//   m(i, j) = max(core_i, core_j, d(i, j) / alpha)   for i != j,   m(i, i) = 0
//
// as a matrix, for listed pairs, and streamed by blocks of rows for a matrix that does not fit. All three give the same
// bits. Points are float, double, half or bfloat16; 16-bit coordinates are computed as floats, so results equal those
// of the rounded points in float. A row with NaN or infinity is NaN throughout (its diagonal as well); infinity does
// not occur otherwise.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "quintet/core/any_view.hpp"
#include "quintet/device/buffer.hpp"
#include "quintet/device/device.hpp"
#include "quintet/pairwise/metric.hpp"

namespace quintet::hdbscan {

/// Variants of mutual reachability.
struct reachability_options {
  double alpha = 1;               ///< > 0, finite: divides distances, not core distances
  bool core_on_diagonal = false;  ///< m(i, i) = core_i, as scikit-learn and contrib/hdbscan have it, instead of 0
  point_metric distance = metric::euclidean;  ///< d of points
};

/// out [N x N] := mutual reachability of the rows of `points` [N x D] with the given core distances (N; an empty vector
/// stands for 0: plain distances divided by alpha). Symmetric bit for bit. `out` may have any row stride. Arguments lie
/// on the host or on the device where the work is done.
///
/// Throws InvalidArgument (shapes, options, a core distance that is negative, or NaN where the point is not),
/// OutOfMemory, DeviceError. Cost: N^2 D / 2 multiply-adds and N^2 values written; memory for one copy of the points.
/// On an offload device host arguments take as much there as on the host, the matrix at most 4 GiB at a time (a larger
/// one takes twice the arithmetic).
void mutual_reachability(any_matrix points, any_vector core, any_output_matrix out,
                         const reachability_options& options = {}, const Device& device = Device::best());
/// Into a buffer of its device, where the work is done: N rows of N values, one behind the other. Throws
/// InvalidArgument also for fewer than N * N elements.
template <class Real>
void mutual_reachability(any_matrix points, any_vector core, Buffer<Real>& out,
                         const reachability_options& options = {}) {
  const std::int64_t n = points.rows;
  if (out.size() < n * n) require_argument(false, "out.size", out.size(), text(">= N * N=", n * n));
  mutual_reachability(points, core, {out.data(), n, n, out.device()}, options, out.device());
}

/// m for the pairs (i0, j0), (i1, j1), ... of `pairs` [P x 2], indices in [0, N). A pair (i, i) gives the diagonal.
/// Throws InvalidArgument as mutual_reachability() does, for other than two columns, and naming the first index out of
/// range. Cost: O(N D) to look at the points and 2 D loads a pair; on an offload device memory for arguments that do
/// not lie there, as they are, and for the result.
///
/// Into P values of host or device memory. Throws InvalidArgument also for another size.
void mutual_reachability_pairs(any_matrix points, any_vector core, matrix_view<const std::int64_t> pairs,
                               any_output_vector out, const reachability_options& options,
                               const Device& device = Device::best());
/// Into memory of the result.
template <storage_type Storage>
std::vector<accumulator_t<Storage>> mutual_reachability_pairs(matrix_view<const Storage> points, any_vector core,
                                                              matrix_view<const std::int64_t> pairs,
                                                              const reachability_options& options = {},
                                                              const Device& device = Device::best()) {
  std::vector<accumulator_t<Storage>> values(pairs.rows());
  mutual_reachability_pairs(points, core, pairs, values, options, device);
  return values;
}

/// Receives rows first_row ... of the matrix; the view is valid during the call only. Return false to stop.
using any_row_block_callback = std::function<bool(std::int64_t first_row, any_matrix rows)>;
/// The same with the type of the rows: float, or double for points of double.
template <class Real>
using row_block_callback = std::function<bool(std::int64_t first_row, matrix_view<const Real> rows)>;

/// The matrix by blocks of rows, in ascending order, within `budget_bytes` of memory for the block (at least one tile
/// of rows is used: 96 N values; on an offload device as much there). Nothing N x N is stored. Returns false if the
/// callback stopped it. Throws as mutual_reachability() does, and InvalidArgument for a negative budget and an empty
/// callback. Cost: N^2 D multiply-adds (twice the dense function: rows are computed without their mirror images).
bool mutual_reachability_rows(any_matrix points, any_vector core, const any_row_block_callback& receive,
                              std::int64_t budget_bytes = 256 << 20, const reachability_options& options = {},
                              const Device& device = Device::best());
/// To a callback that knows the type of the rows.
template <storage_type Storage>
bool mutual_reachability_rows(matrix_view<const Storage> points, any_vector core,
                              const row_block_callback<accumulator_t<Storage>>& receive,
                              std::int64_t budget_bytes = 256 << 20, const reachability_options& options = {},
                              const Device& device = Device::best()) {
  any_row_block_callback rows_of;
  if (receive)
    rows_of = [&](std::int64_t first_row, any_matrix rows) {
      return receive(first_row, rows.as<accumulator_t<Storage>>());
    };
  return mutual_reachability_rows(any_matrix(points), core, rows_of, budget_bytes, options, device);
}

}  // namespace quintet::hdbscan
