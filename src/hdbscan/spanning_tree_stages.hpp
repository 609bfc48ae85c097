// The stages of a spanning tree after the order of its points: lists, bounds, rounds, edges. One text for a single
// process and for several.
#pragma once

#include <cstdint>
#include <vector>

#include "hdbscan/edge_search.hpp"
#include "quintet/core/profile.hpp"
#include "quintet/hdbscan/spanning_tree.hpp"

namespace quintet::hdbscan {

/// Entries of a list beyond the k-th: they settle most rows in the first rounds. Measured on clustered unit vectors.
constexpr std::int64_t spare_neighbours = 11;
/// The same where a tree of blocks is searched: later rounds cost less there, and lists are half of all memory. Of 3 to
/// 9 entries, 5 were as fast as any for 10 neighbours in 2, 3, 5 and 8 dimensions; for 5 in two, 7 took a tenth less.
constexpr std::int64_t spare_in_trees = 5;

/// Memory for each of the tables that say what tiles need not be looked at again: 32 MiB, or a quarter of what the
/// points take, if that is more.
constexpr std::int64_t bound_table_bytes(std::int64_t point_bytes) {
  const std::int64_t min = std::int64_t(32) << 20;
  return point_bytes / 4 > min ? point_bytes / 4 : min;
}

/// The weight of an edge for any alpha: of core distances, and of the reduced distance of its ends.
template <class Real>
double edge_weight(double core_u, double core_v, Real reduced, double alpha,
                   const pairwise::reduced_metric<Real>& metric) {
  return pairwise::mutual_reachability(Real(core_u), Real(core_v), metric.distance(reduced) / Real(alpha));
}

/// Reduced core distances multiplied by alpha: what weights are compared with.
template <class Real>
std::vector<Real> scaled_cores(std::vector<Real> core, double alpha, const pairwise::reduced_metric<Real>& metric);

/// What the lists of a tree are asked for.
struct list_lengths {
  int length;  ///< of the lists
  int exact;   ///< entries that have to be the nearest
};

/// The result of a tree of the rows [rows x dim] of `type` as it is known before the lists.
spanning_tree_result begin_result(const spanning_tree_options& options, scalar_type type, std::int64_t rows,
                                  std::int64_t dim, std::vector<std::int64_t> invalid_rows, const Device& device);

list_lengths lengths_of(const spanning_tree_result& begun, std::int64_t valid);

/// Fills `result`: edges and core distances in process 0 alone. Ends `neighbours_region` after the bounds. Collective.
template <class Real>
void run_stages(process_group& group, edge_search<Real>& search, tree_checkpoints<Real>& saved,
                const spanning_tree_options& options, progress& report, stage_region& neighbours_region,
                spanning_tree_result& result);

}  // namespace quintet::hdbscan
