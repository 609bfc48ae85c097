// Chunks of a product on the host's threads, stored through ordered tickets.
#pragma once

#include "spgemm/host_loop.hpp"
#include "spgemm/host_rows.hpp"
#include "spgemm/mask_filter.hpp"
#include "spgemm/ordered_output.hpp"

namespace quintet::spgemm {

/// What one thread has: accumulators, and buffers for chunks that have no place yet.
template <class Semiring, class Value, class Index>
struct host_worker {
  enum { buffers = 4 };
  struct buffer {
    array<Index> columns;
    array<Value> values;
    std::int64_t chunk = -1;  ///< -1: free
  };

  host_worker(const problem<Value, Index>& p, std::int64_t width, std::int64_t bound, std::int64_t table_cap,
              memory_source& memory)
      : rows(p, width, table_cap, memory) {
    for (buffer& b : buffer_) {
      b.columns = array<Index>(0, bound + tiny_products, memory);
      b.values = array<Value>(0, bound + tiny_products, memory);
    }
  }
  host_rows<Semiring, Value, Index> rows;
  buffer buffer_[buffers];
  std::int64_t ungrouped = 0;  ///< rows before this one are not looked at for groups again
};

template <class Semiring, class Value, class Index, class Filter>
struct host_kernel {
  using shape = host_shape;
  using worker = host_worker<Semiring, Value, Index>;
  using output = ordered_output<Value, Index>;
  struct scratch {};
  enum { threads = 1, emulated_threads = 1, ungrouped_rows = 128 };
  const chunk* chunks;
  std::int64_t chunk_count;
  const std::int64_t* products;
  worker* const* workers;
  output* out;
  std::int64_t* row_pointers;  ///< of C; element i + 1 gets the end of row i
  Filter filter;

  /// One tile is one worker.
  template <class Team>
  void operator()(const Team&, std::int64_t tile, scratch&) const {
    work(*workers[tile]);
  }

 private:
  void work(worker& w) const {
    for (std::int64_t t = out->take(); t < chunk_count; t = out->take()) {
      typename worker::buffer& b = free_buffer(w);
      std::int64_t entries = 0;
      try {  // a chunk that fails has no entries: others wait for its count
        if (!out->failed()) entries = compute(w, chunks[t], b);
      } catch (...) {
        out->fail(std::current_exception());
      }
      b.chunk = t;
      out->done(t, entries);
      for (auto& full : w.buffer_)
        if (full.chunk >= 0 && out->placed(full.chunk)) store(full);
    }
    for (auto& full : w.buffer_)
      if (full.chunk >= 0) {
        out->wait(full.chunk);
        store(full);
      }
  }

  static typename worker::buffer& oldest(worker& w) {
    return *std::min_element(w.buffer_, w.buffer_ + worker::buffers,
                             [](const auto& x, const auto& y) { return x.chunk < y.chunk; });
  }
  typename worker::buffer& free_buffer(worker& w) const {
    for (auto& b : w.buffer_)
      if (b.chunk < 0) return b;
    typename worker::buffer& b = oldest(w);
    out->wait(b.chunk);
    store(b);
    return b;
  }

  // Entries into the buffer; row_pointers count from the chunk's first entry until store() moves them.
  std::int64_t compute(worker& w, const chunk& c, typename worker::buffer& b) const {
    // Tiny rows are written in vectors, a little beyond their end.
    b.columns.grow(c.bound + tiny_products);
    b.values.grow(c.bound + tiny_products);
    if (c.cut) {
      const std::int64_t found = w.rows.range(c.first_row, c, b.columns.data(), b.values.data());
      const std::int64_t entries = keep_wanted(filter, c.first_row, found, b.columns.data(), b.values.data());
      if (c.ends_row) row_pointers[c.first_row + 1] = entries;
      return entries;
    }
    std::int64_t entries = 0;
    const std::int64_t* const a_pointers = w.rows.a_pointers();
    for (std::int64_t i = c.first_row; i < c.last_row;) {
      if (const int tiny = w.rows.tiny_size(i, c.last_row, products); tiny > 0) {
        w.rows.begin_tiny(i, tiny, c.last_row, products);
        for (int r = 0; r < tiny; ++r, ++i) {
          Index* const columns = b.columns.data() + entries;
          Value* const values = b.values.data() + entries;
          entries += keep_wanted(filter, i, w.rows.tiny_row(r, columns, values), columns, values);
          row_pointers[i + 1] = entries;
        }
        continue;
      }
      if (const int grouped = group_at(w, i, c.last_row); grouped > 0) {
        const std::int64_t before = entries;
        for (int r = 0; r < grouped; ++r, ++i) {
          Index* const columns = b.columns.data() + entries;
          Value* const values = b.values.data() + entries;
          entries += keep_wanted(filter, i, w.rows.group_row(r, products[i], columns, values), columns, values);
          row_pointers[i + 1] = entries;
        }
        w.rows.end_group();
        if (entries - before > most_grouped(i - grouped, grouped)) w.ungrouped = i + ungrouped_rows;
        continue;
      }
      if (products[i] <= small_row_products) w.rows.ask_ahead(a_pointers[i], a_pointers[c.last_row]);
      Index* const columns = b.columns.data() + entries;
      Value* const values = b.values.data() + entries;
      entries += keep_wanted(filter, i, w.rows.row(i, products[i], columns, values), columns, values);
      row_pointers[++i] = entries;
    }
    return entries;
  }

  // Entries of a group up to which its products are so many that groups are worth while.
  std::int64_t most_grouped(std::int64_t i, int count) const {
    std::int64_t sum = 0;
    for (int r = 0; r < count; ++r) sum += products[i + r];
    return sum / 3;
  }

  // How many rows from i on are summed up together; 0: none.
  int group_at(worker& w, std::int64_t i, std::int64_t end) const {
    if (i < w.ungrouped) return 0;
    const int count = w.rows.group_size(i, end, products);
    if (count == 0) return 0;
    if (w.rows.begin_group(i, count)) return count;
    w.ungrouped = i + count;
    return 0;
  }

  void store(typename worker::buffer& b) const {
    const std::int64_t t = std::exchange(b.chunk, -1);
    if (out->failed()) return;
    const chunk& c = chunks[t];
    const std::int64_t offset = out->offset(t), entries = out->offset(t + 1) - offset;
    if (entries > 0) {
      std::memcpy(out->columns.data() + offset, b.columns.data(), std::size_t(entries) * sizeof(Index));
      std::memcpy(out->values.data() + offset, b.values.data(), std::size_t(entries) * sizeof(Value));
    }
    if (!c.ends_row) return;
    for (std::int64_t i = c.first_row; i < c.last_row; ++i) row_pointers[i + 1] += offset;
  }
};

}  // namespace quintet::spgemm
