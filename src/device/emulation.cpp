#include "device/emulation.hpp"

#include <omp.h>

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <system_error>
#include <tuple>

#include "device/one_runtime.hpp"
#include "quintet/core/error.hpp"

namespace quintet::device {

namespace {

constexpr const char* variable = "QUINTET_EMULATED_THREADS";
constexpr int most_threads = 1024;

/// The number in the environment; 0 without one.
int threads_of_environment() {
  const char* value = std::getenv(variable);
  if (value == nullptr || *value == 0) return 0;
  int threads = 0;
  const char* end = value + std::strlen(value);
  const auto [stop, error] = std::from_chars(value, end, threads);
  require_argument(error == std::errc() && stop == end && threads >= 1 && threads <= most_threads, variable,
                   std::string_view(value), text("a number in [1, ", most_threads, "]"));
  return threads;
}

/// What the innermost guard wants; 0: nothing.
std::atomic<int> wanted_threads{0};

}  // namespace

emulated_team_size::emulated_team_size(int threads) {
  require_argument(threads >= 1 && threads <= most_threads, "threads", threads, text("in [1, ", most_threads, "]"));
  previous_ = wanted_threads.exchange(threads);
}

emulated_team_size::~emulated_team_size() { wanted_threads = previous_; }

int detail::emulated_team(int usual, int most, int multiple) {
  quintet::detail::require_one_runtime();
  static const int of_environment = threads_of_environment();
  int threads = wanted_threads.load(std::memory_order_relaxed);
  if (threads == 0) threads = of_environment;
  if (threads == 0) threads = usual;
  if (threads > most) threads = most;
  return threads < multiple ? multiple : threads - threads % multiple;
}

void detail::refuse_team(int got, int multiple, int expected, const Device& device) {
  throw DeviceError(
      text("a kernel needs teams of a multiple of ", multiple, " threads and got teams of ", got,
           " (asked for: ", expected, ") on ", device.name(),
           "; OMP_THREAD_LIMIT, OMP_DYNAMIC, KMP_TEAMS_THREAD_LIMIT and OMP_NUM_THREADS can be the cause"));
}

#ifdef QUINTET_OFFLOAD
int detail::offload_team(int device, int teams, int threads) {
  static std::mutex mutex;
  static std::map<std::tuple<int, int, int>, int> known;
  const std::lock_guard lock(mutex);
  int& size = known[{device, teams, threads}];
  if (size == 0) {
    int got = 0;
#pragma omp target teams device(device) num_teams(teams) thread_limit(threads) map(tofrom : got)
#pragma omp parallel num_threads(threads)
    if (omp_get_team_num() == 0 && omp_get_thread_num() == 0) got = omp_get_num_threads();
    size = got;
  }
  return size;
}
#endif

}  // namespace quintet::device
