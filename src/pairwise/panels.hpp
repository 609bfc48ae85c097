// Points packed for the pairwise engine: panels [block][coordinate][panel_points].
//
// The layout is unit-stride for SIMD lanes and coalesced for the threads of a GPU. Coordinates beyond the dimension are
// zero; points beyond the count, and invalid points, are NaN in every coordinate, so that no comparison lets them win.
#pragma once

#include <cstdint>
#include <vector>

#include "pairwise/metric.hpp"
#include "quintet/core/storage16.hpp"
#include "quintet/core/view.hpp"
#include "quintet/device/buffer.hpp"

namespace quintet::pairwise {

/// What one look at the points tells: which rows can be used, and by what to multiply them.
template <class Real>
struct row_scan {
  std::vector<std::uint8_t> valid;  ///< 1: every coordinate is finite (and, for cosine, 1 / length is normal)
  std::vector<Real> factor;         ///< per row, what its coordinates are multiplied by when packed
  std::vector<Real> ball_factor;    ///< per row, see point_factors.hpp; empty: none
  surrogate_metric<Real> surrogate;

  std::int64_t valid_count() const;
};

/// Looks at the rows of host points, stored as float, double, half or bfloat16. Cost: one pass over the data (two for
/// cosine). For metric::poincare see poincare/scan_ball.hpp.
template <class Storage>
row_scan<accumulator_t<Storage>> scan_rows(matrix_view<const Storage> points, metric kind);

template <class Real>
struct panels {
  Buffer<Real> data;
  Buffer<Real> factor;          ///< per point of the padded count, see point_factors.hpp; empty: none
  std::int64_t count = 0;       ///< points
  std::int64_t dim = 0;         ///< coordinates in the panels, padded to depth_multiple
  std::int64_t block_side = 0;  ///< points a tile; the padded count is a multiple of it

  std::int64_t blocks() const { return (count + block_side - 1) / block_side; }
  const Device& device() const { return data.device(); }
};

/// How points are cut into panels.
struct panel_layout {
  std::int64_t block_side;    ///< points a tile
  std::int64_t dim_multiple;  ///< the dimension is padded to a multiple of this
};

/// That of tiles of all pairs.
template <class Real>
panel_layout tile_layout(const Device& device);

/// Packs points order[0], order[1], ... (all of them, in their own order, when `order` is empty) onto `device`.
/// 16-bit coordinates become floats.
template <class Storage>
panels<accumulator_t<Storage>> pack_points(matrix_view<const Storage> points,
                                           const row_scan<accumulator_t<Storage>>& scan,
                                           const std::vector<std::int32_t>& order, const Device& device,
                                           const panel_layout& layout);

/// The same by tile_layout().
template <class Storage>
panels<accumulator_t<Storage>> pack_points(matrix_view<const Storage> points,
                                           const row_scan<accumulator_t<Storage>>& scan,
                                           const std::vector<std::int32_t>& order, const Device& device) {
  return pack_points(points, scan, order, device, tile_layout<accumulator_t<Storage>>(device));
}

}  // namespace quintet::pairwise
