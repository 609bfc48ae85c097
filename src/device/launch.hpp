// launch(kernel, tiles, device): runs kernel(team, tile, scratch) for every tile in [0, tiles).
//
// A kernel is a trivially copyable functor of raw pointers and numbers:
//
//   template <class Shape> struct k {
//     using shape = Shape;                       // Shape::on_device: 0 host, 1 device
//     struct scratch { ... };                    // team memory, at most device_scratch_limit bytes on a device
//     enum { threads = 128, emulated_threads = 8 };  // device shapes: threads per team on a GPU, and when emulated
//     enum { team_multiple = 8 };                // only if the team's size must be a multiple of something
//     template <class Team> void operator()(const Team& team, std::int64_t tile, scratch& s) const;
//     enum { long_tiles = 1 };                   // only if a tile is a piece of work with launches of its own
//   };
//
// A kernel is right for every team size that is a multiple of team_multiple (1 unless it says otherwise) and at most
// `threads`; a launch that gets another one throws DeviceError. emulated_team_size (emulation.hpp) tries them.
//
// Constants of shapes and kernels are enumerators: g++ refuses functors with static data members in device code.
//
// The host shape runs one team a thread, SIMD inside. The device shape runs blocks of threads on an offload device, and
// the same text with real threads and barriers on Device::emulated(). Tiles may run in any order and at the same time.
// Between tiles on the host and between launches elsewhere the calling thread polls: quintet/core/poll.hpp.
// This file, team.hpp and memory.cpp hold the only pragmas for teams and memory of the library.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <type_traits>

#include "device/emulation.hpp"
#include "device/host_threads.hpp"
#include "device/launch_log.hpp"
#include "device/team.hpp"
#include "device/watch.hpp"
#include "quintet/core/poll.hpp"
#include "quintet/device/device.hpp"

#define QUINTET_PRAGMA(text) _Pragma(#text)
#if defined(__NVPTX__) || defined(__AMDGCN__)
// Team memory must be asked for in the device pass; on the host the same pragma would allocate on every use.
#define QUINTET_TEAM_MEMORY(variable) QUINTET_PRAGMA(omp allocate(variable) allocator(omp_pteam_mem_alloc))
#else
#define QUINTET_TEAM_MEMORY(variable)
#endif

namespace quintet::device {

/// Team memory of one kernel on a device: 48 KB less what the runtime takes.
constexpr int device_scratch_limit = 46 * 1024;
/// Teams of one launch at most; more tiles than that are looped over inside the team.
constexpr int device_team_limit = 1 << 16;
/// The shape of kernels that never run on a device.
struct host_only_shape {
  enum { on_device = 0 };
};

namespace detail {

// The stacks of OpenMP's threads may be small (OMP_STACKSIZE); what is large lies on the heap.
template <class Scratch>
class host_scratch {
 public:
  host_scratch() {
    if constexpr (is_large) memory_.reset(new Scratch);
  }
  Scratch& operator*() {
    if constexpr (is_large)
      return *memory_;
    else
      return memory_;
  }

 private:
  static constexpr bool is_large = sizeof(Scratch) > 1024;
  std::conditional_t<is_large, std::unique_ptr<Scratch>, Scratch> memory_;
};

using quintet::detail::poll_state;

// Tiles are handed out by a counter of our own: the loops of libomp prepare a text for a trace at every step, also of
// one thread, in builds with assertions such as Debian's (0.2 to 0.4 microseconds). `polls` is null for threads that do
// not poll. The counter is relaxed: tiles are drawn in any order, and what they write is read behind the join.
template <class Kernel>
[[gnu::noinline]] void run_tiles(const Kernel& kernel, std::atomic<std::int64_t>& next, std::int64_t tiles,
                                 poll_state* polls) {
  host_scratch<typename Kernel::scratch> scratch;
  for (std::int64_t tile; (tile = next.fetch_add(1, std::memory_order_relaxed)) < tiles;) {
    kernel(host_team{}, tile, *scratch);
    if (polls != nullptr) polls->check(next, tiles);
  }
}

template <class Kernel>
constexpr bool has_long_tiles() {
  return requires { Kernel::long_tiles; };
}

template <class Kernel>
void launch_host(const Kernel& kernel, std::int64_t tiles, poll_state* polls) {
  note_launch<Kernel>(device_kind::host, 1);
  const int count = int(tiles < threads() ? tiles : threads());
  std::atomic<std::int64_t> next{0};
  if (count == 1) return run_tiles(kernel, next, tiles, polls);
  // An exception that leaves a parallel region ends the program. Device kernels throw none; a tile that only the host
  // runs may find no memory, and polls throw. That of the calling thread, which polls, comes first.
  work_watch watch(has_long_tiles<Kernel>() ? polls : nullptr);
  on_host_threads(count, [&](bool is_caller, auto helpers) {
    try {
      const watched_thread self(watch, is_caller);
      run_tiles(kernel, next, tiles, is_caller ? polls : nullptr);
    } catch (...) {
      if (is_caller) next.store(tiles, std::memory_order_relaxed);
      watch.keep_error(is_caller);
    }
    if (is_caller) watch.wait(helpers());
  });
  watch.rethrow();
}

template <class Kernel>
constexpr int team_multiple() {
  if constexpr (requires { Kernel::team_multiple; })
    return Kernel::team_multiple;
  else
    return 1;
}

// Out of line for scripts/kernel_table, which finds the device shapes of a build by this name, and host shapes by the
// other.
#ifdef QUINTET_GCC_THREADS
template <class Kernel>
void launch_emulated(const Kernel&, std::int64_t, poll_state*) {
  refuse_emulation();
}
#else
template <class Kernel>
[[gnu::noinline]] void launch_emulated(const Kernel& kernel, std::int64_t tiles, poll_state* polls) {
  constexpr int multiple = team_multiple<Kernel>();
  static_assert(Kernel::threads % multiple == 0);
  const int threads = emulated_team(Kernel::emulated_threads, Kernel::threads, multiple);
  note_launch<Kernel>(device_kind::emulated, threads);
  const int levels = omp_get_max_active_levels();
  omp_set_max_active_levels(omp_get_active_level() + 2);
  int wrong_size = 0;
  emulated_polls stop(polls, tiles);
  const std::unique_ptr<typename Kernel::scratch[]> scratches(new typename Kernel::scratch[emulated_teams]);
#pragma omp parallel num_threads(emulated_teams)
  {
    typename Kernel::scratch& scratch = scratches[std::size_t(omp_get_thread_num())];
    const int team = omp_get_thread_num(), teams = omp_get_num_threads();
#pragma omp parallel num_threads(threads)
    if (omp_get_num_threads() % multiple != 0) {
      __atomic_store_n(&wrong_size, omp_get_num_threads(), __ATOMIC_RELAXED);
    } else {
      for (std::int64_t tile = team; stop.runs(team, tile); tile += teams) {
        kernel(device_team{}, tile, scratch);
        if (omp_get_thread_num() == 0) stop.after(team, tile);
#pragma omp barrier
      }
    }
  }
  omp_set_max_active_levels(levels);
  stop.rethrow();
  if (wrong_size != 0) refuse_team(wrong_size, multiple, threads, Device::emulated());
}
#endif

#ifdef QUINTET_OFFLOAD
template <class Kernel>
void launch_offload(const Kernel kernel, std::int64_t tiles, int device) {
  static_assert(sizeof(typename Kernel::scratch) <= device_scratch_limit, "scratch does not fit into team memory");
  constexpr int multiple = team_multiple<Kernel>();
  static_assert(Kernel::threads % multiple == 0);
#ifdef QUINTET_OFFLOAD_EMULATION
  // The x86_64 plugin makes all threads of all teams at once and shares 1024 of them among the teams: with many teams
  // each would have one thread.
  constexpr int team_limit = emulated_teams;
  const int threads = emulated_team(Kernel::emulated_threads, Kernel::threads, multiple);
#else
  constexpr int team_limit = device_team_limit, threads = Kernel::threads;
#endif
  note_launch<Kernel>(device_kind::offload, threads);
  const int teams = int(tiles < team_limit ? tiles : team_limit);
  if constexpr (multiple > 1) {
    const int got = offload_team(device, teams < 2 ? teams : 2, threads);
    if (got % multiple != 0) refuse_team(got, multiple, threads, Device::offload(device));
  }
#pragma omp target teams device(device) num_teams(teams) thread_limit(threads) firstprivate(kernel, tiles)
  {
    typename Kernel::scratch scratch;
    QUINTET_TEAM_MEMORY(scratch)
#pragma omp parallel num_threads(threads)
    for (std::int64_t tile = omp_get_team_num(); tile < tiles; tile += omp_get_num_teams()) {
      kernel(device_team{}, tile, scratch);
#pragma omp barrier
    }
  }
}
#endif

}  // namespace detail

/// Runs the kernel for all tiles and waits. The kernel's shape must fit the device: see with_shape. Throws what the
/// calling thread's polls throw; some tiles have not run then.
template <class Kernel>
void launch(const Kernel& kernel, std::int64_t tiles, [[maybe_unused]] const Device& device) {
  static_assert(std::is_trivially_copyable_v<Kernel>, "a kernel travels to the device as bytes");
  if (tiles <= 0) return;
  quintet::detail::poll_state* const polls = quintet::detail::current_poll();
  if (polls != nullptr) polls->check();
  if constexpr (!Kernel::shape::on_device) {
    detail::launch_host(kernel, tiles, polls);
  } else {
#ifdef QUINTET_OFFLOAD
    if (device.kind() == device_kind::offload) return detail::launch_offload(kernel, tiles, device.index());
#endif
    detail::launch_emulated(kernel, tiles, polls);
  }
}

/// Calls f(HostShape{}) for the host and f(DeviceShape{}) for every other device, and returns what it returns.
template <class HostShape, class DeviceShape, class Function>
decltype(auto) with_shape(const Device& device, Function&& f) {
  static_assert(!HostShape::on_device && DeviceShape::on_device);
  return device.kind() == device_kind::host ? f(HostShape{}) : f(DeviceShape{});
}

}  // namespace quintet::device
