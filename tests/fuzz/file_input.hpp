// Hands the fuzzer's bytes to a reader of files. What a reader may do with any bytes is to return, or to throw a
// FileError; everything else is a finding.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "quintet/core/error.hpp"

namespace quintet::test {

/// A file of this process alone, in memory where the system offers that.
class fuzz_file {
 public:
  explicit fuzz_file(const std::string& extension) {
    const std::filesystem::path memory = "/dev/shm";
    const auto folder = std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
    path_ = folder / ("quintet_fuzz_" + std::to_string(getpid()) + extension);
  }
  ~fuzz_file() { std::filesystem::remove(path_); }
  fuzz_file(const fuzz_file&) = delete;
  fuzz_file& operator=(const fuzz_file&) = delete;

  std::string hold(const std::uint8_t* data, std::size_t size) const {
    std::ofstream out(path_, std::ios::binary | std::ios::trunc);
    out.write(reinterpret_cast<const char*>(data), std::streamsize(size));
    out.close();
    if (!out) {
      std::perror(path_.c_str());
      std::abort();
    }
    return path_.string();
  }

 private:
  std::filesystem::path path_;
};

template <class Read>
int read_or_refuse(const Read& read) {
  try {
    read();
  } catch (const FileError&) {
    // The bytes are no such file.
  }
  return 0;
}

}  // namespace quintet::test
