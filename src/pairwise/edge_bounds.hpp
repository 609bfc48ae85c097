// What is known, while a spanning tree grows, about the edges that are not yet looked at.
//
// Weights are reduced distances. A component's best edge so far has a key, the bits of its weight: they order weights
// that are not negative.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

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
  std::int64_t count = 0, side = 0, blocks = 0;  ///< points, points a block, blocks
  const Real* outside = nullptr;                 ///< per point: no edge outside its list is lighter
  std::int32_t* component = nullptr;             ///< per point: the point that stands for its component
  weight_key<Real>* best_weight = nullptr;       ///< per component: of its best edge so far
  Real* minima = nullptr;                        ///< [point][group]: no edge to a block of the group is lighter
  std::int64_t groups = 0, blocks_per_group = 1;
  Real* tile_bound = nullptr;               ///< [block][block]: no edge between them is lighter
  Real* block_outside = nullptr;            ///< per block: the smallest `outside` of its points
  std::int32_t* block_component = nullptr;  ///< per block: the component of all its points, or -1

  Real best_of(std::int64_t point) const { return weight_of<Real>(best_weight[component[point]]); }

  /// A bound from below of the edges from `point`, of block `block`, into block `other` that are in no list; infinity
  /// if none of them can come before the best edge of the point's component. An edge of equal weight may: it can be
  /// earlier in the order of edges.
  Real useful_bound(std::int64_t point, std::int64_t block, std::int64_t other) const {
    const Real best = best_of(point);
    Real bound = minima[point * groups + other / blocks_per_group];
    const Real of_tile = tile_bound[block * blocks + other];
    bound = bound > of_tile ? bound : of_tile;
    bound = bound > block_outside[other] ? bound : block_outside[other];
    bound = bound > outside[point] ? bound : outside[point];
    return bound <= best ? bound : std::numeric_limits<Real>::infinity();
  }

  bool is_inside_one_component(std::int64_t block, std::int64_t other) const {
    return block_component[block] >= 0 && block_component[block] == block_component[other];
  }
};

}  // namespace quintet::pairwise
