// Lower bounds of the squared distances of a tile, from inner products of points rounded to 16-bit integers.
//
// Derivation: docs/design/numerics.md, "The filter of many dimensions".
#pragma once

#include <cstdint>

#include "device/dot_tile.hpp"
#include "device/log1p.hpp"
#include "pairwise/pack_loop.hpp"
#include "pairwise/tile_kernel.hpp"
#include "pairwise/triangle.hpp"

namespace quintet::pairwise {

/// Points that were moved to their centre and rounded, in memory of a device; a plain value that travels with kernels.
struct rounded_view {
  const float* words;   ///< panels as those of floats are, of device::int16_pair for coordinates
  const float* scale;   ///< of every point of the padded count: what its integers are multiplied by
  const float* square;  ///< of every point: not above its squared length, after rounding
  const float* error;   ///< of every point: not below its distance to where it was before, and what else is lost
};

/// What makes bounds of inner products. `row` null: there are none, sums are distances.
struct dot_bounds {
  rounded_view row = {}, col = {};
  float keep = 1;  ///< a part of the squared distance that no sum of it in difference form is below

  bool exist() const { return row.words != nullptr; }

  /// Bounds for products of row i with columns j, j + 1, ... No computed squared distance is smaller; NaN for points
  /// that are missing.
  template <class Pack>
  QUINTET_INLINE Pack bound(const Pack& product, std::int64_t i, std::int64_t j) const {
    constexpr int lanes = sizeof(Pack) / sizeof(float);
    const Pack squares = device::load_pack<Pack>(col.square + j) + row.square[i];
    const Pack errors = device::load_pack<Pack>(col.error + j) + row.error[i];
    const Pack scales = device::load_pack<Pack>(col.scale + j) * (-2 * row.scale[i]);
    const Pack of_rounded = device::fma(device::product_sums(product), scales, squares);
    const Pack distance = device::root<float, lanes>(of_rounded < Pack{} ? Pack{} : of_rounded) - errors;
    const Pack clamped = distance < Pack{} ? Pack{} : distance;
    return clamped * clamped * keep;
  }
};

namespace detail {

/// Two coordinates of rounded points add their products.
struct product_term {};

template <class Pack>
QUINTET_INLINE inline void take_in(const product_term&, Pack& sum, const Pack& columns, const float* row) {
  device::add_products(sum, columns, row);
}

/// Bounds of a register tile whose first row and column are these, on its way into memory.
struct tile_dot_bounds {
  const dot_bounds& of;
  std::int64_t row, col;

  template <class Pack>
  QUINTET_INLINE Pack weigh(const Pack& product, int i, int j) const {
    return of.bound(product, row + i, col + j);
  }
};

}  // namespace detail

/// scratch.values := bounds for the points of block `block.row` of the rows and block `block.col` of the columns, of
/// `pairs` words each. Every thread of the team takes part; it ends with a barrier.
template <class Shape, class Team>
QUINTET_INLINE inline void tile_bounds(const Team& team, const dot_bounds& of, tile_index block, std::int64_t pairs,
                                       detail::tile_scratch<float, Shape>& scratch) {
  if constexpr (Team::on_device) {
    detail::staged_tile(team, of.row.words, block.row, of.col.words, block.col, pairs, scratch, detail::product_term{});
    team.barrier();
    typedef device::pack<float, Shape::lanes> value;
    for_each_pack_in_tile<Shape::side, Shape::lanes>(team, Shape::side, [&](int i, int j) {
      float* at = scratch.values + i * Shape::pitch + j;
      device::store_pack(
          at, of.bound(device::load_pack<value>(at), block.row * Shape::side + i, block.col * Shape::side + j));
    });
  } else {
    detail::sliced_tile<float, Shape>(
        of.row.words, block.row, of.col.words, block.col, pairs, scratch, Shape::side, Shape::side,
        [&](int ti, int tj, const auto& tile) QUINTET_INLINE {
          tile.store(scratch.values + ti * Shape::pitch + tj, Shape::pitch,
                     detail::tile_dot_bounds{of, block.row * Shape::side + ti, block.col * Shape::side + tj});
        },
        detail::product_term{});
  }
  team.barrier();
}

}  // namespace quintet::pairwise
