#include "device/watch.hpp"

#include <chrono>
#include <thread>

namespace quintet::device::detail {

void work_watch::keep_error(bool is_caller) {
  const std::lock_guard lock(mutex_);
  if (!error_ || is_caller) error_ = std::current_exception();
}

// A signal would have to be sent by helpers that are about to end; sleeping a millisecond is nothing beside tiles that
// are long, and the first waits are shorter for those that are not.
void work_watch::wait_polling(int helpers) {
  using namespace std::chrono_literals;
  for (auto pause = std::chrono::microseconds(20); ended_.load(std::memory_order_acquire) < helpers;) {
    std::this_thread::sleep_for(pause);
    if (pause < 1ms) pause *= 2;
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
