// How the host cuts a product into chunks.
#pragma once

#include <vector>

#include "spgemm/analysis.hpp"
#include "spgemm/operands.hpp"

namespace quintet::spgemm {

/// Entries of a chunk of several rows at most, so that its buffer stays in the second-level cache.
constexpr std::int64_t chunk_entries = 8192;
/// Rows of at most so many products need no accumulator over the columns: a hash table serves them.
constexpr std::int64_t small_row_products = 4096;
/// Columns of one range of a row that is cut, at least.
constexpr std::int64_t narrowest_range = 2048;

/// Appends the columns [first_col, last_col) of row i in `pieces` ranges.
inline void cut_row(std::vector<chunk>& chunks, const row_analysis& rows, std::int64_t i, std::int64_t first_col,
                    std::int64_t last_col, std::int64_t pieces) {
  const std::int64_t width = (last_col - first_col + pieces - 1) / pieces;
  for (std::int64_t col = first_col; col < last_col; col += width) {
    const std::int64_t last = std::min(last_col, col + width);
    chunks.push_back(
        {i, i + 1, col, last, std::min(rows.bound[i], last - col), rows.products[i] / pieces, true, last == last_col});
  }
}

/// Rows [first, last) in order, several to a chunk; a row with more products than an eighth of a worker's share is cut
/// into ranges of columns, and so is one that needs more columns than an accumulator covers.
inline std::vector<chunk> host_chunks(const row_analysis& rows, std::int64_t first, std::int64_t last,
                                      std::int64_t cols, int workers) {
  const std::int64_t heavy =
      workers > 1 ? std::max<std::int64_t>(std::int64_t{1} << 17, rows.total_products / (8 * workers)) : INT64_MAX;
  std::vector<chunk> chunks;
  chunk open{first, first, 0, cols, 0, 0, false, true};
  const auto close = [&](std::int64_t next) {
    if (open.last_row > open.first_row) chunks.push_back(open);
    open = {next, next, 0, cols, 0, 0, false, true};
  };
  for (std::int64_t i = first; i < last; ++i) {
    const std::int64_t products = rows.products[i], bound = rows.bound[i];
    std::int64_t pieces = products > heavy ? std::min(products / heavy + 1, cols / narrowest_range) : 1;
    pieces = std::max<std::int64_t>({pieces, 1, (cols + widest_accumulator - 1) / widest_accumulator});
    if (pieces == 1 || products <= small_row_products) {
      if (open.bound + bound > chunk_entries || open.products + products > 16 * chunk_entries) close(i);
      open.last_row = i + 1;
      open.bound += bound;
      open.products += products;
      continue;
    }
    close(i);
    cut_row(chunks, rows, i, 0, cols, pieces);
    close(i + 1);
  }
  close(last);
  return chunks;
}

}  // namespace quintet::spgemm
