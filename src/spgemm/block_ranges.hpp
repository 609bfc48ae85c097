// A result cut so that no piece can exceed a budget.
#pragma once

#include <vector>

#include "spgemm/analysis.hpp"

namespace quintet::spgemm {

/// Rows [first_row, last_row), or columns [first_col, last_col) of a single row; `bound` entries at most.
struct result_range {
  std::int64_t first_row, last_row, first_col, last_col, bound;
};

/// The least budget that is of any use: a block of 64 columns of a row of the largest entries, and its row pointers.
constexpr std::int64_t minimum_budget = 64 * 16 + 16;

/// By the bounds of the rows, which cannot be exceeded; a row takes 8 bytes for its pointer, a block 8 more.
inline std::vector<result_range> result_ranges(const row_analysis& rows, std::int64_t cols, std::int64_t budget,
                                               std::int64_t entry_bytes) {
  std::vector<result_range> ranges;
  result_range open{0, 0, 0, cols, 0};
  const auto bytes = [&](std::int64_t count, std::int64_t bound) { return 8 + 8 * count + bound * entry_bytes; };
  const auto close = [&](std::int64_t next) {
    if (open.last_row > open.first_row) ranges.push_back(open);
    open = {next, next, 0, cols, 0};
  };
  for (std::int64_t i = 0; i < rows.bound.size(); ++i) {
    const std::int64_t bound = rows.bound[i];
    if (bytes(open.last_row - open.first_row + 1, open.bound + bound) > budget) close(i);
    if (bytes(1, bound) <= budget) {
      open.last_row = i + 1;
      open.bound += bound;
      continue;
    }
    const std::int64_t width = (budget - bytes(1, 0)) / entry_bytes;
    for (std::int64_t col = 0; col < cols; col += width)
      ranges.push_back({i, i + 1, col, std::min(cols, col + width), std::min(width, cols - col)});
    close(i + 1);
  }
  close(0);
  return ranges;
}

}  // namespace quintet::spgemm
