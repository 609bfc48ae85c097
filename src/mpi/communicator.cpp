#include "quintet/mpi/communicator.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <new>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <thread>

#include "mpi/fault.hpp"
#include "mpi/processors.hpp"
#include "quintet/device/device.hpp"

namespace quintet::mpi {

namespace {

constexpr int collective_tag = 32000;  // every MPI has tags up to 32767

std::string error_text(int code) {
  char message[MPI_MAX_ERROR_STRING];
  int length = 0;
  if (MPI_Error_string(code, message, &length) != MPI_SUCCESS) return "unknown error";
  return {message, std::size_t(length)};
}

void check(int code, const char* call) {
  if (code != MPI_SUCCESS) throw MpiError(text(call, " failed: ", error_text(code)));
}

/// inout := the smaller of two records of words, which are compared one after another as signed numbers. Built-in
/// minima of unsigned types are wrong in Open MPI 4.1 and MPICH 4.0 (they compare as signed), so keys are signed and
/// the operation our own.
template <class Word>
void take_minimum(void* in, void* inout, int* count, MPI_Datatype* type) {
  int bytes = 0;
  MPI_Type_size(*type, &bytes);
  const int words = bytes / int(sizeof(Word));
  const auto* from = static_cast<const Word*>(in);
  auto* to = static_cast<Word*>(inout);
  for (int i = 0; i < *count; ++i, from += words, to += words)
    if (std::lexicographical_compare(from, from + words, to, to + words)) std::copy(from, from + words, to);
}

/// Freed when it goes.
struct record_type {
  MPI_Datatype type;
  MPI_Op minimum;
  record_type(int words, int word_bytes) {
    check(MPI_Type_contiguous(words, word_bytes == 4 ? MPI_INT32_T : MPI_INT64_T, &type), "MPI_Type_contiguous");
    check(MPI_Type_commit(&type), "MPI_Type_commit");
    check(MPI_Op_create(word_bytes == 4 ? &take_minimum<std::int32_t> : &take_minimum<std::int64_t>, 1, &minimum),
          "MPI_Op_create");
  }
  record_type(const record_type&) = delete;
  ~record_type() {
    MPI_Op_free(&minimum);
    MPI_Type_free(&type);
  }
};

/// Waits for requests. MPI polls while it waits, which takes the processors from ranks that others wait for where a
/// host has more ranks than processors: there it sleeps now and then.
void wait_for(std::span<MPI_Request> requests, bool is_crowded) {
  const auto count = int(requests.size());
  if (!is_crowded) return check(MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  constexpr std::chrono::microseconds least(20), most(500);
  for (auto pause = least;; pause = std::min(2 * pause, most)) {
    int is_done = 0;
    for (int look = 0; look < 20 && is_done == 0; ++look)
      check(MPI_Testall(count, requests.data(), &is_done, MPI_STATUSES_IGNORE), "MPI_Testall");
    if (is_done != 0) return;
    std::this_thread::sleep_for(pause);
  }
}

/// Processors of this host that could be given to us.
int processors_of_host() {
  static const int processors = [] { return int(available_processors().count()); }();
  return processors;
}

/// An exception of another rank: of its type, with its text.
template <class Base>
class agreed : public Base, public agreed_error {
 public:
  template <class... Arguments>
  explicit agreed(std::string message, Arguments&&... arguments)
      : Base(std::forward<Arguments>(arguments)...), what_(std::move(message)) {}
  const char* what() const noexcept override { return what_.c_str(); }

 private:
  std::string what_;
};

struct mpi_requests : transfer::requests {
  std::vector<MPI_Request> all;
};

/// Of a transfer that has some.
std::vector<MPI_Request>& pieces(const std::unique_ptr<transfer::requests>& requests) {
  return static_cast<mpi_requests&>(*requests).all;
}

enum class error_type : std::int64_t {
  invalid,
  file,
  memory,
  device,
  cancelled,
  mpi,
  error,
  allocation,
  length,
  other
};

struct described_error {
  error_type type = error_type::other;
  std::int64_t bytes = 0;
  std::string message = "an exception of an unknown type";
};

described_error describe(const std::exception_ptr& error) {
  const auto failure_of = [](error_type type, const std::exception& e, std::int64_t bytes = 0) {
    return described_error{type, bytes, e.what()};
  };
  try {
    std::rethrow_exception(error);
  } catch (const InvalidArgument& e) {
    return failure_of(error_type::invalid, e);
  } catch (const FileError& e) {
    return failure_of(error_type::file, e);
  } catch (const OutOfMemory& e) {
    return failure_of(error_type::memory, e, e.bytes());
  } catch (const DeviceError& e) {
    return failure_of(error_type::device, e);
  } catch (const Cancelled& e) {
    return failure_of(error_type::cancelled, e);
  } catch (const MpiError& e) {
    return failure_of(error_type::mpi, e);
  } catch (const Error& e) {
    return failure_of(error_type::error, e);
  } catch (const std::bad_alloc& e) {
    return failure_of(error_type::allocation, e);
  } catch (const std::length_error& e) {
    return failure_of(error_type::length, e);
  } catch (const std::exception& e) {
    return failure_of(error_type::other, e);
  } catch (...) {
    return {};
  }
}

[[noreturn]] void throw_again(const described_error& e) {
  switch (e.type) {
    case error_type::invalid:
      throw agreed<InvalidArgument>(e.message, e.message);
    case error_type::file:
      throw agreed<FileError>(e.message, "", "");
    case error_type::memory:
      throw agreed<OutOfMemory>(e.message, e.bytes, "");
    case error_type::device:
      throw agreed<DeviceError>(e.message, e.message);
    case error_type::cancelled:
      throw agreed<Cancelled>(e.message, "");
    case error_type::mpi:
      throw agreed<MpiError>(e.message, e.message);
    case error_type::error:
      throw agreed<Error>(e.message, e.message);
    case error_type::allocation:
      throw agreed<std::bad_alloc>(e.message);
    case error_type::length:
      throw agreed<std::length_error>(e.message, e.message);
    case error_type::other:
      break;
  }
  throw agreed<std::runtime_error>(e.message, e.message);
}

}  // namespace

template <class Call>
void communicator::timed(Call&& call) {
  const double start = MPI_Wtime();
  call();
  current_traffic().seconds += MPI_Wtime() - start;
}

template <class Start>
void communicator::collective(const char* name, Start&& start) {
  MPI_Request request = MPI_REQUEST_NULL;
  check(start(&request), name);
  wait_for({&request, 1}, host_size_ > processors_of_host());
}

communicator::communicator(MPI_Comm original) {
  int is_there = 0, is_over = 0, level = 0;
  MPI_Initialized(&is_there);
  MPI_Finalized(&is_over);
  if (!is_there || is_over) throw MpiError("MPI must be initialised, and not yet finalised, for a communicator");
  check(MPI_Query_thread(&level), "MPI_Query_thread");
  if (level < MPI_THREAD_FUNNELED)
    throw MpiError(
        "MPI must be initialised by MPI_Init_thread with MPI_THREAD_FUNNELED or more: kernels run on threads");
  check(MPI_Comm_dup(original, &handle_), "MPI_Comm_dup");
  find_place();
}

communicator::communicator(communicator& whole, int part) : whole_(&whole) {
  check(MPI_Comm_split(whole.handle_, part, whole.rank_, &handle_), "MPI_Comm_split");
  find_place();
}

void communicator::find_place() {
  check(MPI_Comm_set_errhandler(handle_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check(MPI_Comm_rank(handle_, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(handle_, &size_), "MPI_Comm_size");
  phase("start");
  find_hosts();
}

communicator::~communicator() {
  int is_over = 0;
  MPI_Finalized(&is_over);
  if (handle_ != MPI_COMM_NULL && !is_over) MPI_Comm_free(&handle_);
}

void communicator::find_hosts() {
  MPI_Comm host = MPI_COMM_NULL;
  check(MPI_Comm_split_type(handle_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host), "MPI_Comm_split_type");
  MPI_Comm_rank(host, &host_rank_);
  MPI_Comm_size(host, &host_size_);
  MPI_Comm_free(&host);
  hosts_ = int(sum(host_rank_ == 0 ? 1 : 0));
  threads_ = quintet::threads();
}

std::string communicator::use_threads() {
  // The host, by the lowest of its ranks, so that everybody can tell who shares one.
  MPI_Comm host = MPI_COMM_NULL;
  check(MPI_Comm_split_type(handle_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host), "MPI_Comm_split_type");
  const processor_set own_set = own_processors(), all = processors_present(available_processors());
  std::vector<processor_set> masks(host_size_);
  const int gathered =
      MPI_Allgather(&own_set, sizeof own_set, MPI_BYTE, masks.data(), sizeof(processor_set), MPI_BYTE, host);
  MPI_Comm_free(&host);
  check(gathered, "MPI_Allgather");
  const processor_share share = share_of(masks, host_rank_, all);
  if (std::getenv("OMP_NUM_THREADS") == nullptr) set_threads(share.threads);
  threads_ = quintet::threads();
  // Of the host of the lowest rank that is bound too tightly.
  std::int64_t facts[4] = {share.is_too_small ? rank_ : size_, host_size_, share.used, share.present};
  minimum<std::int64_t>(std::span(reinterpret_cast<std::int64_t(*)[4]>(&facts), 1));
  if (facts[0] == size_) return {};
  return text("the ", facts[1], " ranks of a host may use ", facts[2], " of its ", facts[3],
              " processors, as the launcher bound them; with Open MPI give mpirun --bind-to none, or one rank per NUMA "
              "domain: --map-by ppr:1:numa:PE=n");
}

void communicator::phase(std::string_view name) {
  const auto it =
      std::find_if(traffic_.begin(), traffic_.end(), [&](const phase_traffic& p) { return p.phase == name; });
  phase_ = std::size_t(it - traffic_.begin());
  if (it == traffic_.end()) traffic_.push_back({.phase = std::string(name)});
}

phase_traffic& communicator::current_traffic() {
  return whole_ != nullptr ? whole_->current_traffic() : traffic_[phase_];
}

phase_traffic communicator::total_traffic() const {
  phase_traffic total{.phase = "all"};
  for (const phase_traffic& p : traffic_) {
    total.sent += p.sent;
    total.received += p.received;
    total.messages += p.messages;
    total.reduced += p.reduced;
    total.collectives += p.collectives;
    total.seconds += p.seconds;
  }
  return total;
}

void communicator::begin_step() { fault_point(rank_); }

void communicator::agree(const failure& local_failure) {
  const auto lowest = int(minimum(local_failure ? rank_ : size_));
  if (lowest == size_) return;
  described_error e;
  if (rank_ == lowest) e = describe(local_failure.error());
  std::int64_t numbers[2] = {std::int64_t(e.type), e.bytes};
  broadcast(std::span<std::int64_t>(numbers), lowest);
  broadcast(e.message, lowest);
  e.type = error_type(numbers[0]);
  e.bytes = numbers[1];
  throw_again(e);
}

void communicator::barrier() {
  timed([&] { collective("MPI_Ibarrier", [&](MPI_Request* r) { return MPI_Ibarrier(handle_, r); }); });
  ++current_traffic().collectives;
}

void communicator::broadcast_bytes(void* data, std::int64_t bytes, int root) {
  timed([&] {
    for (std::int64_t written = 0; written < bytes; written += piece_bytes)
      collective("MPI_Ibcast", [&](MPI_Request* r) {
        return MPI_Ibcast(static_cast<char*>(data) + written, int(std::min(piece_bytes, bytes - written)), MPI_BYTE,
                          root, handle_, r);
      });
  });
  phase_traffic& traffic = current_traffic();
  ++traffic.collectives;
  if (rank_ != root) {
    traffic.received += bytes;
    return;
  }
  traffic.sent += bytes * (size_ - 1);
  traffic.messages += (bytes + piece_bytes - 1) / piece_bytes * (size_ - 1);
}

std::vector<std::int64_t> communicator::allgather_counts(std::int64_t local) {
  std::vector<std::int64_t> all(size_);
  timed([&] {
    collective("MPI_Iallgather", [&](MPI_Request* r) {
      return MPI_Iallgather(&local, 1, MPI_INT64_T, all.data(), 1, MPI_INT64_T, handle_, r);
    });
  });
  ++current_traffic().collectives;
  return all;
}

std::vector<std::int64_t> communicator::alltoall_counts(const std::vector<std::int64_t>& counts) {
  std::vector<std::int64_t> from(size_);
  timed([&] {
    collective("MPI_Ialltoall", [&](MPI_Request* r) {
      return MPI_Ialltoall(counts.data(), 1, MPI_INT64_T, from.data(), 1, MPI_INT64_T, handle_, r);
    });
  });
  ++current_traffic().collectives;
  return from;
}

void communicator::gather_bytes(const void* local, void* all, const std::vector<std::int64_t>& bytes, int root) {
  std::vector<std::int64_t> begin(bytes.size() + 1, 0);
  std::partial_sum(bytes.begin(), bytes.end(), begin.begin() + 1);
  auto* to = static_cast<char*>(all);
  const std::int64_t own = bytes[rank_];
  if (root < 0 && begin.back() <= piece_bytes) {
    const std::vector<int> counts(bytes.begin(), bytes.end()), places(begin.begin(), begin.end() - 1);
    timed([&] {
      collective("MPI_Iallgatherv", [&](MPI_Request* r) {
        return MPI_Iallgatherv(local, int(own), MPI_BYTE, to, counts.data(), places.data(), MPI_BYTE, handle_, r);
      });
    });
    phase_traffic& traffic = current_traffic();
    ++traffic.collectives;
    traffic.sent += own * (size_ - 1);
    traffic.received += begin.back() - own;
    traffic.messages += own > 0 ? size_ - 1 : 0;
    return;
  }
  if ((root < 0 || root == rank_) && own > 0) std::memcpy(to + begin[rank_], local, std::size_t(own));
  if (root < 0) {
    for (int r = 0; r < size_; ++r) broadcast_bytes(to + begin[r], bytes[r], r);
    return;
  }
  transfer started;
  if (rank_ != root)
    start(const_cast<void*>(local), own, root, collective_tag, true, started);
  else
    for (int r = 0; r < size_; ++r)
      if (r != root) start(to + begin[r], bytes[r], r, collective_tag, false, started);
  finish(started);
}

void communicator::scatter_bytes(const void* all, void* local, const std::vector<std::int64_t>& bytes, int root) {
  transfer started;
  if (rank_ != root) {
    start(local, bytes[rank_], root, collective_tag, false, started);
  } else {
    auto* from = static_cast<char*>(const_cast<void*>(all));
    for (int r = 0; r < size_; from += bytes[r], ++r) {
      if (r != root)
        start(from, bytes[r], r, collective_tag, true, started);
      else if (bytes[r] > 0)
        std::memcpy(local, from, std::size_t(bytes[r]));
    }
  }
  finish(started);
}

void communicator::alltoallv_bytes(const void* send, const std::vector<std::int64_t>& to, void* receive,
                                   const std::vector<std::int64_t>& from) {
  std::vector<std::int64_t> send_begin(size_ + 1, 0), receive_begin(size_ + 1, 0);
  std::partial_sum(to.begin(), to.end(), send_begin.begin() + 1);
  std::partial_sum(from.begin(), from.end(), receive_begin.begin() + 1);
  auto* source = static_cast<char*>(const_cast<void*>(send));
  auto* target = static_cast<char*>(receive);
  if (to[rank_] > 0) std::memcpy(target + receive_begin[rank_], source + send_begin[rank_], std::size_t(to[rank_]));
  // One partner at a time: whatever the sizes, no rank has more than two transfers under way.
  for (int step = 1; step < size_; ++step) {
    const int next = (rank_ + step) % size_, previous = (rank_ - step + size_) % size_;
    transfer started;
    start(target + receive_begin[previous], from[previous], previous, collective_tag, false, started);
    start(source + send_begin[next], to[next], next, collective_tag, true, started);
    finish(started);
  }
}

std::int64_t communicator::sum(std::int64_t local) {
  std::int64_t all = 0;
  timed([&] {
    collective("MPI_Iallreduce",
               [&](MPI_Request* r) { return MPI_Iallreduce(&local, &all, 1, MPI_INT64_T, MPI_SUM, handle_, r); });
  });
  ++current_traffic().collectives;
  return all;
}

std::int64_t communicator::minimum(std::int64_t local) {
  std::int64_t all = 0;
  timed([&] {
    collective("MPI_Iallreduce",
               [&](MPI_Request* r) { return MPI_Iallreduce(&local, &all, 1, MPI_INT64_T, MPI_MIN, handle_, r); });
  });
  ++current_traffic().collectives;
  return all;
}

void communicator::minimum_words(void* records, std::int64_t count, int words, int word_bytes) {
  const record_type record(words, word_bytes);
  const std::int64_t bytes = std::int64_t(words) * word_bytes, together = piece_bytes / bytes;
  timed([&] {
    for (std::int64_t written = 0; written < count; written += together)
      collective("MPI_Iallreduce", [&](MPI_Request* r) {
        return MPI_Iallreduce(MPI_IN_PLACE, static_cast<char*>(records) + written * bytes,
                              int(std::min(together, count - written)), record.type, record.minimum, handle_, r);
      });
  });
  ++current_traffic().collectives;
  current_traffic().reduced += count;
}

void communicator::start(void* data, std::int64_t bytes, int other, int tag, bool send, transfer& started) {
  phase_traffic& traffic = current_traffic();
  for (std::int64_t written = 0; written < bytes; written += piece_bytes) {
    const auto count = int(std::min(piece_bytes, bytes - written));
    char* at = static_cast<char*>(data) + written;
    MPI_Request request = MPI_REQUEST_NULL;
    if (send)
      check(MPI_Isend(at, count, MPI_BYTE, other, tag, handle_, &request), "MPI_Isend");
    else
      check(MPI_Irecv(at, count, MPI_BYTE, other, tag, handle_, &request), "MPI_Irecv");
    std::unique_ptr<transfer::requests>& requests = requests_of(started);
    if (!requests) requests = std::make_unique<mpi_requests>();
    pieces(requests).push_back(request);
    if (other != rank_) traffic.messages += send ? 1 : 0;
  }
  if (other != rank_) (send ? traffic.sent : traffic.received) += bytes;
}

bool communicator::poke(transfer& started) {
  if (!started.pending()) return true;
  std::vector<MPI_Request>& requests = pieces(requests_of(started));
  int written = 0;
  check(MPI_Testall(int(requests.size()), requests.data(), &written, MPI_STATUSES_IGNORE), "MPI_Testall");
  if (written) requests_of(started).reset();
  return written != 0;
}

void communicator::finish(transfer& started) {
  timed([&] {
    if (started.pending()) wait_for(pieces(requests_of(started)), host_size_ > processors_of_host());
  });
  requests_of(started).reset();
}

void abort_all(std::string_view line, int status) noexcept {
  std::fprintf(stderr, "%.*s\n", int(line.size()), line.data());
  std::fflush(nullptr);
  int is_there = 0, is_over = 0;
  MPI_Initialized(&is_there);
  MPI_Finalized(&is_over);
  if (is_there && !is_over) MPI_Abort(MPI_COMM_WORLD, status);
  std::_Exit(status);
}

}  // namespace quintet::mpi
