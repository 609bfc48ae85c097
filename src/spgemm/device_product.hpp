// A product, or some rows of it, on a device: an arena sized by prediction, compacted into the result.
#pragma once

#include <bit>
#include <vector>

#include "device/launch.hpp"
#include "spgemm/analysis.hpp"
#include "spgemm/device_kernel.hpp"
#include "spgemm/device_memory.hpp"
#include "spgemm/host_chunks.hpp"

namespace quintet::spgemm {

/// Products of a row above which several teams share it, so that one row of a power-law graph does not hold one
/// multiprocessor long after all others are done: a share of one in a thousand, of what is worth a team at all.
inline std::int64_t heavy_for_team(const row_analysis& rows) {
  return std::max(std::int64_t{1} << 17, rows.total_products / 1024);
}

/// Columns of one window of row i: few where the row is heavy.
inline std::int64_t window_columns(const row_analysis& rows, std::int64_t i, std::int64_t cols) {
  const std::int64_t pieces = std::min(rows.products[i] / heavy_for_team(rows) + 1, cols / narrowest_range + 1);
  return std::min<std::int64_t>(bitmask_columns, (cols / pieces + 64) / 64 * 64);
}

/// Appends row i in windows of the columns.
inline void bitmask_chunks(std::vector<device_chunk>& chunks, const row_analysis& rows, std::int64_t i,
                           std::int64_t cols) {
  const std::int64_t width = window_columns(rows, i, cols), windows = (cols + width - 1) / width;
  for (std::int64_t col = 0; col < cols; col += width) {
    const std::int64_t last = std::min(cols, col + width);
    chunks.push_back({{i, i + 1, col, last, std::min(rows.bound[i], last - col), rows.products[i] / windows,
                       windows > 1, last == cols},
                      windows > 1 ? strategy::windows : strategy::bitmask,
                      0});
  }
}

/// How a row too large for a batch is computed: `expected` entries.
inline void single_row_chunks(std::vector<device_chunk>& chunks, const row_analysis& rows, std::int64_t i,
                              std::int64_t cols, std::int64_t a_entries, double expected, const options& settings) {
  const std::int64_t most =
      std::min<std::int64_t>(largest_table, std::bit_floor(std::uint64_t(settings.table_size_cap)));
  if (a_entries == 1) {
    chunks.push_back({{i, i + 1, 0, cols, rows.bound[i], rows.products[i], false, true}, strategy::streaming, 0});
  } else if (2 * expected <= double(largest_table) && rows.products[i] <= heavy_for_team(rows)) {
    const std::int64_t slots = std::bit_ceil(std::uint64_t(std::max(8.0, 2 * expected * settings.prediction_scale)));
    chunks.push_back({{i, i + 1, 0, cols, rows.bound[i], rows.products[i], false, true},
                      strategy::hash,
                      std::int32_t(std::min(slots, most))});
  } else {
    bitmask_chunks(chunks, rows, i, cols);
  }
}

/// Rows [first, last) in order; `a_pointers` are A's row pointers.
inline std::vector<device_chunk> device_chunks(const row_analysis& rows, std::int64_t first, std::int64_t last,
                                               const std::int64_t* a_pointers, std::int64_t cols,
                                               const compression& sampled, const options& settings) {
  std::vector<device_chunk> chunks;
  chunk open{first, first, 0, cols, 0, 0, false, true};
  const auto close = [&](std::int64_t next) {
    if (open.products > 0) chunks.push_back({open, strategy::segmented, 0});
    open = {next, next, 0, cols, 0, 0, false, true};
  };
  for (std::int64_t i = first; i < last; ++i) {
    const std::int64_t products = rows.products[i];
    if (products == 0 && open.products == 0) {
      open.first_row = open.last_row = i + 1;
      continue;
    }
    const std::int64_t entries = a_pointers[i + 1] - a_pointers[i];
    if (products > batch_products || entries > batch_products) {
      close(i + 1);
      single_row_chunks(chunks, rows, i, cols, entries, sampled.entries(products, rows.bound[i]), settings);
      if (products == 0) chunks.pop_back();
      continue;
    }
    if (open.products + products > batch_products || i + 1 - open.first_row >= batch_rows ||
        a_pointers[i + 1] - a_pointers[open.first_row] > batch_products)
      close(i);
    open.last_row = i + 1;
    open.bound += rows.bound[i];
    open.products += products;
  }
  close(last);
  return chunks;
}

/// The state of a product between its passes. Operands and filter are on the device.
template <class Semiring, class Value, class Index, class Filter = no_filter>
class device_passes {
 public:
  device_passes(const problem<Value, Index>& p, const row_analysis& rows, std::int64_t first, std::int64_t last,
                const std::vector<device_chunk>& chunks, const Device& device, meter& counted,
                const Filter& filter = {})
      : p_(p),
        filter_(filter),
        rows_(rows),
        first_(first),
        last_(last),
        cols_(p.b.cols),
        device_(device),
        counted_(counted) {
    for (const device_chunk& c : chunks) work_.push_back({c, no_room, 0, 0});
    const std::vector<std::int64_t> zeros(std::size_t(last - first));
    row_entries_ = device_array<std::int64_t>(zeros.data(), last - first, device, counted);
  }

  /// Computes what has no place yet, into a new arena; at most three times.
  void pass(std::int64_t arena_entries) {
    std::vector<device_chunk> todo;
    std::vector<std::size_t> which;
    for (std::size_t w = 0; w < work_.size(); ++w)
      if (work_[w].place < 0) {
        todo.push_back(work_[w].what);
        which.push_back(w);
      }
    const std::int64_t count = std::int64_t(todo.size()), zero = 0;
    arenas_.push_back(
        {device_array<Index>(arena_entries, device_, counted_), device_array<Value>(arena_entries, device_, counted_)});
    device_array<device_chunk> chunks(todo.data(), count, device_, counted_);
    device_array<std::int64_t> places(count, device_, counted_), counts(count, device_, counted_),
        cursor(&zero, 1, device_, counted_);
    device::launch(device_kernel<Semiring, Value, Index, Filter>{p_, chunks.data(), arena_entries, cursor.data(),
                                                                 arenas_.back().columns.data(),
                                                                 arenas_.back().values.data(), places.data(),
                                                                 counts.data(), row_entries_.data(), first_, filter_},
                   count, device_);
    std::vector<std::int64_t> place(todo.size()), entries(todo.size());
    places.to_host(place.data(), count);
    counts.to_host(entries.data(), count);
    for (std::size_t t = 0; t < todo.size(); ++t) {
      item& w = work_[which[t]];
      w.place = place[t];
      w.count = entries[t];
      w.arena = int(arenas_.size()) - 1;
    }
  }

  /// Rows whose table overflowed go on without one. Returns how many chunks have no place, and the room they need as
  /// far as it is known.
  std::int64_t unplaced(std::int64_t& need) {
    std::vector<item> next;
    std::int64_t count = 0;
    need = 0;
    for (const item& w : work_) {
      if (w.place >= 0) {
        next.push_back(w);
        continue;
      }
      if (w.place == no_room) {
        next.push_back(w);
        need += w.count;
        ++count;
        continue;
      }
      std::vector<device_chunk> windows;
      bitmask_chunks(windows, rows_, w.what.range.first_row, cols_);
      for (const device_chunk& c : windows) next.push_back({c, no_room, 0, 0});
      count += std::int64_t(windows.size());
    }
    work_ = std::move(next);
    return count;
  }

  /// Entries of all chunks, which have their places now.
  std::int64_t entries() const {
    std::int64_t total = 0;
    for (const item& w : work_) total += w.count;
    return total;
  }
  /// What a sampled row has, by the number of its chunk.
  std::int64_t entries_of(std::size_t chunk) const { return work_[chunk].count; }

  /// Row pointers of the result: rows + 1 elements of the host.
  void row_pointers(std::int64_t* pointers) const {
    pointers[0] = 0;
    row_entries_.to_host(pointers + 1, last_ - first_);
    for (const item& w : work_)
      if (w.what.range.cut) pointers[w.what.range.first_row - first_ + 1] += w.count;
    for (std::int64_t i = 0; i < last_ - first_; ++i) pointers[i + 1] += pointers[i];
  }

  /// Moves the entries to where they belong, on the device, and frees the arenas.
  void compact(Index* columns, Value* values) {
    std::vector<piece_of_result> pieces;
    std::int64_t total = 0;
    for (const item& w : work_) {
      pieces.push_back({w.place, total, w.count, w.arena});
      total += w.count;
    }
    device_array<piece_of_result> list(pieces.data(), std::int64_t(pieces.size()), device_, counted_);
    compaction_kernel<Value, Index> kernel{list.data(), {}, {}, columns, values};
    for (std::size_t a = 0; a < arenas_.size(); ++a) {
      kernel.arena_columns[a] = arenas_[a].columns.data();
      kernel.arena_values[a] = arenas_[a].values.data();
    }
    device::launch(kernel, list.size(), device_);
    arenas_.clear();
  }

 private:
  struct item {
    device_chunk what;
    std::int64_t place, count;
    std::int32_t arena;
  };
  struct arena {
    device_array<Index> columns;
    device_array<Value> values;
  };
  problem<Value, Index> p_;
  Filter filter_;
  const row_analysis& rows_;
  std::int64_t first_, last_, cols_;
  Device device_;
  meter& counted_;
  device_array<std::int64_t> row_entries_;
  std::vector<item> work_;
  std::vector<arena> arenas_;
};

/// Rows by strategy: batches hold rows of several kinds, which are counted as what they are.
inline void count_strategies(const std::vector<device_chunk>& chunks, const row_analysis& rows, std::int64_t first,
                             std::int64_t last, report& told) {
  std::int64_t listed = 0;
  for (const device_chunk& c : chunks) {
    std::int64_t with_products = 1;
    if (c.how == strategy::segmented) {
      with_products = 0;
      for (std::int64_t i = c.range.first_row; i < c.range.last_row; ++i) with_products += rows.products[i] > 0;
    } else if (c.range.cut && !c.range.ends_row) {
      with_products = 0;
    }
    told.rows_by_strategy[std::size_t(c.how)] += with_products;
    told.products_by_strategy[std::size_t(c.how)] += c.range.products;
    listed += with_products;
  }
  told.rows_by_strategy[std::size_t(strategy::empty)] += last - first - listed;
}

/// Entries of the first arena: the prediction with a tenth more, and a batch for each team of an H100.
inline std::int64_t first_arena(const row_analysis& rows, std::int64_t first, std::int64_t last,
                                const compression& sampled, const options& settings) {
  if (settings.arena_entries >= 0) return settings.arena_entries;
  double predicted = 0;
  std::int64_t bound = 0;
  for (std::int64_t i = first; i < last; ++i) {
    predicted += sampled.entries(rows.products[i], rows.bound[i]);
    bound += rows.bound[i];
  }
  return std::min(bound, std::int64_t(1.1 * settings.prediction_scale * predicted) + 64);
}

/// The passes of a product: when this returns, every chunk has its place. `p` is on the device, `a_pointers` are A's
/// row pointers on the host.
template <class Semiring, class Value, class Index, class Filter>
device_passes<Semiring, Value, Index, Filter> run_passes(const problem<Value, Index>& p, const row_analysis& rows,
                                                         std::int64_t first, std::int64_t last,
                                                         const std::int64_t* a_pointers, const compression& sampled,
                                                         const options& settings, const Device& device, meter& counted,
                                                         report& told, const Filter& filter) {
  const std::vector<device_chunk> chunks = device_chunks(rows, first, last, a_pointers, p.b.cols, sampled, settings);
  count_strategies(chunks, rows, first, last, told);
  const std::int64_t before = counted.held();
  device_passes<Semiring, Value, Index, Filter> passes(p, rows, first, last, chunks, device, counted, filter);
  passes.pass(first_arena(rows, first, last, sampled, settings));
  // The sizes of all but overflowed tables are known after the first pass, all sizes after the second.
  std::int64_t need = 0;
  for (std::int64_t again = passes.unplaced(need); again > 0; again = passes.unplaced(need)) {
    told.retries += again;
    passes.pass(need);
  }
  told.scratch_bytes = std::max(told.scratch_bytes, counted.held() - before);
  return passes;
}

/// Operands and result on the host.
template <class Semiring, class Value, class Index, class Filter = no_filter>
csr<Value, Index> device_product(const problem<Value, Index>& p, const row_analysis& rows, std::int64_t first,
                                 std::int64_t last, const compression& sampled, const options& settings,
                                 const Device& device, meter& counted, report& told, const Filter& filter = {}) {
  const device_operand<Value, Index> a(p.a, device), b(p.b, device);
  auto passes = run_passes<Semiring>(problem<Value, Index>{a.view(), b.view()}, rows, first, last, p.a.row_pointers,
                                     sampled, settings, device, counted, told, filter);
  csr<Value, Index> c{last - first, p.b.cols, array<std::int64_t>(last - first + 1, counted), {}, {}};
  passes.row_pointers(c.row_pointers.data());
  const std::int64_t entries = passes.entries();
  device_array<Index> columns(entries, device, counted);
  device_array<Value> values(entries, device, counted);
  passes.compact(columns.data(), values.data());
  c.columns = array<Index>(entries, counted);
  c.values = array<Value>(entries, counted);
  columns.to_host(c.columns.data(), entries);
  values.to_host(c.values.data(), entries);
  return c;
}

}  // namespace quintet::spgemm
