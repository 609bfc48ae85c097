// Ranks that work on one problem: what quintet::mpi needs of MPI, and no more.
//
// MPI has to be initialised with MPI_THREAD_FUNNELED at least; it is called by the thread that calls into the library,
// outside parallel regions. Only minima and maxima of integers under a total order, integer sums, and copies cross
// ranks: results do not depend on how a reduction is grouped. Transfers go in pieces of at most `piece_bytes`.
//
// Errors. Inside a phase messages do not depend on success: a rank whose work throws goes on sending and receiving and
// says so at the next agree():
//
//   failure mine;
//   for (step ...) { mine.attempt([&] { compute(); }); ranks.exchange(...); ranks.agree(mine); }
//
// agree() throws the exception of the lowest failing rank, of its type and with its text, on all ranks.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "quintet/core/error.hpp"
#include "quintet/mpi/launch.hpp"

namespace quintet::mpi {

/// A call of MPI failed, or MPI is not there. Ranks cannot agree on anything after that: end all of them (abort_all()).
class MpiError : public Error {
 public:
  using Error::Error;
};

/// What agree() throws derives from this too: every rank throws it. Anything else was thrown by one rank alone.
struct agreed_error {
  virtual ~agreed_error() = default;
};

/// What went wrong on this rank since the last agree().
class failure {
 public:
  /// Runs `work` unless something went wrong before, and keeps what it throws.
  template <class Work>
  void attempt(Work&& work) noexcept {
    if (error_) return;
    try {
      std::forward<Work>(work)();
    } catch (...) {
      error_ = std::current_exception();
    }
  }
  /// What was thrown; null if nothing.
  const std::exception_ptr& error() const noexcept { return error_; }
  /// Whether something was thrown.
  explicit operator bool() const noexcept { return error_ != nullptr; }

 private:
  std::exception_ptr error_;
};

/// What this rank sent and received in a phase: bytes of the caller's data, without headers and what a reduction sends
/// on the way.
struct phase_traffic {
  std::string phase;             ///< as phase() was told it
  std::int64_t sent = 0;         ///< bytes to other ranks
  std::int64_t received = 0;     ///< bytes from other ranks
  std::int64_t messages = 0;     ///< pieces sent to other ranks
  std::int64_t reduced = 0;      ///< elements of reductions
  std::int64_t collectives = 0;  ///< collective calls
  double seconds = 0;            ///< waiting for transfers and for other ranks
};

/// A transfer that was started; finish it before its memory goes.
class transfer {
 public:
  transfer() = default;
  ///@{
  /// Takes the transfer of `other`, which has none afterwards.
  transfer(transfer&& other) noexcept : requests_(std::exchange(other.requests_, {})) {}
  transfer& operator=(transfer&& other) noexcept {
    std::swap(requests_, other.requests_);
    return *this;
  }
  ///@}
  /// Number of pieces that are still under way, or were when somebody looked last.
  bool pending() const { return !requests_.empty(); }

 private:
  friend class communicator;
  std::vector<MPI_Request> requests_;
};

/// A duplicate of a communicator of MPI with errors that return, and what this rank knows of its place in it.
class communicator {
 public:
  /// No message has more bytes than this.
  static constexpr std::int64_t piece_bytes = std::int64_t(64) << 20;

  /// Collective. Throws MpiError where MPI is not initialised, or without MPI_THREAD_FUNNELED.
  explicit communicator(MPI_Comm original = MPI_COMM_WORLD);
  /// The ranks of `whole`, which must outlive it, that give the same `part` >= 0, in their order there; what it sends
  /// counts as traffic of the whole. Collective over `whole`.
  communicator(communicator& whole, int part);
  communicator(const communicator&) = delete;
  communicator& operator=(const communicator&) = delete;
  ~communicator();

  int rank() const { return rank_; }            ///< of this process, in [0, size)
  int size() const { return size_; }            ///< processes
  bool is_root() const { return rank_ == 0; }   ///< who prints and writes
  int host_rank() const { return host_rank_; }  ///< among the ranks of this host
  int host_size() const { return host_size_; }  ///< ranks of this host
  int hosts() const { return hosts_; }          ///< different hosts
  MPI_Comm handle() const { return handle_; }   ///< the duplicate
  int threads() const { return threads_; }      ///< that this rank may run: see use_threads()

  /// Takes as many OpenMP threads as this rank has processors: those of its mask, or where masks of a host's ranks
  /// overlap a share of the host; OMP_NUM_THREADS lowers it. Returns a warning where the ranks of a host may use less
  /// than half of it, the same text on every rank; empty otherwise. Collective.
  std::string use_threads();

  /// Names what follows, for traffic().
  void phase(std::string_view name);
  /// By phase, in the order of their first appearance.
  const std::vector<phase_traffic>& traffic() const { return traffic_; }
  /// All phases together.
  phase_traffic total_traffic() const;

  /// Throws, on all ranks, what went wrong on the lowest rank on which something did. An allreduce; collective.
  void agree(const failure& mine);
  /// Runs `work` on every rank, then agrees. `work` must not communicate.
  template <class Work>
  void together(Work&& work) {
    failure mine;
    mine.attempt(std::forward<Work>(work));
    agree(mine);
  }
  /// Throws InvalidArgument, on all ranks, unless `value` is the same on every rank; `what` names it in the text.
  void require_same(std::string_view what, std::string_view value);

  /// Waits for all ranks.
  void barrier();
  /// @{ Values of `root` for everybody; containers have the right size on every rank, strings are given one.
  template <class T>
  void broadcast(std::span<T> values, int root = 0) {
    broadcast_bytes(values.data(), bytes_of(values), root);
  }
  void broadcast(std::string& text, int root = 0);
  /// @}
  /// The values of all ranks one after another, in the order of ranks.
  template <class T>
  std::vector<T> allgather(std::span<const T> mine) {
    const std::vector<std::int64_t> counts = allgather_counts(std::int64_t(mine.size()));
    std::vector<T> all = room_for<T>(sum(counts));
    gather_bytes(mine.data(), all.data(), scaled(counts, sizeof(T)), -1);
    return all;
  }
  /// The same on `root` only; empty elsewhere.
  template <class T>
  std::vector<T> gather(std::span<const T> mine, int root = 0) {
    const std::vector<std::int64_t> counts = allgather_counts(std::int64_t(mine.size()));
    std::vector<T> all = room_for<T>(rank_ == root ? sum(counts) : 0);
    gather_bytes(mine.data(), all.data(), scaled(counts, sizeof(T)), root);
    return all;
  }
  /// Part r of `all` (on root only) for rank r; `counts` the sizes of the parts, known on every rank.
  template <class T>
  std::vector<T> scatter(std::span<const T> all, const std::vector<std::int64_t>& counts, int root = 0) {
    std::vector<T> mine = room_for<T>(counts[rank_]);
    scatter_bytes(all.data(), mine.data(), scaled(counts, sizeof(T)), root);
    return mine;
  }
  /// Part r of `send` goes to rank r; returns what came from rank 0, 1, ..., and in `received` how much from each.
  template <class T>
  std::vector<T> alltoallv(std::span<const T> send, const std::vector<std::int64_t>& counts,
                           std::vector<std::int64_t>* received = nullptr) {
    const std::vector<std::int64_t> from = alltoall_counts(counts);
    std::vector<T> got = room_for<T>(sum(from));
    alltoallv_bytes(send.data(), scaled(counts, sizeof(T)), got.data(), scaled(from, sizeof(T)));
    if (received != nullptr) *received = from;
    return got;
  }
  /// One number of every rank.
  std::vector<std::int64_t> allgather_counts(std::int64_t mine);
  /// counts[r] goes to rank r.
  std::vector<std::int64_t> alltoall_counts(const std::vector<std::int64_t>& counts);

  /// @{ Of numbers of all ranks.
  std::int64_t sum(std::int64_t mine);
  std::int64_t minimum(std::int64_t mine);
  std::int64_t maximum(std::int64_t mine) { return -minimum(-mine); }
  /// @}
  /// The largest of values that are not NaN and not negative.
  template <class Real>
  Real largest(Real mine) {
    static_assert(std::is_same_v<Real, float> || std::is_same_v<Real, double>);
    return Real(largest_value(double(mine)));
  }
  /// records[i] := the least records[i] of all ranks; records are compared word by word, as signed numbers.
  template <class Word, class Record>
  void minimum(std::span<Record> records) {
    static_assert((std::is_same_v<Word, std::int32_t> || std::is_same_v<Word, std::int64_t>) &&
                  std::is_trivially_copyable_v<Record> && sizeof(Record) % sizeof(Word) == 0);
    minimum_words(records.data(), std::int64_t(records.size()), sizeof(Record) / sizeof(Word), sizeof(Word));
  }

  /// @{ Starts sending to, or receiving from, another rank. Messages between two ranks of one tag arrive in order. A
  /// rank may send to itself. Both sides give the same number of bytes.
  template <class T>
  void start_send(std::span<const T> values, int to, int tag, transfer& started) {
    start(const_cast<T*>(values.data()), bytes_of(values), to, tag, true, started);
  }
  template <class T>
  void start_receive(std::span<T> values, int from, int tag, transfer& started) {
    start(values.data(), bytes_of(values), from, tag, false, started);
  }
  /// @}
  /// Lets transfers proceed; call it between pieces of work of about 10 ms. Returns whether all is done.
  bool poke(transfer& started);
  /// Waits for the end of all of it.
  void finish(transfer& started);

 private:
  template <class T>
  static std::int64_t bytes_of(std::span<T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    return std::int64_t(values.size_bytes());
  }
  /// On every rank, or the error of the one that has no memory.
  template <class T>
  std::vector<T> room_for(std::int64_t size) {
    std::vector<T> room;
    together([&] { room.resize(std::size_t(size)); });
    return room;
  }
  static std::int64_t sum(const std::vector<std::int64_t>& counts);
  static std::vector<std::int64_t> scaled(std::vector<std::int64_t> counts, std::size_t size);
  void broadcast_bytes(void* data, std::int64_t bytes, int root);
  void gather_bytes(const void* mine, void* all, const std::vector<std::int64_t>& bytes, int root);
  void scatter_bytes(const void* all, void* mine, const std::vector<std::int64_t>& bytes, int root);
  void alltoallv_bytes(const void* send, const std::vector<std::int64_t>& to, void* receive,
                       const std::vector<std::int64_t>& from);
  double largest_value(double mine);
  void minimum_words(void* records, std::int64_t count, int words, int word_bytes);
  void start(void* data, std::int64_t bytes, int other, int tag, bool send, transfer& started);
  phase_traffic& now();
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

/// Prints one line to the standard error stream and ends all ranks with `status`. For what nobody can agree on.
[[noreturn]] void abort_all(std::string_view line, int status) noexcept;

}  // namespace quintet::mpi
