// The k nearest points of the Poincare ball, without the matrix of distances.
//
//   auto found = quintet::poincare::nearest<float>({queries, q, dim}, {points, n, dim}, 10);
//   found.index[i * found.k + e], found.distance[i * found.k + e]
//   nearest(queries, points, index, distance);   // into matrices of the caller, of the host or of a device
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
  /// any number of points fits. 256 MiB is far beyond every cache, and little compared with a GPU's memory.
  std::int64_t budget_bytes = std::int64_t(256) << 20;
};

/// The k nearest points of every query, in host memory.
template <class Real>
struct neighbours {
  ///@{
  /// Q, and neighbours per query.
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
/// distances are those of distances(); but in float, points less than about 2^-83 / sqrt(c) apart lose digits, and
/// below 2^-94 / sqrt(c) all are equally near. (For curvature 0, differences have to lie between 1e-18 and 1e18.)
/// Points that are not inside are nobody's neighbours and have none.
/// Throws InvalidArgument as distances() does, for k out of range, a negative budget, and with exclude_self for Q != N;
/// OutOfMemory, DeviceError. Memory beyond input and result: nearest_workspace_bytes(). Cost: Q N (2 D + 4) operations;
/// in few dimensions (at most 32) a tree of blocks of points is searched where a sample shows that it pays.
template <class Storage, class = only_storage<Storage>>
neighbours<accumulator_t<Storage>> nearest(matrix_view<const Storage> queries, matrix_view<const Storage> points,
                                           std::int64_t k, const nearest_options& options = {},
                                           const Device& device = Device::best());
/// \overload
template <matrix_argument Queries, matrix_argument Points>
neighbours<accumulator_t<element_of<Queries>>> nearest(const Queries& queries, const Points& points, std::int64_t k,
                                                       const nearest_options& options = {},
                                                       const Device& device = Device::best()) {
  return nearest<element_of<Queries>>(matrix_of(queries), matrix_of(points), k, options, device);
}

/// The same into `index` and `distance` [Q x k], on the host or on a device: k is the number of their columns.
template <class Storage, class = only_storage<Storage>>
point_report nearest(matrix_view<const Storage> queries, matrix_view<const Storage> points,
                     matrix_view<std::int64_t> index, matrix_view<accumulator_t<Storage>> distance,
                     const nearest_options& options = {}, const Device& device = Device::best());
/// \overload
template <matrix_argument Queries, matrix_argument Points, matrix_argument Index, matrix_argument Distance>
point_report nearest(const Queries& queries, const Points& points, Index&& index, Distance&& distance,
                     const nearest_options& options = {}, const Device& device = Device::best()) {
  return nearest<element_of<Queries>>(matrix_of(queries), matrix_of(points), matrix_of(index), matrix_of(distance),
                                      options, device);
}

/// Upper bound of the memory that nearest() takes beyond its input and its result, in bytes, for Q and N rows of `dim`
/// coordinates. Throws InvalidArgument for sizes that nearest() refuses, and for such that the bytes cannot be counted.
/// O(1).
template <class Storage, class = only_storage<Storage>>
std::int64_t nearest_workspace_bytes(std::int64_t queries, std::int64_t points, std::int64_t dim, std::int64_t k,
                                     const nearest_options& options = {}, const Device& device = Device::best());

}  // namespace quintet::poincare
