// Interrupting long work from the thread that waits for it: Ctrl-C, a closed window, messages of other processes.
//
//   quintet::poll_scope scope([] { if (interrupted) throw interruption(); });
//   auto clusters = quintet::hdbscan::cluster(points);   // throws `interruption` soon after `interrupted` is set
//
// While a scope exists, all functions of quintet that the same thread calls poll: they call its function now and then,
// from that thread. They do so between the tiles of kernels on the host, between launches on other devices, and in long
// host code. An exception of the polled function leaves the called function unchanged: no further tile starts, the
// other threads end theirs, nothing leaks, outputs are unspecified. Objects stay usable: a Likelihood computes
// interrupted parts again; a sampler needs restore() first. The next call works as ever.
//
// A progress_callback (progress.hpp) reports the fraction of work at its stages; polls happen everywhere, many times a
// second. Without a scope the library only reads one thread-local pointer per launch.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>

#include "quintet/core/compiler.hpp"

namespace quintet {

/// Called with nothing, on the thread that called into the library. It may call the library itself; polls rest
/// meanwhile. It stops the work by throwing.
using poll_function = std::function<void()>;

namespace detail {

/// State of the polls of a thread. Of the thread that made it.
class poll_state {
 public:
  using clock = std::chrono::steady_clock;
  /// Calls `function` at most once in `interval`, and the polls of `outer`.
  poll_state(poll_function function, clock::duration interval, poll_state* outer)
      : function_(std::move(function)), interval_(interval), last_(clock::now()), outer_(outer) {}
  /// Of a thread that works for another one, which polls: check() throws poll_stopped once `stop` is true.
  explicit poll_state(const std::atomic<bool>& stop) : stop_(&stop) {}

  /// Polls if it is time to. Throws what the function throws.
  void check();
  /// check() for a loop over tiles that are counted by `next`: an exception ends the loop for all threads.
  void check(std::atomic<std::int64_t>& next, std::int64_t tiles);
  /// Times that check() has thrown.
  std::int64_t throws() const { return throws_; }

 private:
  poll_function function_;
  clock::duration interval_{};
  clock::time_point last_{};
  poll_state* outer_ = nullptr;
  const std::atomic<bool>* stop_ = nullptr;
  std::int64_t throws_ = 0;
};

/// Thrown inside helping threads after the poll of their caller has thrown; never leaves the library.
struct poll_stopped {};

/// Poll state of this thread; null without polls.
poll_state* current_poll() noexcept;

/// Makes `state` the poll state of this thread, and restores the previous one.
class poll_guard {
 public:
  explicit poll_guard(poll_state* state) noexcept;
  poll_guard(const poll_guard&) = delete;
  poll_guard& operator=(const poll_guard&) = delete;
  ~poll_guard();

 private:
  poll_state* before_;
};

}  // namespace detail

/// While the scope exists, work of this thread calls `poll`. Made and destroyed by the same thread, like a local
/// variable. Scopes nest: the functions of the outer ones are still called.
class poll_scope {
 public:
  using clock = std::chrono::steady_clock;  ///< steady: changes of the system time do not matter
  /// `poll` must not be empty. `interval` is the least time between two calls of it: 50 ms by default, 0 calls it at
  /// every check of the library. Between two checks is one tile: milliseconds, and at most 0.3 s.
  explicit poll_scope(poll_function poll, clock::duration interval = std::chrono::milliseconds(50))
      : state_(std::move(poll), interval, detail::current_poll()), guard_(&state_) {}

 private:
  detail::poll_state state_;
  detail::poll_guard guard_;
};

/// A check by the caller: calls the functions of this thread's scopes that are due. For loops that call the library
/// seldom, and for callbacks that take long.
inline void poll() {
  if (detail::poll_state* const state = detail::current_poll()) state->check();
}

}  // namespace quintet
