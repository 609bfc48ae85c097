#include "mpi/fault.hpp"

#include <csignal>
#include <cstdlib>
#include <string>

#include "quintet/core/error.hpp"

#ifdef QUINTET_MPI_FAULTS
#include <chrono>
#include <thread>
#endif

namespace quintet::mpi {

#ifdef QUINTET_MPI_FAULTS

void fault_point(int rank) {
  static std::string text;
  static int step = 0;
  const char* fault = std::getenv("QUINTET_MPI_FAULT");
  if (fault == nullptr) return text.clear();
  if (text != fault) step = 0;
  text = fault;
  const std::size_t first = text.find(':'), second = text.find(':', first + 1);
  if (second == std::string::npos || std::atoi(text.c_str() + first + 1) != rank) return;
  if (std::atoi(text.c_str() + second + 1) != step++) return;
  const std::string kind = text.substr(0, first);
  if (kind == "kill") std::raise(SIGKILL);
  if (kind == "throw") throw Error("a fault on purpose");
  if (kind == "memory") throw OutOfMemory(1 << 20, "host");
  if (kind == "slow") std::this_thread::sleep_for(std::chrono::seconds(2));
}

std::int64_t tiles_of_strip(std::int64_t usual) {
  const char* tiles = std::getenv("QUINTET_MPI_STRIP");
  return tiles == nullptr ? usual : std::atoll(tiles);
}

processor_set processors_present(const processor_set& usual) {
  const char* count = std::getenv("QUINTET_MPI_PRESENT");
  processor_set present = usual;
  for (int i = 0; count != nullptr && i < std::atoi(count); ++i) present.set(std::size_t(i));
  return present;
}

#else

processor_set processors_present(const processor_set& usual) { return usual; }
void fault_point(int) {}
std::int64_t tiles_of_strip(std::int64_t usual) { return usual; }

#endif

}  // namespace quintet::mpi
