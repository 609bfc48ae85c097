// How much memory there is for a request. The system hands out more than it has, and ends a program that touches it.
#pragma once

#include <cstdint>

#include "quintet/device/device.hpp"

namespace quintet {

/// Bytes that this process can still get without pushing another one out of memory: of the machine, of its control
/// group, of its own limit of addresses. Takes some 50 microseconds.
std::int64_t available_host_memory();

/// Throws OutOfMemory when `bytes` are 1 GiB or more, and more than there is. Below that a look costs more than it is
/// worth. The message names the device, the host or the emulated one.
void require_host_memory(std::int64_t bytes, const Device& device = Device::host());

}  // namespace quintet
