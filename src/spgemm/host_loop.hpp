// Loops over ranges on the host's threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device/launch.hpp"

namespace quintet::spgemm {

struct host_shape {
  enum { on_device = 0 };
};

template <class Function>
struct loop_kernel {
  using shape = host_shape;
  struct scratch {};
  enum { threads = 1, emulated_threads = 1 };
  Function f;
  std::int64_t count, grain;

  template <class Team>
  void operator()(const Team&, std::int64_t tile, scratch&) const {
    f(tile * grain, std::min(count, (tile + 1) * grain));
  }
};

/// Calls f(begin, end) for ranges of `grain` that cover [0, count), on the host's threads, in any order. f is trivially
/// copyable (it holds pointers and numbers) and throws nothing.
template <class Function>
void host_loop(std::int64_t count, std::int64_t grain, const Function& f) {
  if (count <= grain) {
    if (count > 0) f(std::int64_t(0), count);
    return;
  }
  device::launch(loop_kernel<Function>{f, count, grain}, (count + grain - 1) / grain, Device::host());
}

}  // namespace quintet::spgemm
