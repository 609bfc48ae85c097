// The k nearest points of the Poincare ball, without the matrix of distances.
//
//   auto found = quintet::poincare::nearest<float>({queries, q, dim}, {points, n, dim}, 10);
//   found.index[i * found.k + e], found.distance[i * found.k + e]
#pragma once

#include "quintet/poincare/distances.hpp"

namespace quintet::poincare {

/// Which ball, which pairs, and how much memory.
struct nearest_options {
  double curvature = -1;  ///< -c <= 0; 0 or of a magnitude in [1e-30, 1e30]
  bool strict = false;    ///< throw for points that are not inside
  /// queries and points are the same rows, and a row is not its own neighbour (its duplicates are).
  bool exclude_self = false;
  /// Points are packed and searched in pieces of at most this many bytes of panels (>= 0, at least one tile), so that
  /// any number of points fits. 256 MiB is far beyond every cache, and little beside a GPU's memory.
  std::int64_t budget_bytes = std::int64_t(256) << 20;
};

/// The k nearest points of every query, in host memory.
template <class Real>
struct neighbours {
  ///@{
  /// Q, and neighbours a query.
  std::int64_t queries = 0, k = 0;
  ///@}
  std::vector<std::int64_t> index;  ///< [queries][k], by (distance, index); -1 where there are not so many
  std::vector<Real> distance;       ///< [queries][k], ascending; NaN where index is -1
  point_report report;              ///< of both arguments
};

/// For every row of `queries` [Q x D] the k nearest rows of `points` [N x D], 1 <= k <= N (N - 1 with exclude_self).
///
/// Pairs are compared by t of distances.hpp, which grows with the distance; asinh is taken of the winners only. Equal t
/// are ordered by index. Results are exact, the same bits for any number of threads, any budget and any device, and the
/// distances are those of distances(). Points that are not inside are nobody's neighbours and have none.
/// Throws InvalidArgument as distances() does, for k out of range, a negative budget, and with exclude_self for Q != N;
/// OutOfMemory, DeviceError. Memory beyond input and result: nearest_workspace_bytes(). Cost: Q N (2 D + 4) operations.
template <class Storage>
neighbours<accumulator_t<Storage>> nearest(any_rows<const Storage> queries, any_rows<const Storage> points,
                                           std::int64_t k, const nearest_options& options = {},
                                           const Device& device = Device::best());

/// The same where it was computed.
template <class Real>
struct neighbours_on_device {
  ///@{
  /// Q, and neighbours a query.
  std::int64_t queries = 0, k = 0;
  ///@}
  Buffer<std::int64_t> index;  ///< [queries][k], as in neighbours
  Buffer<Real> distance;       ///< [queries][k], as in neighbours
  point_report report;         ///< of both arguments, in host memory
};

/// nearest() whose result stays on the device: 8 + sizeof(Real) bytes a neighbour there. Errors and cost of nearest().
template <class Storage>
neighbours_on_device<accumulator_t<Storage>> nearest_on_device(any_rows<const Storage> queries,
                                                               any_rows<const Storage> points, std::int64_t k,
                                                               const nearest_options& options = {},
                                                               const Device& device = Device::best());

/// Upper bound of the memory that nearest() takes beyond its input and its result, in bytes, for Q and N rows of `dim`
/// coordinates. Throws InvalidArgument for sizes that nearest() refuses, and for such that the bytes cannot be counted.
/// O(1).
template <class Storage>
std::int64_t nearest_workspace_bytes(std::int64_t queries, std::int64_t points, std::int64_t dim, std::int64_t k,
                                     const nearest_options& options = {}, const Device& device = Device::best());

}  // namespace quintet::poincare
