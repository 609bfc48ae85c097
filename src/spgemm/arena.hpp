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

/// The state of a product between its passes. Operands and filter are on the device.
template <class Value, class Index>
class device_passes {
 public:
  /// Rows [first, last) of a result of `cols` columns.
  device_passes(const row_analysis& rows, std::int64_t first, std::int64_t last, std::int64_t cols,
                const std::vector<chunk>& chunks, const Device& device, meter& memory);

  /// What a pass computes: the chunks that have no place yet, and their numbers by accumulator.
  struct todo {
    device_array<chunk> chunks;
    device_array<std::int64_t> lists[strategies];
    device_array<std::int64_t> places, counts, cursor;
    arena_state<Value, Index> arena;
    std::vector<std::size_t> chunk_numbers;
  };
  /// Before a pass: makes a new arena, at most three times.
  todo begin(std::int64_t arena_entries);
  /// After it: where the chunks are now.
  void end(const todo& pass);

  /// Rows whose accumulator was too small go on by bits. Returns how many chunks have no place, and the room they need
  /// as far as it is known.
  std::int64_t unplaced(std::int64_t& need);

  /// The result, on the device, from chunks that have their places now; frees the arenas.
  device_matrix<Value, Index> assemble();

 private:
  struct item {
    chunk source;
    std::int64_t place, count;
    std::int32_t arena;
  };
  struct arena {
    device_array<Index> columns;
    device_array<Value> values;
  };

  const row_analysis& rows_;
  std::int64_t first_, last_, cols_;
  Device device_;
  meter& memory_;
  device_array<std::int64_t> ends_;
  std::vector<item> work_;
  std::vector<arena> arenas_;
};

/// The chunks of a pass, one launch for each accumulator.
template <class Semiring, class Value, class Index>
void run_pass(const row_product<Semiring, Value, Index>& r, const row_analysis& rows,
              typename device_passes<Value, Index>::todo& pass, const Device& device) {
  const auto run = [&]<strategy How>() {
    const device_array<std::int64_t>& list = pass.lists[int(How)];
    if (list.size() == 0) return;
    const row_driver<Semiring, Value, Index, How> driver{r, rows.device_products.data()};
    device::launch(arena_kernel<Semiring, Value, Index, How>{driver, pass.chunks.data(), list.data(), pass.arena},
                   list.size(), device);
  };
  run.template operator()<strategy::streaming>();
  run.template operator()<strategy::tiny>();
  run.template operator()<strategy::segmented>();
  run.template operator()<strategy::hash>();
  run.template operator()<strategy::dense>();
  run.template operator()<strategy::bitmask>();
  run.template operator()<strategy::grouped>();
}

/// Rows by strategy: batches hold rows of several kinds, which are memory as what they are.
void count_strategies(const std::vector<chunk>& chunks, const row_analysis& rows, std::int64_t first, std::int64_t last,
                      report& stats);

/// Entries of the first arena: the prediction with a tenth more.
std::int64_t first_arena(const row_analysis& rows, std::int64_t first, std::int64_t last, const compression& sampled);

/// Rows [first, last) on `device`, where everything is; `a_pointers` are A's row pointers on the host.
template <class Semiring, class Value, class Index>
device_matrix<Value, Index> device_product(const row_product<Semiring, Value, Index>& r, const row_analysis& rows,
                                           const std::vector<chunk>& chunks, std::int64_t first, std::int64_t last,
                                           const compression& sampled, const Device& device, meter& memory,
                                           report& stats) {
  count_strategies(chunks, rows, first, last, stats);
  const std::int64_t before = memory.held();
  device_passes<Value, Index> passes(rows, first, last, r.p.b.cols, chunks, device, memory);
  const auto pass = [&](std::int64_t arena_entries) {
    auto todo = passes.begin(arena_entries);
    run_pass(r, rows, todo, device);
    passes.end(todo);
  };
  pass(first_arena(rows, first, last, sampled));
  // The sizes of all but overflowed accumulators are known after the first pass, all sizes after the second.
  std::int64_t need = 0;
  for (std::int64_t unplaced = passes.unplaced(need); unplaced > 0; unplaced = passes.unplaced(need)) {
    stats.retries += unplaced;
    pass(need);
  }
  stats.scratch_bytes = std::max(stats.scratch_bytes, memory.held() - before);
  return passes.assemble();
}

}  // namespace quintet::spgemm
