// The ranks that a test runs on.
#pragma once

#include "quintet/mpi/communicator.hpp"

namespace quintet::test {

/// All of them; the same object in every test.
mpi::communicator& ranks();

}  // namespace quintet::test
