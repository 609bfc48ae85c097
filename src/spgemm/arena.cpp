#include "spgemm/arena.hpp"
#include "spgemm/tuning.hpp"

#include <algorithm>

#include "instantiate.hpp"

namespace quintet::spgemm {

namespace {

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

}  // namespace

template <class Value, class Index>
device_passes<Value, Index>::device_passes(const row_analysis& rows, std::int64_t first, std::int64_t last,
                                           std::int64_t cols, const std::vector<chunk>& chunks, const Device& device,
                                           meter& memory)
    : rows_(rows), first_(first), last_(last), cols_(cols), device_(device), memory_(memory) {
  for (const chunk& c : chunks) work_.push_back({c, no_room, 0, 0});
  ends_ = device_array<std::int64_t>(last - first + 1, device, memory);
  const std::int64_t zero = 0;
  quintet::detail::copy(ends_.data(), device, &zero, Device::host(), sizeof zero);
}

template <class Value, class Index>
typename device_passes<Value, Index>::todo device_passes<Value, Index>::begin(std::int64_t arena_entries) {
  std::vector<chunk> chunks;
  std::vector<std::int64_t> lists[strategies];
  todo pass;
  for (std::size_t w = 0; w < work_.size(); ++w)
    if (work_[w].place < 0) {
      lists[int(work_[w].source.accumulator)].push_back(std::int64_t(chunks.size()));
      chunks.push_back(work_[w].source);
      pass.chunk_numbers.push_back(w);
    }
  const std::int64_t count = std::int64_t(chunks.size()), zero = 0;
  arenas_.push_back(
      {device_array<Index>(arena_entries, device_, memory_), device_array<Value>(arena_entries, device_, memory_)});
  pass.chunks = {chunks.data(), count, device_, memory_};
  pass.places = {count, device_, memory_};
  pass.counts = {count, device_, memory_};
  pass.cursor = {&zero, 1, device_, memory_};
  for (int s = 0; s < strategies; ++s)
    pass.lists[s] = {lists[s].data(), std::int64_t(lists[s].size()), device_, memory_};
  pass.arena = {arena_entries,      pass.cursor.data(), arenas_.back().columns.data(), arenas_.back().values.data(),
                pass.places.data(), pass.counts.data(), ends_.data() - first_};
  return pass;
}

template <class Value, class Index>
void device_passes<Value, Index>::end(const todo& pass) {
  std::vector<std::int64_t> place(pass.chunk_numbers.size()), entries(pass.chunk_numbers.size());
  pass.places.to_host(place.data(), pass.places.size());
  pass.counts.to_host(entries.data(), pass.counts.size());
  for (std::size_t t = 0; t < pass.chunk_numbers.size(); ++t) {
    item& w = work_[pass.chunk_numbers[t]];
    w.place = place[t];
    w.count = entries[t];
    w.arena = int(arenas_.size()) - 1;
  }
}

template <class Value, class Index>
std::int64_t device_passes<Value, Index>::unplaced(std::int64_t& need) {
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
    for (std::int64_t i = w.source.first_row; i < w.source.last_row; ++i) bitmask_chunks(blocks, rows_, i, cols_);
    for (const chunk& c : blocks) next.push_back({c, no_room, 0, 0});
    count += std::int64_t(blocks.size());
  }
  work_ = std::move(next);
  return count;
}

template <class Value, class Index>
device_matrix<Value, Index> device_passes<Value, Index>::assemble() {
  std::vector<piece_of_result> pieces;
  std::int64_t total = 0;
  for (const item& w : work_) {
    const chunk& c = w.source;
    pieces.push_back({w.place, total, w.count, c.first_row, c.ends_row ? c.last_row : c.first_row, w.arena});
    total += w.count;
  }
  device_matrix<Value, Index> c{last_ - first_, cols_, {}, {total, device_, memory_}, {total, device_, memory_},
                                device_};
  device_array<piece_of_result> list(pieces.data(), std::int64_t(pieces.size()), device_, memory_);
  compaction_kernel<Value, Index> kernel{list.data(), {}, {}, c.columns.data(), c.values.data(), ends_.data() - first_};
  for (std::size_t a = 0; a < arenas_.size(); ++a) {
    kernel.arena_columns[a] = arenas_[a].columns.data();
    kernel.arena_values[a] = arenas_[a].values.data();
  }
  device::launch(kernel, list.size(), device_);
  arenas_.clear();
  c.row_pointers = std::move(ends_);
  return c;
}

void count_strategies(const std::vector<chunk>& chunks, const row_analysis& rows, std::int64_t first, std::int64_t last,
                      report& stats) {
  std::int64_t listed = 0;
  for (const chunk& c : chunks) {
    std::int64_t with_products = 0;
    if (c.ends_row)
      for (std::int64_t i = c.first_row; i < c.last_row; ++i) with_products += rows.products[i] > 0;
    const auto number = std::size_t(c.cut ? strategy::windows : c.accumulator);
    stats.rows_by_strategy[number] += with_products;
    stats.products_by_strategy[number] += c.products;
    listed += with_products;
  }
  stats.rows_by_strategy[std::size_t(strategy::empty)] += last - first - listed;
}

std::int64_t first_arena(const row_analysis& rows, std::int64_t first, std::int64_t last, const compression& sampled) {
  if (current_tuning().arena_entries >= 0) return current_tuning().arena_entries;
  double predicted = 0;
  std::int64_t bound = 0;
  for (std::int64_t i = first; i < last; ++i) {
    predicted += sampled.entries(rows.products[i], rows.bound[i]);
    bound += rows.bound[i];
  }
  return std::min(bound, std::int64_t(1.1 * current_tuning().prediction_scale * predicted) + 64);
}

#define QUINTET_INSTANTIATE(Value, Index) template class device_passes<Value, Index>;
QUINTET_FOR_EACH_SPARSE(QUINTET_INSTANTIATE)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::spgemm
