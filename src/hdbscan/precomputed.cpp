#include "quintet/hdbscan/precomputed.hpp"

#include "core/seconds.hpp"
#include "hdbscan/checks.hpp"
#include "hdbscan/finish.hpp"
#include "hdbscan/prim.hpp"
#include "hdbscan/row_selection.hpp"
#include "hdbscan/symmetric_check.hpp"

namespace quintet::hdbscan {

template <class Real>
core_result<Real> core_distances_of(matrix_view<const Real> distances, const core_options& options) {
  check_distances(distances);
  core_result<Real> result;
  result.neighbours = neighbour_count(options, distances.rows());
  result.clamped = is_clamped(options, result.neighbours);
  result.distances.assign(distances.rows(), 0);
  if (result.neighbours > 0) result.distances = kth_smallest_of_rows(distances, result.neighbours);
  return result;
}

template <class Real>
spanning_tree_result spanning_tree_of(matrix_view<const Real> distances, const spanning_tree_options& options) {
  check_alpha<Real>(options.alpha);
  const double start = seconds_now();
  const core_result<Real> core = core_distances_of(distances, options);
  spanning_tree_result result;
  result.core_distances.assign(core.distances.begin(), core.distances.end());
  result.neighbours = core.neighbours;
  result.clamped = core.clamped;
  const double middle = seconds_now();
  result.neighbours_seconds = middle - start;
  result.edges = prim_edges(distances, core.distances, Real(options.alpha));
  result.tree_seconds = seconds_now() - middle;
  return result;
}

template <class Real>
cluster_result cluster_distances(matrix_view<const Real> distances, const cluster_options& options) {
  return finish_clustering(spanning_tree_of(distances, spanning_tree_part(options)), distances.rows(), options);
}

#define QUINTET_INSTANTIATE(Real)                                                                        \
  template core_result<Real> core_distances_of(matrix_view<const Real>, const core_options&);            \
  template spanning_tree_result spanning_tree_of(matrix_view<const Real>, const spanning_tree_options&); \
  template cluster_result cluster_distances(matrix_view<const Real>, const cluster_options&);
QUINTET_INSTANTIATE(float)
QUINTET_INSTANTIATE(double)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::hdbscan
