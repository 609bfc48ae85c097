// The matrix of mutual reachabilities as a vector, computed in three ways.
#pragma once

#include <cstdint>
#include <vector>

#include "quintet/hdbscan/mutual_reachability.hpp"

namespace quintet::test {

/// The whole matrix, row by row.
template <class Real>
std::vector<Real> dense_matrix(matrix_view<const Real> points, const std::vector<Real>& core = {},
                               const hdbscan::reachability_options& options = {},
                               const Device& device = Device::host()) {
  const std::int64_t n = points.rows();
  std::vector<Real> matrix(n * n, Real(-1));
  hdbscan::mutual_reachability(points, core, {matrix.data(), n, n}, options, device);
  return matrix;
}

/// The same from all pairs, listed.
template <class Real>
std::vector<Real> matrix_from_pairs(matrix_view<const Real> points, const std::vector<Real>& core = {},
                                    const hdbscan::reachability_options& options = {}) {
  const std::int64_t n = points.rows();
  std::vector<std::int64_t> pairs;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) pairs.insert(pairs.end(), {i, j});
  return hdbscan::mutual_reachability_pairs<Real>(points, core, {pairs.data(), n * n, 2}, options);
}

/// The same from blocks of rows. `blocks` receives their number.
template <class Real>
std::vector<Real> matrix_from_rows(matrix_view<const Real> points, const std::vector<Real>& core,
                                   const hdbscan::reachability_options& options, const Device& device,
                                   std::int64_t budget_bytes, std::int64_t& blocks) {
  std::vector<Real> matrix;
  blocks = 0;
  const hdbscan::row_block_callback<Real> receive = [&](std::int64_t first_row, matrix_view<const Real> rows) {
    ++blocks;
    // Blocks come in order, so the rows may simply follow one another.
    if (first_row * points.rows() != std::int64_t(matrix.size()) || rows.cols() != points.rows()) return false;
    for (std::int64_t i = 0; i < rows.rows(); ++i) matrix.insert(matrix.end(), rows.row(i), rows.row(i) + rows.cols());
    return true;
  };
  hdbscan::mutual_reachability_rows<Real>(points, core, receive, budget_bytes, options, device);
  return matrix;
}

}  // namespace quintet::test
