// A program of g++ that uses OpenMP itself, linked with a library of clang++: which runtime answers depends on the
// order in which they are linked. Prints "right" when everything is, or what the library says against it.
#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <iostream>
#include <thread>
#include <vector>

#include "quintet/core/error.hpp"
#include "quintet/hdbscan/core_distances.hpp"

namespace {

constexpr std::int64_t count = 400;

/// Points on a line, one unit apart: the third neighbour is at 2, or 3 at the ends.
bool is_right(const quintet::Device& device) {
  std::vector<float> line(count);
  for (std::int64_t i = 0; i < count; ++i) line[std::size_t(i)] = float(i);
  const auto found = quintet::hdbscan::core_distances<float>(quintet::matrix_view<const float>(line.data(), count, 1),
                                                             {.min_samples = 3}, device);
  for (std::int64_t i = 0; i < count; ++i)
    if (found.distances[std::size_t(i)] != (i == 0 || i == count - 1 ? 3.0F : 2.0F)) return false;
  return true;
}

int own_threads() {
  int most = 0;
#pragma omp parallel num_threads(3) reduction(max : most)
  most = omp_get_thread_num() + 1;
  return most;
}

bool all_right() {
  if (own_threads() != 3) return false;
  if (!is_right(quintet::Device::host()) || !is_right(quintet::Device::emulated())) return false;
  // From several threads of the program at once, and within its own parallel region.
  int right = 0;
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i)
    callers.emplace_back(
        [&right] { __atomic_fetch_add(&right, int(is_right(quintet::Device::host())), __ATOMIC_RELAXED); });
  for (std::thread& caller : callers) caller.join();
#pragma omp parallel num_threads(2)
  __atomic_fetch_add(&right, int(is_right(quintet::Device::host())), __ATOMIC_RELAXED);
  return right == 6;
}

}  // namespace

int main() {
  quintet::set_threads(2);
  try {
    std::cout << (all_right() ? "right" : "wrong") << std::endl;
  } catch (const quintet::DeviceError& e) {
    std::cout << e.what() << std::endl;
  }
}
