// Which kernels a program launched, for the tests: where QUINTET_LAUNCH_LOG names a file, every kernel's type is
// appended to it once for every kind of device and team size, as "<mangled type>\t<host|emulated|offload>\t<threads per
// team>". scripts/kernel_table reads it.
#pragma once

#include <cstdlib>
#include <typeinfo>

#include "quintet/device/device.hpp"

namespace quintet::device::detail {

/// Whether there is such a file. Asked at the first launch: nothing of the library runs before the check of the
/// processor.
inline bool launches_are_logged() {
  static const bool answer = std::getenv("QUINTET_LAUNCH_LOG") != nullptr;
  return answer;
}

void log_launch(const std::type_info& kernel, device_kind kind, int threads);

template <class Kernel>
inline void note_launch(device_kind kind, int threads) {
  if (launches_are_logged()) [[unlikely]]
    log_launch(typeid(Kernel), kind, threads);
}

}  // namespace quintet::device::detail
