// The members of each cluster of a labelling.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "pairwise/panels.hpp"
#include "quintet/core/error.hpp"

namespace quintet::hdbscan {

/// 1 + the largest label; throws InvalidArgument unless there is one label >= -1 for each of `rows` rows, all below
/// the number of rows.
inline std::int64_t count_labels(std::span<const std::int64_t> labels, std::int64_t rows) {
  const auto count = std::int64_t(labels.size());
  require_argument(count == rows, "labels.size", count, text("points.rows=", rows));
  std::int64_t clusters = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    if (labels[i] < -1 || labels[i] >= rows)
      throw InvalidArgument(text("labels[", i, "] must be in [-1, N=", rows, ") (labels[", i, "]=", labels[i], ")"));
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

/// The valid rows, ascending.
template <class Real>
std::vector<std::int32_t> valid_rows(const pairwise::row_scan<Real>& scan) {
  std::vector<std::int32_t> rows;
  for (std::size_t i = 0; i < scan.valid.size(); ++i)
    if (scan.valid[i]) rows.push_back(std::int32_t(i));
  return rows;
}

}  // namespace quintet::hdbscan
