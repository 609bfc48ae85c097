#include "quintet/mpi/launch.hpp"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>

namespace quintet::mpi {

namespace {

// Of the first variable that is set.
int first_of(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const char* value = std::getenv(name)) return std::max(0, std::atoi(value));
  return 0;
}

}  // namespace

int launched_ranks() { return first_of({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}); }

int launched_rank() { return first_of({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"}); }

}  // namespace quintet::mpi
