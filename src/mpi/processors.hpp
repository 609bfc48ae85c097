// The processors of this process.
#pragma once

#include <sched.h>

namespace quintet::mpi {

/// Those it may run on.
cpu_set_t own_processors();

/// Those it may ask for: all that its container or batch system allows.
cpu_set_t available_processors();

}  // namespace quintet::mpi
