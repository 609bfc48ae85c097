// What searches lists, as the result of a call.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "device/for_each.hpp"
#include "device/parallel.hpp"
#include "pairwise/filtered_lists.hpp"
#include "pairwise/reduced_limit.hpp"
#include "pairwise/scanned_points.hpp"
#include "pairwise/tree_search.hpp"
#include "quintet/neighbours/neighbours.hpp"

namespace quintet::neighbours {

/// Lists without an entry.
template <class Real>
nearest_result<Real> empty_lists(std::int64_t queries, std::int64_t points, std::int64_t k, const Device& device) {
  nearest_result<Real> result;
  result.ran_on = device;
  result.queries = queries;
  result.points = points;
  result.k = k;
  result.index.assign(queries * k, -1);
  result.distance.assign(queries * k, std::numeric_limits<Real>::quiet_NaN());
  return result;
}

/// Rows without an entry.
template <class Real>
radius_result<Real> empty_rows(std::int64_t queries, std::int64_t points, const Device& device) {
  radius_result<Real> result;
  result.ran_on = device;
  result.queries = queries;
  result.points = points;
  result.row_pointers.assign(queries + 1, 0);
  return result;
}

/// Inner products count as -<x, y>, of any sign.
inline void check_radius(double radius, metric kind) {
  if (kind == metric::integer_inner_product)
    require_argument(std::isfinite(radius), "radius", radius, "finite");
  else
    require_argument(radius >= 0 && std::isfinite(radius), "radius", radius, ">= 0 and finite");
}

/// Puts the first entries of lists into the rows of the result, row i of the lists into order[i] (i, if there is no
/// order).
template <class Real>
void put_lists(const pairwise::device_neighbours<Real>& lists, const std::vector<std::int32_t>& order,
               const pairwise::reduced_metric<Real>& metric, nearest_result<Real>& result) {
  const bool is_shared = lists.value.device().shares_host_memory();
  const std::vector<Real> values = is_shared ? std::vector<Real>{} : lists.value.to_vector();
  const std::vector<std::int32_t> indices = is_shared ? std::vector<std::int32_t>{} : lists.index.to_vector();
  const Real* const value = is_shared ? lists.value.data() : values.data();
  const std::int32_t* const index = is_shared ? lists.index.data() : indices.data();
  constexpr std::int64_t at_once = 4096;
  device::for_each_side_by_side((lists.rows + at_once - 1) / at_once, [&](std::int64_t part) {
    for (std::int64_t i = part * at_once; i < std::min(lists.rows, (part + 1) * at_once); ++i) {
      const std::int64_t row = order.empty() ? i : order[i];
      for (std::int64_t e = 0; e < result.k; ++e) {
        if (index[i * lists.k + e] < 0) continue;
        result.index[row * result.k + e] = index[i * lists.k + e];
        result.distance[row * result.k + e] = metric.distance(value[i * lists.k + e]);
      }
    }
  });
}

/// The k nearest of two lists of every row, in host memory.
template <class Real>
pairwise::device_neighbours<Real> joined_lists(const pairwise::device_neighbours<Real>& a,
                                               const pairwise::device_neighbours<Real>& b) {
  const auto left = pairwise::on_host(a), right = pairwise::on_host(b);
  pairwise::device_neighbours<Real> both;
  both.rows = left.rows;
  both.k = left.k;
  both.value = Buffer<Real>(both.rows * both.k, Device::host());
  both.index = Buffer<std::int32_t>(both.rows * both.k, Device::host());
  constexpr std::int64_t at_once = 4096;
  device::for_each_side_by_side((both.rows + at_once - 1) / at_once, [&](std::int64_t part) {
    for (std::int64_t row = part * at_once; row < std::min(both.rows, (part + 1) * at_once); ++row) {
      const std::int64_t first = row * both.k;
      std::int64_t l = first, r = first;
      for (std::int64_t e = first; e < first + both.k; ++e) {
        const bool is_left = std::pair(left.value[l], left.index[l]) < std::pair(right.value[r], right.index[r]);
        both.value.data()[e] = is_left ? left.value[l] : right.value[r];
        both.index.data()[e] = is_left ? left.index[l] : right.index[r];
        ++(is_left ? l : r);
      }
    }
  });
  return both;
}

/// Lists of at least the k nearest.
template <class Storage, class Real = accumulator_t<Storage>>
pairwise::device_neighbours<Real> nearest_others(const pairwise::scanned_points<Storage>& points,
                                                 const pairwise::panels<Real>& packed, int k) {
  const int length = int(std::min<std::int64_t>(points.count() - 1, pairwise::filtered_length(k)));
  const bool filtered = pairwise::filter_pays(points, points.count(), length);
  return pairwise::nearest_others_filtered(points, {}, packed, {.length = filtered ? length : k, .exact = k});
}

/// Reduced distances become distances, in place (rdist_to_dist of scikit-learn's DistanceMetric).
template <class Real>
struct take_distance {
  pairwise::reduced_metric<Real> metric;
  Real* value;
  void operator()(std::int64_t i) const { value[i] = metric.distance(value[i]); }
};

/// The largest reduced distance of what is within `radius`.
template <class Real>
Real limit_within(const pairwise::reduced_metric<Real>& metric, double radius) {
  // The largest Real that is no larger: distances are of that type.
  Real limit = Real(std::min(radius, double(std::numeric_limits<Real>::max())));
  if (double(limit) > radius) limit = std::nextafter(limit, Real(0));
  return pairwise::reduced_limit(metric, limit);
}

/// What is within a radius of some rows of a result; several may be of the same rows.
template <class Real>
struct within_lists {
  const std::vector<std::int32_t>* order;  ///< the rows
  std::vector<std::int64_t> row_pointers;
  std::vector<std::int64_t> index;  ///< ascending in every row
  std::vector<Real> distance;
};

/// Searches for all points of `points` within a radius of those of `queries`, which are the rows `order` of the result.
template <class Real>
within_lists<Real> list_within(const pairwise::block_tree<Real>& queries, const pairwise::block_tree<Real>& points,
                               const std::vector<std::int32_t>& order, const std::int32_t* number,
                               const pairwise::reduced_metric<Real>& metric, double radius, std::int64_t& pairs) {
  pairwise::tree_work work;
  auto lists = pairwise::within_reduced(queries, points, limit_within(metric, radius), work, number);
  pairs += work.pairs;
  device::for_each(lists.value.size(), take_distance<Real>{metric, lists.value.data()}, points.device());
  return {&order, std::move(lists.row_pointers), lists.index.to_vector(), lists.value.to_vector()};
}

/// The entries of every row in ascending order of their indices.
template <class Real>
void sort_rows(radius_result<Real>& result) {
  device::for_each_side_by_side(result.queries, [&](std::int64_t row) {
    const std::int64_t first = result.row_pointers[row], end = result.row_pointers[row + 1];
    if (std::is_sorted(result.index.begin() + first, result.index.begin() + end)) return;
    std::vector<std::pair<std::int64_t, Real>> entries;
    for (std::int64_t e = first; e < end; ++e) entries.emplace_back(result.index[e], result.distance[e]);
    std::sort(entries.begin(), entries.end());
    for (std::int64_t e = first; e < end; ++e) std::tie(result.index[e], result.distance[e]) = entries[e - first];
  });
}

/// Fills the result, whose rows are empty.
template <class Real>
void put_within(const std::vector<within_lists<Real>>& all, radius_result<Real>& result) {
  for (const auto& lists : all)
    for (std::size_t i = 0; i < lists.order->size(); ++i)
      result.row_pointers[(*lists.order)[i] + 1] += lists.row_pointers[i + 1] - lists.row_pointers[i];
  std::partial_sum(result.row_pointers.begin(), result.row_pointers.end(), result.row_pointers.begin());
  result.index.resize(result.row_pointers.back());
  result.distance.resize(result.row_pointers.back());
  std::vector<std::int64_t> to = result.row_pointers;
  for (const auto& lists : all)
    for (std::size_t i = 0; i < lists.order->size(); ++i) {
      const std::int64_t from = lists.row_pointers[i], count = lists.row_pointers[i + 1] - from;
      std::int64_t& place = to[(*lists.order)[i]];
      std::copy_n(lists.index.begin() + from, count, result.index.begin() + place);
      std::copy_n(lists.distance.begin() + from, count, result.distance.begin() + place);
      place += count;
    }
  if (all.size() > 1) sort_rows(result);
}

}  // namespace quintet::neighbours
