// Labels, membership probabilities, persistence and exemplars of selected clusters.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "quintet/hdbscan/tree_options.hpp"
#include "quintet/hdbscan/tree_summary.hpp"

namespace quintet::hdbscan {

/// The flat clustering, one entry a point.
struct point_labels {
  std::vector<std::int64_t> labels;   ///< 0..K-1, or -1 for noise
  std::vector<double> probabilities;  ///< in [0, 1]; 0 for noise
};

/// Points grouped by label: those of label k are points[offsets[k]] .. points[offsets[k + 1] - 1], increasing.
struct point_groups {
  std::vector<std::int64_t> offsets;  ///< K + 1 entries
  std::vector<std::int64_t> points;   ///< indices of points
};

/// Labels the points; `selected` is what select_clusters() returned for the same summary and options, and `summary`
/// what summarise() made.
///
/// A point belongs to the selected cluster from which, or from a descendant of which, it leaves. Of a selected root
/// only the points with lambda >= 1 / epsilon stay (without epsilon: lambda >= the largest lambda of the root's own
/// rows). The probability is min(lambda, M) / M where M is the largest lambda of the selected cluster's own rows; it is
/// 1 where M = 0 or lambda is infinite, and 0 where only M is infinite (McInnes & Healy 2017). Throws InvalidArgument
/// for options out of range, and clusters that do not increase or are none of `summary`. Cost: O(N) time and memory.
point_labels label_points(const tree_summary& summary, std::span<const std::int64_t> selected,
                          const tree_options& options);

/// Persistence of each selected cluster: its stability / (points labelled with it * largest lambda of the whole tree);
/// 1 where that lambda is 0 or infinite or no point has the label. In [0, 1], except that a single root with much noise
/// may exceed 1, because the points that were dropped add to its stability. `labels` are those of label_points(), one a
/// point, in [-1, K). Throws InvalidArgument for others, and for clusters as label_points() does. Cost: O(N) time, O(K)
/// memory.
std::vector<double> persistence(const tree_summary& summary, std::span<const std::int64_t> selected,
                                std::span<const std::int64_t> labels);

/// Exemplars of each selected cluster: the points that stay to the end, that is to the largest lambda, in the leaf
/// clusters below it (McInnes & Healy 2017), as far as they carry its label. Arguments and errors as for persistence().
/// Cost: O(N) time and memory.
point_groups exemplars(const tree_summary& summary, std::span<const std::int64_t> selected,
                       std::span<const std::int64_t> labels);

}  // namespace quintet::hdbscan
