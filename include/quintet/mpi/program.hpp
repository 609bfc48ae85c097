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
  /// Throws MpiError where MPI gives no MPI_THREAD_FUNNELED, and InvalidArgument where there are not as many ranks as
  /// the launcher's variables say: it then belongs to another MPI, and started copies that do not know each other.
  program();
  /// MPI_Finalize.
  ~program();
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  /// All ranks.
  communicator& ranks() { return *ranks_; }

  /// Tells all ranks how this one ended, and hears of the others. Where all ended well 0; otherwise the status of the
  /// lowest rank that did not, which prints its `line`, on every rank. A rank that failed waits five seconds for the
  /// others, which may be waiting for it: then it prints its line and ends all of them with its status. Collective.
  int end(int status, std::string_view line);

 private:
  std::unique_ptr<communicator> ranks_, farewell_;
};

}  // namespace quintet::mpi
