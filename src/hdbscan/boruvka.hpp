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
#include <optional>
#include <vector>

#include "hdbscan/boruvka_kernel.hpp"
#include "hdbscan/tile_strips.hpp"
#include "hdbscan/tile_waves.hpp"
#include "pairwise/neighbours.hpp"
#include "pairwise/panels.hpp"
#include "pairwise/rounded_points.hpp"
#include "pairwise/sinks.hpp"
#include "pairwise/tree_search.hpp"

namespace quintet::hdbscan {

/// An edge between packed points; `first` has the smaller original number. Without an edge both are -1.
template <class Real>
struct packed_edge {
  Real weight = std::numeric_limits<Real>::infinity();
  std::int32_t first = -1, second = -1;
};

/// The blocks that a process looks at; see edge_bounds. With a tree: its leaves, and nothing of visitors.
template <class Real>
struct rank_part {
  bool is_whole = true;                     ///< all of them, and what follows is empty
  std::vector<std::int32_t> own, visitors;  ///< blocks, in the order of their places
  std::vector<std::int32_t> list_point;     ///< of every list, the point
  Buffer<Real> visiting_minima;             ///< [visiting point][group of own blocks]; may be empty
  std::int64_t visiting_groups = 0, visiting_blocks_per_group = 1;
  ///@{
  /// Pairs of an own block and a visitor, from these places on, that another rank looks at.
  std::int64_t shared_row = std::numeric_limits<std::int64_t>::max(), shared_place = 0;
  ///@}
};

/// An edge as ranks compare them: by words, as signed numbers. The bits of a weight that is not negative are in the
/// order of weights, so is the pair of ends.
template <class Real>
struct edge_record;
template <>
struct edge_record<float> {
  using word = std::int32_t;
  std::int32_t weight, u, v;
};
template <>
struct edge_record<double> {
  using word = std::int64_t;
  std::int64_t weight, ends;
};
/// Infinity where there is no edge.
template <class Real>
Real weight_of(const edge_record<Real>& e);

/// Where the rounds are: by packed point, the same on every rank.
template <class Real>
struct round_state {
  std::vector<std::int32_t> component;
  std::vector<edge_key> tree_edge;
  std::vector<Real> tree_weight;
  std::int64_t joined = 0;
};

/// What the rounds work on, in memory of one device. Arrays of points unless said otherwise.
template <class Real>
struct boruvka_memory {
  std::int64_t count, side;
  std::int64_t blocks;       ///< of tiles; 0 with a tree
  std::int64_t own, places;  ///< blocks with own ones first; both are `blocks` unless there are other ranks
  std::int64_t nodes;        ///< of the tree; 0 without one
  tile_strips strips;
  Buffer<Real> core;
  Buffer<std::int32_t> original;
  Buffer<std::int32_t> packed_of;  ///< by the caller's number
  Buffer<Real> outside;
  Buffer<std::int32_t> place, block_at, list_point;  ///< see edge_bounds and boruvka_state; empty on a single rank
  Buffer<std::int32_t> list_first{};                 ///< [list], see boruvka_state
  Buffer<std::int32_t> own_leaf;                     ///< of one rank of several, with a tree
  Buffer<Real> tree_weight{count, core.device()};
  Buffer<std::int32_t> component{count, core.device()}, parent{count, core.device()}, root{count, core.device()};
  Buffer<weight_key<Real>> best_weight{count, core.device()}, committed_weight{count, core.device()};
  Buffer<edge_key> best_edge{count, core.device()}, tree_edge{count, core.device()};
  Buffer<Real> cell_bound{strips.cells(), core.device()};
  Buffer<Real> tile_bound{strips.max_tiles(), core.device()};   ///< of a strip
  Buffer<Real> useful_bound{tile_bound.size(), core.device()};  ///< the same, of those that may be of use
  Buffer<Real> block_outside{blocks, core.device()};            ///< [block]
  Buffer<std::int32_t> block_component{blocks, core.device()};
  Buffer<Real> found_weight{nodes > 0 ? count : 0, core.device()}, node_core{nodes, core.device()};
  Buffer<std::int32_t> found_target{nodes > 0 ? count : 0, core.device()}, node_component{nodes, core.device()};
  /// Edges joined; tiles, or rows of tiles, scanned.
  Buffer<std::int64_t> counters{2, core.device()};
  Buffer<std::int64_t> below_roots{1, core.device()};  ///< components on their way

  boruvka_state<Real> state(pairwise::device_neighbours<Real>& lists);
};

/// No edge from a point outside its list is lighter: the longest entry or the core distance, of every point. `last` is
/// that entry, `count` the number of points; a list of all others leaves nothing out.
template <class Real>
std::vector<Real> lower_bounds_outside_list(const std::vector<Real>& core, const std::vector<Real>& last, int k,
                                            std::int64_t count);

/// Packed visitors, in memory of the rounds' device.
template <class Real>
struct visiting_panels {
  std::vector<std::int32_t> panel;  ///< by place after the own blocks: the number among `data`; -1: not there
  Buffer<Real> data, factor;
};

template <class Real>
class boruvka {
 public:
  /// `core`: reduced core distances of the packed points, multiplied by alpha; `outside`: see
  /// lower_bounds_outside_list(). `lists` have a table of minima, unless there is a `tree` over the panels, which is
  /// searched then instead of tiles of all pairs. With a `part` of the blocks `panels` and `lists` are of its own
  /// blocks, all else is of all points; with a `tree` the panels too.
  boruvka(const pairwise::panels<Real>& panels, pairwise::device_neighbours<Real> lists, const std::vector<Real>& core,
          const std::vector<Real>& outside, const std::vector<std::int32_t>& original, rank_part<Real> part = {},
          const pairwise::block_tree<Real>* tree = nullptr, const bound_limits& limits = {});

  /// Tiles are looked at through the rounded points of the panels, which have to outlive this: float, and no visitors.
  void use_filter(const pairwise::rounded_points* filter) { filter_ = filter; }

  ///@{
  /// The steps of a round, see rounds.hpp. In every process: relax_lists(), then for each of tile_passes()
  /// find_useful_tiles() and scan() of useful_tiles(), or relax_leaves() where a tree replaces the tiles, then
  /// join_components(). take_best() of the least best() of all processes comes after each of them but the last.
  void relax_lists();
  void relax_leaves();
  /// 0 with a tree; 2 where the first pass is one of few tiles.
  int tile_passes() const;
  /// Begins with the tiles that may hold an edge that comes before a component's best one: what useful_tiles() gives.
  /// `first_only`: an eighth of them or so.
  void find_useful_tiles(bool first_only);
  /// The next of them, strip by strip those with the smallest bounds first; none at the end. The row of a tile is an
  /// own block. They have to be scanned before the next call.
  std::vector<pairwise::tile_index> useful_tiles();
  void scan(const std::vector<pairwise::tile_index>& tiles, const visiting_panels<Real>* visitors = nullptr);
  /// How many tiles scan() is best given at a time when `done` of the round are done.
  std::int64_t tiles_per_scan(std::int64_t scanned) const;
  /// The best edges so far of all components, in the order of components; the largest words where there is none.
  std::vector<edge_record<Real>> best() const;
  void take_best(const std::vector<edge_record<Real>>& best);
  /// Returns the number of edges in the tree, joined().
  std::int64_t join_components();
  ///@}
  /// The edges of the tree so far, in no particular order.
  std::vector<packed_edge<Real>> tree() const;
  ///@{
  /// To go on later from where the rounds are, or from components of the caller's, each named by the first of its
  /// points. Bounds are not part of it: others may be looser, and cost time alone.
  round_state<Real> state() const;
  void restore(const round_state<Real>& state);
  ///@}
  std::int64_t points() const { return memory_.count; }
  std::int64_t joined() const { return joined_; }  ///< edges in the tree
  std::int64_t tiles_scanned() const { return memory_.counters.to_vector()[1]; }

 private:
  template <class Function>
  void for_each_point(const Function& f) const;
  /// The two passes over lists: of weights, and of the edges that have them.
  template <class Weights, class Edges>
  void relax_lists_by(const Weights& weights, const Edges& edges);
  bool begin_strip();
  void end_strip();
  cell_bounds<Real> cells();
  std::int64_t jump_to_roots();

  const pairwise::panels<Real>& panels_;
  const pairwise::block_tree<Real>* tree_;
  const pairwise::rounded_points* filter_ = nullptr;
  pairwise::device_neighbours<Real> lists_;
  std::vector<std::int32_t> packed_of_;  ///< by the caller's number
  rank_part<Real> part_;
  boruvka_memory<Real> memory_;
  std::vector<Real> bounds_;               ///< of the tiles of a strip, a copy on the host
  std::optional<tile_waves<Real>> waves_;  ///< of the strip
  std::int64_t strip_ = 0;                 ///< whose tiles come now
  std::int64_t joined_ = 0;
  bool is_in_strip_ = false, first_only_ = false, is_again_ = false;
  boruvka_state<Real> state_;
};

}  // namespace quintet::hdbscan
