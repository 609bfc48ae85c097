// Work on rows shared among the threads of the host.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device/launch.hpp"

namespace quintet::hdbscan {

namespace detail {

template <class Function>
struct each_row_kernel {
  using shape = device::host_only_shape;
  struct scratch {};
  enum { rows_per_tile = 16 };
  const Function* function;
  std::int64_t count;

  template <class Team>
  void operator()(const Team&, std::int64_t tile, scratch&) const {
    const std::int64_t end = std::min(count, (tile + 1) * rows_per_tile);
    for (std::int64_t row = tile * rows_per_tile; row < end; ++row) (*function)(row);
  }
};

}  // namespace detail

/// Calls function(row) once for every row in [0, count), in any order and from several threads; it must not throw.
template <class Function>
void for_each_row(std::int64_t count, const Function& function) {
  using kernel = detail::each_row_kernel<Function>;
  device::launch(kernel{&function, count}, (count + kernel::rows_per_tile - 1) / kernel::rows_per_tile, Device::host());
}

}  // namespace quintet::hdbscan
