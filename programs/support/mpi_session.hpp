// The ranks of MPI that a driver runs on, if it was started as several.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace quintet::mpi {
class communicator;
}

namespace quintet::driver {

struct program;
class session;

/// MPI from its start to its end, or nothing for one process that needs no group.
class mpi_session {
 public:
  mpi_session();
  ~mpi_session();
  mpi_session(const mpi_session&) = delete;
  mpi_session& operator=(const mpi_session&) = delete;

  /// Throws InvalidArgument where several processes were started and the program, or the build, cannot run so.
  void start(const program& program);
  /// A group of this one process, for --`option`, unless there is a group. Throws InvalidArgument in a build without
  /// MPI.
  void start_group(std::string_view option);
  /// All ranks; null for a process of its own.
  mpi::communicator* ranks() const { return ranks_; }
  /// This process prints and writes files.
  bool is_root() const;
  /// What all ranks return. Prints `line`, once, unless all of them ended well: see mpi::program::end().
  int end(int status, std::string_view line);
  /// "mpi" of the JSON summary. Collective; null for a process of its own.
  nlohmann::ordered_json summary() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
  mpi::communicator* ranks_ = nullptr;
};

}  // namespace quintet::driver
