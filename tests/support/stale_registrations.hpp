// What a killed program of libomp leaves behind.
#pragma once

#include <signal.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace quintet::test {

/// Removes the shared memory of libomp, `/dev/shm/__KMP_REGISTERED_LIB_<process>_<user>`, of processes that have ended.
/// One that could not write to it (killed, or with a limit on the size of files) leaves it empty; a later program with
/// that number maps it and dies of a bus error.
inline void remove_stale_registrations() {
  const std::string prefix = "__KMP_REGISTERED_LIB_";
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", none)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(prefix)) continue;
    const int process = std::atoi(name.c_str() + prefix.size());
    if (process > 0 && ::kill(process, 0) != 0 && errno == ESRCH) std::filesystem::remove(entry.path(), none);
  }
}

}  // namespace quintet::test
