// The k nearest neighbours of points, from packed panels.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "pairwise/panels.hpp"

namespace quintet::pairwise {

struct dot_bounds;

/// Lists of the k nearest, ascending by (reduced distance, index); unfilled places hold infinity and -1.
template <class Real>
struct neighbour_table {
  std::int64_t rows = 0;
  int k = 0;
  std::vector<Real> value;          ///< [row][k]
  std::vector<std::int32_t> index;  ///< [row][k]
};

/// The same where it was computed. The buffers of lists may be longer than rows * k.
template <class Real>
struct device_neighbours {
  std::int64_t rows = 0;
  int k = 0;
  Buffer<Real> value;
  Buffer<std::int32_t> index;
  /// Smallest reduced distance of every row and group of column blocks, [row][group]; empty if not asked for.
  Buffer<Real> minima;
  std::int64_t groups = 0, blocks_per_group = 1;
  /// Of every row: no point that is not in its list is nearer; empty: that is the last entry.
  Buffer<Real> min_excluded;
};

/// Told what part of a long search is done, 0 to 1; may throw.
using part_callback = std::function<void(double)>;

/// Calls run(first, count) for parts of the tiles [0, tiles), and `report` between them: about 40, or one without
/// `report`, as threads wait for each other at the end of a part.
template <class Run>
void in_parts(std::int64_t tiles, const part_callback& report, const Run& run) {
  constexpr std::int64_t parts = 40, min_tiles = 64;
  const std::int64_t count = report ? std::max(min_tiles, (tiles + parts - 1) / parts) : tiles;
  for (std::int64_t first = 0; first < tiles; first += count) {
    if (report && first > 0) report(double(first) / double(tiles));
    run(first, std::min(count, tiles - first));
  }
}

/// How a device finds the neighbours of one set: the host computes every pair once and shares the lists, which halves
/// the arithmetic (measured); a GPU, whose teams would wait for each other at the locks, computes them twice.
inline list_sharing sharing_of(const Device& device) {
  return device.kind() == device_kind::host ? list_sharing::symmetric : list_sharing::owned;
}

/// Every point's k nearest other points (k >= 1), on the panels' device. minima_bytes > 0: also the table of minima, of
/// as many groups of blocks as fit into that many bytes (one group at least). The result does not depend on `sharing`.
/// Workspace: 8 (float) or 12 (double) bytes k a point, on a device times the splits that keep it busy.
template <class Real>
device_neighbours<Real> nearest_others_on_device(const panels<Real>& points, int k, std::int64_t minima_bytes,
                                                 list_sharing sharing, const part_callback& report = {});
template <class Real>
device_neighbours<Real> nearest_others_on_device(const panels<Real>& points, int k, std::int64_t minima_bytes = 0,
                                                 const part_callback& report = {}) {
  return nearest_others_on_device(points, k, minima_bytes, sharing_of(points.device()), report);
}

/// The same of bounds of the distances: lists in the order (bound, index). Bounds are of `pairs` words for every point
/// of `points`.
template <class Real>
device_neighbours<float> nearest_bounds_on_device(const dot_bounds& bounds, std::int64_t pairs,
                                                  const panels<Real>& points, int k, std::int64_t minima_bytes = 0,
                                                  const part_callback& report = {});

/// Whether kernels fill lists of k entries as heaps: on the host, where insertion takes longer.
inline bool are_heaps(int k, const Device& device) { return k > 64 && device.kind() == device_kind::host; }

/// Sorts lists that are heaps, ascending; others stay as they are.
template <class Real>
void sort_heaps(device_neighbours<Real>& lists);

/// For every row a distance that no point outside its list is below, on the host.
template <class Real>
std::vector<Real> outside_lists(const device_neighbours<Real>& lists);

/// The k-th smallest reduced distance of every point's list, 1 <= k <= found.k, on the host.
template <class Real>
std::vector<Real> kth_value(const device_neighbours<Real>& lists, std::int64_t k);

/// The lists on the host.
template <class Real>
neighbour_table<Real> on_host(const device_neighbours<Real>& lists);

/// Every query's k nearest points; both on one device, of one dimension. Where they were computed. Lists hold `number`
/// of every point (in the memory of the device), which also decides between ties; null: as they are packed.
template <class Real>
device_neighbours<Real> nearest_points_on_device(const panels<Real>& queries, const panels<Real>& points, int k,
                                                 const std::int32_t* number = nullptr);

/// The same on the host.
template <class Real>
neighbour_table<Real> nearest_points(const panels<Real>& queries, const panels<Real>& points, int k);

}  // namespace quintet::pairwise
