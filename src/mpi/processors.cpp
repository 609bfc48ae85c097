#include "mpi/processors.hpp"

#include <algorithm>

#include "core/platform.hpp"
#if QUINTET_LINUX
#include <sched.h>

#include <cstring>
#else
#include <thread>
#endif

namespace quintet::mpi {

#if QUINTET_LINUX

processor_set own_processors() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  sched_getaffinity(0, sizeof mask, &mask);
  processor_set allowed;
  for (std::size_t i = 0; i < allowed.size() && i < CPU_SETSIZE; ++i) allowed[i] = CPU_ISSET(i, &mask);
  return allowed;
}

processor_set available_processors() {
  cpu_set_t before, every;
  CPU_ZERO(&before);
  sched_getaffinity(0, sizeof before, &before);
  // The system takes what is allowed of what it is asked for.
  std::memset(&every, 0xff, sizeof every);
  if (sched_setaffinity(0, sizeof every, &every) != 0) return own_processors();
  const processor_set allowed = own_processors();
  sched_setaffinity(0, sizeof before, &before);
  return allowed;
}

#else

processor_set own_processors() {
  processor_set every;
  for (unsigned i = 0; i < std::max(1u, std::thread::hardware_concurrency()) && i < every.size(); ++i) every.set(i);
  return every;
}

processor_set available_processors() { return own_processors(); }

#endif

processor_share share_of(const std::vector<processor_set>& masks, int own_index, const processor_set& available) {
  processor_set union_set;
  int counted = 0;
  for (const processor_set& mask : masks) {
    union_set |= mask;
    counted += int(mask.count());
  }
  const int used = int(union_set.count()), present = std::max(used, int(available.count()));
  const bool overlap = counted > used;
  const int threads = overlap ? std::max(1, used / int(masks.size())) : int(masks[own_index].count());
  return {threads, used, present, 2 * used < present};
}

}  // namespace quintet::mpi
