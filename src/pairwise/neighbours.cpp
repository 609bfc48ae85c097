#include "pairwise/neighbours.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "device/for_each.hpp"
#include "instantiate.hpp"
#include "pairwise/list_plan.hpp"
#include "pairwise/sinks.hpp"

namespace quintet::pairwise {

namespace {

// Teams that keep a large GPU busy; fewer row blocks than that are split by columns.
constexpr std::int64_t wanted_teams = 528;

/// Chooses the groups of the table of minima and makes room for it.
template <class Real>
void add_minima(device_neighbours<Real>& found, std::int64_t blocks, std::int64_t minima_bytes, const Device& device) {
  if (minima_bytes <= 0) return;
  found.blocks_per_group = group_size(found.rows, blocks, minima_bytes, sizeof(Real));
  found.groups = (blocks + found.blocks_per_group - 1) / found.blocks_per_group;
  found.minima = Buffer<Real>(found.rows * found.groups, device);
  device::fill(found.minima, std::numeric_limits<Real>::infinity());
}

/// Fills the lists of `found`: `arguments` say of which points, in how many blocks.
template <class Real>
void fill_lists(nearest_arguments<Real> arguments, std::int64_t row_blocks, std::int64_t col_blocks,
                list_sharing sharing, const Device& device, device_neighbours<Real>& found,
                const part_callback& report = {}) {
  const bool owned = sharing == list_sharing::owned;
  const std::int64_t groups = (col_blocks + found.blocks_per_group - 1) / found.blocks_per_group;
  arguments.splits = owned ? column_splits(row_blocks, groups, device) : 1;
  found.value = Buffer<Real>(arguments.splits * found.rows * found.k, device);
  found.index = Buffer<std::int32_t>(arguments.splits * found.rows * found.k, device);
  Buffer<std::int32_t> locks(owned ? 0 : row_blocks, device);
  arguments.list = {found.value.data(), found.index.data(), found.k};
  arguments.locks = locks.data();
  arguments.minima = {found.minima.data(), found.groups, found.blocks_per_group};
  if (owned) return nearest(arguments, device);
  device::fill(found.value, std::numeric_limits<Real>::infinity());
  device::fill(found.index, std::int32_t(-1));
  device::fill(locks, std::int32_t(0));
  in_parts(triangle_size(row_blocks), report, [&](std::int64_t first, std::int64_t count) {
    arguments.first_tile = first;
    arguments.tile_count = count;
    symmetric_nearest(arguments, device);
  });
}

/// The same of packed points; rows and columns are one set where `same` holds.
template <class Real>
void find_nearest(const panels<Real>& rows, const panels<Real>& cols, bool same, list_sharing sharing,
                  device_neighbours<Real>& found, const part_callback& report = {}) {
  fill_lists<Real>({.rows = rows.data.data(),
                    .cols = cols.data.data(),
                    .dim = rows.dim,
                    .row_count = rows.count,
                    .col_count = cols.count,
                    .same_points = same,
                    .list = {},
                    .splits = 1,
                    .locks = nullptr,
                    .minima = {},
                    .factors = {rows.factor.data(), cols.factor.data()},
                    .term = rows.term},
                   rows.blocks(), cols.blocks(), sharing, rows.device(), found, report);
}

/// The k-th entry of every list: the reduced core distance (Campello, Moulavi, Sander 2013).
template <class Real>
struct take_kth {
  const Real* list;
  int length;
  std::int64_t k;
  Real* kth;
  void operator()(std::int64_t i) const { kth[i] = list[i * length + k - 1]; }
};

}  // namespace

std::int64_t column_splits(std::int64_t row_blocks, std::int64_t col_blocks, const Device& device) {
  const std::int64_t teams = device.kind() == device_kind::offload ? wanted_teams : 4;
  return std::clamp<std::int64_t>(teams / row_blocks, 1, col_blocks);
}

std::int64_t group_size(std::int64_t points, std::int64_t blocks, std::int64_t bytes, std::int64_t entry_bytes) {
  const std::int64_t fitting = std::max<std::int64_t>(1, bytes / (points * entry_bytes));
  return (blocks + fitting - 1) / fitting;
}

template <class Real>
device_neighbours<Real> nearest_others_on_device(const panels<Real>& points, int k, std::int64_t minima_bytes,
                                                 list_sharing sharing, const part_callback& report) {
  device_neighbours<Real> found;
  found.rows = points.count;
  found.k = k;
  add_minima(found, points.blocks(), minima_bytes, points.device());
  find_nearest(points, points, true, sharing, found, report);
  return found;
}

template <class Real>
device_neighbours<float> nearest_bounds_on_device(const dot_bounds& bounds, std::int64_t pairs,
                                                  const panels<Real>& points, int k, std::int64_t minima_bytes,
                                                  const part_callback& report) {
  device_neighbours<float> found;
  found.rows = points.count;
  found.k = k;
  add_minima(found, points.blocks(), minima_bytes, points.device());
  fill_lists<float>({.rows = nullptr,
                     .cols = nullptr,
                     .dim = pairs,
                     .row_count = points.count,
                     .col_count = points.count,
                     .same_points = true,
                     .list = {},
                     .splits = 1,
                     .locks = nullptr,
                     .minima = {},
                     .bounds = bounds},
                    points.blocks(), points.blocks(), sharing_of(points.device()), points.device(), found, report);
  return found;
}

template <class Real>
std::vector<Real> outside_lists(const device_neighbours<Real>& found) {
  return found.beyond.size() > 0 ? found.beyond.to_vector() : kth_value(found, found.k);
}

template <class Real>
std::vector<Real> kth_value(const device_neighbours<Real>& found, std::int64_t k) {
  Buffer<Real> kth(found.rows, found.value.device());
  device::for_each(found.rows, take_kth<Real>{found.value.data(), found.k, k, kth.data()}, found.value.device());
  return kth.to_vector();
}

template <class Real>
neighbour_table<Real> on_host(const device_neighbours<Real>& found) {
  neighbour_table<Real> table{found.rows, found.k, std::vector<Real>(found.rows * found.k),
                              std::vector<std::int32_t>(found.rows * found.k)};
  found.value.copy_to_host(table.value.data(), found.rows * found.k);
  found.index.copy_to_host(table.index.data(), found.rows * found.k);
  return table;
}

template <class Real>
device_neighbours<Real> nearest_points_on_device(const panels<Real>& queries, const panels<Real>& points, int k) {
  device_neighbours<Real> found;
  found.rows = queries.count;
  found.k = k;
  find_nearest(queries, points, false, list_sharing::owned, found);
  return found;
}

template <class Real>
neighbour_table<Real> nearest_points(const panels<Real>& queries, const panels<Real>& points, int k) {
  return on_host(nearest_points_on_device(queries, points, k));
}

#define QUINTET_INSTANTIATE(Real)                                                                                  \
  template device_neighbours<Real> nearest_others_on_device(const panels<Real>&, int, std::int64_t, list_sharing,  \
                                                            const part_callback&);                                 \
  template std::vector<Real> kth_value(const device_neighbours<Real>&, std::int64_t);                              \
  template device_neighbours<float> nearest_bounds_on_device(const dot_bounds&, std::int64_t, const panels<Real>&, \
                                                             int, std::int64_t, const part_callback&);             \
  template std::vector<Real> outside_lists(const device_neighbours<Real>&);                                        \
  template neighbour_table<Real> on_host(const device_neighbours<Real>&);                                          \
  template device_neighbours<Real> nearest_points_on_device(const panels<Real>&, const panels<Real>&, int);        \
  template neighbour_table<Real> nearest_points(const panels<Real>&, const panels<Real>&, int);
QUINTET_FOR_EACH_REAL(QUINTET_INSTANTIATE)

}  // namespace quintet::pairwise
