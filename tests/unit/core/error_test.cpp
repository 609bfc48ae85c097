#include "quintet/core/error.hpp"

#include <gtest/gtest.h>

namespace {

TEST(Error, TextsNameValueAndRange) {
  try {
    quintet::require_argument(false, "k", 5, "< n=3");
    FAIL();
  } catch (const quintet::InvalidArgument& e) {
    EXPECT_STREQ(e.what(), "k must be < n=3 (k=5)");
  }
  EXPECT_STREQ(quintet::FileError("a.csv", "is empty").what(), "a.csv: is empty");
  EXPECT_STREQ(quintet::FileError("a.csv", 7, "is odd").what(), "a.csv:7: is odd");
  const quintet::OutOfMemory memory(1024, "host");
  EXPECT_EQ(memory.bytes(), 1024);
  EXPECT_NE(std::string(memory.what()).find("1024 bytes"), std::string::npos);
}

}  // namespace
