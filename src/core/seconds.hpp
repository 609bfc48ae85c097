// The time that stages take.
#pragma once

#include <chrono>

namespace quintet {

/// Seconds of a clock that never goes back; only differences mean something.
inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace quintet
