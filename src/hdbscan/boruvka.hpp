// Boruvka's rounds over neighbour lists and pruned tiles. See quintet/hdbscan/spanning_tree.hpp for the idea.
//
// Lists, bounds and components stay on the device. In every round the host gets the bounds of pairs of blocks, says in
// what order their tiles are looked at, and learns how many components were joined.
//
// Weights are reduced distances (pairwise/metric.hpp). Points are numbered as they are packed; `original` holds the
// caller's numbers, which break ties: the order of edges is (weight, smaller number, larger number).
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "hdbscan/boruvka_kernel.hpp"
#include "pairwise/neighbours.hpp"
#include "pairwise/panels.hpp"
#include "pairwise/sinks.hpp"
#include "pairwise/tree_search.hpp"
#include "quintet/core/progress.hpp"
#include "quintet/hdbscan/spanning_tree.hpp"

namespace quintet::hdbscan {

/// An edge between packed points; `first` has the smaller original number. Without an edge both are -1.
template <class Real>
struct packed_edge {
  Real weight = std::numeric_limits<Real>::infinity();
  std::int32_t first = -1, second = -1;
};

/// What the rounds work on, in memory of one device. Arrays of points unless said otherwise.
template <class Real>
struct boruvka_memory {
  std::int64_t count, side;
  std::int64_t blocks;  ///< of tiles; 0 with a tree
  std::int64_t nodes;   ///< of the tree; 0 without one
  Buffer<Real> core;
  Buffer<std::int32_t> original;
  Buffer<std::int32_t> packed_of;  ///< by the caller's number
  Buffer<Real> outside{count, core.device()}, tree_weight{count, core.device()};
  Buffer<std::int32_t> component{count, core.device()}, parent{count, core.device()}, root{count, core.device()};
  Buffer<weight_key<Real>> best_weight{count, core.device()}, committed_weight{count, core.device()};
  Buffer<edge_key> best_edge{count, core.device()}, tree_edge{count, core.device()};
  Buffer<Real> tile_bound{blocks * blocks, core.device()};    ///< [block][block]
  Buffer<Real> block_bounds{blocks * blocks, core.device()};  ///< [block][block]
  Buffer<Real> block_outside{blocks, core.device()};          ///< [block]
  Buffer<std::int32_t> block_component{blocks, core.device()};
  Buffer<Real> found_weight{nodes > 0 ? count : 0, core.device()}, node_core{nodes, core.device()};
  Buffer<std::int32_t> found_target{nodes > 0 ? count : 0, core.device()}, node_component{nodes, core.device()};
  Buffer<std::int64_t> counters{2, core.device()};  ///< edges joined; tiles, or rows of tiles, scanned

  boruvka_state<Real> state(pairwise::device_neighbours<Real>& lists);
};

template <class Real>
class boruvka {
 public:
  /// `core`: reduced core distances of the packed points, multiplied by alpha. `lists` have a table of minima, unless
  /// there is a `tree` over the panels, which is searched then instead of tiles of all pairs.
  boruvka(const pairwise::panels<Real>& panels, pairwise::device_neighbours<Real> lists, const std::vector<Real>& core,
          const std::vector<std::int32_t>& original, const pairwise::block_tree<Real>* tree = nullptr);

  /// The edges of the tree, in no particular order; counts rounds and tiles.
  std::vector<packed_edge<Real>> run(spanning_tree_counters& counters, progress& report);

  /// For every component in [0, components) the edge that comes first among those that leave it. `component` tells
  /// that of every packed point. This is one round of run(), for components of the caller's.
  std::vector<packed_edge<Real>> lightest_leaving(const std::vector<std::int32_t>& component, std::int64_t components);

 private:
  template <class Function>
  void for_each_point(const Function& f) const;
  void offer_lists();
  void offer_tiles();
  void offer_leaves();
  void offer_others();
  std::vector<pairwise::tile_index> useful_tiles();
  void scan(const std::vector<pairwise::tile_index>& tiles);
  void join_components();
  packed_edge<Real> unpacked(edge_key key, Real weight) const;
  std::vector<packed_edge<Real>> tree() const;

  const pairwise::panels<Real>& panels_;
  const pairwise::block_tree<Real>* tree_;
  pairwise::device_neighbours<Real> lists_;
  std::vector<std::int32_t> packed_of_;  ///< by the caller's number
  boruvka_memory<Real> memory_;
  boruvka_state<Real> state_;
};

}  // namespace quintet::hdbscan
