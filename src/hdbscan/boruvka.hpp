// Boruvka's rounds over neighbour lists and pruned tiles. See quintet/hdbscan/spanning_tree.hpp for the idea.
//
// Weights are surrogates (pairwise/metric.hpp). Points are numbered as they are packed; `original` holds the caller's
// numbers, which break ties: the order of edges is (weight, smaller number, larger number).
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "hdbscan/disjoint_sets.hpp"
#include "pairwise/neighbours.hpp"
#include "pairwise/panels.hpp"
#include "pairwise/sinks.hpp"
#include "quintet/core/progress.hpp"
#include "quintet/hdbscan/spanning_tree.hpp"

namespace quintet::hdbscan {

/// An edge between packed points; `first` has the smaller original number.
template <class Real>
struct packed_edge {
  Real weight = std::numeric_limits<Real>::infinity();
  std::int32_t first = -1, second = -1;
};

template <class Real>
class boruvka {
 public:
  /// `core`: core distances of the packed points as surrogates, multiplied by alpha.
  boruvka(const pairwise::panels<Real>& panels, pairwise::neighbour_table<Real> table, std::vector<Real> core,
          const std::vector<std::int32_t>& original);

  /// The edges of the tree, in the order in which they were found.
  std::vector<packed_edge<Real>> run(spanning_tree_counters& counters, progress& report);

  /// For every component in [0, components) the edge that comes first among those that leave it. `component` tells
  /// that of every packed point. This is one round of run(), for components of the caller's.
  std::vector<packed_edge<Real>> lightest_leaving(std::vector<std::int32_t> component, std::int64_t components);

 private:
  static constexpr Real infinity = std::numeric_limits<Real>::infinity();

  void offer(std::int32_t component, Real weight, std::int32_t a, std::int32_t b);
  void offer_list_edges();
  void offer_found_edges();
  void offer_tile_edges(spanning_tree_counters& counters);
  void compute_block_bounds();
  bool is_active(std::int64_t point) const;
  bool is_inside_one_component(pairwise::tile_index tile) const;
  std::vector<Real> bounds_by_rows(std::int64_t block) const;
  Real bound_by_rows(std::int64_t block, std::int64_t other) const;
  std::vector<pairwise::tile_index> useful_tiles() const;
  void scan(const std::vector<pairwise::tile_index>& tiles);
  void take_lines(std::int64_t block, std::int64_t other, const Real* weight, const std::int32_t* target);
  void join_components(std::vector<packed_edge<Real>>& edges);
  std::int64_t components() const { return std::int64_t(best_.size()); }

  const pairwise::panels<Real>& panels_;
  pairwise::neighbour_table<Real> table_;
  std::vector<Real> core_;
  const std::vector<std::int32_t>& original_;
  std::int64_t blocks_;
  std::vector<Real> tile_bound_;  ///< [block][block]: no edge between them that leaves a component is lighter
  std::vector<Real> outside_;     ///< per point: no edge outside its list is lighter
  disjoint_sets sets_;
  std::vector<std::int32_t> component_;        ///< per point, 0 .. components - 1
  std::vector<packed_edge<Real>> best_;        ///< per component
  std::vector<packed_edge<Real>> found_;       ///< edges outside the lists that scans came upon, at most one a point
  std::vector<Real> block_outside_;            ///< per block: the least outside_ of its points
  std::vector<std::int32_t> block_component_;  ///< per block: the component of all its points, or -1
};

}  // namespace quintet::hdbscan
