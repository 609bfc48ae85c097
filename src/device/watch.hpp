// How launches stop when the poll of the calling thread throws (quintet/core/poll.hpp).
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <optional>

#include "device/emulation.hpp"
#include "quintet/core/poll.hpp"

namespace quintet::device::detail {

/// What the threads of a launch throw; and if its tiles are long, the threads that help see a stop within them, and the
/// calling thread goes on polling while it waits.
class work_watch {
 public:
  /// Null: nobody polls while the threads work.
  explicit work_watch(quintet::detail::poll_state* polls) : polls_(polls) {}

  /// In a handler: keeps the exception; that of the calling thread rather than another, of others the first.
  void keep_error(bool is_caller);
  /// For the calling thread, after its last tile: polls until `helpers` threads have ended.
  void wait(int helpers) {
    if (polls_ != nullptr) wait_polling(helpers);
  }
  /// When all have ended: throws what was kept.
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  friend class watched_thread;
  void wait_polling(int helpers);

  quintet::detail::poll_state* polls_;
  // Relaxed: a thread that sees it late computes another tile. No data lie behind it: the exception has a mutex, and is
  // read behind the join.
  std::atomic<bool> stop_{false};
  // Released and acquired: a helper has left its state, which refers to stop_.
  std::atomic<int> ended_{0};
  std::mutex mutex_;
  std::exception_ptr error_;
};

/// One thread's part in it.
class watched_thread {
 public:
  watched_thread(work_watch& watch, bool is_caller) {
    if (watch.polls_ == nullptr) return;
    if (is_caller)
      caller_ = &watch;
    else
      helper_.emplace(watch);
  }
  watched_thread(const watched_thread&) = delete;
  watched_thread& operator=(const watched_thread&) = delete;
  ~watched_thread() {
    if (caller_ != nullptr && std::uncaught_exceptions() > exceptions_)
      caller_->stop_.store(true, std::memory_order_relaxed);
  }

 private:
  struct helper {
    explicit helper(work_watch& w) : watch(w), state(w.stop_), guard(&state) {}
    ~helper() { watch.ended_.fetch_add(1, std::memory_order_release); }
    work_watch& watch;
    quintet::detail::poll_state state;
    quintet::detail::poll_guard guard;
  };
  work_watch* caller_ = nullptr;
  int exceptions_ = std::uncaught_exceptions();
  std::optional<helper> helper_;
};

/// Between the tiles of the emulated device. All threads of a team must leave after the same tile: its first thread
/// names it before the barrier, and the others compare behind it.
class emulated_polls {
 public:
  emulated_polls(quintet::detail::poll_state* polls, std::int64_t tiles) : polls_(polls) {
    for (auto& end : end_) end.store(tiles, std::memory_order_relaxed);
  }
  /// Whether `team` runs `tile`.
  bool runs(int team, std::int64_t tile) const { return tile < end_[team].load(std::memory_order_relaxed); }
  /// By the first thread of `team` after its part of `tile`, before the barrier that ends the tile.
  void after(int team, std::int64_t tile) {
    if (polls_ != nullptr) poll(team, tile);
  }
  /// Behind the launch: throws what the poll has thrown.
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void poll(int team, std::int64_t tile);

  quintet::detail::poll_state* polls_;
  // Relaxed: a team's own threads have a barrier between the store and the load; other teams may see a stop late.
  std::atomic<std::int64_t> end_[emulated_teams];
  std::atomic<bool> stop_{false};
  std::exception_ptr error_;
};

}  // namespace quintet::device::detail
