// The members of each cluster of a labelling.
#pragma once

#include <algorithm>
#include <cstdint>
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

}  // namespace quintet::hdbscan
