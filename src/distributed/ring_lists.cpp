#include "distributed/ring_lists.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "device/for_each.hpp"
#include "device/launch.hpp"
#include "instantiate.hpp"
#include "pairwise/list_plan.hpp"
#include "pairwise/sinks.hpp"

namespace quintet::pairwise {

namespace {

/// Infinite bounds of `points` for groups of `blocks` blocks, within `bytes`.
template <class Real>
Buffer<Real> table_of(std::int64_t points, std::int64_t blocks, std::int64_t bytes, std::int64_t& groups,
                      std::int64_t& blocks_per_group, const Device& device) {
  if (points == 0 || blocks == 0) return Buffer<Real>(0, device);
  blocks_per_group = group_size(points, blocks, bytes, sizeof(Real));
  groups = (blocks + blocks_per_group - 1) / blocks_per_group;
  Buffer<Real> table(points * groups, device);
  device::fill(table, std::numeric_limits<Real>::infinity());
  return table;
}

/// Every list: `k` entries that hold its limit and no point.
template <class Real>
struct begin_list {
  const Real* limit;
  int k;
  Real* value;
  std::int32_t* index;
  void operator()(std::int64_t entry) const {
    const Real max = limit[entry / k];
    value[entry] = max;
    // Larger than every number: a point at the same distance comes first. Nothing is at infinity.
    index[entry] = max < std::numeric_limits<Real>::infinity() ? std::numeric_limits<std::int32_t>::max() : -1;
  }
};

}  // namespace

template <class Real>
ring_lists<Real>::ring_lists(const panels<Real>& own, int k, const std::vector<std::int32_t>& number,
                             std::int64_t visiting_blocks, std::int64_t minima_bytes, list_sharing sharing,
                             const ring_request& request)
    : own_(own),
      sharing_(sharing),
      number_(number, own.device()),
      locks_(own.blocks(), own.device()),
      request_(request),
      min_excluded_(own.count, std::numeric_limits<Real>::infinity()) {
  const Device& device = own.device();
  lists_.rows = own.count;
  lists_.k = k;
  const std::int64_t groups = own.blocks() + visiting_blocks;
  if (minima_bytes > 0) {
    lists_.minima = table_of<Real>(own.count, groups, minima_bytes, lists_.groups, lists_.blocks_per_group, device);
    if (sharing == list_sharing::symmetric)
      visiting_minima_ = table_of<Real>(visiting_blocks * own.block_side, own.blocks(), minima_bytes, visiting_groups_,
                                        visiting_blocks_per_group_, device);
  }
  const std::int64_t splits =
      sharing == list_sharing::owned && own.count > 0 ? column_splits(own.blocks(), groups, device) : 1;
  lists_.value = Buffer<Real>((1 + splits) * own.count * k, device);
  lists_.index = Buffer<std::int32_t>((1 + splits) * own.count * k, device);
  device::fill(lists_.value, std::numeric_limits<Real>::infinity());
  device::fill(lists_.index, std::int32_t(-1));
  device::fill(locks_, std::int32_t(0));
  if constexpr (sizeof(Real) == sizeof(float))
    if (has_filter() && own.count > 0) filter_.emplace(own, request);
}

template <class Real>
void ring_lists<Real>::meet_own(const std::function<void()>& between) {
  if (own_.count == 0) return;
  between_ = between;
  remote_points<Real> no_remote_block;
  const block_range all{0, own_.blocks()};
  begin_list_update(no_remote_block, all);
  meet(no_remote_block, all, all);
  end_meeting(no_remote_block, all);
  between_ = nullptr;
}

/// Of own points, with looks at what else there is to do.
template <class Real>
template <class Value>
void ring_lists<Real>::meet_in_parts(nearest_arguments<Value> arguments, std::int64_t tiles) {
  const part_callback report = between_ ? part_callback([this](double) { between_(); }) : part_callback();
  in_parts(tiles, report, [&](std::int64_t first, std::int64_t count) {
    arguments.first_tile = first;
    arguments.tile_count = count;
    symmetric_nearest(arguments, own_.device());
  });
}

namespace {

/// Of every list its entry `kth`, from 1.
template <class Real>
std::vector<Real> entries(const Real* lists, std::int64_t count, int k, int kth) {
  std::vector<Real> values(count);
  for (std::int64_t i = 0; i < count; ++i) values[i] = lists[i * k + kth - 1];
  return values;
}

}  // namespace

template <class Real>
void ring_lists<Real>::begin_list_update(remote_points<Real>& visitors, block_range own) {
  if constexpr (sizeof(Real) == sizeof(float)) {
    if (!filter_ || !filter_->is_used() || own.count == 0) return;
    const std::int64_t first = own.first * own_.block_side, k = lists_.k;
    const bool same = visitors.data.size() == 0;
    exact_kth_ = entries(lists_.value.data(), own_.count, lists_.k, request_.exact);
    const ring_filter::side rows{.points = &own_,
                                 .first = first,
                                 .count = std::min(own.count * own_.block_side, own_.count - first),
                                 .number = number_.data() + first,
                                 .list = {lists_.value.data() + first * k, lists_.index.data() + first * k, int(k)},
                                 .exact_kth = exact_kth_.data() + first,
                                 .min_excluded = min_excluded_.data() + first};
    if (same) return filter_->begin(rows, nullptr);
    visiting_panels_.data = std::move(visitors.data);
    visiting_panels_.count = visitors.count;
    visiting_panels_.dim = own_.dim;
    visiting_panels_.block_side = own_.block_side;
    visiting_panels_.term = own_.term;
    const ring_filter::side cols{.points = &visiting_panels_,
                                 .first = 0,
                                 .count = visitors.count,
                                 .number = visitors.number.data(),
                                 .list = {visitors.value.data(), visitors.index.data(), int(k)},
                                 .exact_kth = visitors.exact_kth.data(),
                                 .min_excluded = visitors.min_excluded.data()};
    filter_->begin(rows, &cols);
  }
}

template <class Real>
void ring_lists<Real>::end_meeting(remote_points<Real>& visitors, block_range own) {
  if constexpr (sizeof(Real) == sizeof(float)) {
    if (!filter_ || !filter_->is_used() || own.count == 0) return;
    const bool same = visiting_panels_.data.size() == 0;
    const bool all_taken = filter_->end();
    visitors.data = std::move(visiting_panels_.data);
    if (!all_taken) meet(visitors, own, {0, same ? own_.blocks() : visitors.locks.size()});
  }
}

template <class Real>
void ring_lists<Real>::meet(remote_points<Real>& visitors, block_range own, block_range visiting) {
  if (own_.count == 0 || own.count == 0 || visiting.count == 0) return;
  const Device& device = own_.device();
  const bool is_filtering = filter_ && filter_->is_used();
  const bool same = visitors.data.size() + visiting_panels_.data.size() == 0,
             is_owned = sharing_ == list_sharing::owned;
  const std::int64_t side = own_.block_side, k = lists_.k;
  const std::int64_t first_row = own.first * side, first_col = visiting.first * side;
  const std::int64_t col_count = same ? own_.count : visitors.count;
  const std::int64_t first_place = (same ? 0 : visitors.first_place) + visiting.first;
  const auto at = [](auto* data, std::int64_t offset) { return data == nullptr ? data : data + offset; };
  const auto minima_at = [&]<class Value>(minima_table<Value>& rows, minima_table<Value>& cols) {
    if constexpr (std::is_same_v<Value, Real>) {
      rows = {at(lists_.minima.data(), first_row * lists_.groups), lists_.groups, lists_.blocks_per_group, first_place};
      if (same || is_owned) return;
      const std::int64_t row = (visitors.first_place - own_.blocks()) * side + first_col;
      cols = {at(visiting_minima_.data(), row * visiting_groups_), visiting_groups_, visiting_blocks_per_group_,
              own.first};
    }
  };
  if (is_filtering) {
    nearest_arguments<float> bounds =
        filter_->bounds(first_col, std::min(visiting.count * side, col_count - first_col));
    minima_at(bounds.minima, bounds.col_minima);
    return same ? meet_in_parts(bounds, triangle_size(own_.blocks())) : symmetric_nearest(bounds, device);
  }
  // Lists of a pass of their own, which then join the result.
  const std::int64_t list_offset = is_owned ? own_.count * k : 0;
  const Real *cols = same ? own_.data.data() : visitors.data.data(),
             *col_factor = same ? own_.factor.data() : visitors.factor.data();
  const std::int32_t* col_number = same ? number_.data() : visitors.number.data();
  nearest_arguments<Real> a{.rows = own_.data.data() + first_row * own_.dim,
                            .cols = cols + first_col * own_.dim,
                            .dim = own_.dim,
                            .row_count = std::min(own.count * side, own_.count - first_row),
                            .col_count = std::min(visiting.count * side, col_count - first_col),
                            .same_points = same,
                            .list = {lists_.value.data() + list_offset + first_row * k,
                                     lists_.index.data() + list_offset + first_row * k, int(k)},
                            .splits = 1,
                            .locks = locks_.data() + own.first,
                            .minima = {},
                            .factors = {at(own_.factor.data(), first_row), at(col_factor, first_col)},
                            .term = own_.term,
                            .row_number = number_.data() + first_row,
                            .col_number = col_number + first_col};
  minima_at(a.minima, a.col_minima);
  if (is_owned) {
    // Teams take whole groups, so that one alone writes an entry of the table.
    const std::int64_t groups = (visiting.count + lists_.blocks_per_group - 1) / lists_.blocks_per_group;
    if (first_place % lists_.blocks_per_group == 0) a.splits = column_splits(own_.blocks(), groups, device);
    nearest(a, device);
    return merge();
  }
  if (!same) {
    a.col_list = {visitors.value.data() + first_col * k, visitors.index.data() + first_col * k, int(k)};
    a.col_locks = visitors.locks.data() + visiting.first;
  }
  if (same) return meet_in_parts(a, triangle_size(own_.blocks()));
  symmetric_nearest(a, device);
}

template <class Real>
void ring_lists<Real>::merge() {
  const Device& device = own_.device();
  const nearest_lists<Real> list{lists_.value.data(), lists_.index.data(), lists_.k};
  device::with_shape<host_shape<Real>, device_shape<Real>>(device, [&](auto shape) {
    using kernel = merge_lists_kernel<Real, decltype(shape)>;
    device::launch(kernel{list, own_.count, 2}, (own_.count + kernel::rows_per_tile - 1) / kernel::rows_per_tile,
                   device);
  });
}

template <class Real>
remote_points<Real> ring_lists<Real>::room_for(std::int64_t count, std::int64_t blocks, std::int64_t first_place,
                                               bool has_factors) const {
  const Device& device = own_.device();
  const bool has_lists = sharing_ == list_sharing::symmetric;
  const std::int64_t padded = blocks * own_.block_side, entries = has_lists ? count * lists_.k : 0;
  remote_points<Real> visitors;
  visitors.count = count;
  visitors.first_place = first_place;
  if (has_factors) visitors.factor = Buffer<Real>(padded, device);
  visitors.number = Buffer<std::int32_t>(padded, device);
  visitors.value = Buffer<Real>(entries, device);
  visitors.index = Buffer<std::int32_t>(entries, device);
  visitors.locks = Buffer<std::int32_t>(has_lists ? blocks : 0, device);
  return visitors;
}

template <class Real>
void ring_lists<Real>::begin_lists(remote_points<Real>& visitors, const std::vector<Real>& kth) const {
  const Device& device = own_.device();
  if (visitors.value.size() == 0) return;
  const Buffer<Real> limit(kth, device);
  device::for_each(visitors.value.size(),
                   begin_list<Real>{limit.data(), lists_.k, visitors.value.data(), visitors.index.data()}, device);
  device::fill(visitors.locks, std::int32_t(0));
}

template <class Real>
void ring_lists<Real>::take(const std::vector<Real>& value, const std::vector<std::int32_t>& index,
                            const std::vector<Real>& min_excluded) {
  if (own_.count == 0) return;
  for (std::size_t i = 0; i < min_excluded.size(); ++i) min_excluded_[i] = std::min(min_excluded_[i], min_excluded[i]);
  lists_.value.copy_from_host(value.data(), std::int64_t(value.size()), own_.count * lists_.k);
  lists_.index.copy_from_host(index.data(), std::int64_t(index.size()), own_.count * lists_.k);
  merge();
}

template <class Real>
typename ring_lists<Real>::contents ring_lists<Real>::copy() const {
  const std::int64_t entries = own_.count * lists_.k;
  contents all{std::vector<Real>(entries), std::vector<std::int32_t>(entries), min_excluded_, lists_.minima.to_vector(),
               visiting_minima_.to_vector()};
  lists_.value.copy_to_host(all.value.data(), entries);
  lists_.index.copy_to_host(all.index.data(), entries);
  return all;
}

template <class Real>
void ring_lists<Real>::restore(const contents& saved) {
  lists_.value.copy_from_host(saved.value.data(), std::int64_t(saved.value.size()));
  lists_.index.copy_from_host(saved.index.data(), std::int64_t(saved.index.size()));
  min_excluded_ = saved.min_excluded;
  const auto take_table = [](const std::vector<Real>& table, Buffer<Real>& to) {
    if (table.empty())
      device::fill(to, Real(0));
    else
      to.copy_from_host(table.data(), std::int64_t(table.size()));
  };
  take_table(saved.minima, lists_.minima);
  take_table(saved.visiting_minima, visiting_minima_);
}

#define QUINTET_INSTANTIATE(Real) template class ring_lists<Real>;
QUINTET_FOR_EACH_REAL(QUINTET_INSTANTIATE)

}  // namespace quintet::pairwise
