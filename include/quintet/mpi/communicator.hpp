// Ranks of MPI as a group of processes: the part of MPI that quintet::mpi needs.
//
// MPI must be initialised with MPI_THREAD_FUNNELED at least. The thread that calls into the library calls MPI, outside
// parallel regions. Transfers go in pieces of at most `piece_bytes`. quintet/core/process_group.hpp says how errors and
// numbers cross ranks.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "quintet/core/error.hpp"
#include "quintet/core/process_group.hpp"
#include "quintet/mpi/launch.hpp"

namespace quintet::mpi {

using quintet::agreed_error, quintet::failure, quintet::transfer;

/// A call of MPI failed, or MPI is not available. Ranks cannot agree on anything after that: end all of them
/// (abort_all()).
class MpiError : public Error {
 public:
  using Error::Error;
};

/// The bytes that this rank sent and received in a phase: those of the caller's data, without headers and the
/// intermediate messages of a reduction.
struct phase_traffic {
  std::string phase;             ///< the name given to phase()
  std::int64_t sent = 0;         ///< bytes to other ranks
  std::int64_t received = 0;     ///< bytes from other ranks
  std::int64_t messages = 0;     ///< pieces sent to other ranks
  std::int64_t reduced = 0;      ///< elements of reductions
  std::int64_t collectives = 0;  ///< collective calls
  double seconds = 0;            ///< waiting for transfers and for other ranks
};

/// A duplicate of a communicator of MPI with errors that return, and the place of this rank in it.
class communicator final : public process_group {
 public:
  /// No message has more bytes than this.
  static constexpr std::int64_t piece_bytes = std::int64_t(64) << 20;

  /// Collective. Throws MpiError where MPI is not initialised, or without MPI_THREAD_FUNNELED.
  explicit communicator(MPI_Comm original = MPI_COMM_WORLD);
  /// The ranks of `whole`, which must outlive it, that give the same `part` >= 0, in their order there; its messages
  /// count as traffic of the whole. Collective over `whole`.
  communicator(communicator& whole, int part);
  communicator(const communicator&) = delete;
  communicator& operator=(const communicator&) = delete;
  ~communicator();

  int host_rank() const { return host_rank_; }  ///< among the ranks of this host
  int host_size() const { return host_size_; }  ///< ranks of this host
  int hosts() const { return hosts_; }          ///< different hosts
  MPI_Comm handle() const { return handle_; }   ///< the duplicate

  /// Takes as many OpenMP threads as this rank has processors: those of its mask, or a share of the host if masks of
  /// its ranks overlap. OMP_NUM_THREADS lowers the number. Returns a warning if the ranks of a host may use less than
  /// half of it, the same text on every rank; empty otherwise. Collective.
  std::string use_threads();

  /// By phase, in the order of their first appearance.
  const std::vector<phase_traffic>& traffic() const { return traffic_; }
  /// All phases together.
  phase_traffic total_traffic() const;

  /// Waits for all ranks.
  void barrier();

  ///@{
  /// See process_group; threads() is the number of use_threads().
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int threads() const override { return threads_; }
  void phase(std::string_view name) override;
  std::shared_ptr<process_group> split(int part) override { return std::make_shared<communicator>(*this, part); }
  void begin_step() override;
  void agree(const failure& local_failure) override;
  std::vector<std::int64_t> allgather_counts(std::int64_t local) override;
  std::vector<std::int64_t> alltoall_counts(const std::vector<std::int64_t>& counts) override;
  std::int64_t sum(std::int64_t local) override;
  using process_group::minimum;
  std::int64_t minimum(std::int64_t local) override;
  bool poke(transfer& started) override;
  void finish(transfer& started) override;
  ///@}

 private:
  void broadcast_bytes(void* data, std::int64_t bytes, int root) override;
  void gather_bytes(const void* local, void* all, const std::vector<std::int64_t>& bytes, int root) override;
  void scatter_bytes(const void* all, void* local, const std::vector<std::int64_t>& bytes, int root) override;
  void alltoallv_bytes(const void* send, const std::vector<std::int64_t>& to, void* receive,
                       const std::vector<std::int64_t>& from) override;
  void minimum_words(void* records, std::int64_t count, int words, int word_bytes) override;
  void start(void* data, std::int64_t bytes, int other, int tag, bool send, transfer& started) override;
  phase_traffic& current_traffic();
  template <class Call>
  void timed(Call&& call);
  template <class Start>
  void collective(const char* name, Start&& start);
  void find_place();
  void find_hosts();

  MPI_Comm handle_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1, host_rank_ = 0, host_size_ = 1, hosts_ = 1, threads_ = 1;
  communicator* whole_ = nullptr;  // of a part
  std::vector<phase_traffic> traffic_;
  std::size_t phase_ = 0;
};

/// Prints one line to the standard error stream and ends all ranks with `status`. For errors that ranks cannot agree
/// on.
[[noreturn]] void abort_all(std::string_view line, int status) noexcept;

}  // namespace quintet::mpi
