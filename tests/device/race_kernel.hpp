// A kernel that needs its barrier: every thread writes its element of team memory, and reads its neighbour's.
#pragma once

#include <cstdint>

namespace quintet::test {

/// WithBarrier = false plants a race.
template <bool WithBarrier>
struct race_kernel {
  struct shape {
    enum { on_device = 1 };
  };
  enum { threads = 32, emulated_threads = 8 };
  struct scratch {
    std::int32_t value[threads];
  };
  std::int32_t* out;  ///< [tile][thread]

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch& s) const {
    s.value[team.rank()] = std::int32_t(tile) + team.rank();
    if constexpr (WithBarrier) team.barrier();
    out[tile * threads + team.rank()] = s.value[(team.rank() + 1) % team.size()];  // planted race
  }
};

}  // namespace quintet::test
