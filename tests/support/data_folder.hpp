// Where the reference data lie: QUINTET_DATA_DIR, or ../shared/data beside the source tree (QUINTET_SOURCE_DIR).
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace quintet::test {

/// The folder `name` of the reference data; the path may not exist.
inline std::filesystem::path data_folder(const std::string& name) {
  const char* set = std::getenv("QUINTET_DATA_DIR");
  const std::filesystem::path root = set != nullptr
                                         ? std::filesystem::path(set)
                                         : std::filesystem::path(QUINTET_SOURCE_DIR) / ".." / "shared" / "data";
  return root / name;
}

}  // namespace quintet::test

/// Skips the rest of a test, with a message, when `folder` is not there.
#define QUINTET_SKIP_WITHOUT(folder)          \
  if (!std::filesystem::is_directory(folder)) \
  GTEST_SKIP() << "no reference data in " << (folder) << " (QUINTET_DATA_DIR)"
