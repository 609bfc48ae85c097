// Whether this process is one of several that a launcher started, from the launcher's variables alone: MPI is not
// asked, as starting it takes half a second, and a build without MPI has to know too.
#pragma once

#include "quintet/core/compiler.hpp"

namespace quintet::mpi {

/// Of how many processes this is one, by the variables of Open MPI, of MPICH and of Slurm; 0 without any of them.
int launched_ranks();

/// Its number among them; 0 without a launcher.
int launched_rank();

}  // namespace quintet::mpi
