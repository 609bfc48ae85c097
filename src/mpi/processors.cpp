#include "mpi/processors.hpp"

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

}  // namespace quintet::mpi
