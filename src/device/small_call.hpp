// Calls that have so little to do that waking other threads would take longer than their work.
#pragma once

#include <optional>

#include "device/one_thread.hpp"
#include "quintet/device/device.hpp"

namespace quintet::device {

/// While one lives, the calling thread works alone if the work, in nanoseconds of one thread, is less than waking and
/// waiting for others costs in so many launches: 10 to 30 microseconds each where they sleep (measured). A process
/// whose calls all are small does not even start the OpenMP runtime, which takes a millisecond and more.
class small_call {
 public:
  small_call(double nanoseconds, int launches, const Device& device) {
    constexpr double wake_nanoseconds = 30e3;
    if (device.kind() == device_kind::host && nanoseconds < launches * wake_nanoseconds) one_thread_.emplace();
  }

 private:
  std::optional<one_thread> one_thread_;
};

}  // namespace quintet::device
