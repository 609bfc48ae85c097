// The launcher of this process, from the launcher's variables alone. MPI is not asked, because starting it takes half a
// second and a build without MPI needs the answer too.
#pragma once

#include "quintet/core/compiler.hpp"

namespace quintet::mpi {

/// The number of processes of the launch, by the variables of Open MPI, of MPICH and of Slurm; 0 without any of them.
int launched_ranks();

/// The number of this process among them; 0 without a launcher.
int launched_rank();

}  // namespace quintet::mpi
