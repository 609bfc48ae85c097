// Exact neighbours: the k nearest points, and all points within a radius.
//
//   auto found = quintet::neighbours::nearest<float>({data, n, dim}, 15);
//   found.index[i * found.k + e], found.distance[i * found.k + e]
//   auto graph = quintet::neighbours::within_radius<float>({data, n, dim}, 0.5);
//   graph.view()   // a sparse matrix of distances, for spgemm
//
// Nothing is approximated. In few dimensions (at most 32) a tree of blocks of points is searched if a sample of the
// searches shows that it pays. The cost is then nearly proportional to the number of points. Otherwise all pairs are
// compared. UMAP, t-SNE, spectral methods and density estimates begin with these lists.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "quintet/core/storage16.hpp"
#include "quintet/core/view.hpp"
#include "quintet/device/device.hpp"
#include "quintet/pairwise/metric.hpp"
#include "quintet/spgemm/csr.hpp"

namespace quintet::neighbours {

/// The distance.
struct options {
  point_metric distance = metric::euclidean;  ///< d of points
};

/// The k nearest points of Q points, in host memory.
template <class Real>
struct nearest_result {
  ///@{
  /// Q, the number of searched points (N), and neighbours per query.
  std::int64_t queries = 0, points = 0, k = 0;
  ///@}
  std::vector<std::int64_t> index;  ///< [Q][k], by (distance, index) as nearest() says; -1 where there are fewer
  std::vector<Real> distance;       ///< [Q][k], ascending; NaN where index is -1
  std::vector<std::int64_t> invalid_queries;  ///< rows with NaN or infinity (cosine: or without length), increasing
  std::vector<std::int64_t> invalid_points;   ///< the same of the points: no point's neighbours
  std::int64_t pairs_evaluated = 0;           ///< distances computed; at most Q N, but for padding
  Device ran_on;                              ///< where
};

/// Every point's neighbours within a radius: a sparse matrix in compressed rows, columns ascending.
template <class Real>
struct radius_result {
  ///@{
  /// Q and N.
  std::int64_t queries = 0, points = 0;
  ///@}
  std::vector<std::int64_t> row_pointers{0};  ///< Q + 1
  std::vector<std::int64_t> index;            ///< columns, ascending in every row
  std::vector<Real> distance;                 ///< of every entry
  std::vector<std::int64_t> invalid_queries;  ///< as in nearest_result: empty rows
  std::vector<std::int64_t> invalid_points;   ///< as in nearest_result: empty columns
  std::int64_t pairs_evaluated = 0;           ///< distances computed
  Device ran_on;                              ///< where

  /// The matrix Q x N of distances, without a copy: valid as long as the result is.
  spgemm::csr_view<Real, std::int64_t> view() const QUINTET_LIFETIMEBOUND {
    return {queries, points, row_pointers.data(), index.data(), distance.data()};
  }
};

/// The k nearest other rows of every row of `points` [N x D], N >= 0, D >= 1, any row stride; 1 <= k <= N - 1 (k >= 1
/// for N <= 1). A point is excluded from its list by its index, so its duplicates are in the list, at distance 0.
///
/// Storage is float, double, half or bfloat16; 16-bit coordinates are computed as floats. Distances have the bits of
/// hdbscan::core_distances() and of poincare::distances(). Equal pairs are ordered by index. Euclidean pairs are
/// compared by their squares and those of the ball by t (see metric::poincare): different squares of one root are in
/// their own order. Same bits on every device and for any number of threads.
///
/// Throws InvalidArgument (N over 2^31 - 1025, D < 1, k or curvature out of range), OutOfMemory, DeviceError. Cost:
/// about N log N if the tree pays, at most N^2 D / 2 multiply-adds on the host and N^2 D on a device. Memory: two
/// copies of the points for a moment, and 8 (float) or 12 (double) bytes per neighbour beyond the result, in many
/// dimensions three times that.
template <class Storage>
nearest_result<accumulator_t<Storage>> nearest(matrix_view<const Storage> points, std::int64_t k,
                                               const options& settings = {}, const Device& device = Device::best());

/// The k nearest rows of `points` [N x D] of every row of `queries` [Q x D], 1 <= k <= N. Everything else as above.
template <class Storage>
nearest_result<accumulator_t<Storage>> nearest(matrix_view<const Storage> queries, matrix_view<const Storage> points,
                                               std::int64_t k, const options& settings = {},
                                               const Device& device = Device::best());

/// All other rows of `points` [N x D] at a distance <= radius of every row; radius >= 0 and finite. Columns ascend; a
/// point is not its own neighbour, its duplicates are. Symmetric, bit for bit. Errors as above. Cost: two searches of
/// the tree, at most 2 N^2 D multiply-adds. Memory: that of the points twice, and of the result once more.
template <class Storage>
radius_result<accumulator_t<Storage>> within_radius(matrix_view<const Storage> points, double radius,
                                                    const options& settings = {},
                                                    const Device& device = Device::best());

/// The rows of `points` [N x D] at a distance <= radius of every row of `queries` [Q x D].
template <class Storage>
radius_result<accumulator_t<Storage>> within_radius(matrix_view<const Storage> queries,
                                                    matrix_view<const Storage> points, double radius,
                                                    const options& settings = {},
                                                    const Device& device = Device::best());

}  // namespace quintet::neighbours
