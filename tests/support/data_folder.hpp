// Where the reference data lie: QUINTET_DATA_DIR, tests/data of the source tree (QUINTET_SOURCE_DIR), or ../shared/data
// beside it: the first of them that has the folder.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace quintet::test {

/// The folder `name` of the reference data; the path may not exist.
inline std::filesystem::path data_folder(const std::string& name) {
  const std::filesystem::path source = QUINTET_SOURCE_DIR;
  const char* set = std::getenv("QUINTET_DATA_DIR");
  const std::filesystem::path beside = source / ".." / "shared" / "data" / name;
  for (const auto& path :
       {(set == nullptr ? beside : std::filesystem::path(set) / name), source / "tests" / "data" / name}) {
    std::error_code none;
    if (std::filesystem::exists(path, none)) return path;
  }
  return beside;
}

}  // namespace quintet::test

/// Skips the rest of a test, with a message, when `folder`, or a file, is not there.
#define QUINTET_SKIP_WITHOUT(folder) \
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no reference data in " << (folder) << " (QUINTET_DATA_DIR)"
