#include "pairwise/neighbours.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "device/for_each.hpp"
#include "device/parallel.hpp"
#include "instantiate.hpp"
#include "pairwise/list_plan.hpp"
#include "pairwise/sinks.hpp"

namespace quintet::pairwise {

namespace {

// Teams that keep a large GPU busy; fewer row blocks than that are split by columns.
constexpr std::int64_t wanted_teams = 528;

/// Chooses the groups of the table of minima and makes room for it.
template <class Real>
void add_minima(device_neighbours<Real>& lists, std::int64_t blocks, std::int64_t minima_bytes, const Device& device) {
  if (minima_bytes <= 0) return;
  lists.blocks_per_group = group_size(lists.rows, blocks, minima_bytes, sizeof(Real));
  lists.groups = (blocks + lists.blocks_per_group - 1) / lists.blocks_per_group;
  lists.minima = Buffer<Real>(lists.rows * lists.groups, device);
  device::fill(lists.minima, std::numeric_limits<Real>::infinity());
}

/// Fills the lists of `found`: `arguments` say of which points, in how many blocks.
template <class Real>
void fill_lists(nearest_arguments<Real> arguments, std::int64_t row_blocks, std::int64_t col_blocks,
                list_sharing sharing, const Device& device, device_neighbours<Real>& lists,
                const part_callback& report = {}) {
  const bool owned = sharing == list_sharing::owned;
  const std::int64_t groups = (col_blocks + lists.blocks_per_group - 1) / lists.blocks_per_group;
  arguments.splits = owned ? column_splits(row_blocks, groups, device) : 1;
  lists.value = Buffer<Real>(arguments.splits * lists.rows * lists.k, device);
  lists.index = Buffer<std::int32_t>(arguments.splits * lists.rows * lists.k, device);
  Buffer<std::int32_t> locks(owned ? 0 : row_blocks, device);
  arguments.list = {lists.value.data(), lists.index.data(), lists.k, are_heaps(lists.k, device)};
  arguments.locks = locks.data();
  arguments.minima = {lists.minima.data(), lists.groups, lists.blocks_per_group};
  if (owned) {
    nearest(arguments, device);
    return sort_heaps(lists);
  }
  device::fill(lists.value, std::numeric_limits<Real>::infinity());
  device::fill(lists.index, std::int32_t(-1));
  device::fill(locks, std::int32_t(0));
  in_parts(triangle_size(row_blocks), report, [&](std::int64_t first, std::int64_t count) {
    arguments.first_tile = first;
    arguments.tile_count = count;
    symmetric_nearest(arguments, device);
  });
  sort_heaps(lists);
}

/// The same of packed points; rows and columns are one set where `same` holds.
template <class Real>
void find_nearest(const panels<Real>& rows, const panels<Real>& cols, bool same, list_sharing sharing,
                  device_neighbours<Real>& lists, const part_callback& report = {},
                  const std::int32_t* number = nullptr) {
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
                    .term = rows.term,
                    .col_number = number},
                   rows.blocks(), cols.blocks(), sharing, rows.device(), lists, report);
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
  device_neighbours<Real> lists;
  lists.rows = points.count;
  lists.k = k;
  add_minima(lists, points.blocks(), minima_bytes, points.device());
  find_nearest(points, points, true, sharing, lists, report);
  return lists;
}

template <class Real>
device_neighbours<float> nearest_bounds_on_device(const dot_bounds& bounds, std::int64_t pairs,
                                                  const panels<Real>& points, int k, std::int64_t minima_bytes,
                                                  const part_callback& report) {
  device_neighbours<float> lists;
  lists.rows = points.count;
  lists.k = k;
  add_minima(lists, points.blocks(), minima_bytes, points.device());
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
                    points.blocks(), points.blocks(), sharing_of(points.device()), points.device(), lists, report);
  return lists;
}

template <class Real>
void sort_heaps(device_neighbours<Real>& lists) {
  if (!are_heaps(lists.k, lists.value.device())) return;
  constexpr std::int64_t at_once = 64;
  device::for_each_side_by_side((lists.rows + at_once - 1) / at_once, [&](std::int64_t part) {
    std::vector<std::pair<Real, std::int32_t>> entries(lists.k);
    for (std::int64_t row = part * at_once; row < std::min(lists.rows, (part + 1) * at_once); ++row) {
      Real* const value = lists.value.data() + row * lists.k;
      std::int32_t* const index = lists.index.data() + row * lists.k;
      for (int e = 0; e < lists.k; ++e) entries[e] = {value[e], index[e]};
      std::sort(entries.begin(), entries.end());
      for (int e = 0; e < lists.k; ++e) std::tie(value[e], index[e]) = entries[e];
    }
  });
}

template <class Real>
std::vector<Real> outside_lists(const device_neighbours<Real>& lists) {
  return lists.min_excluded.size() > 0 ? lists.min_excluded.to_vector() : kth_value(lists, lists.k);
}

template <class Real>
std::vector<Real> kth_value(const device_neighbours<Real>& lists, std::int64_t k) {
  Buffer<Real> kth(lists.rows, lists.value.device());
  device::for_each(lists.rows, take_kth<Real>{lists.value.data(), lists.k, k, kth.data()}, lists.value.device());
  return kth.to_vector();
}

template <class Real>
neighbour_table<Real> on_host(const device_neighbours<Real>& lists) {
  neighbour_table<Real> table{lists.rows, lists.k, std::vector<Real>(lists.rows * lists.k),
                              std::vector<std::int32_t>(lists.rows * lists.k)};
  lists.value.copy_to_host(table.value.data(), lists.rows * lists.k);
  lists.index.copy_to_host(table.index.data(), lists.rows * lists.k);
  return table;
}

template <class Real>
device_neighbours<Real> nearest_points_on_device(const panels<Real>& queries, const panels<Real>& points, int k,
                                                 const std::int32_t* number) {
  device_neighbours<Real> lists;
  lists.rows = queries.count;
  lists.k = k;
  find_nearest(queries, points, false, list_sharing::owned, lists, {}, number);
  return lists;
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
  template void sort_heaps(device_neighbours<Real>&);                                                              \
  template std::vector<Real> outside_lists(const device_neighbours<Real>&);                                        \
  template neighbour_table<Real> on_host(const device_neighbours<Real>&);                                          \
  template device_neighbours<Real> nearest_points_on_device(const panels<Real>&, const panels<Real>&, int,         \
                                                            const std::int32_t*);                                  \
  template neighbour_table<Real> nearest_points(const panels<Real>&, const panels<Real>&, int);
QUINTET_FOR_EACH_REAL(QUINTET_INSTANTIATE)

}  // namespace quintet::pairwise
