// What a small problem costs beside its arithmetic: the first parallel region of a process, and calls of every family
// on the smallest data.
//
//   start_bench [repetitions]
//
// One line per measurement: name, microseconds of processor time of the whole process, microseconds of wall time,
// allocations are counted by tests/unit/robustness/small_calls_test.cpp. Medians of the repetitions; the first calls
// happen once.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "quintet/core/philox.hpp"
#include "quintet/hdbscan/hdbscan.hpp"
#include "quintet/poincare/poincare.hpp"
#include "quintet/spgemm/multiply.hpp"
#include "quintet/svd/decompose.hpp"

namespace {

using namespace quintet;

double processor_seconds() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return double(t.tv_sec) + 1e-9 * double(t.tv_nsec);
}
double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

long page_faults() {
  rusage used;
  getrusage(RUSAGE_SELF, &used);
  return used.ru_minflt;
}

/// The first call alone, then the median of `repetitions` batches of `calls`.
template <class Call>
void measure(const char* name, int repetitions, int calls, const Call& call) {
  const auto timed = [&](int count) {
    const double processor = processor_seconds(), wall = wall_seconds();
    for (int i = 0; i < count; ++i) call();
    return std::pair((processor_seconds() - processor) / count * 1e6, (wall_seconds() - wall) / count * 1e6);
  };
  const long faults = page_faults();
  const auto first = timed(1);
  std::printf("%-28s first    cpu %9.2f us  wall %9.2f us  page faults %ld\n", name, first.first, first.second,
              page_faults() - faults);
  std::vector<double> processor, wall;
  for (int r = 0; r < repetitions; ++r) {
    const auto one = timed(calls);
    processor.push_back(one.first);
    wall.push_back(one.second);
  }
  std::sort(processor.begin(), processor.end());
  std::sort(wall.begin(), wall.end());
  std::printf("%-28s median   cpu %9.2f us  wall %9.2f us\n", name, processor[processor.size() / 2],
              wall[wall.size() / 2]);
}

template <class Real>
std::vector<Real> normal_values(std::int64_t count, std::uint64_t stream) {
  std::vector<Real> values(std::size_t(count), 0);
  for (std::int64_t i = 0; i < count; ++i) values[std::size_t(i)] = normal_at<Real>(1, stream, i);
  return values;
}

void all(int repetitions, const char* threads) {
  std::printf("%s\n", threads);
  const auto matrix = normal_values<float>(9, 0);
  measure("svd 1 of 3 x 3", repetitions, 1000,
          [&] { svd::decompose<float>({matrix.data(), 1, 3, 3}, {}, Device::host()); });
  for (const std::int64_t n : {100, 150}) {
    auto points = normal_values<float>(n * 4, 1);
    for (std::int64_t i = 0; i < n; ++i) points[std::size_t(4 * i)] += float(6 * (i % 3));
    measure(n == 100 ? "cluster 100 x 4" : "cluster 150 x 4", repetitions, 20,
            [&] { hdbscan::cluster({points.data(), n, 4}, {}, Device::host()); });
  }
  auto ball = normal_values<float>(20 * 4, 2);
  for (float& x : ball) x *= 0.1F;
  std::vector<float> out(400);
  measure("poincare 20 x 20 x 4", repetitions, 200, [&] {
    poincare::distances({ball.data(), 20, 4}, {ball.data(), 20, 4}, {out.data(), 20, 20}, {}, Device::host());
  });
}

}  // namespace

int main(int argc, char** argv) {
  const int repetitions = argc > 1 ? std::atoi(argv[1]) : 21;
  all(repetitions, "threads as OpenMP has them");
  set_threads(1);
  all(repetitions, "one thread");
}
