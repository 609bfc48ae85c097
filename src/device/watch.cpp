#include "device/watch.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <thread>

namespace quintet::device::detail {

void work_watch::keep_error(bool is_caller) {
  const std::lock_guard lock(mutex_);
  if (!error_ || is_caller) error_ = std::current_exception();
}

// A signal would have to be sent by helpers that are about to end. A sleep is at most a sixteenth of what was waited
// before it, so little of it is in vain; short waits leave the processor to others without a sleep.
void work_watch::wait_polling(int helpers) {
  using namespace std::chrono_literals;
  using clock = std::chrono::steady_clock;
  const auto begin = clock::now();
  while (ended_.load(std::memory_order_acquire) < helpers) {
    const clock::duration waited = clock::now() - begin;
    if (waited < 300us) {
      std::this_thread::yield();
      continue;
    }
    std::this_thread::sleep_for(std::min<clock::duration>(waited / 16, 1ms));
    if (stop_.load(std::memory_order_relaxed)) continue;
    try {
      polls_->check();
    } catch (...) {
      stop_.store(true, std::memory_order_relaxed);
      keep_error(true);
    }
  }
}

void emulated_polls::poll(int team, std::int64_t tile) {
  // Team 0's first thread is the one that called.
  if (team == 0 && !stop_.load(std::memory_order_relaxed)) {
    try {
      polls_->check();
    } catch (...) {
      error_ = std::current_exception();
      stop_.store(true, std::memory_order_relaxed);
    }
  }
  if (stop_.load(std::memory_order_relaxed)) end_[team].store(tile + 1, std::memory_order_relaxed);
}

}  // namespace quintet::device::detail
