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
  /// Smallest surrogate of every row and group of column blocks, [row][group]; empty if not asked for.
  std::vector<Real> least;
  std::int64_t groups = 0, blocks_per_group = 1;

  Real farthest(std::int64_t row) const { return value[row * k + k - 1]; }
};

/// Every point's k nearest other points (k >= 1), on the panels' device. least_bytes > 0: also the table of least
/// surrogates, of as many groups of blocks as fit into that many bytes (one group at least).
/// Workspace: 8 (float) or 12 (double) bytes k a point, on a device times the splits that keep it busy.
template <class Real>
neighbour_table<Real> nearest_others(const panels<Real>& points, int k, std::int64_t least_bytes = 0);

/// Every query's k nearest points; both on one device, of one dimension.
template <class Real>
neighbour_table<Real> nearest_points(const panels<Real>& queries, const panels<Real>& points, int k);

}  // namespace quintet::pairwise
