// Points packed for the pairwise engine: panels [block][coordinate][panel_points].
//
// The layout is unit-stride for SIMD lanes and coalesced for the threads of a GPU. Coordinates beyond the dimension are
// zero; points beyond the count, and invalid points, are NaN in every coordinate, so that no comparison lets them win.
#pragma once

#include <cstdint>

#include "pairwise/coordinate_term.hpp"
#include "pairwise/shape.hpp"
#include "quintet/device/buffer.hpp"

namespace quintet::pairwise {

template <class Real>
struct panels {
  Buffer<Real> data;
  Buffer<Real> factor;          ///< per point of the padded count, see point_factors.hpp; empty: none
  std::int64_t count = 0;       ///< points
  std::int64_t dim = 0;         ///< coordinates in the panels, padded to depth_multiple
  std::int64_t block_side = 0;  ///< points a tile; the padded count is a multiple of it
  coordinate_term<Real> term;   ///< what coordinates of pairs add to their reduced distances

  std::int64_t blocks() const { return (count + block_side - 1) / block_side; }
  const Device& device() const { return data.device(); }
};

/// How points are cut into panels.
struct panel_layout {
  std::int64_t block_side;    ///< points per tile
  std::int64_t dim_multiple;  ///< the dimension is padded to a multiple of this
};

/// That of tiles of all pairs on a device.
template <class Real>
panel_layout tile_layout(const Device& device) {
  const bool on_host = device.kind() == device_kind::host;
  return {on_host ? int(host_shape<Real>::side) : int(device_shape<Real>::side), depth_multiple};
}

}  // namespace quintet::pairwise
