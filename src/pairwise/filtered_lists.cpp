#include "pairwise/filtered_lists.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "device/for_each.hpp"
#include "device/launch.hpp"
#include "instantiate.hpp"
#include "pairwise/refine_kernel.hpp"
#include "pairwise/sinks.hpp"

namespace quintet::pairwise {

namespace {

thread_local filter_mode filter_mode_of = filter_mode::automatic;

// Measured on Zen 4 with AVX-512 BF16: below them the rest of a tile takes what products gain.
constexpr std::int64_t min_filter_dimensions = 96, min_filter_points = 1024;
// A sample tells beforehand what that share will be, where it is a small part of the work.
constexpr std::int64_t sampled_rows = 96, min_sampled_points = 8192;

/// Sorts what was measured into lists, and asks whether they are what was wanted (Knuth 1998, 5.2.1).
template <class Real>
struct resolve_row {
  nearest_lists<float> bounds;
  const Real* measured;  ///< [row][bounds.k]
  nearest_lists<Real> list;
  Real* min_excluded;
  std::int32_t* open;
  int exact;
  bool values_only;

  void operator()(std::int64_t row) const {
    list.clear(row);
    for (int e = 0; e < bounds.k; ++e) {
      const std::int32_t index = bounds.index[row * bounds.k + e];
      const Real value = measured[row * bounds.k + e];
      if (index >= 0 && list.accepts(row, value, index)) list.insert(row, value, index);
    }
    // What is not in a full list has a bound of at least its last one.
    const std::int64_t last = row * bounds.k + bounds.k - 1;
    const bool is_full = bounds.index[last] >= 0;
    const Real min_excluded_of_rows = is_full ? Real(bounds.value[last]) : std::numeric_limits<Real>::infinity();
    const Real kth = list.value[row * list.k + exact - 1];
    min_excluded[row] = min_excluded_of_rows;
    open[row] = is_full && !(kth < min_excluded_of_rows || (values_only && kth == min_excluded_of_rows));
  }
};

/// Takes a row that was searched without a filter.
template <class Real>
struct merge_row {
  const std::int32_t* row_of;
  nearest_lists<Real> lists;  ///< one entry longer: the point itself may be among them
  nearest_lists<Real> list;
  Real* min_excluded;

  void operator()(std::int64_t i) const {
    const std::int64_t row = row_of[i];
    int from = 0;
    for (int e = 0; e < list.k; ++e, ++from) {
      if (lists.index[i * lists.k + from] == row) ++from;
      list.value[row * list.k + e] = lists.value[i * lists.k + from];
      list.index[row * list.k + e] = lists.index[i * lists.k + from];
    }
    min_excluded[row] = list.value[row * list.k + list.k - 1];
  }
};

template <class Real>
struct widen {
  const float* from;
  Real* to;
  void operator()(std::int64_t i) const { to[i] = Real(from[i]); }
};

/// Numbers of float as Real.
template <class Real>
Buffer<Real> widened_buffer(Buffer<float>&& from) {
  if constexpr (sizeof(Real) == sizeof(float)) {
    return std::move(from);
  } else {
    Buffer<Real> to(from.size(), from.device());
    device::for_each(from.size(), widen<Real>{from.data(), to.data()}, from.device());
    return to;
  }
}

/// The caller's numbers of packed points.
std::vector<std::int32_t> stored_rows_of(const std::vector<std::int32_t>& packed,
                                         const std::vector<std::int32_t>& order) {
  std::vector<std::int32_t> stored = packed;
  if (!order.empty())
    for (std::int32_t& row : stored) row = order[row];
  return stored;
}

template <class Storage>
bool can_filter(const scanned_points<Storage>& points) {
  return points.measure.term.kind == term_kind::square && points.factors() == nullptr &&
         (points.kind() == metric::euclidean || points.kind() == metric::cosine) &&
         points.rows().dim <= max_rounded_dimensions;
}

}  // namespace

filter_mode filter_mode_in_use() { return filter_mode_of; }
filter_guard::filter_guard(filter_mode use) : previous_(std::exchange(filter_mode_of, use)) {}
filter_guard::~filter_guard() { filter_mode_of = previous_; }

template <class Real>
Buffer<Real> listed_distances(const stored_rows<Real>& points, const std::vector<std::int32_t>& order,
                              const Buffer<std::int32_t>& list, std::int64_t length) {
  const Device& device = list.device();
  const std::int64_t rows = list.size() / length;
  const Buffer<std::int32_t> order_on_device(order, device);
  Buffer<Real> measured(list.size(), device);
  device::with_shape<host_shape<Real>, device_shape<Real>>(device, [&](auto shape) {
    using kernel = refine_kernel<Real, decltype(shape)>;
    device::launch(kernel{points, order.empty() ? nullptr : order_on_device.data(), nullptr, metric::euclidean, Real(1),
                          list.data(), length, rows, measured.data()},
                   (rows + kernel::rows_per_tile - 1) / kernel::rows_per_tile, device);
  });
  return measured;
}

std::vector<std::int32_t> sample_for_bounds(std::int64_t points) {
  if (points < min_sampled_points || filter_mode_of == filter_mode::always) return {};
  std::vector<std::int32_t> sample(sampled_rows);
  for (std::int64_t i = 0; i < sampled_rows; ++i) sample[i] = std::int32_t(i * points / sampled_rows);
  return sample;
}

// A list does if its end and what comes behind it are farther apart than what rounding takes from a distance.
template <class Real>
bool bounds_suffice(const panels<Real>& sample, const std::vector<std::int32_t>& sampled, const panels<Real>& points,
                    const rounded_points& rounded, int length, int exact) {
  const std::vector<float> errors = rounded.errors();
  const auto count = double(sampled.size());
  double usual = 0;
  for (const std::int32_t row : sampled) usual += errors[row] == errors[row] ? double(errors[row]) / count : 0;
  // The points themselves are in these lists.
  const auto lists = on_host(nearest_points_on_device(sample, points, length + 2));
  std::int64_t open = 0;
  for (std::size_t i = 0; i < sampled.size(); ++i) {
    const Real* value = lists.value.data() + std::int64_t(i) * lists.k;
    const double gap = std::sqrt(double(value[length + 1])) - std::sqrt(double(value[exact]));
    if (gap <= double(errors[sampled[i]]) + usual) ++open;
  }
  return double(open) <= max_open_share / 2 * count;
}

template <class Storage>
bool filter_pays(const scanned_points<Storage>& points, std::int64_t count, int length) {
  if (filter_mode_of == filter_mode::never || !can_filter(points) || length >= count) return false;
  if (filter_mode_of == filter_mode::always) return true;
  return device::has_fast_products && points.device().kind() == device_kind::host &&
         points.rows().dim >= min_filter_dimensions && count >= min_filter_points && length <= count / 8;
}

template <class Storage>
device_neighbours<accumulator_t<Storage>> nearest_others_filtered(const scanned_points<Storage>& points,
                                                                  const std::vector<std::int32_t>& order,
                                                                  const panels<accumulator_t<Storage>>& panels,
                                                                  const list_request& request,
                                                                  const part_callback& report,
                                                                  std::optional<rounded_points>* filter) {
  using Real = accumulator_t<Storage>;
  const auto unfiltered = [&] {
    return nearest_others_on_device(panels, request.length, request.minima_bytes, report);
  };
  if (!filter_pays(points, panels.count, request.length)) return unfiltered();
  const Device& device = panels.device();
  std::optional<rounded_points> own_filter;
  std::optional<rounded_points>& rounded = filter != nullptr ? *filter : own_filter;
  rounded.emplace(panels);
  const std::vector<std::int32_t> sample = sample_for_bounds(panels.count);
  if (!sample.empty() && !bounds_suffice(points.pack(stored_rows_of(sample, order)), sample, panels, *rounded,
                                         request.length, request.exact)) {
    rounded.reset();
    return unfiltered();
  }
  device_neighbours<float> bounds =
      nearest_bounds_on_device(rounded_points::between(*rounded, *rounded), rounded->pairs(), panels, request.length,
                               request.minima_bytes, report);

  const nearest_lists<float> of_bounds{bounds.value.data(), bounds.index.data(), bounds.k};
  const Buffer<std::int32_t> order_on_device(order, device);
  Buffer<Real> measured(bounds.rows * bounds.k, device);
  device::with_shape<host_shape<Real>, device_shape<Real>>(device, [&](auto shape) {
    using kernel = refine_kernel<Storage, decltype(shape)>;
    device::launch(kernel{points.rows(), order.empty() ? nullptr : order_on_device.data(), points.numbers(),
                          points.kind(), points.scale(), bounds.index.data(), bounds.k, bounds.rows, measured.data()},
                   (bounds.rows + kernel::rows_per_tile - 1) / kernel::rows_per_tile, device);
  });

  device_neighbours<Real> lists;
  lists.rows = bounds.rows;
  lists.k = bounds.k;
  lists.value = Buffer<Real>(lists.rows * lists.k, device);
  lists.index = Buffer<std::int32_t>(lists.rows * lists.k, device);
  lists.min_excluded = Buffer<Real>(lists.rows, device);
  Buffer<std::int32_t> open(lists.rows, device);
  const nearest_lists<Real> list{lists.value.data(), lists.index.data(), lists.k};
  device::for_each(lists.rows,
                   resolve_row<Real>{of_bounds, measured.data(), list, lists.min_excluded.data(), open.data(),
                                     request.exact, request.values_only},
                   device);
  const std::vector<std::int32_t> is_open = open.to_vector();
  std::vector<std::int32_t> open_rows;
  for (std::int64_t i = 0; i < lists.rows; ++i)
    if (is_open[i]) open_rows.push_back(std::int32_t(i));
  if (double(open_rows.size()) > max_open_share * double(lists.rows)) {
    rounded.reset();
    return unfiltered();
  }
  if (!open_rows.empty()) {
    auto exact = nearest_points_on_device(points.pack(stored_rows_of(open_rows, order)), panels, lists.k + 1);
    const Buffer<std::int32_t> rows_on_device(open_rows, device);
    device::for_each(
        std::int64_t(open_rows.size()),
        merge_row<Real>{
            rows_on_device.data(), {exact.value.data(), exact.index.data(), exact.k}, list, lists.min_excluded.data()},
        device);
  }
  lists.minima = widened_buffer<Real>(std::move(bounds.minima));
  lists.groups = bounds.groups;
  lists.blocks_per_group = bounds.blocks_per_group;
  return lists;
}

#define QUINTET_INSTANTIATE(Storage)                                                                           \
  template bool filter_pays(const scanned_points<Storage>&, std::int64_t, int);                                \
  template device_neighbours<accumulator_t<Storage>> nearest_others_filtered(                                  \
      const scanned_points<Storage>&, const std::vector<std::int32_t>&, const panels<accumulator_t<Storage>>&, \
      const list_request&, const part_callback&, std::optional<rounded_points>*);
QUINTET_FOR_EACH_STORAGE(QUINTET_INSTANTIATE)
#undef QUINTET_INSTANTIATE

#define QUINTET_INSTANTIATE(Real)                                                                          \
  template Buffer<Real> listed_distances(const stored_rows<Real>&, const std::vector<std::int32_t>&,       \
                                         const Buffer<std::int32_t>&, std::int64_t);                       \
  template bool bounds_suffice(const panels<Real>&, const std::vector<std::int32_t>&, const panels<Real>&, \
                               const rounded_points&, int, int);
QUINTET_FOR_EACH_REAL(QUINTET_INSTANTIATE)

}  // namespace quintet::pairwise
