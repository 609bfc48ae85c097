// Faults on purpose, for tests.
#pragma once

#include <cstdint>
#include <string_view>

#include "mpi/processors.hpp"

namespace quintet::mpi {

/// In builds with tests, where QUINTET_MPI_FAULT is "kind:rank:step" and this is call number `step` on that rank (from
/// 0, since the variable had another value): kill (ends this process by SIGKILL), throw (an Error), memory (an
/// OutOfMemory), slow (waits for two seconds). Otherwise nothing.
void fault_point(int rank);

/// Tiles of a strip of bounds: `usual`, or in test builds what QUINTET_MPI_STRIP says.
std::int64_t tiles_of_strip(std::int64_t usual);

/// In builds with tests a host of QUINTET_MPI_PRESENT processors.
processor_set processors_present(const processor_set& usual);

}  // namespace quintet::mpi
