// One test body on every device: the host, the emulated device, and whatever offload devices there are.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "quintet/device/device.hpp"
#include "support/sanitized.hpp"

namespace quintet::test {

/// The host first, the emulated device second, one offload device of each machine last. Where that is the emulating
/// plugin, it takes the place of the emulated device, which runs in every other build.
inline std::vector<Device> test_devices() {
  std::vector<Device> devices{Device::host()};
  if (!emulating || Device::count() == 0) devices.push_back(Device::emulated());
  // Devices of one machine are alike; the emulated ones are slow.
  if (Device::count() > 0) devices.push_back(Device::offload(Device::count() - 1));
  return devices;
}

/// Everything but the host: where the device shape of a kernel runs.
inline std::vector<Device> other_devices() {
  std::vector<Device> devices = test_devices();
  devices.erase(devices.begin());
  return devices;
}

template <class Body>
void on_devices(const std::vector<Device>& devices, Body body) {
  for (const Device& device : devices) {
    SCOPED_TRACE(device.name());
    body(device);
  }
}

template <class Body>
void on_every_device(Body body) {
  on_devices(test_devices(), body);
}

template <class Body>
void on_other_devices(Body body) {
  on_devices(other_devices(), body);
}

}  // namespace quintet::test
