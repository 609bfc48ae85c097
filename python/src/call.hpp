// One call from Python into the library: the GIL is released, Ctrl-C and a progress callback are looked at meanwhile.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <chrono>
#include <string>
#include <utility>

#include "quintet/core/poll.hpp"
#include "quintet/core/progress.hpp"
#include "quintet/device/device.hpp"
#include "quintet/device/thread_scope.hpp"

namespace quintet::python {

namespace nb = nanobind;

/// The callback that calls `callable` with stage and fraction; empty for None. False from it cancels; its exceptions
/// come out of the call unchanged. `callable` has to outlive it.
progress_callback progress_of(nb::handle callable);

/// Runs Python's signal handlers and throws what they raise, KeyboardInterrupt mostly. Without the GIL.
void poll_signals();

/// Waits, when the interpreter ends, until no thread but the main one is in a call, and lets none of them back into
/// Python, which would end the process with an error. To be called once by every module.
void end_calls_at_exit();

/// A call into the library, without the GIL. A thread that wants it back after the interpreter has begun to end sleeps
/// for good instead, as Python's own threads do.
class released_call {
 public:
  released_call();
  released_call(const released_call&) = delete;
  released_call& operator=(const released_call&) = delete;
  ~released_call();

 private:
  PyThreadState* state_;
};

/// The GIL for a callback out of the library; throws, to end the call, if the interpreter has begun to end.
class callback_lock {
 public:
  callback_lock() = default;

 private:
  static int require_interpreter();
  int checked_ = require_interpreter();
  nb::gil_scoped_acquire acquired_;
};

/// Time that this thread has spent in the library: what a call takes beyond it is the bindings' own
/// (python/bench/overhead.py).
inline thread_local std::chrono::steady_clock::duration library_time{};

class library_timer {
 public:
  library_timer() = default;
  library_timer(const library_timer&) = delete;
  library_timer& operator=(const library_timer&) = delete;
  ~library_timer() { library_time += std::chrono::steady_clock::now() - begin_; }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Host threads of the calls that this thread makes; 0: as for all threads.
inline thread_local int own_threads = 0;

/// f() without the GIL, and with signals looked at every 50 ms. While it runs, everything that Python knows is out of
/// reach: arrays are taken apart into views before, results are made into objects afterwards.
template <class Function>
decltype(auto) run(Function&& f) {
  const released_call call;
  const poll_scope scope(poll_signals);
  const thread_scope width(own_threads);
  const library_timer timer;
  return std::forward<Function>(f)();
}

/// f(progress_callback), the same for functions that report how far they are. The callback is empty for None.
template <class Function>
decltype(auto) run(nb::handle progress, Function&& f) {
  const progress_callback callback = progress_of(progress);
  const released_call call;
  const poll_scope scope(poll_signals);
  const thread_scope width(own_threads);
  const library_timer timer;
  return std::forward<Function>(f)(callback);
}

}  // namespace quintet::python
