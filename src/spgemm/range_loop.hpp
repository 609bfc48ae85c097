// Loops over ranges of numbers, one range a team.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device/launch.hpp"

namespace quintet::spgemm {

struct host_shape {
  enum { on_device = 0 };
};
struct team_shape {
  enum { on_device = 1 };
};

template <class Function, class Shape>
struct range_kernel {
  using shape = Shape;
  struct scratch {};
  enum { threads = 128, emulated_threads = 4 };
  Function f;
  std::int64_t count, grain;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    f(team, tile * grain, std::min(count, (tile + 1) * grain));
  }
};

/// Calls f(team, begin, end) for ranges of `grain` that cover [0, count), in any order. f is trivially copyable,
/// strides by the team's threads, and throws nothing.
template <class Function>
void range_loop(std::int64_t count, std::int64_t grain, const Function& f, const Device& device) {
  device::with_shape<host_shape, team_shape>(device, [&](auto shape) {
    device::launch(range_kernel<Function, decltype(shape)>{f, count, grain}, (count + grain - 1) / grain, device);
  });
}

template <class Function>
struct without_team {
  Function f;
  template <class Team>
  void operator()(const Team&, std::int64_t begin, std::int64_t end) const {
    f(begin, end);
  }
};

/// The same with f(begin, end), on the host's threads.
template <class Function>
void host_loop(std::int64_t count, std::int64_t grain, const Function& f) {
  device::launch(range_kernel<without_team<Function>, host_shape>{{f}, count, grain}, (count + grain - 1) / grain,
                 Device::host());
}

struct set_zero {
  std::int64_t* values;
  template <class Team>
  void operator()(const Team& team, std::int64_t begin, std::int64_t end) const {
    for (std::int64_t i = begin + team.rank(); i < end; i += team.size()) values[i] = 0;
  }
};

}  // namespace quintet::spgemm
