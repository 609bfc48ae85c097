#include "pairwise/neighbours.hpp"

#include <algorithm>
#include <limits>

#include "pairwise/sinks.hpp"

namespace quintet::pairwise {

namespace {

// Teams that keep a large GPU busy; fewer row blocks than that are split by columns.
constexpr std::int64_t wanted_teams = 528;

std::int64_t column_splits(std::int64_t row_blocks, std::int64_t col_blocks, const Device& device) {
  const std::int64_t teams = device.kind() == device_kind::offload ? wanted_teams : 4;
  return std::clamp<std::int64_t>(teams / row_blocks, 1, col_blocks);
}

/// Any rows, any columns: every team owns the lists it fills.
template <class Real>
neighbour_table<Real> nearest_by_rows(const panels<Real>& rows, const panels<Real>& cols, int k, bool same,
                                      bool with_tile_least) {
  neighbour_table<Real> table;
  table.rows = rows.count;
  table.k = k;
  const Device& device = rows.device();
  const std::int64_t splits = column_splits(rows.blocks(), cols.blocks(), device);
  Buffer<Real> value(splits * rows.count * k, device);
  Buffer<std::int32_t> index(splits * rows.count * k, device);
  Buffer<Real> tile_least(with_tile_least ? triangle_size(rows.blocks()) : 0, device);
  nearest<Real>({rows.data.data(),
                 cols.data.data(),
                 rows.dim,
                 rows.count,
                 cols.count,
                 same,
                 {value.data(), index.data(), k},
                 splits,
                 nullptr,
                 tile_least.data()},
                device);
  table.value.resize(rows.count * k);
  table.index.resize(rows.count * k);
  value.copy_to_host(table.value.data(), rows.count * k);
  index.copy_to_host(table.index.data(), rows.count * k);
  table.tile_least = tile_least.to_vector();
  return table;
}

/// The host computes every pair once and writes straight into the table.
template <class Real>
neighbour_table<Real> nearest_others_on_host(const panels<Real>& points, int k, bool with_tile_least) {
  neighbour_table<Real> table;
  table.rows = points.count;
  table.k = k;
  table.value.assign(points.count * k, std::numeric_limits<Real>::infinity());
  table.index.assign(points.count * k, -1);
  if (with_tile_least) table.tile_least.resize(triangle_size(points.blocks()));
  std::vector<std::int32_t> locks(points.blocks(), 0);
  symmetric_nearest<Real>({points.data.data(),
                           points.data.data(),
                           points.dim,
                           points.count,
                           points.count,
                           true,
                           {table.value.data(), table.index.data(), k},
                           1,
                           locks.data(),
                           with_tile_least ? table.tile_least.data() : nullptr});
  return table;
}

}  // namespace

template <class Real>
neighbour_table<Real> nearest_others(const panels<Real>& points, int k, bool with_tile_least) {
  if (points.device().kind() == device_kind::host) return nearest_others_on_host(points, k, with_tile_least);
  return nearest_by_rows(points, points, k, true, with_tile_least);
}

template <class Real>
neighbour_table<Real> nearest_points(const panels<Real>& queries, const panels<Real>& points, int k) {
  return nearest_by_rows(queries, points, k, false, false);
}

#define QUINTET_INSTANTIATE(Real)                                                \
  template neighbour_table<Real> nearest_others(const panels<Real>&, int, bool); \
  template neighbour_table<Real> nearest_points(const panels<Real>&, const panels<Real>&, int);
QUINTET_INSTANTIATE(float)
QUINTET_INSTANTIATE(double)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::pairwise
