// Ordered commit: chunks of a result are computed in any order and stored one behind the other, in place for good.
//
// Every worker keeps a few finished chunks of its own, so it need not wait for a slow neighbour at once. Whoever ends a
// chunk moves the frontier over all chunks that are done and gives them their places; each worker then copies its own.
// Nobody waits for a chunk that nobody works on, so there is always progress; waiting sleeps.
//
// Order in memory: a worker stores its count and then looks at the frontier and at `busy_`; who moves the frontier
// stores it, lets go of `busy_`, and then looks at the counts. One of the two has to see the other, on processors that
// reorder too, so these operations are sequentially consistent (the default). Acquire and release, where they are
// named, hand on plain data: offsets, the arrays' sizes, the exception.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>

#include "quintet/spgemm/csr.hpp"

namespace quintet::spgemm {

template <class Value, class Index>
class ordered_commit {
 public:
  /// Entries `initial` are made room for at once; `max` is what they cannot exceed.
  ordered_commit(std::int64_t chunks, std::int64_t initial, std::int64_t max, memory_source& memory)
      : columns(std::min(initial, max), max, memory),
        values(std::min(initial, max), max, memory),
        count_(chunks),
        counts_(chunks, memory),
        offsets_(chunks + 1, memory) {
    std::fill(counts_.begin(), counts_.end(), -1);
    offsets_[0] = 0;
  }

  /// The next chunk to compute; >= chunks when there is none. Relaxed: a ticket, behind which no data lie.
  std::int64_t take() { return next_.fetch_add(1, std::memory_order_relaxed); }
  /// Whether chunk `c` may be written where it belongs, from offset(c) on: all before it are done, and there is room
  /// for so many entries. Nobody writes behind offset(c) before done(c).
  bool in_place(std::int64_t c, std::int64_t entries) const {
    return frontier_.load(std::memory_order_acquire) == c && offsets_[c] + entries <= columns.size();
  }
  /// Chunk `c` has this many entries.
  void finish_chunk(std::int64_t c, std::int64_t entries) {
    std::atomic_ref<std::int64_t>(counts_[c]).store(entries);
    advance();
  }
  /// Whether chunk `c` has its place: from offset(c) to offset(c + 1).
  bool placed(std::int64_t c) const { return c < frontier_.load(std::memory_order_acquire); }
  /// Sleeps until it has.
  void wait(std::int64_t c) const {
    for (std::int64_t next = frontier_.load(std::memory_order_acquire); next <= c;
         next = frontier_.load(std::memory_order_acquire))
      frontier_.wait(next, std::memory_order_acquire);
  }
  std::int64_t offset(std::int64_t c) const { return offsets_[c]; }

  /// True when memory has run out: nothing may be stored any more.
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  void fail(std::exception_ptr why) {
    if (!failing_.exchange(true)) {
      why_ = why;
      failed_.store(true, std::memory_order_release);
    }
  }
  void rethrow() const {
    if (failed()) std::rethrow_exception(why_);
  }
  std::int64_t entries() const { return offsets_[count_]; }
  /// What the entries that there is room for take.
  std::int64_t bytes() const { return columns.size() * std::int64_t(sizeof(Index) + sizeof(Value)); }
  /// Times that the arrays had to grow.
  std::int64_t growths() const { return growths_; }

  array<Index> columns;
  array<Value> values;

 private:
  bool next_is_done() const {
    const std::int64_t c = frontier_.load();
    return c < count_ && std::atomic_ref<std::int64_t>(const_cast<std::int64_t&>(counts_[c])).load() >= 0;
  }
  // One worker at a time; who finds another at it leaves it to that one, which looks again after it has let go.
  void advance() {
    while (next_is_done() && !busy_.exchange(true)) {
      std::int64_t c = frontier_.load(std::memory_order_relaxed);  // who was here before has let go of busy_
      for (; c < count_; ++c) {
        const std::int64_t entries = std::atomic_ref<std::int64_t>(counts_[c]).load(std::memory_order_acquire);
        if (entries < 0) break;
        offsets_[c + 1] = offsets_[c] + entries;
      }
      make_room(offsets_[c]);
      frontier_.store(c);
      frontier_.notify_all();
      busy_.store(false);
    }
  }
  void make_room(std::int64_t entries) {
    if (entries <= columns.size() || failed()) return;
    const std::int64_t size = std::min(columns.capacity(), std::max(entries, columns.size() + columns.size() / 8));
    try {
      columns.grow(size);
      values.grow(size);
      ++growths_;
    } catch (...) {
      fail(std::current_exception());
    }
  }

  std::int64_t count_;
  array<std::int64_t> counts_, offsets_;
  std::exception_ptr why_;
  std::int64_t growths_ = 0;
  alignas(64) std::atomic<std::int64_t> next_ = 0;
  alignas(64) std::atomic<std::int64_t> frontier_ = 0;
  std::atomic<bool> busy_ = false, failing_ = false, failed_ = false;
};

}  // namespace quintet::spgemm
