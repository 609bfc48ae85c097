// The k nearest neighbours of points, from packed panels.
#pragma once

#include <cstdint>
#include <vector>

#include "pairwise/panels.hpp"

namespace quintet::pairwise {

/// Lists of the k nearest, ascending by (surrogate, index); unfilled places hold infinity and -1.
template <class Real>
struct neighbour_table {
  std::int64_t rows = 0;
  int k = 0;
  std::vector<Real> value;          ///< [row][k]
  std::vector<std::int32_t> index;  ///< [row][k]
  std::vector<Real> tile_least;     ///< smallest surrogate in every tile of two different points, if asked for

  Real farthest(std::int64_t row) const { return value[row * k + k - 1]; }
};

/// Every point's k nearest other points (k >= 1), on the panels' device.
/// Workspace: 8 (float) or 12 (double) bytes k a point, on a device times the splits that keep it busy.
template <class Real>
neighbour_table<Real> nearest_others(const panels<Real>& points, int k, bool with_tile_least);

/// Every query's k nearest points; both on one device, of one dimension.
template <class Real>
neighbour_table<Real> nearest_points(const panels<Real>& queries, const panels<Real>& points, int k);

}  // namespace quintet::pairwise
