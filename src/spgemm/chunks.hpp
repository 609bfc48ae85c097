// How a product is cut into chunks: several rows each for a thread of the host, and for the teams of a device what
// one accumulator takes.
#pragma once

#include <vector>

#include "spgemm/analysis.hpp"
#include "spgemm/operands.hpp"
#include "spgemm/row_driver.hpp"

namespace quintet::spgemm {

/// Products below which one thread is at least as fast as two: measured, see docs/spgemm.md.
constexpr std::int64_t serial_products = 100'000;

/// Threads of the host that `products` keep busy.
inline int host_threads(std::int64_t products) { return products < serial_products ? 1 : threads(); }

/// Appends the columns [first_col, last_col) of row i in ranges of `width`.
void cut_row(std::vector<chunk>& chunks, const row_analysis& rows, std::int64_t i, std::int64_t first_col,
             std::int64_t last_col, std::int64_t width, strategy accumulator);

/// Rows [first, last) in order, several to a chunk; a row with more products than an eighth of a worker's share is cut
/// into ranges of columns, and so is one that needs more columns than an accumulator covers.
std::vector<chunk> host_chunks(const row_analysis& rows, std::int64_t first, std::int64_t last,
                               const std::int64_t* a_pointers, std::int64_t cols, int workers);

/// Row i by bits, in column blocks for teams: narrow ones where the row is heavy.
void bitmask_chunks(std::vector<chunk>& chunks, const row_analysis& rows, std::int64_t i, std::int64_t cols);

/// What teams are given: the accumulator of every row, from what it is expected to have.
std::vector<chunk> team_chunks(const row_analysis& rows, std::int64_t first, std::int64_t last,
                               const std::int64_t* a_pointers, std::int64_t cols, const compression& sampled);

/// Rows [first_row, last_row), or columns [first_col, last_col) of a single row; `bound` entries at most.
struct result_range {
  std::int64_t first_row, last_row, first_col, last_col, bound;
};

/// The least budget that is of any use: a block of 64 columns of a row of the largest entries, and its row pointers.
constexpr std::int64_t minimum_budget = 64 * 16 + 16;

/// A result cut so that no piece can exceed a budget, by the bounds of the rows; a row takes 8 bytes for its pointer, a
/// block 8 more.
std::vector<result_range> result_ranges(const row_analysis& rows, std::int64_t cols, std::int64_t budget,
                                        std::int64_t entry_bytes);

}  // namespace quintet::spgemm
