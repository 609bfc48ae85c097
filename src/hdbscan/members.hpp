// The members of each cluster of a labelling, and how valid one is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "hdbscan/checks.hpp"

namespace quintet::hdbscan {

/// 1 + the largest label; throws InvalidArgument unless there is one label >= -1 for each of `rows` rows, all below
/// the number of rows.
inline std::int64_t count_labels(std::span<const std::int64_t> labels, std::int64_t rows) {
  const auto count = std::int64_t(labels.size());
  require_argument(count == rows, "labels.size", count, text("points.rows=", rows));
  std::int64_t clusters = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    if (labels[i] < -1 || labels[i] >= rows)
      require_element(false, "labels", i, labels[i], text("in [-1, N=", rows, ")"));
    clusters = std::max(clusters, labels[i] + 1);
  }
  return clusters;
}

/// The valid rows of each label 0 .. clusters - 1, in the order in which they stand in `order`.
inline std::vector<std::vector<std::int32_t>> members_by_label(std::span<const std::int64_t> labels,
                                                               std::int64_t clusters,
                                                               std::span<const std::int32_t> order) {
  std::vector<std::vector<std::int32_t>> members(clusters);
  for (const std::int32_t i : order)
    if (labels[i] >= 0) members[labels[i]].push_back(i);
  return members;
}

/// (separation - sparseness) / max(separation, sparseness), in [-1, 1]; 0 where they are equal, 0 and infinity
/// included.
inline double contrast(double separation, double sparseness) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (separation == sparseness) return 0;
  if (separation == infinity) return 1;
  if (sparseness == infinity) return -1;
  return (separation - sparseness) / std::max(separation, sparseness);
}

}  // namespace quintet::hdbscan
