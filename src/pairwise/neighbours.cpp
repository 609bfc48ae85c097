#include "pairwise/neighbours.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "device/for_each.hpp"
#include "pairwise/sinks.hpp"

namespace quintet::pairwise {

namespace {

// Teams that keep a large GPU busy; fewer row blocks than that are split by columns.
constexpr std::int64_t wanted_teams = 528;

std::int64_t column_splits(std::int64_t row_blocks, std::int64_t col_blocks, const Device& device) {
  const std::int64_t teams = device.kind() == device_kind::offload ? wanted_teams : 4;
  return std::clamp<std::int64_t>(teams / row_blocks, 1, col_blocks);
}

/// Chooses the groups of the table of least surrogates and makes room for it.
template <class Real>
void add_least(neighbours_there<Real>& found, std::int64_t blocks, std::int64_t least_bytes, const Device& device) {
  if (least_bytes <= 0) return;
  const std::int64_t fitting = std::max<std::int64_t>(1, least_bytes / (found.rows * std::int64_t(sizeof(Real))));
  found.blocks_per_group = (blocks + fitting - 1) / fitting;
  found.groups = (blocks + found.blocks_per_group - 1) / found.blocks_per_group;
  found.least = Buffer<Real>(found.rows * found.groups, device);
  device::fill(found.least, std::numeric_limits<Real>::infinity());
}

/// Any rows, any columns: every team owns the lists it fills.
template <class Real>
void nearest_by_rows(const panels<Real>& rows, const panels<Real>& cols, bool same, neighbours_there<Real>& found) {
  const Device& device = rows.device();
  const std::int64_t groups = (cols.blocks() + found.blocks_per_group - 1) / found.blocks_per_group;
  const std::int64_t splits = column_splits(rows.blocks(), groups, device), entries = rows.count * found.k;
  found.value = Buffer<Real>(splits * entries, device);
  found.index = Buffer<std::int32_t>(splits * entries, device);
  nearest<Real>({rows.data.data(),
                 cols.data.data(),
                 rows.dim,
                 rows.count,
                 cols.count,
                 same,
                 {found.value.data(), found.index.data(), found.k},
                 splits,
                 nullptr,
                 {found.least.data(), found.groups, found.blocks_per_group},
                 {rows.factor.data(), cols.factor.data()}},
                device);
}

/// The host computes every pair once.
template <class Real>
void nearest_others_on_host(const panels<Real>& points, neighbours_there<Real>& found) {
  found.value = Buffer<Real>(points.count * found.k);
  found.index = Buffer<std::int32_t>(points.count * found.k);
  device::fill(found.value, std::numeric_limits<Real>::infinity());
  device::fill(found.index, std::int32_t(-1));
  std::vector<std::int32_t> locks(points.blocks(), 0);
  symmetric_nearest<Real>({points.data.data(),
                           points.data.data(),
                           points.dim,
                           points.count,
                           points.count,
                           true,
                           {found.value.data(), found.index.data(), found.k},
                           1,
                           locks.data(),
                           {found.least.data(), found.groups, found.blocks_per_group},
                           {points.factor.data(), points.factor.data()}});
}

template <class Real>
struct take_kth {
  const Real* list;
  int length;
  std::int64_t k;
  Real* kth;
  void operator()(std::int64_t i) const { kth[i] = list[i * length + k - 1]; }
};

template <class Real>
neighbour_table<Real> on_host(const neighbours_there<Real>& found) {
  neighbour_table<Real> table{found.rows, found.k, std::vector<Real>(found.rows * found.k),
                              std::vector<std::int32_t>(found.rows * found.k)};
  found.value.copy_to_host(table.value.data(), found.rows * found.k);
  found.index.copy_to_host(table.index.data(), found.rows * found.k);
  return table;
}

}  // namespace

template <class Real>
neighbours_there<Real> nearest_others_there(const panels<Real>& points, int k, std::int64_t least_bytes) {
  neighbours_there<Real> found;
  found.rows = points.count;
  found.k = k;
  add_least(found, points.blocks(), least_bytes, points.device());
  if (points.device().kind() == device_kind::host)
    nearest_others_on_host(points, found);
  else
    nearest_by_rows(points, points, true, found);
  return found;
}

template <class Real>
std::vector<Real> kth_value(const neighbours_there<Real>& found, std::int64_t k) {
  Buffer<Real> kth(found.rows, found.value.device());
  device::for_each(found.rows, take_kth<Real>{found.value.data(), found.k, k, kth.data()}, found.value.device());
  return kth.to_vector();
}

template <class Real>
neighbour_table<Real> nearest_others(const panels<Real>& points, int k) {
  return on_host(nearest_others_there(points, k));
}

template <class Real>
neighbours_there<Real> nearest_points_there(const panels<Real>& queries, const panels<Real>& points, int k) {
  neighbours_there<Real> found;
  found.rows = queries.count;
  found.k = k;
  nearest_by_rows(queries, points, false, found);
  return found;
}

template <class Real>
neighbour_table<Real> nearest_points(const panels<Real>& queries, const panels<Real>& points, int k) {
  return on_host(nearest_points_there(queries, points, k));
}

#define QUINTET_INSTANTIATE(Real)                                                                      \
  template neighbours_there<Real> nearest_others_there(const panels<Real>&, int, std::int64_t);        \
  template std::vector<Real> kth_value(const neighbours_there<Real>&, std::int64_t);                   \
  template neighbour_table<Real> nearest_others(const panels<Real>&, int);                             \
  template neighbours_there<Real> nearest_points_there(const panels<Real>&, const panels<Real>&, int); \
  template neighbour_table<Real> nearest_points(const panels<Real>&, const panels<Real>&, int);
QUINTET_INSTANTIATE(float)
QUINTET_INSTANTIATE(double)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::pairwise
