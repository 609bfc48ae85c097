// Progress of long work, and the caller's way to stop it.
//
// A function with a long-running stage takes a progress_callback (empty: no progress is reported) and reports through a
// `progress` object:
//
//   progress report(callback);
//   for (tile ...) { ...; report("distances", double(tile) / tiles); }
//   report("distances", 1.0);
//
// The object passes on every start and end of a stage, and in between at most one report in `interval`. So you can call
// it in a loop: without a callback a report costs one branch, otherwise the reading of a clock.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "quintet/core/compiler.hpp"

namespace quintet {

/// Called with the name of the stage and the finished part of it, 0 to 1. Returning false stops the work: the function
/// that reports throws Cancelled. Called on the thread that called into the library, never on several threads at once.
using progress_callback = std::function<bool(std::string_view stage, double fraction)>;

/// Passes reports on to a callback, not too often. An object serves one thread; different objects are independent.
class progress {
 public:
  /// Steady: changes of the system time do not matter.
  using clock = std::chrono::steady_clock;

  /// Reports go nowhere.
  progress() = default;
  /// `interval` is the least time between two reports inside a stage. At 50 ms a person sees no steps, and the callback
  /// costs nothing compared with the work.
  explicit progress(progress_callback callback, clock::duration interval = std::chrono::milliseconds(50))
      : callback_(std::move(callback)), interval_(interval) {}

  /// Reports that `fraction` (0 to 1; clamped) of `stage` is done. Throws Cancelled if the callback returns false, and
  /// exceptions of the callback.
  void operator()(std::string_view stage, double fraction) {
    if (callback_) pass_on(stage, fraction);
  }

 private:
  void pass_on(std::string_view stage, double fraction);

  progress_callback callback_;
  clock::duration interval_{};
  clock::time_point last_{};
  std::string stage_;
  bool finished_ = false;
};

}  // namespace quintet
