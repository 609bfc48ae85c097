#include "device/launch_log.hpp"

#include <cstdlib>
#include <fstream>
#include <ios>
#include <mutex>
#include <set>
#include <string>
#include <typeinfo>

#include "quintet/core/error.hpp"

namespace quintet::device::detail {

void log_launch(const std::type_info& kernel, device_kind kind, int threads) {
  static std::mutex mutex;
  static std::set<std::string> visited;
  static const char* const names[] = {"host", "emulated", "offload"};
  const std::string line = text(kernel.name(), '\t', names[int(kind)], '\t', threads, '\n');
  const std::lock_guard lock(mutex);
  if (visited.insert(line).second) std::ofstream(std::getenv("QUINTET_LAUNCH_LOG"), std::ios::app) << line;
}

}  // namespace quintet::device::detail
