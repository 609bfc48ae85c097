// What is known, while a spanning tree grows, about the edges that are not yet looked at.
//
// Weights are reduced distances. A component's best edge so far has a key, the bits of its weight: they order weights
// that are not negative.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "pairwise/triangle.hpp"

namespace quintet::pairwise {

template <class Real>
using weight_key = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;

/// The key of no edge at all; larger than all others.
template <class Real>
constexpr weight_key<Real> no_weight = std::numeric_limits<weight_key<Real>>::max();

template <class Real>
inline weight_key<Real> key_of(Real weight) {
  weight_key<Real> key;
  std::memcpy(&key, &weight, sizeof key);
  return key;
}

/// Infinity for no_weight.
template <class Real>
inline Real weight_of(weight_key<Real> key) {
  if (key == no_weight<Real>) return std::numeric_limits<Real>::infinity();
  Real weight;
  std::memcpy(&weight, &key, sizeof key);
  return weight;
}

/// Raw pointers to memory of the device; a plain value that travels with kernels.
template <class Real>
struct edge_bounds {
  std::int64_t count = 0, side = 0, blocks = 0;  ///< points, points per block, blocks
  const Real* outside = nullptr;                 ///< per point: no edge outside its list is lighter
  std::int32_t* component = nullptr;             ///< per point: the point that stands for its component
  weight_key<Real>* best_weight = nullptr;       ///< per component: of its best edge so far
  Real* block_outside = nullptr;                 ///< per block: the smallest `outside` of its points
  std::int32_t* block_component = nullptr;       ///< per block: the component of all its points, or -1

  /// Tables are those of one rank, which looks at the tiles of some blocks, its own, with these and with others,
  /// visitors. Blocks have places in the tables: own ones the first, then visitors; -1: none. Null: all are own, places
  /// are numbers.
  const std::int32_t* place = nullptr;
  const std::int32_t* block_at = nullptr;  ///< the block of every place; null as `place` is
  std::int64_t own = 0, places = 0;        ///< own blocks, and all that have a place
  Real* minima = nullptr;  ///< [point][group of places] of own blocks: no edge to such a block is lighter
  std::int64_t groups = 0, blocks_per_group = 1;
  /// The same of visitors, groups of own blocks. Null: their points look for edges elsewhere.
  Real* visiting_minima = nullptr;
  std::int64_t visiting_groups = 0, visiting_blocks_per_group = 1;
  /// Pairs of an own block and a visitor that another rank looks at: places of at least these.
  std::int64_t shared_row = std::numeric_limits<std::int64_t>::max(), shared_place = 0;
  /// No edge between two blocks that leaves a component is lighter; of the tiles from position `first_tile` on, see
  /// tile_position().
  Real* tile_bound = nullptr;
  std::int64_t first_tile = 0;

  std::int64_t place_of(std::int64_t block) const { return place == nullptr ? block : place[block]; }

  std::int64_t block_of(std::int64_t at) const { return block_at == nullptr ? at : block_at[at]; }

  /// Of the pair of blocks with these places, one of them own, in triangles of the table.
  std::int64_t tile_position(std::int64_t a, std::int64_t b) const {
    return a < b ? triangle_position(places, a, b) : triangle_position(places, b, a);
  }
  Real& bound_of_tile(std::int64_t a, std::int64_t b) const { return tile_bound[tile_position(a, b) - first_tile]; }
  bool is_elsewhere(std::int64_t row, std::int64_t at) const { return row >= shared_row && at >= shared_place; }

  /// The entry of a point, of a block with place `at`, for the block with place `other`; null where there is no table.
  Real* minimum_of(std::int64_t point, std::int64_t block, std::int64_t at, std::int64_t other) const {
    const std::int64_t row = (at - block) * side + point;
    if (at < own) return minima + row * groups + other / blocks_per_group;
    if (visiting_minima == nullptr) return nullptr;
    return visiting_minima + (row - own * side) * visiting_groups + other / visiting_blocks_per_group;
  }
  /// Whether an entry is of one block of the other side.
  bool has_single_blocks(std::int64_t at) const {
    return at < own ? blocks_per_group == 1 : visiting_minima != nullptr && visiting_blocks_per_group == 1;
  }

  Real best_of(std::int64_t point) const { return weight_of<Real>(best_weight[component[point]]); }

  /// What bounds the edges from points of one block into another.
  struct block_pair {
    const Real* minima = nullptr;  ///< of the first point of the block; null: its points look elsewhere
    std::int64_t step = 0;         ///< from point to point
    Real min = 0;                  ///< of all its points
  };
  block_pair pair_of(std::int64_t block, std::int64_t other) const {
    const std::int64_t at = place_of(block), to = place_of(other);
    const Real of_tile = bound_of_tile(at, to);
    return {minimum_of(block * side, block, at, to), at < own ? groups : visiting_groups,
            of_tile > block_outside[other] ? of_tile : block_outside[other]};
  }

  /// A bound from below of the edges from a point, number `offset` of the first block of `pair`, into the other block
  /// that are in no list and leave a component; infinity where the point looks elsewhere.
  Real bound_of(const block_pair& pair, std::int64_t point, std::int64_t offset) const {
    if (pair.minima == nullptr) return std::numeric_limits<Real>::infinity();
    Real bound = pair.minima[offset * pair.step];
    bound = bound > pair.min ? bound : pair.min;
    return bound > outside[point] ? bound : outside[point];
  }

  /// The same if such an edge can come before the best edge of the point's component, otherwise infinity. An edge of
  /// equal weight may: it can be earlier in the order of edges.
  Real useful_bound(const block_pair& pair, std::int64_t point, std::int64_t offset) const {
    const Real bound = bound_of(pair, point, offset);
    return bound <= best_of(point) ? bound : std::numeric_limits<Real>::infinity();
  }

  bool is_inside_one_component(std::int64_t block, std::int64_t other) const {
    return block_component[block] >= 0 && block_component[block] == block_component[other];
  }
};

}  // namespace quintet::pairwise
