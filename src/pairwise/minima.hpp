// Minima of the rows and columns of a tile, the first question of every sink that looks for something small.
#pragma once

#include <limits>

#include "device/pack.hpp"
#include "device/team.hpp"
#include "pairwise/tile_kernel.hpp"

namespace quintet::pairwise {

/// Smallest value of each row and column of a tile; NaN is passed over, infinity where there is nothing else.
template <class Real, class Shape>
struct tile_minima {
  alignas(64) Real row[Shape::side];
  alignas(64) Real col[Shape::side];
};

/// Every thread of the team takes part; it ends with a barrier.
template <class Real, class Shape, class Team>
inline void find_minima(const Team& team, const Real* values, tile_minima<Real, Shape>& minima) {
  typedef device::pack<Real, Shape::lanes> value;
  constexpr int lanes = Shape::lanes, side = Shape::side, pitch = Shape::pitch;
  const value infinite = device::broadcast_pack<value>(std::numeric_limits<Real>::infinity());
  for (int i = team.rank(); i < side; i += team.size()) {
    value min = infinite;
    for (int j = 0; j < side; j += lanes) {
      const value v = device::load_pack<value>(values + i * pitch + j);
      min = v < min ? v : min;
    }
    minima.row[i] = device::least_lane<Real>(min);
  }
  for (int j = team.rank() * lanes; j < side; j += team.size() * lanes) {
    value min = infinite;
    for (int i = 0; i < side; ++i) {
      const value v = device::load_pack<value>(values + i * pitch + j);
      min = v < min ? v : min;
    }
    device::store_pack(minima.col + j, min);
  }
  team.barrier();
}

}  // namespace quintet::pairwise
