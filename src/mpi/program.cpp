#include "quintet/mpi/program.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>

#include "quintet/core/error.hpp"
#include "quintet/mpi/launch.hpp"

namespace quintet::mpi {

program::program() {
  int provided = MPI_THREAD_SINGLE;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS)
    throw MpiError("MPI cannot be started");
  ranks_ = std::make_unique<communicator>();
  farewell_ = std::make_unique<communicator>();
  const int launched = launched_ranks(), size = ranks_->size();
  if (launched == 0 || launched == size) return;
  farewell_.reset();
  ranks_.reset();
  MPI_Finalize();
  throw InvalidArgument(text("the launcher started ", launched, " processes, and MPI knows of ", size,
                             ": it must be the launcher of the MPI that this program was built with"));
}

program::~program() {
  farewell_.reset();
  ranks_.reset();
  MPI_Finalize();
}

int program::end(int status, std::string_view line) {
  // A reduction would do for the status; who prints needs all of them.
  std::vector<int> all(std::size_t(ranks_->size()), 0);
  MPI_Request request = MPI_REQUEST_NULL;
  if (MPI_Iallgather(&status, 1, MPI_INT, all.data(), 1, MPI_INT, farewell_->handle(), &request) != MPI_SUCCESS)
    abort_all(line, std::max(status, 1));
  const auto begin = std::chrono::steady_clock::now();
  for (int is_done = 0; is_done == 0;) {
    if (MPI_Test(&request, &is_done, MPI_STATUS_IGNORE) != MPI_SUCCESS) abort_all(line, std::max(status, 1));
    if (is_done != 0) break;
    if (status != 0 && std::chrono::steady_clock::now() - begin > std::chrono::seconds(5)) abort_all(line, status);
    // The others may be at work for hours.
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  const auto failed = std::find_if(all.begin(), all.end(), [](int other) { return other != 0; });
  if (failed == all.end()) return 0;
  if (failed - all.begin() == ranks_->rank()) {
    std::fprintf(stderr, "%.*s\n", int(line.size()), line.data());
    std::fflush(stderr);
  }
  return *failed;
}

}  // namespace quintet::mpi
