#include "core/host_memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include "core/platform.hpp"
#include "quintet/core/error.hpp"

namespace quintet {

namespace {

/// By what the system says of itself; the largest number where it says nothing.
std::int64_t memory_that_is_free() {
  std::int64_t bytes = std::numeric_limits<std::int64_t>::max();
#if QUINTET_LINUX
  std::ifstream facts("/proc/meminfo");
  for (std::string word; facts >> word;)
    if (std::int64_t kilobytes = 0; word == "MemAvailable:" && facts >> kilobytes)
      bytes = std::min(bytes, kilobytes * 1024);
  // "max" where the control group has no limit.
  if (std::int64_t limit = 0; std::ifstream("/sys/fs/cgroup/memory.max") >> limit) bytes = std::min(bytes, limit);
#endif
  return bytes;
}

}  // namespace

std::int64_t available_host_memory() {
  std::int64_t bytes = std::numeric_limits<std::int64_t>::max();
  const long pages = ::sysconf(_SC_PHYS_PAGES), page_bytes = ::sysconf(_SC_PAGESIZE);
  if (pages > 0 && page_bytes > 0) bytes = std::int64_t(pages) * page_bytes;
  bytes = std::min(bytes, memory_that_is_free());
  rlimit limit;
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < rlim_t(bytes))
    bytes = std::int64_t(limit.rlim_cur);
  return bytes;
}

void require_host_memory(std::int64_t bytes, const Device& device) {
  if (bytes >= std::int64_t(1) << 30 && bytes > available_host_memory()) throw OutOfMemory(bytes, device.name());
}

}  // namespace quintet
