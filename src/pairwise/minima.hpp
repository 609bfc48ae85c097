// Minima of the rows and columns of a tile, the first question of every sink that looks for something small.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "device/pack.hpp"
#include "device/team.hpp"
#include "device/transpose.hpp"
#include "pairwise/lane_bits.hpp"
#include "pairwise/tile_kernel.hpp"

namespace quintet::pairwise {

/// Smallest value of each row and column of a tile; NaN is passed over, infinity where there is nothing else.
template <class Real, class Shape>
struct tile_minima {
  alignas(64) Real row[Shape::side];
  alignas(64) Real col[Shape::side];
};

namespace detail {

/// One look at the tile for both, on the host: as many rows as a pack has lanes, whose minima become one pack.
template <class Real, class Shape>
QUINTET_INLINE inline void find_minima_at_once(const Real* values, tile_minima<Real, Shape>& minima) {
  typedef device::pack<Real, Shape::lanes> value;
  constexpr int lanes = Shape::lanes, side = Shape::side, packs = side / lanes;
  const auto smaller = [](const value& a, const value& b) QUINTET_INLINE { return a < b ? a : b; };
  const value infinite = device::broadcast_pack<value>(std::numeric_limits<Real>::infinity());
  value of_col[packs];
  for (value& min : of_col) min = infinite;
  for (int i = 0; i < side; i += lanes) {
    value of_row[lanes];
    for (int l = 0; l < lanes; ++l) {
      value min = infinite;
#pragma GCC unroll 16
      for (int p = 0; p < packs; ++p) {
        const value v = device::load_pack<value>(values + (i + l) * Shape::pitch + p * lanes);
        min = smaller(v, min);
        of_col[p] = smaller(v, of_col[p]);
      }
      of_row[l] = min;
    }
    device::transpose_packs<lanes>(of_row);
    value min = of_row[0];
#pragma GCC unroll 16
    for (int l = 1; l < lanes; ++l) min = smaller(of_row[l], min);
    device::store_pack(minima.row + i, min);
  }
  for (int p = 0; p < packs; ++p) device::store_pack(minima.col + p * lanes, of_col[p]);
}

}  // namespace detail

/// Every thread of the team takes part; it ends with a barrier.
template <class Real, class Shape, class Team>
inline void find_minima(const Team& team, const Real* values, tile_minima<Real, Shape>& minima) {
  typedef device::pack<Real, Shape::lanes> value;
  constexpr int lanes = Shape::lanes, side = Shape::side, pitch = Shape::pitch;
  const value infinite = device::broadcast_pack<value>(std::numeric_limits<Real>::infinity());
  // Minima of the columns stay in registers.
  if constexpr (!Team::on_device && lanes > 1 && side / lanes <= 12)
    return detail::find_minima_at_once<Real, Shape>(values, minima);
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
