// Processes that work on one problem, independent of their connection: quintet::mpi::communicator connects them by MPI,
// single_process is a group of one.
//
// Only minima and maxima of integers under a total order, integer sums, and copies cross processes: results do not
// depend on how a reduction is grouped.
//
// Errors. Inside a phase messages do not depend on success: if the work of a process throws, the process goes on
// sending and receiving, and reports at the next agree():
//
//   failure mine;
//   for (step ...) { mine.attempt([&] { compute(); }); group.start_send(...); group.agree(mine); }
//
// agree() throws the exception of the lowest failing process, of its type and with its text, in all of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "quintet/core/error.hpp"

namespace quintet {

/// Base of the exceptions of agree(): every rank throws it. One rank alone throws anything else.
struct agreed_error {
  virtual ~agreed_error() = default;
};

/// The first exception on this rank since the last agree().
class failure {
 public:
  /// Runs `work` unless an exception was kept before, and keeps its exception.
  template <class Work>
  void attempt(Work&& work) noexcept {
    if (error_) return;
    try {
      std::forward<Work>(work)();
    } catch (...) {
      error_ = std::current_exception();
    }
  }
  /// The exception; null without one.
  const std::exception_ptr& error() const noexcept { return error_; }
  /// Whether something was thrown.
  explicit operator bool() const noexcept { return error_ != nullptr; }

 private:
  std::exception_ptr error_;
};

/// A transfer that was started; finish it before its memory goes.
class transfer {
 public:
  /// What is under way, as the group knows it.
  struct requests {
    virtual ~requests() = default;
  };
  /// Whether pieces are still under way, or were at the last poke().
  bool pending() const { return requests_ != nullptr; }

 private:
  friend class process_group;
  std::unique_ptr<requests> requests_;
};

/// The operations that functions need of their processes. All members but rank(), size(), is_root(), threads(),
/// phase(), begin_step() and the transfers are collective: every process of the group calls them in the same order.
class process_group {
 public:
  virtual ~process_group() = default;
  ///@{
  /// Number of this process, 0 ... size() - 1.
  virtual int rank() const = 0;
  virtual int size() const = 0;
  ///@}
  bool is_root() const { return rank() == 0; }  ///< the process that prints and writes
  virtual int threads() const = 0;              ///< that this process may run
  /// Names the following messages, for their counts.
  virtual void phase(std::string_view name) = 0;
  /// The processes that give the same `part` >= 0, in their order here, as a group.
  virtual std::shared_ptr<process_group> split(int part) = 0;

  /// Called where a step of a long computation begins, so that tests can make one fail. Not collective.
  virtual void begin_step() {}

  /// Throws, in all processes, the error of the lowest process that failed.
  virtual void agree(const failure& local_failure) = 0;
  /// Runs `work` in every process, then agrees. `work` must not call members of the group.
  template <class Work>
  void run_collectively(Work&& work) {
    failure local_failure;
    local_failure.attempt(std::forward<Work>(work));
    agree(local_failure);
  }
  /// Throws InvalidArgument, in all processes, unless `value` is the same in every one; `what` names it in the text.
  void require_same(std::string_view label, std::string_view value) {
    std::string of_root(value);
    broadcast(of_root);
    run_collectively([&] {
      if (value != of_root)
        throw InvalidArgument(
            text(label, " must be the same on all ranks (rank 0: ", of_root, "; rank ", rank(), ": ", value, ")"));
    });
  }

  /// @{ Values of `root` for all processes; containers have the right size in every one, strings are given one.
  template <class T>
  void broadcast(std::span<T> values, int root = 0) {
    broadcast_bytes(values.data(), bytes_of(values), root);
  }
  void broadcast(std::string& value, int root = 0) {
    auto length = std::int64_t(value.size());
    broadcast(std::span<std::int64_t>(&length, 1), root);
    value.resize(std::size_t(length));
    broadcast(std::span<char>(value), root);
  }
  /// @}
  /// @{ The values of all processes one after another, in the order of ranks.
  template <class T>
  std::vector<T> allgather(std::span<const T> local) {
    const std::vector<std::int64_t> counts = allgather_counts(std::int64_t(local.size()));
    std::vector<T> all = room_for<T>(total(counts));
    gather_bytes(local.data(), all.data(), scaled(counts, sizeof(T)), -1);
    return all;
  }
  template <class T>
  std::vector<T> allgather(const std::vector<T>& local) {
    return allgather(std::span<const T>(local));
  }
  /// @}
  /// The same on `root` only; empty elsewhere.
  template <class T>
  std::vector<T> gather(std::span<const T> local, int root = 0) {
    const std::vector<std::int64_t> counts = allgather_counts(std::int64_t(local.size()));
    std::vector<T> all = room_for<T>(rank() == root ? total(counts) : 0);
    gather_bytes(local.data(), all.data(), scaled(counts, sizeof(T)), root);
    return all;
  }
  /// Part r of `all` (on root only) for rank r; `counts` the sizes of the parts, known in every process.
  template <class T>
  std::vector<T> scatter(std::span<const T> all, const std::vector<std::int64_t>& counts, int root = 0) {
    std::vector<T> local = room_for<T>(counts[rank()]);
    scatter_bytes(all.data(), local.data(), scaled(counts, sizeof(T)), root);
    return local;
  }
  /// Part r of `send` goes to rank r; returns the parts from rank 0, 1, ..., and in `received` their sizes.
  template <class T>
  std::vector<T> alltoallv(std::span<const T> send, const std::vector<std::int64_t>& counts,
                           std::vector<std::int64_t>* received = nullptr) {
    const std::vector<std::int64_t> from = alltoall_counts(counts);
    std::vector<T> got = room_for<T>(total(from));
    alltoallv_bytes(send.data(), scaled(counts, sizeof(T)), got.data(), scaled(from, sizeof(T)));
    if (received != nullptr) *received = from;
    return got;
  }
  /// One number of every process.
  virtual std::vector<std::int64_t> allgather_counts(std::int64_t local) = 0;
  /// counts[r] goes to rank r.
  virtual std::vector<std::int64_t> alltoall_counts(const std::vector<std::int64_t>& counts) = 0;

  /// @{ Of numbers of all processes.
  virtual std::int64_t sum(std::int64_t local) = 0;
  virtual std::int64_t minimum(std::int64_t local) = 0;
  std::int64_t maximum(std::int64_t local) { return -minimum(-local); }
  /// @}
  /// The largest of values that are not NaN and not negative.
  template <class Real>
  Real largest(Real local) {
    static_assert(std::is_same_v<Real, float> || std::is_same_v<Real, double>);
    // The bits of numbers that are not negative are in the order of the numbers.
    const double wide = local;
    std::int64_t key = 0;
    std::memcpy(&key, &wide, sizeof key);
    key = maximum(key);
    double largest = 0;
    std::memcpy(&largest, &key, sizeof key);
    return Real(largest);
  }
  /// records[i] := the least records[i] of all processes; records are compared word by word, as signed numbers.
  template <class Word, class Record>
  void minimum(std::span<Record> records) {
    static_assert((std::is_same_v<Word, std::int32_t> || std::is_same_v<Word, std::int64_t>) &&
                  std::is_trivially_copyable_v<Record> && sizeof(Record) % sizeof(Word) == 0);
    minimum_words(records.data(), std::int64_t(records.size()), sizeof(Record) / sizeof(Word), sizeof(Word));
  }

  /// @{ Starts sending to, or receiving from, another process. Messages between two processes of one tag arrive in
  /// order. A process may send to itself. Both sides give the same number of bytes.
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
  virtual bool poke(transfer& started) = 0;
  /// Waits for the end of all of it.
  virtual void finish(transfer& started) = 0;

 protected:
  ///@{
  /// The collective operations above, of bytes; gather_bytes() with `root` < 0 means all processes.
  virtual void broadcast_bytes(void* data, std::int64_t bytes, int root) = 0;
  virtual void gather_bytes(const void* local, void* all, const std::vector<std::int64_t>& bytes, int root) = 0;
  virtual void scatter_bytes(const void* all, void* local, const std::vector<std::int64_t>& bytes, int root) = 0;
  virtual void alltoallv_bytes(const void* send, const std::vector<std::int64_t>& to, void* receive,
                               const std::vector<std::int64_t>& from) = 0;
  virtual void minimum_words(void* records, std::int64_t count, int words, int word_bytes) = 0;
  ///@}
  /// Starts sending or receiving `bytes` at `data`.
  virtual void start(void* data, std::int64_t bytes, int other, int tag, bool send, transfer& started) = 0;
  /// Pieces under way, for the group that made them.
  static std::unique_ptr<transfer::requests>& requests_of(transfer& started) { return started.requests_; }

 private:
  template <class T>
  static std::int64_t bytes_of(std::span<T> values) {
    static_assert(std::is_trivially_copyable_v<T>);
    return std::int64_t(values.size_bytes());
  }
  /// In every process, or the error of the one that has no memory.
  template <class T>
  std::vector<T> room_for(std::int64_t size) {
    std::vector<T> room;
    run_collectively([&] { room.resize(std::size_t(size)); });
    return room;
  }
  static std::int64_t total(const std::vector<std::int64_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::int64_t(0));
  }
  static std::vector<std::int64_t> scaled(std::vector<std::int64_t> counts, std::size_t size) {
    for (std::int64_t& count : counts) count *= std::int64_t(size);
    return counts;
  }
};

/// A group of one process, which exchanges nothing.
class single_process : public process_group {
 public:
  ///@{
  /// See process_group.
  int rank() const override { return 0; }
  int size() const override { return 1; }
  int threads() const override { return 1; }
  void phase(std::string_view) override {}
  std::shared_ptr<process_group> split(int) override { return std::make_shared<single_process>(); }
  void agree(const failure& local_failure) override {
    if (local_failure) std::rethrow_exception(local_failure.error());
  }
  std::vector<std::int64_t> allgather_counts(std::int64_t local) override { return {local}; }
  std::vector<std::int64_t> alltoall_counts(const std::vector<std::int64_t>& counts) override { return counts; }
  std::int64_t sum(std::int64_t local) override { return local; }
  using process_group::minimum;
  std::int64_t minimum(std::int64_t local) override { return local; }
  bool poke(transfer&) override { return true; }
  void finish(transfer&) override {}
  ///@}

 protected:
  ///@{
  /// See process_group. No process sends to itself here.
  void broadcast_bytes(void*, std::int64_t, int) override {}
  void gather_bytes(const void* local, void* all, const std::vector<std::int64_t>& bytes, int) override {
    if (bytes[0] > 0) std::memcpy(all, local, std::size_t(bytes[0]));
  }
  void scatter_bytes(const void* all, void* local, const std::vector<std::int64_t>& bytes, int) override {
    if (bytes[0] > 0) std::memcpy(local, all, std::size_t(bytes[0]));
  }
  void alltoallv_bytes(const void* send, const std::vector<std::int64_t>& to, void* receive,
                       const std::vector<std::int64_t>&) override {
    if (to[0] > 0) std::memcpy(receive, send, std::size_t(to[0]));
  }
  void minimum_words(void*, std::int64_t, int, int) override {}
  void start(void*, std::int64_t, int, int, bool, transfer&) override {}
  ///@}
};

/// A part of a range.
struct share_of_range {
  ///@{
  /// First element, and number of them.
  std::int64_t first, count;
  ///@}
};
/// Part `rank` of 0 ... n - 1, cut into `size` parts. Sizes differ by one at most, the larger parts first. O(1).
constexpr share_of_range share_of(std::int64_t n, int rank, int size) {
  const std::int64_t least = n / size, more = n % size;
  return {rank * least + (rank < more ? rank : more), least + (rank < more ? 1 : 0)};
}

}  // namespace quintet
