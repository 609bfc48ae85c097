// Searches of a block tree: for the points of one leaf, the leaves that may hold something of use to one of them.
//
// A team walks down the tree depth first, the child nearer to its box first, and passes over a node when for each of
// its points the box is farther away than the point's limit. Bounds are computed as tiles are, coordinate by coordinate
// in ascending order; as rounding is monotone, the bound of a box is never larger than the computed reduced distance of
// a point in it, so a search is exact without any slack (powers: with one). Equality does not prune: ties are decided
// by numbers.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "device/atomic.hpp"
#include "device/pack.hpp"
#include "device/team.hpp"
#include "pairwise/block_tree.hpp"
#include "pairwise/edge_bounds.hpp"
#include "pairwise/lane_bits.hpp"
#include "pairwise/minima.hpp"
#include "pairwise/nearest_kernel.hpp"
#include "pairwise/short_list.hpp"
#include "pairwise/tile_kernel.hpp"

namespace quintet::pairwise {

/// One thread with a tile of leaf_points x leaf_points.
template <class Real>
struct tree_host_shape {
  enum {
    on_device = 0,
    side = leaf_points,
    rows = device::host_registers() == 32 ? 8 : 4,
    packs = 2,
    lanes = device::host_lanes<Real>(),
    cols = packs * lanes,
    pitch = side,
    threads = 1,
    emulated_threads = 1
  };
};

/// A block of threads, each with register tiles of rows x cols; dimensions are few, so panels are read where they are.
template <class Real>
struct tree_device_shape {
  enum {
    on_device = 1,
    side = leaf_points,
    rows = sizeof(Real) == 4 ? 8 : 4,
    packs = rows,
    lanes = 1,
    cols = rows,
    pitch = side + 1,
    threads = 64,
    emulated_threads = 4
  };
};

namespace detail {

/// Nodes that wait: one for every depth, and the one that is looked at. Trees have at most 2^31 / leaf_points leaves.
enum { tree_stack = 32 };

template <class Real>
struct waiting_node {
  tree_node node;
  Real bound;  ///< of the whole box of the searching leaf
};

template <class Real, class Shape>
struct tree_scratch {
  alignas(64) Real values[Shape::side * Shape::pitch];
  alignas(64) Real limit[Shape::side];     ///< reduced distances above it are of no use to the point; -1: nothing is
  alignas(64) Real distance[Shape::side];  ///< from a point to the box of the node
  std::int32_t is_needed[Shape::side];     ///< whether the node may be of use to the point
  std::int32_t component[Shape::side];     ///< of the point; the search for edges only
  waiting_node<Real> stack[tree_stack];
  int depth, any_needed, is_passed_over;
  std::int64_t scanned;  ///< rows of tiles computed
};

/// A bound of the reduced distances of points in two boxes, roughly.
template <int Dim, class Real>
inline Real box_distance(const tree_view<Real>& a, std::int32_t i, const tree_view<Real>& b, std::int32_t j) {
  Real sum = 0;
  with_term<Dim>(a.term, [&](const auto& of_coordinate) QUINTET_INLINE {
    for (std::int64_t k = 0; k < boxed_coordinates(of_coordinate, a.dim); ++k) {
      const Real below = b.low[j * a.dim + k] - a.high[i * a.dim + k];
      const Real above = a.low[i * a.dim + k] - b.high[j * a.dim + k];
      Real gap = below > above ? below : above;
      gap = gap > 0 ? gap : Real(0);
      of_coordinate.add(sum, gap);
    }
  });
  return a.min_factor == nullptr ? sum : sum * (b.min_factor[j] * a.min_factor[i]);
}

/// s.is_needed and s.any_needed for a node; `excluded` is a component whose points have nothing to gain, or
/// -1; nothing in the node is below `floor`.
template <int Dim, class Real, class Shape, class Team>
inline void find_needed(const Team& team, const tree_view<Real>& rows, std::int64_t leaf, const tree_view<Real>& tree,
                        std::int32_t node, std::int32_t excluded, Real floor, tree_scratch<Real, Shape>& s) {
  constexpr int lanes = Shape::lanes;
  typedef device::pack<Real, lanes> value;
  const value zero{};
  const Real *low = tree.low + node * tree.dim, *high = tree.high + node * tree.dim;
  with_term<Dim>(rows.term, [&](const auto& of_coordinate) QUINTET_INLINE {
    for (int i = team.rank() * lanes; i < Shape::side; i += team.size() * lanes) {
      const std::int64_t point = leaf * Shape::side + i;
      const Real* x = coordinates(rows.panels, rows.dim, point);
      value sum = zero;
      for (std::int64_t k = 0; k < boxed_coordinates(of_coordinate, rows.dim); ++k) {
        const value at = device::load_pack<value>(x + k * panel_points<Real>);
        const value below = low[k] - at, above = at - high[k];
        value gap = below > above ? below : above;
        gap = gap > zero ? gap : zero;
        of_coordinate.add(sum, gap);
      }
      if constexpr (takes_words<std::remove_cvref_t<decltype(of_coordinate)>>)
        sum = of_coordinate.bound_of(sum, device::load_pack<value>(x));
      else
        sum = of_coordinate.bound(sum, rows.dim);
      if (rows.factor != nullptr) {
        const value both = device::load_pack<value>(rows.factor + point) * tree.min_factor[node];
        sum = sum * both;
      }
      device::store_pack(s.distance + i, sum);
    }
  });
  team.barrier();
  int any = 0;
  for (int i = team.rank(); i < Shape::side; i += team.size()) {
    const std::int32_t needed =
        s.distance[i] <= s.limit[i] && floor <= s.limit[i] && (excluded < 0 || s.component[i] != excluded);
    s.is_needed[i] = needed;
    any |= needed;
  }
  if (any) device::atomic_set(&s.any_needed);
  team.barrier();
}

/// The tile of products, pair by pair: curves of a whole register tile do not fit into the registers of a thread of a
/// GPU beside a search.
template <class Shape, class Team, class Term>
inline void leaf_pairs(const Team& team, const tree_view<double>& rows, std::int64_t leaf,
                       const tree_view<double>& cols, std::int64_t other, tree_scratch<double, Shape>& s,
                       const Term& term) {
  constexpr int step = panel_points<double>;
  for (int e = team.rank(); e < Shape::side * Shape::side; e += team.size()) {
    const int i = e / Shape::side, j = e % Shape::side;
    if (!s.is_needed[i]) continue;
    const double* x = coordinates(rows.panels, rows.dim, leaf * Shape::side + i);
    const double* y = coordinates(cols.panels, cols.dim, other * Shape::side + j);
    double total = y[0] + x[0];
    term.template add_factors<1>(&total, y + step, step, x + step, step, rows.dim - 1);
    s.values[i * Shape::pitch + j] = total;
  }
}

/// s.values := reduced distances of the points of `leaf` that need them and of those of `other`.
template <int Dim, class Real, class Shape, class Team>
inline void leaf_tile(const Team& team, const tree_view<Real>& rows, std::int64_t leaf, const tree_view<Real>& cols,
                      std::int64_t other, tree_scratch<Real, Shape>& s) {
  constexpr int lanes = panel_points<Real>;
  constexpr int per_row = Shape::side / Shape::cols, count = Shape::side / Shape::rows * per_row;
  const std::int64_t i0 = leaf * Shape::side, j0 = other * Shape::side;
  with_term<Dim>(rows.term, [&](const auto& of_coordinate) QUINTET_INLINE {
    if constexpr (Dim == product_rows && Team::on_device)
      return leaf_pairs(team, rows, leaf, cols, other, s, of_coordinate);
    for (int micro = team.rank(); micro < count; micro += team.size()) {
      const int ti = micro / per_row * Shape::rows, tj = micro % per_row * Shape::cols;
      int any = 0;
      for (int i = 0; i < Shape::rows; ++i) any |= s.is_needed[ti + i];
      if (!any) continue;
      register_tile<Real, Shape> tile;
      tile.clear();
      tile.add(
          coordinates(rows.panels, rows.dim, i0 + ti), lanes,
          [&](int j) QUINTET_INLINE { return coordinates(cols.panels, cols.dim, j0 + tj + j * Shape::lanes); }, lanes,
          rows.dim, of_coordinate);
      Real* to = s.values + ti * Shape::pitch + tj;
      if (rows.factor == nullptr)
        tile.store(to, Shape::pitch);
      else
        tile.store(to, Shape::pitch, tile_factors<Real>{rows.factor + i0 + ti, cols.factor + j0 + tj});
    }
  });
  team.barrier();
  reduce_sums<Dim, Real, Shape>(team, rows.term, s.values, [&](int row) { return s.is_needed[row] != 0; });
}

/// The smallest of a row of the tile; NaN is passed over.
template <class Real, class Shape>
inline Real row_minimum(const Real* values) {
  typedef device::pack<Real, Shape::lanes> value;
  value min = device::broadcast_pack<value>(std::numeric_limits<Real>::infinity());
  for (int j = 0; j < Shape::side; j += Shape::lanes) {
    const value v = device::load_pack<value>(values + j);
    min = v < min ? v : min;
  }
  return device::least_lane<Real>(min);
}

/// Walks down `tree` for the points of `leaf` of `rows`. Search has
///   excluded(node)          the component all of whose points may pass over the node, or -1
///   floor(node)             a bound from below of all that the node may offer
///   prefers(node)           whether it comes first of two nodes that are equally near
///   take(team, other, s)    the tile of leaf `other` is computed: take what is of use, and lower s.limit
///   refresh(team, s)        others may have lowered limits
///   passes_over(node, bound)  nothing that is not below `bound` in the node is of use to any point, if that is known
///                           without looking at each; only where the search is_of_one_limit
template <int Dim, class Real, class Shape, class Team, class Search>
inline void descend(const Team& team, const tree_view<Real>& rows, std::int32_t leaf, std::int32_t leaf_node,
                    const tree_view<Real>& tree, const Search& search, tree_scratch<Real, Shape>& s) {
  if (team.rank() == 0) {
    s.depth = 1;
    s.stack[0] = {tree.root(), Real(0)};
    s.scanned = 0;
  }
  while (true) {
    team.barrier();
    if (s.depth == 0) break;
    const waiting_node<Real> at = s.stack[s.depth - 1];
    team.barrier();
    if (team.rank() == 0) {
      --s.depth;
      s.any_needed = 0;
    }
    if constexpr (Search::is_of_one_limit) {
      // Distances of boxes are bounds where rounding is monotone.
      const bool is_bound = Dim != other_metrics && !takes_whole_rows(Dim);
      if (team.rank() == 0) s.is_passed_over = search.passes_over(at.node.number, is_bound ? at.bound : Real(0));
      team.barrier();
      if (s.is_passed_over) continue;
    }
    search.refresh(team, s);
    team.barrier();
    find_needed<Dim>(team, rows, leaf, tree, at.node.number, search.excluded(at.node.number),
                     search.floor(at.node.number), s);
    if (!s.any_needed) continue;
    if (at.node.is_leaf()) {
      leaf_tile<Dim>(team, rows, leaf, tree, at.node.first_leaf, s);
      search.take(team, at.node.first_leaf, s);
      continue;
    }
    if (team.rank() != 0) continue;
    const tree_node left = at.node.left(), right = at.node.right();
    const Real to_left = box_distance<Dim>(rows, leaf_node, tree, left.number);
    const Real to_right = box_distance<Dim>(rows, leaf_node, tree, right.number);
    const bool right_first = to_right < to_left || (to_right == to_left && search.prefers(right));
    s.stack[s.depth++] = right_first ? waiting_node<Real>{left, to_left} : waiting_node<Real>{right, to_right};
    s.stack[s.depth++] = right_first ? waiting_node<Real>{right, to_right} : waiting_node<Real>{left, to_left};
  }
}

/// The number of a leaf's node: nodes are numbered in preorder.
template <class Real>
inline std::int32_t node_of_leaf(const tree_view<Real>& tree, std::int32_t leaf) {
  tree_node node = tree.root();
  while (!node.is_leaf()) node = node.left().has_leaf(leaf) ? node.left() : node.right();
  return node.number;
}

/// Counts the rows of tiles of a search, for the counters of the caller.
template <class Real, class Shape, class Team>
inline void count_rows(const Team& team, tree_scratch<Real, Shape>& s) {
  if (team.rank() != 0) return;
  for (int i = 0; i < Shape::side; i += Shape::rows) {
    int any = 0;
    for (int e = 0; e < Shape::rows; ++e) any |= s.is_needed[i + e];
    s.scanned += any ? int(Shape::rows) : 0;
  }
}

}  // namespace detail

template <class Real>
struct tree_nearest_arguments {
  tree_view<Real> rows;      ///< the searching points
  tree_view<Real> tree;      ///< the points they look for
  bool same_points;          ///< both are one set; a point is not its own neighbour
  nearest_lists<Real> list;  ///< [tile][point of the leaf][k]
  /// Per point of the tree: the number that lists hold and that decides between ties; null: as it is packed.
  const std::int32_t* number;
  const std::int32_t* leaf;  ///< per tile: the leaf it searches for; null: all of them
  std::int64_t* scanned;     ///< counts rows of tiles (leaf_points pairs each)
  std::int64_t first_tile = 0;
};

/// The k nearest of every point of a leaf. Friedman, Bentley, Finkel 1977, for 64 points at once.
template <class Real, int Dim, class Shape>
struct tree_nearest_kernel {
  using shape = Shape;
  using scratch = detail::tree_scratch<Real, Shape>;
  enum { threads = Shape::threads, emulated_threads = Shape::emulated_threads };
  tree_nearest_arguments<Real> a;

  struct search {
    enum { is_of_one_limit = false };
    const tree_nearest_arguments<Real>& a;
    std::int64_t tile;
    std::int32_t leaf;

    std::int32_t excluded(std::int32_t) const { return -1; }
    Real floor(std::int32_t) const { return 0; }
    bool prefers(const tree_node& node) const { return a.same_points && node.has_leaf(leaf); }
    template <class Team>
    void refresh(const Team&, scratch&) const {}

    template <class Team>
    void take(const Team& team, std::int32_t other, scratch& s) const {
      detail::count_rows(team, s);
      const int candidates = a.tree.points_in_leaf(other);
      for (int l = team.rank(); l < Shape::side; l += team.size()) {
        if (!s.is_needed[l]) continue;
        Real* values = s.values + l * Shape::pitch;
        if (a.same_points && leaf == other) values[l] = std::numeric_limits<Real>::quiet_NaN();
        if (!(detail::row_minimum<Real, Shape>(values) <= s.limit[l])) continue;
        s.limit[l] = take_candidates<Shape::lanes>(a.list, tile * Shape::side + l, values, candidates, a.number,
                                                   std::int64_t(other) * Shape::side, s.limit[l]);
      }
      team.barrier();
    }
  };

  template <class Team>
  void operator()(const Team& team, std::int64_t launched, scratch& s) const {
    const std::int64_t tile = a.first_tile + launched;
    const std::int32_t leaf = a.leaf == nullptr ? std::int32_t(tile) : a.leaf[tile];
    const int lines = a.rows.points_in_leaf(leaf);
    for (int l = team.rank(); l < Shape::side; l += team.size()) {
      s.limit[l] = l < lines ? std::numeric_limits<Real>::infinity() : Real(-1);
      if (l < lines) a.list.clear(tile * Shape::side + l);
    }
    detail::descend<Dim>(team, a.rows, leaf, detail::node_of_leaf(a.rows, leaf), a.tree, search{a, tile, leaf}, s);
    if (team.rank() == 0) device::atomic_add(a.scanned, s.scanned);
  }
};

template <class Real>
struct tree_radius_arguments {
  tree_view<Real> rows;        ///< the searching points
  tree_view<Real> tree;        ///< the points they look for
  bool same_points;            ///< both are one set; a point is not its own neighbour
  Real limit;                  ///< the largest reduced distance of a neighbour
  const std::int32_t* number;  ///< per point of the tree: what the entries are called
  /// Per row: entries found so far. Where `index` is not null, where in it the next one goes.
  std::int64_t* cursor;
  std::int64_t* index;  ///< null: entries are only counted
  Real* value;
  std::int64_t* scanned;
};

/// All points within a radius of those of a leaf. Tile = leaf. Range search in a k-d tree (Bentley 1975), for 64 points
/// at once.
template <class Real, int Dim, class Shape>
struct tree_radius_kernel {
  using shape = Shape;
  using scratch = detail::tree_scratch<Real, Shape>;
  enum { threads = Shape::threads, emulated_threads = Shape::emulated_threads };
  tree_radius_arguments<Real> a;

  struct search {
    enum { is_of_one_limit = false };
    const tree_radius_arguments<Real>& a;
    std::int32_t leaf;

    std::int32_t excluded(std::int32_t) const { return -1; }
    Real floor(std::int32_t) const { return 0; }
    bool prefers(const tree_node& node) const { return a.same_points && node.has_leaf(leaf); }
    template <class Team>
    void refresh(const Team&, scratch&) const {}

    template <class Team>
    void take(const Team& team, std::int32_t other, scratch& s) const {
      detail::count_rows(team, s);
      const int candidates = a.tree.points_in_leaf(other);
      for (int l = team.rank(); l < Shape::side; l += team.size()) {
        if (!s.is_needed[l]) continue;
        const Real* values = s.values + l * Shape::pitch;
        const std::int64_t row = std::int64_t(leaf) * Shape::side + l;
        std::int64_t at = a.cursor[row];
        for (int e = 0; e < candidates; ++e) {
          const std::int64_t j = std::int64_t(other) * Shape::side + e;
          if (!(values[e] <= a.limit) || (a.same_points && j == row)) continue;
          if (a.index != nullptr) {
            a.index[at] = a.number[j];
            a.value[at] = values[e];
          }
          ++at;
        }
        a.cursor[row] = at;
      }
      team.barrier();
    }
  };

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch& s) const {
    const auto leaf = std::int32_t(tile);
    const int lines = a.rows.points_in_leaf(leaf);
    for (int l = team.rank(); l < Shape::side; l += team.size()) s.limit[l] = l < lines ? a.limit : Real(-1);
    detail::descend<Dim>(team, a.rows, leaf, detail::node_of_leaf(a.rows, leaf), a.tree, search{a, leaf}, s);
    if (team.rank() == 0) device::atomic_add(a.scanned, s.scanned);
  }
};

template <class Real>
struct tree_lightest_arguments {
  tree_view<Real> tree;
  const Real* core;                    ///< reduced core distances
  const std::int32_t* original;        ///< the caller's number of every point: ties go to the smaller one
  const Real* outside;                 ///< per point: no edge outside its list is lighter
  const std::int32_t* component;       ///< per point
  const std::int32_t* node_component;  ///< per node: the component of all its points, or -1
  const Real* node_core;               ///< per node: the least core distance of its points
  weight_key<Real>* best_weight;       ///< per component; lowered
  Real* weight;                        ///< per point: the lightest edge found, if it may be of use
  std::int32_t* target;                ///< per point: where it leads, -1: nowhere
  const std::int32_t* leaf;            ///< per tile: the leaf it searches for; null: all of them
  std::int64_t* scanned;
};

/// The lightest edges that leave the components of a leaf's points and are no heavier than the best known of the
/// component, among those that are in no list. Boruvka's step (1926) on a tree: March, Ram, Gray 2010 with one leaf
/// instead of pairs of nodes.
template <class Real, int Dim, class Shape>
struct tree_lightest_kernel {
  using shape = Shape;
  using scratch = detail::tree_scratch<Real, Shape>;
  enum { threads = Shape::threads, emulated_threads = Shape::emulated_threads };
  tree_lightest_arguments<Real> a;

  Real best_of(std::int32_t component) const { return weight_of<Real>(device::atomic_load(a.best_weight + component)); }
  Real limit_of(std::int64_t point, Real best) const {
    return a.outside[point] <= best && a.core[point] <= best ? best : Real(-1);
  }

  struct search {
    enum { is_of_one_limit = true };
    const tree_lightest_kernel& kernel;
    std::int32_t leaf;
    int lines;
    std::int32_t component;  ///< of all points of the leaf, or -1

    std::int32_t excluded(std::int32_t node) const { return kernel.a.node_component[node]; }
    Real floor(std::int32_t node) const { return kernel.a.node_core[node]; }
    bool prefers(const tree_node& node) const { return node.has_leaf(leaf); }

    bool passes_over(std::int32_t node, Real bound) const {
      if (component < 0) return false;
      const Real best = kernel.best_of(component);
      return excluded(node) == component || floor(node) > best || bound > best;
    }

    template <class Team>
    void refresh(const Team& team, scratch& s) const {
      const std::int64_t first = std::int64_t(leaf) * Shape::side;
      if (component >= 0) {
        const Real best = kernel.best_of(component);
        for (int l = team.rank(); l < lines; l += team.size()) s.limit[l] = kernel.limit_of(first + l, best);
        return;
      }
      // Best edges only get lighter: what is of no use stays so.
      for (int l = team.rank(); l < lines; l += team.size())
        if (s.limit[l] >= 0) s.limit[l] = kernel.limit_of(first + l, kernel.best_of(s.component[l]));
    }

    template <class Team>
    void take(const Team& team, std::int32_t other, scratch& s) const {
      detail::count_rows(team, s);
      for (int l = team.rank(); l < lines; l += team.size())
        if (s.is_needed[l])
          adopt_row(std::int64_t(leaf) * Shape::side + l, other, s.values + l * Shape::pitch, s.limit[l]);
      team.barrier();
    }

    /// The values up to `limit` of points of another component than `own`, from point `first` on.
    std::uint32_t foreign_lanes(const Real* values, Real limit, std::int64_t first, int count, std::int32_t own) const {
      typedef device::pack<Real, Shape::lanes> value;
      const auto near =
          lanes_up_to<Real, Shape::lanes>(device::load_pack<value>(values), device::broadcast_pack<value>(limit));
      if (near == 0) return 0;
      const std::int32_t* const component_of = kernel.a.component + first;
      if (count >= Shape::lanes) return near & lanes_other_than<Shape::lanes>(component_of, own);
      std::uint32_t lanes = 0;
      for (int e = 0; e < count; ++e) lanes |= near & (std::uint32_t(component_of[e] != own) << e);
      return lanes;
    }

    void adopt_row(std::int64_t point, std::int32_t other, const Real* values, Real limit) const {
      const auto& in = kernel.a;
      const int candidates = in.tree.points_in_leaf(other);
      const std::int64_t first = std::int64_t(other) * Shape::side;
      const std::int32_t own = in.component[point], known = in.target[point];
      const Real core = in.core[point];
      Real best = in.weight[point];
      std::int32_t target = known;
      for (int e0 = 0; e0 < candidates; e0 += Shape::lanes) {
        // Most that are near enough are of the same component.
        std::uint32_t lanes = foreign_lanes(values + e0, limit, first + e0, candidates - e0, own);
        for (; lanes != 0; lanes &= lanes - 1) {
          const int e = e0 + std::countr_zero(lanes);
          const auto j = std::int32_t(first + e);
          const Real both = core > in.core[j] ? core : in.core[j];
          const Real weight = both > values[e] ? both : values[e];
          const bool is_first =
              weight < best || (target >= 0 && weight == best && in.original[j] < in.original[target]);
          if (!(weight <= limit) || !is_first) continue;
          best = weight;
          target = j;
        }
      }
      if (target < 0 || target == known) return;
      in.weight[point] = best;
      in.target[point] = target;
      device::atomic_min(in.best_weight + own, key_of(best));
      device::atomic_min(in.best_weight + in.component[target], key_of(best));
    }
  };

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch& s) const {
    const std::int32_t leaf = a.leaf == nullptr ? std::int32_t(tile) : a.leaf[tile];
    const int lines = a.tree.points_in_leaf(leaf);
    if (team.rank() == 0) s.any_needed = 0;
    team.barrier();
    for (int l = team.rank(); l < Shape::side; l += team.size()) {
      const std::int64_t point = std::int64_t(leaf) * Shape::side + l;
      s.component[l] = l < lines ? a.component[point] : -1;
      s.limit[l] = l < lines ? limit_of(point, best_of(s.component[l])) : Real(-1);
      if (l < lines) {
        a.weight[point] = std::numeric_limits<Real>::infinity();
        a.target[point] = -1;
      }
      if (s.limit[l] >= 0) device::atomic_set(&s.any_needed);
    }
    team.barrier();
    if (!s.any_needed) return;
    const std::int32_t node = detail::node_of_leaf(a.tree, leaf);
    detail::descend<Dim>(team, a.tree, leaf, node, a.tree, search{*this, leaf, lines, a.node_component[node]}, s);
    if (team.rank() == 0) device::atomic_add(a.scanned, s.scanned);
  }
};

}  // namespace quintet::pairwise
