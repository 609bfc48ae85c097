// The device argument of a call that shall run where its arguments lie.
#pragma once

#include "quintet/device/device.hpp"

namespace quintet::test {

/// Device::best() for arguments in the memory of another device: a suggestion, which those arguments overrule. Host
/// memory names no device, and best() would be the GPU of a machine that has one.
inline Device device_of_arguments(const Device& memory) {
  return memory.kind() == device_kind::host ? memory : Device::best();
}

}  // namespace quintet::test
