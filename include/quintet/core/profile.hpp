// Profiling: stages as regions for a profiler.
//
// The library and its programs name their stages ("neighbours", "spanning_tree", ...). A stage has the same name in the
// code, in progress reports, in the seconds of results and of the programs' JSON, and as a region here. Regions nest.
//
//   QUINTET_PROFILE=1 quintet-hdbscan --input points.npy --output clusters.csv
//
// prints calls and seconds of every stage to standard error when the process ends. A hook passes regions on to a tool:
//
//   quintet::set_profile_hook({.begin = [](void*, const char* stage) { nvtxRangePushA(stage); },
//                              .end = [](void*, const char*) { nvtxRangePop(); }});
//
// With neither, a region costs the reading of one variable. docs/profiling.md lists the stages.
#pragma once

#include <atomic>
#include <chrono>

#include "quintet/core/compiler.hpp"

namespace quintet {

/// Functions called at both ends of every region, on the thread that is in it: at any time, on any number of threads.
/// They must not throw, nor call the library. `stage` is valid until `end` has returned.
struct profile_hook {
  void (*begin)(void* context, const char* stage) = nullptr;  ///< null: not called
  void (*end)(void* context, const char* stage) = nullptr;    ///< null: not called
  void* context = nullptr;                                    ///< passed on
};

/// Regions that begin from now on call `hook`, in the whole process; `{}` ends that. A region that is open calls `end`
/// of the hook it began with.
void set_profile_hook(const profile_hook& hook);

class stage_region;

namespace detail {
struct stage_totals;
inline constexpr int profile_off = 0;
/// profile_off, or whether a hook or a table may use regions.
extern std::atomic<int> profile_state;
/// Of this thread; null for none.
stage_region* innermost_stage() noexcept;

/// While it exists, regions of this thread are inside `stage`. A thread that waits for this one began it.
class stage_guard {
 public:
  explicit stage_guard(stage_region* stage) noexcept;
  stage_guard(const stage_guard&) = delete;
  stage_guard& operator=(const stage_guard&) = delete;
  ~stage_guard();

 private:
  stage_region* before_;
};
}  // namespace detail

/// A stage, from its construction to end() or its destruction. A local variable: regions of a thread end in the reverse
/// of their order. Inside a region of the same name it is a part of that region: a program's stage "likelihood" is the
/// library's.
class stage_region {
 public:
  using clock = std::chrono::steady_clock;  ///< steady: changes of the system time do not matter
  /// `stage` must outlive the region. Its time is added to `seconds`, if not null.
  explicit stage_region(const char* stage, double* seconds = nullptr) : stage_(stage), seconds_(seconds) {
    if (seconds_ != nullptr) start_ = clock::now();
    if (detail::profile_state.load(std::memory_order_relaxed) != detail::profile_off) begin();
  }
  stage_region(const stage_region&) = delete;
  stage_region& operator=(const stage_region&) = delete;
  ~stage_region() { end(); }

  /// Ends the stage before its scope does; a second call does nothing.
  void end() {
    if (seconds_ != nullptr) *seconds_ += std::chrono::duration<double>(clock::now() - start_).count();
    seconds_ = nullptr;
    if (is_open_) close();
  }
  /// For progress reports.
  const char* name() const { return stage_; }

 private:
  void begin();
  void close();

  const char* stage_;
  double* seconds_;
  clock::time_point start_{};
  bool is_open_ = false;
  // Of an open region:
  stage_region* outer_ = nullptr;
  detail::stage_totals* totals_ = nullptr;
  profile_hook hook_{};
};

}  // namespace quintet
