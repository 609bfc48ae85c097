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

  Real farthest(std::int64_t row) const { return value[row * k + k - 1]; }
};

/// The same where it was computed. The buffers of lists may be longer than rows * k.
template <class Real>
struct neighbours_there {
  std::int64_t rows = 0;
  int k = 0;
  Buffer<Real> value;
  Buffer<std::int32_t> index;
  /// Smallest surrogate of every row and group of column blocks, [row][group]; empty if not asked for.
  Buffer<Real> least;
  std::int64_t groups = 0, blocks_per_group = 1;
};

/// Every point's k nearest other points (k >= 1), on the panels' device. least_bytes > 0: also the table of least
/// surrogates, of as many groups of blocks as fit into that many bytes (one group at least).
/// Workspace: 8 (float) or 12 (double) bytes k a point, on a device times the splits that keep it busy.
template <class Real>
neighbours_there<Real> nearest_others_there(const panels<Real>& points, int k, std::int64_t least_bytes = 0);

/// The k-th smallest surrogate of every point's list, 1 <= k <= found.k, on the host.
template <class Real>
std::vector<Real> kth_value(const neighbours_there<Real>& found, std::int64_t k);

/// The lists of nearest_others_there(), on the host.
template <class Real>
neighbour_table<Real> nearest_others(const panels<Real>& points, int k);

/// Every query's k nearest points; both on one device, of one dimension. Where they were computed.
template <class Real>
neighbours_there<Real> nearest_points_there(const panels<Real>& queries, const panels<Real>& points, int k);

/// The same on the host.
template <class Real>
neighbour_table<Real> nearest_points(const panels<Real>& queries, const panels<Real>& points, int k);

}  // namespace quintet::pairwise
