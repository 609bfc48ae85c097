// A matrix of distances or mutual reachabilities, by blocks of rows in memory of a device.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pairwise/panels.hpp"
#include "pairwise/sinks.hpp"
#include "quintet/core/view.hpp"
#include "quintet/device/buffer.hpp"

namespace quintet::hdbscan {

/// Calls use(first_row, rows) for blocks of rows, in memory of the panels' device, that fit the budget (one tile of
/// rows at least) until it returns false. `arguments` describe the matrix; where it goes is decided here.
template <class Real, class Use>
bool for_row_blocks(const pairwise::panels<Real>& panels, pairwise::dense_arguments<Real> arguments,
                    std::int64_t budget_bytes, const Use& use) {
  const std::int64_t n = panels.count, side = panels.block_side;
  const std::int64_t block_bytes = side * n * std::int64_t(sizeof(Real));
  const std::int64_t group_size = std::clamp<std::int64_t>(budget_bytes / std::max<std::int64_t>(block_bytes, 1), 1,
                                                           std::max<std::int64_t>(panels.blocks(), 1));
  Buffer<Real> rows(std::min(group_size * side, n) * n, panels.device());
  arguments.out = rows.data();
  arguments.out_stride = n;
  for (std::int64_t block = 0; block < panels.blocks(); block += group_size) {
    arguments.first_row_block = block;
    arguments.row_blocks = std::min(group_size, panels.blocks() - block);
    pairwise::dense(arguments, panels.device());
    const std::int64_t count = std::min(arguments.row_blocks * side, n - block * side);
    if (!use(block * side, matrix_view<const Real>(rows.data(), count, n, panels.device()))) return false;
  }
  return true;
}

/// The dense sink's arguments for plain distances of packed points.
template <class Real>
pairwise::dense_arguments<Real> distance_arguments(const pairwise::panels<Real>& panels,
                                                   const pairwise::reduced_metric<Real>& measure) {
  return {.panels = panels.data.data(),
          .dim = panels.dim,
          .count = panels.count,
          .measure = measure,
          .core = nullptr,
          .alpha = 1,
          .core_on_diagonal = false,
          .out = nullptr,
          .out_stride = panels.count,
          .factors = {panels.factor.data(), panels.factor.data()}};
}

}  // namespace quintet::hdbscan
