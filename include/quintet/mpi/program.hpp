// MPI for the time of a program, and one end for all ranks.
//
//   int main() {
//     quintet::mpi::program all;               // MPI_Init_thread
//     int status = 0;
//     std::string line;
//     try { work(all.ranks()); } catch (const std::exception& e) { status = 1; line = e.what(); }
//     return all.end(status, line);            // the same on every rank; the line once
//   }
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "quintet/mpi/communicator.hpp"

namespace quintet::mpi {

/// Starts MPI and ends it. One of a process.
class program {
 public:
  /// Throws MpiError if MPI gives no MPI_THREAD_FUNNELED. Throws InvalidArgument if the number of ranks is not that of
  /// the launcher's variables: the launcher then belongs to another MPI, and started separate copies.
  program();
  /// MPI_Finalize.
  ~program();
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  /// All ranks.
  communicator& ranks() { return *ranks_; }

  /// Reports the end of this rank to all ranks, and gets theirs. If all ended well it returns 0. Otherwise the lowest
  /// rank that failed prints its `line`, and every rank returns its status. A rank that failed waits five seconds for
  /// the others, because they may be waiting for it. Then it prints its line and ends all of them with its status.
  /// Collective.
  int end(int status, std::string_view line);

 private:
  std::unique_ptr<communicator> ranks_, farewell_;
};

}  // namespace quintet::mpi
