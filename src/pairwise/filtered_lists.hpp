// Lists of nearest neighbours by a filter: bounds of all distances from inner products (rounded_points.hpp), distances
// of those points alone that a bound has left in a list.
//
// A list of bounds is a list of nearest points as any other, in the order (bound, index). What it dropped is no nearer
// than its last bound; so where that is larger than the k-th distance in the list, the k nearest are in the list. Rows
// of which that is not so are searched again without a filter. Distances are computed by the same sums in the same
// order, so the result has the bits of the pass over all pairs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "pairwise/filter_use.hpp"
#include "pairwise/neighbours.hpp"
#include "pairwise/rounded_points.hpp"
#include "pairwise/scanned_points.hpp"
#include "pairwise/stored_rows.hpp"

namespace quintet::pairwise {

/// Length of lists of bounds, of which k entries have to be the nearest points: what bounds leave open takes a few
/// more.
inline int filtered_length(int k) { return k + 4 + k / 16; }

/// What lists are asked for.
struct list_request {
  int length;                     ///< of the lists, at least 1
  int exact;                      ///< the first entries that have to be the nearest, at most `length`
  bool values_only = false;       ///< and of them the distances alone: which of equally distant points is no matter
  std::int64_t minima_bytes = 0;  ///< see nearest_others_on_device()
};

/// Whether lists of points of this metric, dimension and number are found faster with a filter.
template <class Storage>
bool filter_pays(const scanned_points<Storage>& points, std::int64_t count, int length);

/// Squared distances of rows to the points in their lists, in their order; NaN where there is none (an entry < 0). Both
/// are numbers among `order`, which are those of points.
template <class Real>
Buffer<Real> listed_distances(const stored_rows<Real>& points, const std::vector<std::int32_t>& order,
                              const Buffer<std::int32_t>& list, std::int64_t length);

/// Rows that bounds leave open, of all, beyond which the pass over all pairs takes less than each of them alone.
constexpr double max_open_share = 0.25;

/// Whether bounds are likely to answer for most rows: by the neighbours of `sample`, points `sampled` of `points`.
template <class Real>
bool bounds_suffice(const panels<Real>& sample, const std::vector<std::int32_t>& sampled, const panels<Real>& points,
                    const rounded_points& rounded, int length, int exact);
/// Which points that would be: none where there are so few that it is not worth asking.
std::vector<std::int32_t> sample_for_bounds(std::int64_t points);

/// Every point's nearest other points, with a filter where that pays. `panels` are the points `order` (empty: all),
/// packed by tile_layout(). Entries of a list are nearest points, in order, the first `exact` of them all that there
/// are; found.beyond tells what is known of others. With a filter minima are lower bounds. `filter` keeps the rounded
/// points if there was one.
template <class Storage>
device_neighbours<accumulator_t<Storage>> nearest_others_filtered(const scanned_points<Storage>& points,
                                                                  const std::vector<std::int32_t>& order,
                                                                  const panels<accumulator_t<Storage>>& panels,
                                                                  const list_request& request,
                                                                  const part_callback& report = {},
                                                                  std::optional<rounded_points>* filter = nullptr);

}  // namespace quintet::pairwise
