// HDBSCAN of distances instead of points: a full matrix, or a sparse graph of known distances.
//
// The functions read the distances and never change them. Infinity means that there is no edge. Unconnected parts join
// at height +infinity, and result.components counts them.
#pragma once

#include <cstdint>
#include <span>

#include "quintet/core/any_view.hpp"
#include "quintet/hdbscan/hdbscan.hpp"

namespace quintet::hdbscan {

/// A weighted graph of `points` nodes in compressed rows: the neighbours of i are columns[e], at distance values[e],
/// for row_begin[i] <= e < row_begin[i + 1]. Undirected: an edge may be stored in one direction or in both.
template <class Real>
struct csr_graph {
  std::int64_t points = 0;                  ///< number of nodes, >= 0
  std::span<const std::int64_t> row_begin;  ///< points + 1
  std::span<const std::int64_t> columns;    ///< in [0, points); any order within a row
  std::span<const Real> values;             ///< >= 0; +infinity = no edge; of a node with itself 0 or rounding
};

/// The k-th smallest distance of every point to another one; +infinity where fewer than k are finite.
///
/// `distances` [N x N] is symmetric, >= 0. Where mirror images differ by rounding (by less than 1000 epsilons of the
/// larger and of the largest finite one) the smaller counts. The diagonal does not count; it may hold rounding (less
/// than sqrt(epsilon) of the largest finite distance), NaN or infinity. Throws InvalidArgument with the entry that
/// breaks this, for a matrix that is not square, and for options.min_samples out of range. options.distance is not
/// used.
///
/// Cost: O(N^2): the matrix is read twice, as often as a number has bits for k > 64. Memory: up to 64 numbers per
/// point; on an offload device, and where mirror images differ, the matrix as well.
///
/// Distances are float or double. Into N values of their type.
core_summary core_distances_of_into(any_matrix distances, any_output_vector out, const core_options& options = {},
                                    const Device& device = Device::best());
/// Into memory of the result.
template <storage_type Real>
core_result<Real> core_distances_of(matrix_view<const Real> distances, const core_options& options = {},
                                    const Device& device = Device::best()) {
  core_result<Real> result;
  result.distances.resize(distances.rows());
  static_cast<core_summary&>(result) = core_distances_of_into(distances, result.distances, options, device);
  return result;
}
/// The same of every matrix type.
template <matrix_argument Distances>
auto core_distances_of(const Distances& distances, const core_options& options = {},
                       const Device& device = Device::best()) {
  using Real = element_of<Distances>;
  return core_distances_of<Real>(matrix_view<const Real>(matrix_of(distances)), options, device);
}

/// The minimum spanning tree (forest, where infinity separates) of the mutual reachability of given distances: edges of
/// finite weight, u < v, sorted by (weight, u, v); unique. options.distance is not used.
/// Throws InvalidArgument as core_distances_of() does, and for alpha out of range. Cost: O(N^2) (Prim 1957) in N
/// launches; memory O(N), on an offload device the matrix as well.
spanning_tree_result spanning_tree_of(any_matrix distances, const spanning_tree_options& options = {},
                                      const Device& device = Device::best());

/// The same for a sparse graph. A point with fewer than k neighbours has core distance +infinity and is unconnected. If
/// an edge is stored several times, with values that differ by rounding as above, the smallest counts. Loops (i, i) of
/// value 0 or infinity do not count.
///
/// Throws InvalidArgument for options out of range, offsets that do not increase, a column out of range, a loop of
/// another value, or a value that is negative or NaN. It also throws if an edge is stored twice with different values.
/// Cost: O(E log E) (Kruskal 1956), memory 24 bytes per entry, 16 an edge and about 40 per point.
template <class Real>
spanning_tree_result spanning_tree_of(const csr_graph<Real>& graph, const spanning_tree_options& options = {});

/// HDBSCAN of given distances; see cluster(). options.distance is not used. Throws as spanning_tree_of() and
/// check_options() do. Cost and memory: those of spanning_tree_of() and cluster_tree().
cluster_result cluster_distances(any_matrix distances, const cluster_options& options = {},
                                 const Device& device = Device::best());

/// HDBSCAN of a sparse graph of distances; options.distance is not used. Errors, cost and memory likewise.
template <class Real>
cluster_result cluster_graph(const csr_graph<Real>& graph, const cluster_options& options = {});

}  // namespace quintet::hdbscan
