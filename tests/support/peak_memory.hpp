// Memory of this process as the system counts it.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace quintet::test {

/// Bytes that the process held at most since this object was made, beyond what it held then.
class peak_memory {
 public:
  peak_memory() {
    std::ofstream("/proc/self/clear_refs") << "5";  // the peak starts again
    before_ = peak();
  }
  /// < 0 where the system does not say.
  std::int64_t extra_bytes() const { return before_ < 0 ? -1 : peak() - before_; }

 private:
  static std::int64_t peak() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
      if (line.starts_with("VmHWM:")) return 1024 * std::stoll(line.substr(6));
    return -1;
  }
  std::int64_t before_;
};

}  // namespace quintet::test
