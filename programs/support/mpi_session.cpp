#include "support/mpi_session.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <thread>

#include "quintet/core/error.hpp"
#include "quintet/device/device.hpp"
#include "quintet/mpi/launch.hpp"
#include "support/command_line.hpp"
#ifdef QUINTET_HAS_MPI
#include "quintet/mpi/program.hpp"
#endif

namespace quintet::driver {

namespace {

/// The end of ranks that are not connected: the launcher ends all of them when one has failed, so the others leave the
/// first the time to say why.
int end_apart(bool is_root, int status, std::string_view line) {
  if (status == 0) return status;
  if (is_root)
    std::cerr << line << std::endl;
  else
    std::this_thread::sleep_for(std::chrono::seconds(1));
  return status;
}

}  // namespace

#ifdef QUINTET_HAS_MPI

struct mpi_session::state {
  mpi::program program;
};

void mpi_session::start(const program& program) {
  const int launched = mpi::launched_ranks();
  if (launched <= 1) return;
  if (!program.distributed)
    throw InvalidArgument(text(program.name, " runs as one process; it was started as ", launched));
  state_ = std::make_unique<state>();
  ranks_ = &state_->program.ranks();
}

void mpi_session::start_group(std::string_view) {
  if (ranks_ != nullptr) return;
  state_ = std::make_unique<state>();
  ranks_ = &state_->program.ranks();
}

bool mpi_session::is_root() const { return ranks_ != nullptr ? ranks_->is_root() : mpi::launched_rank() == 0; }

int mpi_session::end(int status, std::string_view line) {
  return ranks_ != nullptr ? state_->program.end(status, line) : end_apart(is_root(), status, line);
}

nlohmann::ordered_json mpi_session::summary() const {
  if (ranks_ == nullptr) return nullptr;
  const mpi::phase_traffic own = ranks_->total_traffic();
  const std::int64_t bytes = ranks_->sum(own.sent), messages = ranks_->sum(own.messages);
  const auto waited = ranks_->allgather(std::span<const double>(&own.seconds, 1));
  double all = 0;
  for (const double value : waited) all += value;
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const std::int64_t peak_bytes = std::int64_t(used.ru_maxrss) * 1024;
  return {{"ranks", ranks_->size()},
          {"hosts", ranks_->hosts()},
          {"threads", threads()},
          {"bytes", bytes},
          {"messages", messages},
          {"peak_bytes", {{"max", ranks_->maximum(peak_bytes)}, {"mean", ranks_->sum(peak_bytes) / ranks_->size()}}},
          {"seconds", {{"max", *std::max_element(waited.begin(), waited.end())}, {"mean", all / ranks_->size()}}}};
}

#else

struct mpi_session::state {};

void mpi_session::start(const program& program) {
  const int launched = mpi::launched_ranks();
  if (launched <= 1) return;
  throw InvalidArgument(text(program.name, " was started as ", launched, " processes, and this build is without MPI"));
}

void mpi_session::start_group(std::string_view option) {
  throw InvalidArgument(text("--", option, " needs a build with MPI (CMake: QUINTET_WITH_MPI=ON)"));
}

bool mpi_session::is_root() const { return mpi::launched_rank() == 0; }

int mpi_session::end(int status, std::string_view line) { return end_apart(is_root(), status, line); }

nlohmann::ordered_json mpi_session::summary() const { return nullptr; }

#endif

mpi_session::mpi_session() = default;
mpi_session::~mpi_session() = default;

}  // namespace quintet::driver
