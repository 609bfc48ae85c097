// A product, or some rows of it, on a device: a team computes a chunk in its memory and reserves room for it in an
// arena as soon as it knows how many entries it has. What finds no room writes nothing, tells its exact size, and runs
// again. In the end the entries are moved to where they belong.
#pragma once

#include "spgemm/chunks.hpp"
#include "spgemm/meter.hpp"

namespace quintet::spgemm {

/// Where the chunks of a launch go, and what came of them.
template <class Value, class Index>
struct arena_state {
  std::int64_t capacity;
  std::int64_t* cursor;  ///< only ever grows
  Index* columns;
  Value* values;
  std::int64_t* place;  ///< of each chunk in the arena; no_room or accumulator_full
  std::int64_t* count;  ///< of each chunk
  std::int64_t* ends;   ///< ends[i + 1] of row i, from the begin of its chunk on
};

/// What a team sees of it: room for one chunk.
template <class Value, class Index>
struct arena_out {
  enum { exact = 1 };
  const arena_state<Value, Index>& arena;
  std::int64_t t;
  std::int64_t& shared;  ///< in team memory
  Index* columns = nullptr;
  Value* values = nullptr;
  std::int64_t* ends = nullptr;
  std::int64_t used = 0;

  template <class Team>
  bool room(const Team& team, std::int64_t entries) {
    if (team.rank() == 0) {
      const std::int64_t old = entries > 0 ? device::atomic_draw(arena.cursor, entries) : 0;
      shared = entries == 0 || old + entries <= arena.capacity ? old : std::int64_t(no_room);
      arena.count[t] = entries;
    }
    team.barrier();
    const std::int64_t place = shared;
    team.barrier();
    if (place < 0) return false;
    columns = arena.columns + place;
    values = arena.values + place;
    return true;
  }
};

/// The chunks of one accumulator; one tile is one chunk.
/// Row by row (Gustavson 1978), all accumulators: accumulators/.
template <class Semiring, class Value, class Index, strategy How>
struct arena_kernel {
  using shape = team_shape;
  using scratch = team_memory<Value, Index, How>;
  enum { threads = 128, emulated_threads = 4 };
  row_driver<Semiring, Value, Index, How> rows;
  const chunk* chunks;
  const std::int64_t* list;  ///< numbers of the chunks
  arena_state<Value, Index> arena;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch& s) const {
    const std::int64_t t = list[tile];
    arena_out<Value, Index> out{arena, t, s.place};
    out.ends = arena.ends;
    const std::int64_t entries = rows.compute(team, chunks[t], s, out);
    if (team.rank() == 0) arena.place[t] = entries >= 0 ? out.columns - arena.columns : entries;
  }
};

/// Where the entries of a chunk lie and where they belong, and rows whose ends count from its begin.
struct piece_of_result {
  std::int64_t from, to, count, first_row, last_row;
  std::int32_t arena;
};

/// Arenas to the result.
/// A copy, no algorithm.
template <class Value, class Index>
struct compaction_kernel {
  using shape = team_shape;
  struct scratch {};
  enum { threads = 128, emulated_threads = 4, max_arenas = 3 };
  const piece_of_result* pieces;
  const Index* arena_columns[max_arenas];
  const Value* arena_values[max_arenas];
  Index* columns;
  Value* values;
  std::int64_t* ends;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    const piece_of_result& piece = pieces[tile];
    const Index* from_columns = arena_columns[0];
    const Value* from_values = arena_values[0];
    if (piece.arena == 1) {
      from_columns = arena_columns[1];
      from_values = arena_values[1];
    } else if (piece.arena == 2) {
      from_columns = arena_columns[2];
      from_values = arena_values[2];
    }
    for (std::int64_t e = team.rank(); e < piece.count; e += team.size()) {
      columns[piece.to + e] = from_columns[piece.from + e];
      values[piece.to + e] = from_values[piece.from + e];
    }
    for (std::int64_t i = piece.first_row + team.rank(); i < piece.last_row; i += team.size()) ends[i + 1] += piece.to;
  }
};

/// The state of a product between its passes. Operands and filter are on the device.
template <class Semiring, class Value, class Index>
class device_passes {
 public:
  device_passes(const row_product<Semiring, Value, Index>& r, const row_analysis& rows, std::int64_t first,
                std::int64_t last, std::vector<chunk> chunks, const Device& device, meter& memory)
      : r_(r), rows_(rows), first_(first), last_(last), device_(device), memory_(memory) {
    for (const chunk& c : chunks) work_.push_back({c, no_room, 0, 0});
    ends_ = device_array<std::int64_t>(last - first + 1, device, memory);
    const std::int64_t zero = 0;
    quintet::detail::copy(ends_.data(), device, &zero, Device::host(), sizeof zero);
  }

  /// Computes what has no place yet, into a new arena; at most three times.
  void pass(std::int64_t arena_entries) {
    std::vector<chunk> todo;
    std::vector<std::size_t> which;
    std::vector<std::int64_t> lists[strategies];
    for (std::size_t w = 0; w < work_.size(); ++w)
      if (work_[w].place < 0) {
        lists[int(work_[w].what.how)].push_back(std::int64_t(todo.size()));
        todo.push_back(work_[w].what);
        which.push_back(w);
      }
    const std::int64_t count = std::int64_t(todo.size()), zero = 0;
    arenas_.push_back(
        {device_array<Index>(arena_entries, device_, memory_), device_array<Value>(arena_entries, device_, memory_)});
    device_array<chunk> chunks(todo.data(), count, device_, memory_);
    device_array<std::int64_t> places(count, device_, memory_), counts(count, device_, memory_),
        cursor(&zero, 1, device_, memory_);
    const arena_state<Value, Index> arena{
        arena_entries, cursor.data(), arenas_.back().columns.data(), arenas_.back().values.data(),
        places.data(), counts.data(), ends_.data() - first_};
    run<strategy::streaming>(lists, chunks, arena);
    run<strategy::tiny>(lists, chunks, arena);
    run<strategy::segmented>(lists, chunks, arena);
    run<strategy::hash>(lists, chunks, arena);
    run<strategy::dense>(lists, chunks, arena);
    run<strategy::bitmask>(lists, chunks, arena);
    run<strategy::grouped>(lists, chunks, arena);
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

  /// Rows whose accumulator was too small go on by bits. Returns how many chunks have no place, and the room they need
  /// as far as it is known.
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
      std::vector<chunk> blocks;
      for (std::int64_t i = w.what.first_row; i < w.what.last_row; ++i) bitmask_chunks(blocks, rows_, i, r_.p.b.cols);
      for (const chunk& c : blocks) next.push_back({c, no_room, 0, 0});
      count += std::int64_t(blocks.size());
    }
    work_ = std::move(next);
    return count;
  }

  /// The result, on the device, from chunks that have their places now; frees the arenas.
  device_matrix<Value, Index> assemble() {
    std::vector<piece_of_result> pieces;
    std::int64_t total = 0;
    for (const item& w : work_) {
      const chunk& c = w.what;
      pieces.push_back({w.place, total, w.count, c.first_row, c.ends_row ? c.last_row : c.first_row, w.arena});
      total += w.count;
    }
    device_matrix<Value, Index> c{last_ - first_, r_.p.b.cols, {}, {total, device_, memory_}, {total, device_, memory_},
                                  device_};
    device_array<piece_of_result> list(pieces.data(), std::int64_t(pieces.size()), device_, memory_);
    compaction_kernel<Value, Index> kernel{list.data(),          {}, {}, c.columns.data(), c.values.data(),
                                           ends_.data() - first_};
    for (std::size_t a = 0; a < arenas_.size(); ++a) {
      kernel.arena_columns[a] = arenas_[a].columns.data();
      kernel.arena_values[a] = arenas_[a].values.data();
    }
    device::launch(kernel, list.size(), device_);
    arenas_.clear();
    c.row_pointers = std::move(ends_);
    return c;
  }

 private:
  struct item {
    chunk what;
    std::int64_t place, count;
    std::int32_t arena;
  };
  struct arena {
    device_array<Index> columns;
    device_array<Value> values;
  };

  template <strategy How>
  void run(const std::vector<std::int64_t>* lists, device_array<chunk>& chunks,
           const arena_state<Value, Index>& arena) {
    const std::vector<std::int64_t>& mine = lists[int(How)];
    const std::int64_t count = std::int64_t(mine.size());
    if (count == 0) return;
    device_array<std::int64_t> list(mine.data(), count, device_, memory_);
    const row_driver<Semiring, Value, Index, How> driver{r_, rows_.products_there.data()};
    device::launch(arena_kernel<Semiring, Value, Index, How>{driver, chunks.data(), list.data(), arena}, count,
                   device_);
  }

  row_product<Semiring, Value, Index> r_;
  const row_analysis& rows_;
  std::int64_t first_, last_;
  Device device_;
  meter& memory_;
  device_array<std::int64_t> ends_;
  std::vector<item> work_;
  std::vector<arena> arenas_;
};

/// Rows by strategy: batches hold rows of several kinds, which are memory as what they are.
inline void count_strategies(const std::vector<chunk>& chunks, const row_analysis& rows, std::int64_t first,
                             std::int64_t last, report& stats) {
  std::int64_t listed = 0;
  for (const chunk& c : chunks) {
    std::int64_t with_products = 0;
    if (c.ends_row)
      for (std::int64_t i = c.first_row; i < c.last_row; ++i) with_products += rows.products[i] > 0;
    const auto how = std::size_t(c.cut ? strategy::windows : c.how);
    stats.rows_by_strategy[how] += with_products;
    stats.products_by_strategy[how] += c.products;
    listed += with_products;
  }
  stats.rows_by_strategy[std::size_t(strategy::empty)] += last - first - listed;
}

/// Entries of the first arena: the prediction with a tenth more.
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

/// Rows [first, last) on `device`, where everything is; `a_pointers` are A's row pointers on the host.
template <class Semiring, class Value, class Index>
device_matrix<Value, Index> device_product(const row_product<Semiring, Value, Index>& r, const row_analysis& rows,
                                           const std::vector<chunk>& chunks, std::int64_t first, std::int64_t last,
                                           const compression& sampled, const options& settings, const Device& device,
                                           meter& memory, report& stats) {
  count_strategies(chunks, rows, first, last, stats);
  const std::int64_t before = memory.held();
  device_passes<Semiring, Value, Index> passes(r, rows, first, last, chunks, device, memory);
  passes.pass(first_arena(rows, first, last, sampled, settings));
  // The sizes of all but overflowed accumulators are known after the first pass, all sizes after the second.
  std::int64_t need = 0;
  for (std::int64_t again = passes.unplaced(need); again > 0; again = passes.unplaced(need)) {
    stats.retries += again;
    passes.pass(need);
  }
  stats.scratch_bytes = std::max(stats.scratch_bytes, memory.held() - before);
  return passes.assemble();
}

}  // namespace quintet::spgemm
