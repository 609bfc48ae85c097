// The processors of this process.
#pragma once

#include <sched.h>

#include <vector>

namespace quintet::mpi {

/// Those it may run on.
cpu_set_t own_processors();

/// Those it may ask for: all that its container or batch system allows.
cpu_set_t available_processors();

/// What a rank may use of its host.
struct processor_share {
  int threads;        ///< for this rank
  int used, present;  ///< processors that all ranks of the host may use together, and that are there
  bool is_too_small;  ///< they may use less than half of it
};

/// Where masks of a host's ranks overlap, each rank takes an even share of what they cover; otherwise its own mask.
processor_share share_of(const std::vector<cpu_set_t>& masks, int mine, const cpu_set_t& available);

}  // namespace quintet::mpi
