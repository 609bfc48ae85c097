// The steps of a round of Boruvka's algorithm, as functions of a point, an edge or a block; they run on the device.
//
// The lightest edge of a component is found by two atomic minima: of the weights, then, among the edges of that weight,
// of the numbers of their ends. Both are independent of the order in which edges come, so the tree is too.
#pragma once

#include <cstdint>
#include <limits>

#include "device/atomic.hpp"
#include "pairwise/block_tree.hpp"
#include "pairwise/edge_bounds.hpp"
#include "pairwise/triangle.hpp"

namespace quintet::hdbscan {

using pairwise::key_of;
using pairwise::weight_key;

/// An edge as a number: its ends as the caller numbers them, the smaller one in the upper half.
using edge_key = std::uint64_t;
constexpr edge_key no_edge = std::numeric_limits<edge_key>::max();

/// Raw pointers to memory of the device. Arrays are indexed by point; those of components by the point that stands for
/// it.
template <class Real>
struct boruvka_state {
  pairwise::edge_bounds<Real> bounds;
  int k = 0;
  const Real* list_value = nullptr;              ///< [list][k], ascending
  const std::int32_t* list_index = nullptr;      ///< [list][k], -1 where there is none
  std::int32_t* list_first = nullptr;            ///< [list]: the entries before it do not leave the point's component
  const std::int32_t* list_point = nullptr;      ///< whose list it is; null: lists are numbered as points
  const Real* core = nullptr;                    ///< reduced distances, scaled by alpha
  Real* outside = nullptr;                       ///< what bounds.outside points to
  const std::int32_t* original = nullptr;        ///< the caller's number
  const std::int32_t* packed_of = nullptr;       ///< by the caller's number
  edge_key* best_edge = nullptr;                 ///< per component, of weight bounds.best_weight
  weight_key<Real>* committed_weight = nullptr;  ///< per component: the weight that best_edge belongs to
  std::int32_t* parent = nullptr;                ///< per component: the one its best edge leads to
  std::int32_t* root = nullptr;                  ///< per component: the one it is joined to
  edge_key* tree_edge = nullptr;                 ///< per point: the edge by which the component it stood for was joined
  Real* tree_weight = nullptr;
  std::int64_t* joined = nullptr;  ///< number of edges in the tree

  std::int32_t point_of(std::int64_t list) const {
    return list_point == nullptr ? std::int32_t(list) : list_point[list];
  }

  bool leaves(std::int32_t a, std::int32_t b) const { return bounds.component[a] != bounds.component[b]; }

  edge_key key_of_ends(std::int32_t a, std::int32_t b) const {
    const auto u = std::uint32_t(original[a]), v = std::uint32_t(original[b]);
    return u < v ? edge_key(u) << 32 | v : edge_key(v) << 32 | u;
  }

  void relax_weight(std::int32_t a, std::int32_t b, Real weight) const {
    device::atomic_min(bounds.best_weight + bounds.component[a], key_of(weight));
    device::atomic_min(bounds.best_weight + bounds.component[b], key_of(weight));
  }

  void relax_edge(std::int32_t a, std::int32_t b, Real weight) const {
    const edge_key key = key_of_ends(a, b);
    const std::int32_t ends[2] = {bounds.component[a], bounds.component[b]};
    for (const std::int32_t component : ends)
      if (bounds.best_weight[component] == key_of(weight)) device::atomic_min(best_edge + component, key);
  }

  Real edge_weight(std::int32_t a, std::int32_t b, Real reduced) const {
    const Real core_of_both = core[a] > core[b] ? core[a] : core[b];
    return core_of_both > reduced ? core_of_both : reduced;
  }
};

/// Every point is a component: the first forest of Boruvka 1926.
template <class Real>
struct start_point {
  boruvka_state<Real> s;
  void operator()(std::int64_t i) const {
    s.bounds.component[i] = std::int32_t(i);
    s.tree_edge[i] = no_edge;
  }
};

/// The beginning of a step of Boruvka (1926): no component has an edge yet.
template <class Real>
struct reset_best {
  boruvka_state<Real> s;
  void operator()(std::int64_t c) const {
    s.bounds.best_weight[c] = pairwise::no_weight<Real>;
    s.committed_weight[c] = pairwise::no_weight<Real>;
    s.best_edge[c] = no_edge;
  }
};

/// After new weights: what was the best edge of a component with a lighter one now is none. The first of the two minima
/// of Boruvka's step (1926), in the total order of edges.
template <class Real>
struct commit_weight {
  boruvka_state<Real> s;
  void operator()(std::int64_t c) const {
    if (s.bounds.best_weight[c] == s.committed_weight[c]) return;
    s.committed_weight[c] = s.bounds.best_weight[c];
    s.best_edge[c] = no_edge;
  }
};

/// Relaxes the edges of a list: their weights first, then, in another pass, the edges of the smallest weights. Boruvka
/// 1926, on neighbour lists (McInnes, Healy 2017).
template <class Real, bool Weights>
struct relax_list {
  boruvka_state<Real> s;
  void operator()(std::int64_t i) const {
    // Components only grow: what does not leave one now never will.
    const std::int32_t first = s.list_first[i];
    if (first == s.k) return;
    const std::int32_t a = s.point_of(i);
    std::int32_t inside = first;
    if constexpr (Weights) {
      while (inside < s.k && s.list_index[i * s.k + inside] >= 0 && !s.leaves(a, s.list_index[i * s.k + inside]))
        ++inside;
      if (inside < s.k && s.list_index[i * s.k + inside] < 0) inside = s.k;
      if (inside > first) s.list_first[i] = inside;
    }
    for (int e = inside; e < s.k; ++e) {
      const std::int32_t b = s.list_index[i * s.k + e];
      if (b < 0) return;
      if (!s.leaves(a, b)) continue;
      const Real weight = s.edge_weight(a, b, s.list_value[i * s.k + e]);
      if constexpr (Weights)
        s.relax_weight(a, b, weight);
      else
        s.relax_edge(a, b, weight);
    }
  }
};

/// The same for the component of the list's point alone, where every point looks for what is in no list of its own: a
/// search in a tree. No entry behind one heavier than the component's best edge is of use, so that most lists of later
/// rounds end at once.
template <class Real, bool Weights>
struct relax_own_list {
  boruvka_state<Real> s;
  Real* lightest;  ///< per point: of the entries that leave its component and may be of use

  void operator()(std::int64_t i) const {
    const std::int32_t a = s.point_of(i), own = s.bounds.component[a];
    weight_key<Real>* const best = s.bounds.best_weight + own;
    if constexpr (Weights) {
      const weight_key<Real> weight = lightest_of(i, a, own, device::atomic_load(best));
      lightest[a] = pairwise::weight_of<Real>(weight);
      device::atomic_min(best, weight);
    } else if (key_of(lightest[a]) == *best) {
      relax_edges(i, a, own, *best);
    }
  }

 private:
  Real least(std::int32_t a, std::int64_t at) const {
    return s.core[a] > s.list_value[at] ? s.core[a] : s.list_value[at];
  }
  weight_key<Real> lightest_of(std::int64_t i, std::int32_t a, std::int32_t own, weight_key<Real> limit) const {
    weight_key<Real> least_weight = pairwise::no_weight<Real>;
    std::int32_t inside = s.list_first[i];
    for (std::int32_t e = inside; e < s.k; ++e) {
      const std::int64_t at = i * s.k + e;
      if (key_of(least(a, at)) > limit) break;
      const std::int32_t b = s.list_index[at];
      if (b < 0) break;
      if (s.bounds.component[b] == own) {
        inside += inside == e;
        continue;
      }
      const weight_key<Real> weight = key_of(s.edge_weight(a, b, s.list_value[at]));
      least_weight = weight < least_weight ? weight : least_weight;
      limit = weight < limit ? weight : limit;
    }
    s.list_first[i] = inside;
    return least_weight;
  }
  void relax_edges(std::int64_t i, std::int32_t a, std::int32_t own, weight_key<Real> best) const {
    for (std::int32_t e = s.list_first[i]; e < s.k; ++e) {
      const std::int64_t at = i * s.k + e;
      const std::int32_t b = s.list_index[at];
      if (b < 0 || key_of(least(a, at)) > best) return;
      if (s.bounds.component[b] != own && key_of(s.edge_weight(a, b, s.list_value[at])) == best)
        device::atomic_min(s.best_edge + own, s.key_of_ends(a, b));
    }
  }
};

/// Relaxes what a line of a scanned tile found. Boruvka 1926: candidates for the lightest outgoing edges of two
/// components.
template <class Real, bool Weights>
struct relax_line {
  boruvka_state<Real> s;
  const pairwise::tile_index* tiles;
  const Real* weight;
  const std::int32_t* target;

  void operator()(std::int64_t line) const {
    if (target[line] < 0) return;
    const std::int64_t side = s.bounds.side, tile = line / (2 * side), l = line % (2 * side);
    const auto a = std::int32_t((l < side ? tiles[tile].row : tiles[tile].col) * side + l % side);
    if constexpr (Weights)
      s.relax_weight(a, target[line], weight[line]);
    else
      s.relax_edge(a, target[line], weight[line]);
  }
};

/// Every block of points: the smallest of their bounds, and whether they are all of one component. The bounds of a node
/// of the search, from those of its points (March, Ram, Gray 2010).
template <class Real>
struct reduce_block_bounds {
  boruvka_state<Real> s;
  void operator()(std::int64_t block) const {
    const std::int64_t first = block * s.bounds.side;
    const std::int64_t end = first + s.bounds.side < s.bounds.count ? first + s.bounds.side : s.bounds.count;
    Real min = s.outside[first];
    std::int32_t component = s.bounds.component[first];
    for (std::int64_t i = first + 1; i < end; ++i) {
      min = s.outside[i] < min ? s.outside[i] : min;
      if (s.bounds.component[i] != s.bounds.component[first]) component = -1;
    }
    s.bounds.block_outside[block] = min;
    s.bounds.block_component[block] = component;
  }
};

/// Bounds of cells of tiles, see tile_strips.hpp.
template <class Real>
struct cell_bounds {
  Real* bound;                ///< [position of a cell]
  std::int64_t side, places;  ///< tiles of a row of a cell; columns of cells

  Real& of_tile(std::int64_t row, std::int64_t col) const {
    return bound[pairwise::triangle_position(places, row / side, col / side)];
  }
};

/// The pairs (own place, place) of a strip: bounds of their tiles, and the smallest bound of a point of either block
/// that is of use; infinity if there is none. A node of the search is left out when its bound is not below the best
/// edge (March, Ram, Gray 2010).
template <class Real>
struct bound_of_blocks {
  boruvka_state<Real> s;
  cell_bounds<Real> cells;
  std::int64_t first_row;
  Real* useful;   ///< as bounds.tile_bound
  bool is_again;  ///< in the same round, with better best edges: what was of no use is of none

  void operator()(std::int64_t pair) const {
    const pairwise::edge_bounds<Real>& b = s.bounds;
    const std::int64_t row = first_row + pair / b.places, col = pair % b.places;
    if (col < row) return;
    Real& of_use = useful[b.tile_position(row, col) - b.first_tile];
    if (is_again && of_use == std::numeric_limits<Real>::infinity()) return;
    const std::int64_t block = b.block_of(row), other = b.block_of(col);
    min best{std::numeric_limits<Real>::infinity(), std::numeric_limits<Real>::infinity()};
    if (!b.is_elsewhere(row, col) && !b.is_inside_one_component(block, other)) {
      b.bound_of_tile(row, col) = cells.of_tile(row, col);
      look(block, other, best);
      if (col != row) look(other, block, best);
    }
    b.bound_of_tile(row, col) = best.of_all;
    of_use = best.of_use;
  }

 private:
  struct min {
    Real of_all, of_use;
  };
  void look(std::int64_t block, std::int64_t other, min& best) const {
    const pairwise::edge_bounds<Real>& b = s.bounds;
    const std::int64_t first = block * b.side;
    const std::int64_t end = first + b.side < b.count ? first + b.side : b.count;
    const typename pairwise::edge_bounds<Real>::block_pair bounds = b.pair_of(block, other);
    for (std::int64_t i = first; i < end; ++i) {
      const Real bound = b.bound_of(bounds, i, i - first);
      best.of_all = bound < best.of_all ? bound : best.of_all;
      if (bound < best.of_use && bound <= b.best_of(i)) best.of_use = bound;
    }
  }
};

/// The cells of a strip: what all of their tiles allow. (Rows of cells of the strip) x (columns of cells).
template <class Real>
struct bound_of_cells {
  boruvka_state<Real> s;
  cell_bounds<Real> cells;
  std::int64_t first_row, end_row;  ///< of tiles

  void operator()(std::int64_t pair) const {
    const pairwise::edge_bounds<Real>& b = s.bounds;
    const std::int64_t first = first_row + pair / cells.places * cells.side,
                       first_col = pair % cells.places * cells.side;
    const std::int64_t end = first + cells.side < end_row ? first + cells.side : end_row;
    const std::int64_t end_col = first_col + cells.side < b.places ? first_col + cells.side : b.places;
    if (first_col < first) return;
    Real min = std::numeric_limits<Real>::infinity();
    for (std::int64_t row = first; row < end; ++row)
      for (std::int64_t col = row > first_col ? row : first_col; col < end_col; ++col) {
        const Real bound = b.bound_of_tile(row, col);
        min = bound < min ? bound : min;
      }
    cells.of_tile(first, first_col) = min;
  }
};

/// Every node of the tree: the least core distance of its points.
template <class Real>
struct core_of_node {
  boruvka_state<Real> s;
  Real* core;  ///< [node]
  void operator()(const pairwise::tree_node& node) const {
    if (!node.is_leaf()) {
      const Real left = core[node.left().number], right = core[node.right().number];
      core[node.number] = left < right ? left : right;
      return;
    }
    const std::int64_t first = std::int64_t(node.first_leaf) * pairwise::leaf_points;
    const std::int64_t end =
        first + pairwise::leaf_points < s.bounds.count ? first + pairwise::leaf_points : s.bounds.count;
    Real min = s.core[first];
    for (std::int64_t i = first + 1; i < end; ++i) min = s.core[i] < min ? s.core[i] : min;
    core[node.number] = min;
  }
};

/// Every node of the tree: the component of all its points, or -1.
template <class Real>
struct component_of_node {
  boruvka_state<Real> s;
  std::int32_t* component;  ///< [node]
  void operator()(const pairwise::tree_node& node) const {
    if (!node.is_leaf()) {
      const std::int32_t left = component[node.left().number], right = component[node.right().number];
      component[node.number] = left == right ? left : -1;
      return;
    }
    const std::int64_t first = std::int64_t(node.first_leaf) * pairwise::leaf_points;
    const std::int64_t end =
        first + pairwise::leaf_points < s.bounds.count ? first + pairwise::leaf_points : s.bounds.count;
    std::int32_t of_all = s.bounds.component[first];
    for (std::int64_t i = first + 1; i < end; ++i)
      if (s.bounds.component[i] != s.bounds.component[first]) of_all = -1;
    component[node.number] = of_all;
  }
};

/// Offers what the point of a list found in the tree. Boruvka 1926: a candidate for the lightest outgoing edge of its
/// component.
template <class Real>
struct relax_found {
  boruvka_state<Real> s;
  const Real* weight;
  const std::int32_t* target;
  void operator()(std::int64_t list) const {
    const std::int32_t i = s.point_of(list);
    if (target[i] >= 0) s.relax_edge(i, target[i], weight[i]);
  }
};

/// What the search of a list's point says about later rounds. Components only grow, so an edge that leaves one later
/// leaves one now; the search found the lightest, or all of them are heavier than the best edge of the component.
/// (Bounds of earlier rounds: McInnes, Healy 2017.)
template <class Real>
struct sharpen_outside {
  boruvka_state<Real> s;
  const Real* weight;
  void operator()(std::int64_t list) const {
    const std::int32_t i = s.point_of(list);
    const Real best = s.bounds.best_of(i);
    const Real bound = weight[i] < best ? weight[i] : best;
    if (bound > s.outside[i]) s.outside[i] = bound;
  }
};

/// Every component: the one that its best edge leads to. Boruvka 1926, the end of a step: every component is joined
/// along its lightest outgoing edge.
template <class Real>
struct follow_best_edge {
  boruvka_state<Real> s;
  void operator()(std::int64_t c) const {
    if (s.bounds.component[c] != c) return;
    s.parent[c] = std::int32_t(c);
    if (s.best_edge[c] == no_edge) return;
    const std::int32_t a = s.bounds.component[s.packed_of[s.best_edge[c] >> 32]];
    const std::int32_t b = s.bounds.component[s.packed_of[s.best_edge[c] & 0xffffffffu]];
    s.parent[c] = a == c ? b : a;
  }
};

/// Every component but the roots joins its parent, and its edge becomes one of the tree. Edges are totally ordered, so
/// the only cycles are of two components that chose the same edge; the smaller one is the root (Boruvka 1926).
template <class Real>
struct join_parent {
  boruvka_state<Real> s;
  void operator()(std::int64_t c) const {
    if (s.bounds.component[c] != c) return;
    const std::int32_t parent = s.parent[c];
    const bool is_root = parent == c || (s.parent[parent] == c && c < parent);
    s.root[c] = is_root ? std::int32_t(c) : parent;
    if (is_root) return;
    s.tree_edge[c] = s.best_edge[c];
    s.tree_weight[c] = pairwise::weight_of<Real>(s.bounds.best_weight[c]);
    device::atomic_add(s.joined, std::int64_t(1));
  }
};

/// Steps of a walk towards a root: most forests of a round are less deep.
constexpr int forest_steps = 32;

/// Every component: the one that so many steps towards its root lead to. Repeated until all are at their roots, every
/// time on what the time before led to (pointer jumping: Wyllie 1979), a chain of d components takes log(d) passes.
template <class Real>
struct jump_to_root {
  boruvka_state<Real> s;
  std::int32_t* ahead;  ///< per component
  std::int64_t* below;  ///< counts components that are not at their roots yet
  void operator()(std::int64_t c) const {
    if (s.bounds.component[c] != c) return;
    std::int32_t at = s.root[c];
    for (int step = 1; step < forest_steps && s.root[at] != at; ++step) at = s.root[at];
    ahead[c] = at;
    if (s.root[at] != at) device::atomic_add(below, std::int64_t(1));
  }
};

/// Every point goes with its component.
template <class Real>
struct take_root {
  boruvka_state<Real> s;
  void operator()(std::int64_t i) const { s.bounds.component[i] = s.root[s.bounds.component[i]]; }
};

}  // namespace quintet::hdbscan
