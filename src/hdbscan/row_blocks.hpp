// A matrix of distances or mutual reachabilities, streamed by blocks of rows through memory of the host.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pairwise/panels.hpp"
#include "pairwise/sinks.hpp"
#include "quintet/core/view.hpp"
#include "quintet/device/buffer.hpp"

namespace quintet::hdbscan {

/// Calls use(first_row, rows) for blocks of rows that fit the budget (one tile of rows at least) until it returns
/// false. `arguments` describe the matrix; where it goes is decided here.
template <class Real, class Use>
bool for_row_blocks(const pairwise::panels<Real>& panels, pairwise::dense_arguments<Real> arguments,
                    std::int64_t budget_bytes, const Use& use) {
  const std::int64_t n = panels.count, side = panels.block_side;
  const std::int64_t block_bytes = side * n * std::int64_t(sizeof(Real));
  const std::int64_t together = std::clamp<std::int64_t>(budget_bytes / std::max<std::int64_t>(block_bytes, 1), 1,
                                                         std::max<std::int64_t>(panels.blocks(), 1));
  const bool shared = panels.device().shares_host_memory();
  Buffer<Real> rows(std::min(together * side, n) * n, panels.device());
  Buffer<Real> on_host(shared ? 0 : rows.size());
  arguments.out = rows.data();
  arguments.out_stride = n;
  for (std::int64_t block = 0; block < panels.blocks(); block += together) {
    arguments.first_row_block = block;
    arguments.row_blocks = std::min(together, panels.blocks() - block);
    pairwise::dense(arguments, panels.device());
    const std::int64_t count = std::min(arguments.row_blocks * side, n - block * side);
    if (!shared) rows.copy_to_host(on_host.data(), count * n);
    const Real* data = shared ? rows.data() : on_host.data();
    if (!use(block * side, matrix_view<const Real>(data, count, n))) return false;
  }
  return true;
}

/// The same for plain distances of the packed points, `surrogate` that of their scan.
template <class Real, class Use>
bool for_distance_rows(const pairwise::panels<Real>& panels, const pairwise::surrogate_metric<Real>& surrogate,
                       std::int64_t budget_bytes, const Use& use) {
  return for_row_blocks<Real>(panels,
                              {.panels = panels.data.data(),
                               .dim = panels.dim,
                               .count = panels.count,
                               .surrogate = surrogate,
                               .core = nullptr,
                               .alpha = 1,
                               .core_on_diagonal = false,
                               .out = nullptr,
                               .out_stride = panels.count,
                               .factors = {panels.factor.data(), panels.factor.data()}},
                              budget_bytes, use);
}

}  // namespace quintet::hdbscan
