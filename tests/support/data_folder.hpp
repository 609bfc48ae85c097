// Where the reference data lie: QUINTET_DATA_DIR, or tests/data of the source tree (QUINTET_SOURCE_DIR); folders that
// do not travel with it may be in ../shared/data beside it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace quintet::test {

/// The folder `name` of the reference data; the path may not exist.
inline std::filesystem::path data_folder(const std::string& name) {
  if (const char* set = std::getenv("QUINTET_DATA_DIR")) return std::filesystem::path(set) / name;
  const std::filesystem::path source = QUINTET_SOURCE_DIR, here = source / "tests" / "data" / name;
  std::error_code none;
  return std::filesystem::exists(here, none) ? here : source / ".." / "shared" / "data" / name;
}

}  // namespace quintet::test

/// Skips the rest of a test, with a message, when `folder`, or a file, is not there.
#define QUINTET_SKIP_WITHOUT(folder) \
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no reference data in " << (folder) << " (QUINTET_DATA_DIR)"
