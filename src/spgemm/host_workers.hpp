// The chunks of a product on the host's threads: each computes chunks where they belong when all before are done,
// otherwise into buffers of its own, which ordered commits put one behind the other. This is where memory grows, errors
// are caught and threads wait; the rows are row_driver's.
#pragma once

#include <cstring>
#include <deque>

#include "spgemm/chunks.hpp"
#include "spgemm/meter.hpp"
#include "spgemm/ordered_commit.hpp"
#include "spgemm/row_driver.hpp"
#include "spgemm/top_rows.hpp"
#include "spgemm/tuning.hpp"

namespace quintet::spgemm {

/// Which accumulators the chunks may use, and how wide their arrays are.
struct accumulator_needs {
  std::int64_t width = 1;
  std::int64_t rests = 0;  ///< entries of the longest row of A that is computed in ranges of columns
  bool dense = true, hash = false, bitmask = false, group = false;
};

/// The accumulators' arrays of one thread.
template <class Semiring, class Value, class Index>
class host_arrays {
 public:
  host_arrays(const problem<Value, Index>& p, const accumulator_needs& needs, memory_source& memory)
      : sums_(needs.width + 64, memory),  // whole blocks of columns
        flags_(needs.width + 128, memory),
        bits_(needs.width / 64 + 2, memory),
        groups_(needs.width / 4096 + 2, memory),
        hash_(needs.hash, memory),
        sort_(needs.hash, memory),
        mask_bits_(needs.bitmask ? needs.width / 32 + 1 : 0, memory),
        mask_ranks_(mask_bits_.size(), memory),
        rests_(needs.rests, memory) {
    const Value identity = Semiring::template identity<Value>();
    std::fill(sums_.begin(), sums_.end(), identity);
    std::fill(flags_.begin(), flags_.end(), std::uint8_t(0));
    std::fill(bits_.begin(), bits_.end(), 0);
    std::fill(groups_.begin(), groups_.end(), 0);
    now.ranks_ = &ranks_;
    now.dense_ = {sums_.data(), flags_.data(), bits_.data(), groups_.data()};
    now.hash_ = hash_.data();
    now.sort_ = sort_.data();
    if (needs.hash) std::fill(std::begin(now.hash_->key), std::end(now.hash_->key), std::make_unsigned_t<Index>(-1));
    now.rests = rests_.data();
    now.bitmask_ = {mask_bits_.data(), mask_ranks_.data()};
    if (needs.group) make_group((std::min(p.b.cols, group_columns) + 63) / 64 * 64 + 64, identity, memory);
  }

  thread_memory<Value, Index> now;

 private:
  /// Columns that a group of rows covers at most: its sums stay in the second-level cache.
  static constexpr std::int64_t group_columns = 8192;

  void make_group(std::int64_t columns, Value identity, memory_source& memory) {
    group_sums_ = array<Value>(columns * group_rows + group_rows, memory);
    group_flags_ = array<std::uint8_t>(columns, memory);
    group_found_ = array<std::uint64_t>(columns / 64 * group_rows, memory);
    group_steps_ = array<group_step>(group_arrays<Value>::steps, memory);
    std::fill(group_sums_.begin(), group_sums_.end(), identity);
    std::fill(group_flags_.begin(), group_flags_.end(), std::uint8_t(0));
    constexpr std::uintptr_t line = group_rows * sizeof(Value);
    const auto aligned = (reinterpret_cast<std::uintptr_t>(group_sums_.data()) + line - 1) / line * line;
    now.group_ = {columns, reinterpret_cast<Value*>(aligned), group_flags_.data(), group_found_.data(),
                  group_steps_.data()};
  }

  ranks_memory<Value, 16> ranks_;
  array<Value> sums_;
  array<std::uint8_t> flags_;
  array<std::uint64_t> bits_, groups_;
  array<typename thread_memory<Value, Index>::hash_type> hash_;
  array<typename thread_memory<Value, Index>::sort_type> sort_;
  array<std::uint32_t> mask_bits_;
  array<std::int32_t> mask_ranks_;
  array<detail::row_rest<Value>> rests_;
  array<Value> group_sums_;
  array<std::uint8_t> group_flags_;
  array<std::uint64_t> group_found_;
  array<group_step> group_steps_;
};

/// One thread: its accumulators, and buffers for chunks that have no place yet.
template <class Semiring, class Value, class Index>
class host_worker {
 public:
  using driver = row_driver<Semiring, Value, Index, strategy::empty>;
  using output = ordered_commit<Value, Index>;

  /// `top`, unless it is null, says which entries of a row are stored.
  host_worker(const driver& rows, const top_rule<Value>* top, const accumulator_needs& needs, std::int64_t bound,
              const chunk* chunks, std::int64_t chunk_count, output* out, std::int64_t* row_pointers,
              memory_source& memory)
      : rows_(rows),
        top_(top),
        arrays_(rows.r.p, needs, memory),
        chunks_(chunks),
        chunk_count_(chunk_count),
        out_(out),
        row_pointers_(row_pointers),
        max_entries_(bound + beyond),
        memory_(memory) {}

  /// Takes chunks until there are none. Throws what one of the workers has thrown.
  void work() {
    for (std::int64_t t = out_->take(); t < chunk_count_; t = out_->take()) {
      std::int64_t entries = 0;
      try {  // a chunk that fails has no entries: others wait for its count
        if (!out_->failed()) {
          poll();
          entries = out_->in_place(t, chunks_[t].bound + beyond) ? compute_in_place(t) : compute_in_buffer(t);
        }
      } catch (...) {
        out_->fail(std::current_exception());
      }
      out_->finish_chunk(t, entries);
      for (buffer& full : buffer_)
        if (full.chunk >= 0 && out_->placed(full.chunk)) store(full);
    }
    for (buffer& full : buffer_)
      if (full.chunk >= 0) {
        out_->wait(full.chunk);
        store(full);
      }
    out_->rethrow();
  }
  const strategy_counts& counts() const { return arrays_.now.counts; }

 private:
  struct buffer {
    array<Index> columns;
    array<Value> values;
    std::int64_t chunk = -1;  ///< -1: free
  };
  /// Tiny rows are written in vectors, a little beyond their end.
  static constexpr std::int64_t beyond = ranked_products;
  /// Where a chunk is computed: there is room for its bound, and what is beyond.
  struct buffer_out {
    enum { exact = 0 };
    Index* columns;
    Value* values;
    std::int64_t* ends;
    std::int64_t used;
    template <class Team>
    bool room(const Team&, std::int64_t) const {
      return true;
    }
  };

  /// Where the chunk belongs; nothing is moved.
  std::int64_t compute_in_place(std::int64_t t) {
    return compute(chunks_[t], {out_->columns.data(), out_->values.data(), row_pointers_, out_->offset(t)});
  }
  std::int64_t compute_in_buffer(std::int64_t t) {
    const chunk& c = chunks_[t];
    buffer& b = free_buffer();
    if (b.columns.capacity() == 0) {
      b.columns = array<Index>(0, max_entries_, memory_);
      b.values = array<Value>(0, max_entries_, memory_);
    }
    b.columns.grow(c.bound + beyond);
    b.values.grow(c.bound + beyond);
    const std::int64_t entries = compute(c, {b.columns.data(), b.values.data(), row_pointers_, 0});
    b.chunk = t;
    return entries;
  }
  /// Writes the chunk's entries behind the first out.used; returns how many are stored.
  std::int64_t compute(const chunk& c, buffer_out out) {
    const std::int64_t begin = out.used, entries = rows_.compute(device::host_team{}, c, arrays_.now, out);
    return top_ == nullptr ? entries : keep_top_rows(c, out, begin, begin + entries);
  }
  /// Of the chunk's entries [begin, end) the first of each row.
  std::int64_t keep_top_rows(const chunk& c, const buffer_out& out, std::int64_t begin, std::int64_t end) const {
    std::int64_t from = begin, to = begin;
    for (std::int64_t i = c.first_row; i < c.last_row; ++i) {
      const std::int64_t row_end = i + 1 < c.last_row ? out.ends[i + 1] : end;
      const std::int64_t entries = keep_top(*top_, out.columns + from, out.values + from, row_end - from);
      std::copy_n(out.columns + from, entries, out.columns + to);
      std::copy_n(out.values + from, entries, out.values + to);
      from = row_end;
      to += entries;
      if (c.ends_row) out.ends[i + 1] = to;
    }
    return to - begin;
  }
  buffer& free_buffer() {
    for (buffer& b : buffer_)
      if (b.chunk < 0) return b;
    buffer& oldest = *std::min_element(std::begin(buffer_), std::end(buffer_),
                                       [](const buffer& x, const buffer& y) { return x.chunk < y.chunk; });
    out_->wait(oldest.chunk);
    store(oldest);
    return oldest;
  }
  void store(buffer& b) {
    const std::int64_t t = std::exchange(b.chunk, -1);
    if (out_->failed()) return;
    const chunk& c = chunks_[t];
    const std::int64_t offset = out_->offset(t), entries = out_->offset(t + 1) - offset;
    if (entries > 0) {
      std::memcpy(out_->columns.data() + offset, b.columns.data(), std::size_t(entries) * sizeof(Index));
      std::memcpy(out_->values.data() + offset, b.values.data(), std::size_t(entries) * sizeof(Value));
    }
    if (!c.ends_row) return;
    for (std::int64_t i = c.first_row; i < c.last_row; ++i) row_pointers_[i + 1] += offset;
  }

  driver rows_;
  const top_rule<Value>* top_;
  host_arrays<Semiring, Value, Index> arrays_;
  const chunk* chunks_;
  std::int64_t chunk_count_;
  output* out_;
  std::int64_t* row_pointers_;  ///< of C; element i + 1 gets the end of row i
  std::int64_t max_entries_;    ///< room of a buffer
  memory_source& memory_;
  buffer buffer_[4];
};

/// One tile is one worker.
/// Row by row (Gustavson 1978).
template <class Worker>
struct worker_kernel {
  using shape = device::host_only_shape;
  struct scratch {};
  Worker* const* workers;
  template <class Team>
  void operator()(const Team&, std::int64_t tile, scratch&) const {
    workers[tile]->work();
  }
};

/// Results of at most so many entries are given addresses for their upper bound, 16 MB at most: what is not written is
/// no memory, and to predict them takes longer.
constexpr std::int64_t cheap_bound = std::int64_t{1} << 20;

/// Entries of the longest row of [first, last) that is computed in ranges of columns.
template <class Value, class Index>
std::int64_t longest_in_ranges(const problem<Value, Index>& p, const row_analysis& rows, std::int64_t first,
                               std::int64_t last) {
  std::int64_t longest = 0;
  if (!in_ranges(p.b.cols, 0, rows.total_products)) return longest;
  for (std::int64_t i = first; i < last; ++i) {
    const std::int64_t entries = p.a.row_pointers[i + 1] - p.a.row_pointers[i];
    if (entries > longest && in_ranges(p.b.cols, entries, rows.products[i])) longest = entries;
  }
  return longest;
}

/// Entries of a result to make room for at first.
inline std::int64_t first_room(std::int64_t bound, std::int64_t predicted, double scale) {
  if (bound <= cheap_bound && scale == 1) return bound;
  return std::min(bound, std::int64_t(1.05 * scale * double(predicted)) + 64);
}

/// Entries of `rows` rows at most that are stored, if their bound is `bound`.
template <class Value>
std::int64_t stored_bound(const top_rule<Value>* top, std::int64_t rows, std::int64_t bound) {
  if (top == nullptr || rows == 0 || top->count > bound / rows) return bound;
  return rows * top->count;
}

/// The chunks, which are rows [first, last) or a part of one row; of each row, or each range of its columns, the
/// entries that `top` keeps, if it is not null. Arrays come from `memory`.
template <class Semiring, class Value, class Index>
csr<Value, Index> host_product(const row_product<Semiring, Value, Index>& r, const row_analysis& rows,
                               const std::vector<chunk>& chunks, std::int64_t first, std::int64_t last,
                               std::int64_t room, meter& memory, report& stats, const top_rule<Value>* top = nullptr) {
  using worker = host_worker<Semiring, Value, Index>;
  std::int64_t products = 0, bound = 0, largest = 0;
  accumulator_needs needs;
  const std::optional<strategy> forced = current_tuning().accumulator;
  needs.hash = r.p.b.cols > cached_columns || forced == strategy::hash || forced == strategy::segmented;
  needs.bitmask = forced == strategy::bitmask;
  needs.group = forced == strategy::grouped;
  for (const chunk& c : chunks) {
    products += c.products;
    bound += stored_bound(top, c.last_row - c.first_row, c.bound);
    largest = std::max(largest, c.bound);
    if (!c.ranked || r.p.b.cols > INT32_MAX)
      needs.width = std::max(needs.width, std::min(c.last_col - c.first_col, widest_accumulator));
    needs.group |= c.may_group;
  }
  needs.rests = longest_in_ranges(r.p, rows, first, last);
  csr<Value, Index> result{last - first, r.p.b.cols, array<std::int64_t>(last - first + 1, memory), {}, {}};
  result.row_pointers[0] = 0;
  ordered_commit<Value, Index> out(std::int64_t(chunks.size()), room, bound, memory);
  // The result grows meanwhile, and is no scratch.
  const std::int64_t before = memory.held() - out.bytes();
  const int count = int(std::min<std::int64_t>(host_threads(products), std::int64_t(chunks.size())));
  const std::int64_t slots = std::min<std::int64_t>(current_tuning().table_size_cap, 2 * small_row_products);
  const typename worker::driver driver{r, rows.products.data(), std::int32_t(std::bit_floor(std::uint64_t(slots)))};
  std::deque<worker> workers;
  std::vector<worker*> pointers;
  for (int w = 0; w < count; ++w)
    pointers.push_back(&workers.emplace_back(driver, top, needs, largest, chunks.data(), std::int64_t(chunks.size()),
                                             &out, result.row_pointers.data() - first, memory));
  device::launch(worker_kernel<worker>{pointers.data()}, count, Device::host());
  out.rethrow();
  stats.scratch_bytes = std::max(stats.scratch_bytes, memory.held() - out.bytes() - before);
  for (const worker& w : workers)
    for (int s = 0; s < strategies; ++s) {
      stats.rows_by_strategy[s] += w.counts().rows[s];
      stats.products_by_strategy[s] += w.counts().products[s];
    }
  workers.clear();
  stats.retries += out.growths();
  out.columns.trim(out.entries());
  out.values.trim(out.entries());
  result.columns = std::move(out.columns);
  result.values = std::move(out.values);
  return result;
}

}  // namespace quintet::spgemm
