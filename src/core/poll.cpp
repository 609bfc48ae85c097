#include "quintet/core/poll.hpp"

#include <atomic>
#include <utility>

namespace quintet {

namespace detail {

namespace {
constinit thread_local poll_state* current = nullptr;
}  // namespace

poll_state* current_poll() noexcept { return current; }

poll_guard::poll_guard(poll_state* state) noexcept : before_(std::exchange(current, state)) {}
poll_guard::~poll_guard() { current = before_; }

void poll_state::check() {
  try {
    if (stop_ != nullptr) {
      if (stop_->load(std::memory_order_relaxed)) throw poll_stopped{};
      return;
    }
    if (const clock::time_point instant = clock::now(); instant - last_ >= interval_) {
      const poll_guard rest(nullptr);
      function_();
      last_ = clock::now();
    }
    if (outer_ != nullptr) outer_->check();
  } catch (...) {
    ++throws_;
    throw;
  }
}

void poll_state::check(std::atomic<std::int64_t>& next, std::int64_t tiles) {
  try {
    check();
  } catch (...) {
    next.store(tiles, std::memory_order_relaxed);
    throw;
  }
}

}  // namespace detail

}  // namespace quintet
