#include "mpi/processors.hpp"

#include <algorithm>
#include <cstring>

namespace quintet::mpi {

cpu_set_t own_processors() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  sched_getaffinity(0, sizeof mask, &mask);
  return mask;
}

cpu_set_t available_processors() {
  const cpu_set_t before = own_processors();
  // The system takes what is allowed of what it is asked for.
  cpu_set_t every;
  std::memset(&every, 0xff, sizeof every);
  if (sched_setaffinity(0, sizeof every, &every) != 0) return before;
  const cpu_set_t allowed = own_processors();
  sched_setaffinity(0, sizeof before, &before);
  return allowed;
}

processor_share share_of(const std::vector<cpu_set_t>& masks, int mine, const cpu_set_t& available) {
  cpu_set_t together;
  CPU_ZERO(&together);
  int counted = 0;
  for (const cpu_set_t& mask : masks) {
    CPU_OR(&together, &together, &mask);
    counted += CPU_COUNT(&mask);
  }
  const int used = CPU_COUNT(&together), present = std::max(used, CPU_COUNT(&available));
  const bool overlap = counted > used;
  const int threads = overlap ? std::max(1, used / int(masks.size())) : CPU_COUNT(&masks[mine]);
  return {threads, used, present, 2 * used < present};
}

}  // namespace quintet::mpi
