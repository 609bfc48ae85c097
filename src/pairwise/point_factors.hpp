// Factors of points: the reduced distance of a pair is its squared distance times the factors of both points.
#pragma once

#include "pairwise/pack_loop.hpp"
#include "pairwise/tile_kernel.hpp"
#include "pairwise/triangle.hpp"

namespace quintet::pairwise {

template <class Real>
struct point_factors {
  const Real* row = nullptr;  ///< of every point of the padded count; null: no factors at all
  const Real* col = nullptr;

  /// Squared distances of a tile become reduced distances. The factors are multiplied first, so that (i, j) and (j, i)
  /// have the same bits. Every thread of the team takes part; it ends with a barrier.
  template <class Shape, class Team>
  void apply(const Team& team, tile_index block, Real* values) const {
    if (row == nullptr) return;
    typedef device::pack<Real, Shape::lanes> value;
    const Real* of_row = row + block.row * Shape::side;
    const Real* of_col = col + block.col * Shape::side;
    for_each_pack_in_tile<Shape::side, Shape::lanes>(team, Shape::side, [&](int i, int j) {
      Real* at = values + i * Shape::pitch + j;
      const value both = device::load_pack<value>(of_col + j) * of_row[i];
      device::store_pack(at, value(device::load_pack<value>(at) * both));
    });
    team.barrier();
  }
};

}  // namespace quintet::pairwise
