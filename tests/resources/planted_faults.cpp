// Kernels with faults that the compile gate must find. They are linked for the device and never run.
#include "device/launch.hpp"

#pragma omp declare target
float planted_callee(float* team_memory);
#pragma omp end declare target

namespace planted {

struct device_shape {
  enum { on_device = 1 };
};

/// An array that is indexed by a value of run time cannot live in registers.
struct stack_array {
  using shape = device_shape;
  struct scratch {};
  enum { threads = 64, emulated_threads = 4 };
  const int* order;
  float* out;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    float values[32];
    for (int i = 0; i < 32; ++i) values[order[i] & 31] = out[i];
    for (int i = 0; i < 32; ++i) out[tile * 32 + i] += values[order[i + team.rank()] & 31];
  }
};

/// A thread's own array whose address gets away has to be allocated on the heap.
struct heap_array {
  using shape = device_shape;
  struct scratch {};
  enum { threads = 64, emulated_threads = 4 };
  float* out;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    float values[64];
    out[tile * team.size() + team.rank()] = planted_callee(values) + values[team.rank()];
  }
};

void run(const int* order, float* out, const quintet::Device& device) {
  quintet::device::launch(stack_array{order, out}, 10, device);
  quintet::device::launch(heap_array{out}, 10, device);
}

}  // namespace planted

/// A call outside the parallel region: one thread runs it while the others wait in a state machine.
void generic_mode(float* out) {
#pragma omp target teams is_device_ptr(out) num_teams(4) thread_limit(64)
  {
    float scratch[64];
    const float first = planted_callee(scratch);
#pragma omp parallel num_threads(64)
    out[omp_get_thread_num()] = first + scratch[omp_get_thread_num()];
  }
}
