// Threads of the host, whoever runs them.
#pragma once

#ifdef QUINTET_GCC_THREADS

#include <atomic>
#include <thread>

#include "device/host_threads.h"

namespace quintet::device::detail {

/// Throws DeviceError: this build has no emulated device.
[[noreturn]] void refuse_emulation();

/// body(is_caller, helpers) on at most `count` threads. helpers() is how many others have begun; one that begins later
/// finds nothing left to do.
template <class Body>
void on_host_threads([[maybe_unused]] int count, const Body& body) {
  struct region {
    const Body& body;
    const std::thread::id caller = std::this_thread::get_id();
    std::atomic<int> begun{0};
  } shared{body};
  quintet_parallel(
      count,
      [](void* job) {
        auto& r = *static_cast<region*>(job);
        r.begun.fetch_add(1, std::memory_order_relaxed);  // a count alone: the join orders what threads write
        r.body(std::this_thread::get_id() == r.caller, [&r] { return r.begun.load(std::memory_order_relaxed) - 1; });
      },
      &shared);
}

}  // namespace quintet::device::detail

#else

#include <omp.h>

namespace quintet::device::detail {

/// body(is_caller, helpers) on at most `count` threads. helpers() is how many others there are.
template <class Body>
void on_host_threads([[maybe_unused]] int count, const Body& body) {
#pragma omp parallel num_threads(count)
  body(omp_get_thread_num() == 0, [] { return omp_get_num_threads() - 1; });
}

}  // namespace quintet::device::detail

#endif
