#include "quintet/core/build_info.hpp"

#include <gtest/gtest.h>

namespace {

TEST(BuildInfo, NamesVersionCompilerAndTargets) {
  const quintet::build_information& info = quintet::build_info();
  EXPECT_EQ(info.version, QUINTET_TEST_VERSION);
  EXPECT_FALSE(info.compiler.empty());
  EXPECT_FALSE(info.offload_targets.empty());
  const std::string line = info.summary();
  for (const std::string_view part :
       {info.version, info.git_hash, info.compiler, info.build_type, info.offload_targets})
    EXPECT_NE(line.find(part), std::string::npos) << part << " in " << line;
}

}  // namespace
