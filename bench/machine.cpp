#include "machine.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "device/pack.hpp"

namespace quintet::bench {

namespace {

// Enough independent chains to hide the latency of a multiply-add, few enough to stay in registers.
constexpr int chains = 12;

template <class Real>
void multiply_add(std::int64_t rounds) {
  typedef device::pack<Real, device::host_lanes<Real>()> value;
  value sum[chains], factor = device::broadcast_pack<value>(Real(0.999)),
                     term = device::broadcast_pack<value>(Real(1e-3));
  for (value& s : sum) s = value{};
  for (std::int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 12
    for (int c = 0; c < chains; ++c) sum[c] = sum[c] * factor + term;
    asm volatile("" : "+r"(rounds));
  }
  for (value& s : sum) asm volatile("" : : "m"(s));
}

// The largest resident size so far. Not getrusage's where /proc is: that begins with the size of the process that
// started this one.
std::int64_t peak_memory_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string name, rest; status >> name && std::getline(status, rest);)
    if (name == "VmHWM:") return std::stoll(rest) * 1024;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t(usage.ru_maxrss) * 1024;
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

template <class Real>
double fma_rate(int threads) {
  constexpr std::int64_t rounds = 4'000'000;
  double best = 0;
  // Some 7 ms each: at first a system may keep both threads on one core.
  for (int attempt = 0; attempt < 40; ++attempt) {
    const double start = seconds_now();
    std::vector<std::thread> team;
    for (int t = 0; t < threads; ++t) team.emplace_back(multiply_add<Real>, rounds);
    for (std::thread& t : team) t.join();
    const double lanes = double(threads) * rounds * chains * device::host_lanes<Real>();
    best = std::max(best, lanes / (seconds_now() - start));
  }
  return best;
}

template double fma_rate<float>(int);
template double fma_rate<double>(int);

double stream_rate(int threads) {
  // Far larger than the caches of all cores together.
  constexpr std::int64_t length = std::int64_t(1) << 24;
  std::vector<double> a(length, 0), b(length, 1), c(length, 2);
  double best = 0;
  for (int attempt = 0; attempt < 5; ++attempt) {
    const double start = seconds_now();
    std::vector<std::thread> team;
    for (int t = 0; t < threads; ++t)
      team.emplace_back([&, begin = length * t / threads, end = length * (t + 1) / threads] {
        for (std::int64_t i = begin; i < end; ++i) a[i] = b[i] + 3 * c[i];
        asm volatile("" : : "r"(a.data()) : "memory");
      });
    for (std::thread& t : team) t.join();
    best = std::max(best, 3.0 * sizeof(double) * double(length) / (seconds_now() - start));
  }
  return best;
}

memory_watch::memory_watch() {
  std::ofstream("/proc/self/clear_refs") << "5";  // the peak of this process starts again
  before_ = peak_memory_bytes();
}

std::int64_t memory_watch::extra_bytes() const { return peak_memory_bytes() - before_; }

}  // namespace quintet::bench
