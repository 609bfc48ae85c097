// Work on rows: shared among the threads of the host, or one row a thread of a device.
#pragma once

#include <cstdint>

#include "device/launch.hpp"

namespace quintet::hdbscan {

namespace detail {

struct host_row_shape {
  enum { on_device = 0, rows_per_tile = 16 };
};
struct device_row_shape {
  enum { on_device = 1, rows_per_tile = 64 };
};

/// A function of every row. What is computed, and whose formula it is, stands at the function.
template <class Function, class Shape>
struct each_row_kernel {
  using shape = Shape;
  struct scratch {};
  enum { threads = 64, emulated_threads = 4 };
  Function function;
  std::int64_t count;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    for (int r = team.rank(); r < Shape::rows_per_tile; r += team.size())
      if (const std::int64_t row = tile * Shape::rows_per_tile + r; row < count) function(row);
  }
};

template <class Shape, class Function>
void launch_rows(std::int64_t count, const Function& function, const Device& device) {
  device::launch(each_row_kernel<Function, Shape>{function, count},
                 (count + Shape::rows_per_tile - 1) / Shape::rows_per_tile, device);
}

/// A function that only the host can call.
template <class Function>
struct function_on_host {
  const Function* function;
  void operator()(std::int64_t row) const { (*function)(row); }
};

}  // namespace detail

/// Calls function(row) once for every row in [0, count), in any order and at the same time. `function` is trivially
/// copyable and does not throw, like a kernel.
template <class Function>
void for_each_row(std::int64_t count, const Function& function, const Device& device) {
  device::with_shape<detail::host_row_shape, detail::device_row_shape>(
      device, [&](auto shape) { detail::launch_rows<decltype(shape)>(count, function, device); });
}

/// The same on the host alone, for functions that walk through trees there.
template <class Function>
void for_each_row_on_host(std::int64_t count, const Function& function) {
  detail::launch_rows<detail::host_row_shape>(count, detail::function_on_host<Function>{&function}, Device::host());
}

}  // namespace quintet::hdbscan
