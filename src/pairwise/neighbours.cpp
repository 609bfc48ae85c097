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

template <class Real>
neighbour_table<Real> empty_table(std::int64_t rows, int k) {
  neighbour_table<Real> table;
  table.rows = rows;
  table.k = k;
  table.value.assign(rows * k, std::numeric_limits<Real>::infinity());
  table.index.assign(rows * k, -1);
  return table;
}

/// Chooses the groups of the table of least surrogates and makes room for it.
template <class Real>
void add_least(neighbour_table<Real>& table, std::int64_t blocks, std::int64_t least_bytes) {
  if (least_bytes <= 0) return;
  const std::int64_t fitting = std::max<std::int64_t>(1, least_bytes / (table.rows * std::int64_t(sizeof(Real))));
  table.blocks_per_group = (blocks + fitting - 1) / fitting;
  table.groups = (blocks + table.blocks_per_group - 1) / table.blocks_per_group;
  table.least.assign(table.rows * table.groups, std::numeric_limits<Real>::infinity());
}

/// Any rows, any columns: every team owns the lists it fills.
template <class Real>
void nearest_by_rows(const panels<Real>& rows, const panels<Real>& cols, bool same, neighbour_table<Real>& table) {
  const Device& device = rows.device();
  const std::int64_t groups = (cols.blocks() + table.blocks_per_group - 1) / table.blocks_per_group;
  const std::int64_t splits = column_splits(rows.blocks(), groups, device), entries = rows.count * table.k;
  Buffer<Real> value(splits * entries, device);
  Buffer<std::int32_t> index(splits * entries, device);
  Buffer<Real> least(table.least, device);
  nearest<Real>({rows.data.data(),
                 cols.data.data(),
                 rows.dim,
                 rows.count,
                 cols.count,
                 same,
                 {value.data(), index.data(), table.k},
                 splits,
                 nullptr,
                 {least.data(), table.groups, table.blocks_per_group},
                 {rows.factor.data(), cols.factor.data()}},
                device);
  value.copy_to_host(table.value.data(), entries);
  index.copy_to_host(table.index.data(), entries);
  least.copy_to_host(table.least.data(), least.size());
}

/// The host computes every pair once and writes straight into the table.
template <class Real>
void nearest_others_on_host(const panels<Real>& points, neighbour_table<Real>& table) {
  std::vector<std::int32_t> locks(points.blocks(), 0);
  symmetric_nearest<Real>({points.data.data(),
                           points.data.data(),
                           points.dim,
                           points.count,
                           points.count,
                           true,
                           {table.value.data(), table.index.data(), table.k},
                           1,
                           locks.data(),
                           {table.least.empty() ? nullptr : table.least.data(), table.groups, table.blocks_per_group},
                           {points.factor.data(), points.factor.data()}});
}

}  // namespace

template <class Real>
neighbour_table<Real> nearest_others(const panels<Real>& points, int k, std::int64_t least_bytes) {
  auto table = empty_table<Real>(points.count, k);
  add_least(table, points.blocks(), least_bytes);
  if (points.device().kind() == device_kind::host)
    nearest_others_on_host(points, table);
  else
    nearest_by_rows(points, points, true, table);
  return table;
}

template <class Real>
neighbour_table<Real> nearest_points(const panels<Real>& queries, const panels<Real>& points, int k) {
  auto table = empty_table<Real>(queries.count, k);
  nearest_by_rows(queries, points, false, table);
  return table;
}

#define QUINTET_INSTANTIATE(Real)                                                        \
  template neighbour_table<Real> nearest_others(const panels<Real>&, int, std::int64_t); \
  template neighbour_table<Real> nearest_points(const panels<Real>&, const panels<Real>&, int);
QUINTET_INSTANTIATE(float)
QUINTET_INSTANTIATE(double)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::pairwise
