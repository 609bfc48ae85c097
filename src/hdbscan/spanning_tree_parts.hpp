// What a spanning tree is made of, on one rank or on several.
#pragma once

#include <cstdint>
#include <vector>

#include "hdbscan/boruvka.hpp"
#include "pairwise/metric.hpp"
#include "quintet/hdbscan/edge.hpp"

namespace quintet::hdbscan {

/// Entries of a list beyond the k-th: they settle most rows in the first rounds. Measured on clustered unit vectors.
constexpr std::int64_t spare_neighbours = 11;

/// Memory for each of the tables that tell what tiles need not be looked at again: 32 MiB, or a quarter of what the
/// points take, if that is more.
constexpr std::int64_t bound_table_bytes(std::int64_t point_bytes) {
  const std::int64_t min = std::int64_t(32) << 20;
  return point_bytes / 4 > min ? point_bytes / 4 : min;
}

/// Reduced core distances multiplied by alpha: what weights are compared with.
template <class Real>
std::vector<Real> scaled_cores(std::vector<Real> core, double alpha, const pairwise::reduced_metric<Real>& metric);

/// Edges between the caller's points in the order of `packed`; their weights are right for alpha = 1.
template <class Real>
std::vector<edge> edges_of(const std::vector<packed_edge<Real>>& packed, const std::vector<std::int32_t>& order,
                           const pairwise::reduced_metric<Real>& metric);

/// The weight of an edge for any alpha: of core distances, and of the reduced distance of its ends.
template <class Real>
double edge_weight(double core_u, double core_v, Real reduced, double alpha,
                   const pairwise::reduced_metric<Real>& metric) {
  return pairwise::mutual_reachability(Real(core_u), Real(core_v), metric.distance(reduced) / Real(alpha));
}

}  // namespace quintet::hdbscan
