// A loop over the elements of a tile, W at a time.
#pragma once

#include "device/team.hpp"

namespace quintet::pairwise {

/// Calls f(i, j) for 0 <= i < rows and j = 0, W, 2 W, ... < Columns: SIMD on the host, neighbouring threads on a
/// device.
template <int Columns, int W, class Team, class Function>
inline void for_each_pack_in_tile(const Team& team, int rows, Function f) {
  static_assert(Columns % W == 0);
  if constexpr (Team::on_device) {
    constexpr int per_row = Columns / W;
    for (int e = team.rank(); e < rows * per_row; e += team.size()) f(e / per_row, e % per_row * W);
  } else {
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 1
      for (int j = 0; j < Columns; j += W) f(i, j);
  }
}

}  // namespace quintet::pairwise
