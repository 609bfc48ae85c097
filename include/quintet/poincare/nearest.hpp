// The k nearest points of the Poincare ball, without the matrix of distances.
//
//   auto found = quintet::poincare::nearest(queries, points, 10);
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
  std::vector<std::int64_t> index;  ///< [queries][k], by (distance, index); -1 where there are fewer
  std::vector<Real> distance;       ///< [queries][k], ascending; NaN where index is -1
  point_report report;              ///< of both arguments
};

/// Throws InvalidArgument for k out of range and for a negative budget: the checks of nearest() before it allocates.
void check_neighbours(std::int64_t k, std::int64_t points, const nearest_options& options);

/// For every row of `queries` [Q x D] the k nearest rows of `points` [N x D], 1 <= k <= N (N - 1 with exclude_self).
///
/// Pairs are compared by t of distances.hpp, which grows with the distance; asinh is taken of few of them. Results are
/// exact: they have the distances of distances() and the order of (distance, index), with the same bits for any number
/// of threads, any budget and any device. Points that are not inside have no neighbours and are no point's neighbour.
///
/// Throws InvalidArgument as distances() does, for k out of range, a negative budget, and with exclude_self for Q != N;
/// OutOfMemory, DeviceError. Cost: Q N (2 D + 4) operations, twice for queries with several points at the k-th
/// distance. In few dimensions (at most 32) a tree of blocks of points is searched if a sample shows that it pays.
/// Memory beyond input and result: nearest_workspace_bytes().
///
/// Into `index` and `distance` [Q x k], on the host or on a device: k is the number of their columns.
point_report nearest(any_matrix queries, any_matrix points, matrix_view<std::int64_t> index, any_output_matrix distance,
                     const nearest_options& options = {}, const Device& device = Device::best());
/// Into any matrix of std::int64_t.
template <matrix_argument Index>
point_report nearest(any_matrix queries, any_matrix points, Index&& index, any_output_matrix distance,
                     const nearest_options& options = {}, const Device& device = Device::best()) {
  return nearest(queries, points, matrix_view<std::int64_t>(matrix_of(index)), distance, options, device);
}
/// Into memory of the result.
template <storage_type Storage>
neighbours<accumulator_t<Storage>> nearest(matrix_view<const Storage> queries, any_matrix points, std::int64_t k,
                                           const nearest_options& options = {}, const Device& device = Device::best()) {
  check_neighbours(k, points.rows, options);
  const std::int64_t n = queries.rows();
  neighbours<accumulator_t<Storage>> result{
      n, k, std::vector<std::int64_t>(n * k), std::vector<accumulator_t<Storage>>(n * k), {}};
  result.report = nearest(queries, points, matrix_view<std::int64_t>(result.index.data(), n, k),
                          {result.distance.data(), n, k}, options, device);
  return result;
}
/// The same of every matrix type.
template <matrix_argument Queries>
auto nearest(const Queries& queries, any_matrix points, std::int64_t k, const nearest_options& options = {},
             const Device& device = Device::best()) {
  return nearest<element_of<Queries>>(matrix_view<const element_of<Queries>>(matrix_of(queries)), points, k, options,
                                      device);
}

/// Upper bound of the memory that nearest() takes beyond its input and its result, in bytes, for Q and N rows of `dim`
/// coordinates of `type`. Throws InvalidArgument for sizes that nearest() refuses, and if the number of bytes
/// overflows. O(1).
std::int64_t nearest_workspace_bytes(scalar_type type, std::int64_t queries, std::int64_t points, std::int64_t dim,
                                     std::int64_t k, const nearest_options& options = {},
                                     const Device& device = Device::best());

}  // namespace quintet::poincare
