// The lowest of the numbers that a loop over ranges reports.
#pragma once

#include "spgemm/device_memory.hpp"

namespace quintet::spgemm {

/// Calls run(place): a loop on `device` that lowers *place with device::atomic_min. Returns the lowest number, or
/// `none` if the loop has reported no number.
template <class Run>
std::int64_t lowest_number(std::int64_t none, const Device& device, const Run& run) {
  std::int64_t lowest = none;
  if (device.shares_host_memory()) {
    run(&lowest);
    return lowest;
  }
  device_array<std::int64_t> device_copy(&lowest, 1, device, memory_source::standard());
  run(device_copy.data());
  device_copy.to_host(&lowest, 1);
  return lowest;
}

}  // namespace quintet::spgemm
