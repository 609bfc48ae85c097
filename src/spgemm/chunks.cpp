#include "spgemm/chunks.hpp"
#include "spgemm/tuning.hpp"

#include <algorithm>
#include <bit>

namespace quintet::spgemm {

namespace {

/// Entries of a chunk of several rows at most, so that its buffer stays in the second-level cache.
constexpr std::int64_t chunk_entries = 8192;
/// Columns of one range of a row that is cut, at least.
constexpr std::int64_t narrowest_range = 2048;

/// Collects consecutive rows into chunks.
class open_chunk {
 public:
  open_chunk(std::vector<chunk>& chunks, std::int64_t first, std::int64_t cols, strategy accumulator)
      : chunks_(chunks), cols_(cols), accumulator_(accumulator) {
    begin(first);
  }
  void add(const row_analysis& rows, std::int64_t i) {
    current.last_row = i + 1;
    current.bound += rows.bound[i];
    current.products += rows.products[i];
  }
  /// The next chunk begins with row `next`.
  void close(std::int64_t next) {
    if (current.last_row > current.first_row) chunks_.push_back(current);
    begin(next);
  }
  chunk current;

 private:
  void begin(std::int64_t first) { current = {first, first, 0, cols_, 0, 0, false, true, accumulator_}; }
  std::vector<chunk>& chunks_;
  std::int64_t cols_;
  strategy accumulator_;
};

/// Products of a row above which several teams share it, so that one row of a power-law graph does not hold one
/// multiprocessor long after all others are done: a share of one in a thousand, of what is worth a team at all.
std::int64_t heavy_for_team(const row_analysis& rows) {
  return std::max(std::int64_t{1} << 17, rows.total_products / 1024);
}

/// Appends all columns of row i in ranges of `width`; a row that needs no cut is left whole.
void row_in_column_blocks(std::vector<chunk>& chunks, const row_analysis& rows, std::int64_t i, std::int64_t cols,
                          std::int64_t width, strategy accumulator) {
  const std::size_t at = chunks.size();
  cut_row(chunks, rows, i, 0, cols, width, accumulator);
  chunks[at].cut = chunks.size() > at + 1;
}

}  // namespace

void cut_row(std::vector<chunk>& chunks, const row_analysis& rows, std::int64_t i, std::int64_t first_col,
             std::int64_t last_col, std::int64_t width, strategy accumulator) {
  const std::int64_t pieces = std::max<std::int64_t>(1, (last_col - first_col + width - 1) / width);
  for (std::int64_t piece = 0; piece < pieces; ++piece) {
    const std::int64_t col = first_col + piece * width, last = std::min(last_col, col + width);
    chunks.push_back({i, i + 1, col, last, std::min(rows.bound[i], last - col), rows.products[i] / pieces, true,
                      last == last_col, accumulator});
  }
}

std::vector<chunk> host_chunks(const row_analysis& rows, std::int64_t first, std::int64_t last,
                               const std::int64_t* a_pointers, std::int64_t cols, int workers) {
  const strategy accumulator = current_tuning().accumulator.value_or(strategy::empty);
  const std::int64_t heavy =
      workers > 1 ? std::max<std::int64_t>(std::int64_t{1} << 17, rows.total_products / (8 * workers)) : INT64_MAX;
  const bool wide = cols > widest_accumulator;
  const std::int64_t ranked = max_ranked_products(cols);
  const std::int64_t *const row_products = rows.products.data(), *const row_bound = rows.bound.data();
  std::vector<chunk> chunks;
  chunk current{};
  const auto close = [&](std::int64_t next) {
    if (next > current.first_row) {
      current.last_row = next;
      chunks.push_back(current);
    }
  };
  const auto begin = [&](std::int64_t row) {
    current = {row, row, 0, cols, 0, 0, false, true, accumulator};
    current.ranked = accumulator == strategy::empty;
  };
  begin(first);
  bool before = false;  // whether the row before might be in a group
  for (std::int64_t i = first; i < last; ++i) {
    const std::int64_t products = row_products[i], bound = row_bound[i];
    if (products > heavy || wide) {
      std::int64_t pieces = products > heavy ? std::min(products / heavy + 1, cols / narrowest_range) : 1;
      pieces = std::max<std::int64_t>({pieces, 1, (cols + widest_accumulator - 1) / widest_accumulator});
      const bool small = products <= small_row_products && a_pointers[i + 1] - a_pointers[i] <= small_row_products &&
                         accumulator == strategy::empty;
      if (pieces > 1 && !small) {
        close(i);
        cut_row(chunks, rows, i, 0, cols, (cols + pieces - 1) / pieces, accumulator);
        begin(i + 1);
        before = false;
        continue;
      }
    }
    if (current.bound + bound > chunk_entries || current.products + products > 16 * chunk_entries) {
      close(i);
      begin(i);
    }
    current.bound += bound;
    current.products += products;
    if (products > ranked) {
      current.ranked = false;
      const bool groups = worth_grouping(a_pointers[i + 1] - a_pointers[i], products);
      current.may_group |= groups && before;
      before = groups;
    } else {
      before = false;
    }
  }
  close(last);
  return chunks;
}

void bitmask_chunks(std::vector<chunk>& chunks, const row_analysis& rows, std::int64_t i, std::int64_t cols) {
  const std::int64_t pieces = std::min(rows.products[i] / heavy_for_team(rows) + 1, cols / narrowest_range + 1);
  const std::int64_t width = std::min<std::int64_t>(team_bitmask_columns, (cols / pieces + 64) / 64 * 64);
  row_in_column_blocks(chunks, rows, i, cols, width, strategy::bitmask);
}

namespace {

class team_planner {
 public:
  team_planner(const row_analysis& rows, const std::int64_t* a_pointers, std::int64_t cols, const compression& sampled)
      : rows_(rows), a_pointers_(a_pointers), cols_(cols), sampled_(sampled) {}

  std::vector<chunk> plan(std::int64_t first, std::int64_t last) {
    open_chunk open(chunks_, first, cols_, strategy::segmented);
    for (std::int64_t i = first; i < last;) {
      if (const std::int64_t rows = wanted_rows(i, last, open); rows > 0) {
        i += rows;
        continue;
      }
      const std::int64_t products = rows_.products[i], entries = a_pointers_[i + 1] - a_pointers_[i];
      if (products > batch_products || entries > batch_products) {
        open.close(i);
        single_row(i, entries);
        open.close(++i);
        continue;
      }
      if (open.current.products + products > batch_products || i + 1 - open.current.first_row > batch_rows ||
          a_pointers_[i + 1] - a_pointers_[open.current.first_row] > batch_products)
        open.close(i);
      open.add(rows_, i++);
    }
    open.close(last);
    return std::move(chunks_);
  }

 private:
  enum { batch_rows = 1 << 12 };

  chunk row_chunk(std::int64_t i, strategy accumulator, std::int32_t slots = 0) const {
    return {i, i + 1, 0, cols_, rows_.bound[i], rows_.products[i], false, true, accumulator, slots};
  }
  /// A table for so many entries.
  std::int32_t slots_for(double entries) const {
    const std::int64_t max =
        std::min<std::int64_t>(team_table, std::bit_floor(std::uint64_t(current_tuning().table_size_cap)));
    return std::int32_t(std::min<std::int64_t>(max, std::bit_ceil(std::uint64_t(std::max(8.0, 2 * entries)))));
  }
  /// A row too large for a batch.
  void single_row(std::int64_t i, std::int64_t entries) {
    const double expected = sampled_.entries(rows_.products[i], rows_.bound[i]);
    if (entries == 1)
      chunks_.push_back(row_chunk(i, strategy::streaming));
    else if (2 * expected <= double(team_table) && rows_.products[i] <= heavy_for_team(rows_))
      chunks_.push_back(row_chunk(i, strategy::hash, slots_for(expected * current_tuning().prediction_scale)));
    else
      bitmask_chunks(chunks_, rows_, i, cols_);
  }
  /// Rows from i on for the accumulator that the caller wants; 0 when it cannot take them.
  std::int64_t wanted_rows(std::int64_t i, std::int64_t last, open_chunk& open) {
    if (!current_tuning().accumulator || current_tuning().accumulator == strategy::segmented) return 0;
    const strategy accumulator = *current_tuning().accumulator;
    std::int64_t count = 0;
    if (accumulator == strategy::tiny)
      while (count < 8 && i + count < last && cols_ <= INT32_MAX && rows_.products[i + count] <= ranked_products)
        ++count;
    else if (accumulator == strategy::grouped)
      count = std::min<std::int64_t>(group_rows, last - i);
    else if (accumulator == strategy::streaming)
      count = a_pointers_[i + 1] - a_pointers_[i] == 1;
    else
      count = accumulator == strategy::hash || accumulator == strategy::dense || accumulator == strategy::bitmask;
    if (count == 0) return 0;
    open.close(i);
    if (accumulator == strategy::dense)
      row_in_column_blocks(chunks_, rows_, i, cols_, team_dense_columns, accumulator);
    else if (accumulator == strategy::bitmask)
      bitmask_chunks(chunks_, rows_, i, cols_);
    else
      chunks_.push_back(row_chunk(i, accumulator, slots_for(double(rows_.bound[i]))));
    chunk& newest = chunks_.back();
    for (std::int64_t row = i + 1; row < i + count; ++row) {
      newest.last_row = row + 1;
      newest.bound += rows_.bound[row];
      newest.products += rows_.products[row];
    }
    open.close(i + count);
    return count;
  }

  const row_analysis& rows_;
  const std::int64_t* a_pointers_;
  std::int64_t cols_;
  const compression& sampled_;
  std::vector<chunk> chunks_;
};

}  // namespace

std::vector<chunk> team_chunks(const row_analysis& rows, std::int64_t first, std::int64_t last,
                               const std::int64_t* a_pointers, std::int64_t cols, const compression& sampled) {
  return team_planner(rows, a_pointers, cols, sampled).plan(first, last);
}

std::vector<result_range> result_ranges(const row_analysis& rows, std::int64_t cols, std::int64_t budget,
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
