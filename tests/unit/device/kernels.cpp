#include "kernels.hpp"

#include <omp.h>

#include "device/launch.hpp"
#include "device/parallel.hpp"
#include "quintet/device/buffer.hpp"

namespace quintet::test {

namespace {

struct on_host {
  enum { on_device = 0 };
};
struct on_a_device {
  enum { on_device = 1 };
};

/// Launches Kernel<shape>{arguments...} with the shape that fits the device.
template <template <class> class Kernel, class... Arguments>
void run(std::int64_t tiles, const Device& device, Arguments... arguments) {
  device::with_shape<on_host, on_a_device>(
      device, [&](auto shape) { device::launch(Kernel<decltype(shape)>{arguments...}, tiles, device); });
}

template <class T>
Buffer<T> zeros(std::int64_t count, const Device& device) {
  return Buffer<T>(std::vector<T>(count), device);
}

template <class Shape>
struct visit_kernel {
  using shape = Shape;
  enum { threads = gpu_team, emulated_threads = emulated_team };
  struct scratch {};
  std::int32_t* visits;
  int items;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    for (int e = team.rank(); e < items; e += team.size()) ++visits[tile * items + e];
  }
};

template <class Shape>
struct facts_kernel {
  using shape = Shape;
  enum { threads = gpu_team, emulated_threads = emulated_team };
  struct scratch {
    std::int32_t seen[gpu_team];
  };
  team_facts* facts;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch& s) const {
    if (team.rank() == 0)
      for (int r = 0; r < gpu_team; ++r) s.seen[r] = 0;
    team.barrier();
    s.seen[team.rank()] = 1;
    team.barrier();
    if (team.rank() != 0) return;
    facts[tile] = {team.size(), Team::on_device, 0};
    for (int r = 0; r < team.size(); ++r) facts[tile].distinct_ranks += s.seen[r];
  }
};

template <class Shape>
struct reverse_kernel {
  using shape = Shape;
  enum { threads = gpu_team, emulated_threads = emulated_team, capacity = 256 };
  struct scratch {
    std::int32_t value[capacity];
  };
  std::int32_t* out;
  int items;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch& s) const {
    for (int e = team.rank(); e < items; e += team.size()) s.value[e] = e;
    team.barrier();
    for (int e = team.rank(); e < items; e += team.size()) out[tile * items + e] = s.value[items - 1 - e];
    team.barrier();
    // The same memory again: values of the first half must have been read.
    for (int e = team.rank(); e < items; e += team.size()) s.value[e] = 1000 * out[tile * items + e];
    team.barrier();
    for (int e = team.rank(); e < items; e += team.size()) out[tile * items + e] += s.value[items - 1 - e];
  }
};

template <class Shape>
struct reduce_kernel {
  using shape = Shape;
  enum { threads = gpu_team, emulated_threads = emulated_team };
  struct scratch {
    std::uint64_t storage[gpu_team];
  };
  std::uint64_t* out;
  int repeats;

  template <class Team>
  void operator()(const Team& team, std::int64_t, scratch& s) const {
    std::uint64_t value = 1 + std::uint64_t(team.rank());
    for (int i = 0; i < repeats; ++i)
      value = device::reduce(
          team, value + std::uint64_t(team.rank()), [](std::uint64_t a, std::uint64_t b) { return 7 * a + b; },
          s.storage);
    out[team.rank()] = value;
    if (team.rank() == 0) out[gpu_team] = std::uint64_t(team.size());
  }
};

template <class Shape>
struct broadcast_kernel {
  using shape = Shape;
  enum { threads = gpu_team, emulated_threads = emulated_team };
  struct scratch {
    std::int32_t storage;
  };
  std::int32_t* out;

  template <class Team>
  void operator()(const Team& team, std::int64_t, scratch& s) const {
    for (int root = 0; root < team.size(); ++root)
      out[root * gpu_team + team.rank()] = device::broadcast(team, 100 + team.rank(), root, &s.storage);
    if (team.rank() == 0) out[gpu_team * gpu_team] = team.size();
  }
};

template <class Value, int Width>
struct subgroup {
  template <class Shape>
  struct kernel {
    using shape = Shape;
    enum {
      threads = gpu_team,
      emulated_threads = Width > emulated_team ? Width : int(emulated_team),
      team_multiple = Width
    };
    struct scratch {
      Value storage[gpu_team];
    };
    const Value* value;
    Value* out;

    template <class Team>
    void operator()(const Team& team, std::int64_t, scratch& s) const {
      out[team.rank()] =
          device::subgroup_reduce<Width>(team, value[team.rank()], [](Value a, Value b) { return a + b; }, s.storage);
    }
  };

  static std::vector<Value> sum(const std::vector<Value>& value, const Device& device) {
    const Buffer<Value> in(value, device);
    Buffer<Value> out = zeros<Value>(gpu_team, device);
    run<kernel>(1, device, in.data(), out.data());
    return out.to_vector();
  }
};

template <class Shape>
struct tile_kernel {
  using shape = Shape;
  enum { threads = gpu_team, emulated_threads = emulated_team, columns = 12 };
  struct scratch {};
  std::int32_t* visits;
  int rows;

  template <class Team>
  void operator()(const Team& team, std::int64_t, scratch&) const {
    device::for_each_in_tile<columns>(team, rows, [&](int i, int j) { ++visits[i * columns + j]; });
  }
};

struct lock_kernel {
  using shape = on_host;
  struct scratch {};
  std::int64_t* counter;
  std::int32_t* lock;

  template <class Team>
  void operator()(const Team& team, std::int64_t, scratch&) const {
    team.lock(lock);
    ++*counter;
    team.unlock(lock);
  }
};

}  // namespace

std::vector<std::int32_t> count_visits(std::int64_t tiles, int items, const Device& device) {
  Buffer<std::int32_t> visits = zeros<std::int32_t>(tiles * items, device);
  run<visit_kernel>(tiles, device, visits.data(), items);
  return visits.to_vector();
}

std::vector<team_facts> look_at_teams(std::int64_t tiles, const Device& device) {
  Buffer<team_facts> facts = zeros<team_facts>(tiles, device);
  run<facts_kernel>(tiles, device, facts.data());
  return facts.to_vector();
}

bool may_get_fewer(int threads) {
  // Teams of one launch, and of the two launches side by side that these tests have at most.
  return omp_get_dynamic() != 0 || omp_get_thread_limit() < 2 * device::emulated_teams * threads;
}

std::vector<int> team_sizes_side_by_side(int calls, const Device& device) {
  std::vector<int> sizes(calls);
  device::for_each_side_by_side(calls, [&](std::int64_t i) { sizes[i] = look_at_teams(3, device)[2].size; });
  return sizes;
}

std::vector<std::int32_t> reverse_in_team_memory(std::int64_t tiles, int items, const Device& device) {
  Buffer<std::int32_t> out = zeros<std::int32_t>(tiles * items, device);
  run<reverse_kernel>(tiles, device, out.data(), items);
  return out.to_vector();
}

std::vector<std::uint64_t> reduce_ranks(int repeats, const Device& device) {
  Buffer<std::uint64_t> out = zeros<std::uint64_t>(gpu_team + 1, device);
  run<reduce_kernel>(1, device, out.data(), repeats);
  return out.to_vector();
}

std::vector<std::int32_t> broadcast_ranks(const Device& device) {
  Buffer<std::int32_t> out = zeros<std::int32_t>(gpu_team * gpu_team + 1, device);
  run<broadcast_kernel>(1, device, out.data());
  return out.to_vector();
}

template <class Value>
std::vector<Value> sum_subgroups(int width, const std::vector<Value>& value, const Device& device) {
  switch (width) {
    case 1:
      return subgroup<Value, 1>::sum(value, device);
    case 2:
      return subgroup<Value, 2>::sum(value, device);
    case 4:
      return subgroup<Value, 4>::sum(value, device);
    case 8:
      return subgroup<Value, 8>::sum(value, device);
    case 16:
      return subgroup<Value, 16>::sum(value, device);
    default:
      return subgroup<Value, 32>::sum(value, device);
  }
}
template std::vector<float> sum_subgroups(int, const std::vector<float>&, const Device&);
template std::vector<double> sum_subgroups(int, const std::vector<double>&, const Device&);
template std::vector<std::int32_t> sum_subgroups(int, const std::vector<std::int32_t>&, const Device&);

std::vector<std::int32_t> visit_tile(int rows, const Device& device) {
  Buffer<std::int32_t> visits = zeros<std::int32_t>(rows * 12, device);
  run<tile_kernel>(1, device, visits.data(), rows);
  return visits.to_vector();
}

double product_and_sum(double a, double b, double c) { return a * b + c; }

std::int64_t count_under_lock(std::int64_t tiles) {
  std::int64_t counter = 0;
  std::int32_t lock = 0;
  device::launch(lock_kernel{&counter, &lock}, tiles, Device::host());
  return counter;
}

}  // namespace quintet::test
