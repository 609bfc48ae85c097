#include "quintet/core/error.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <sstream>
#include <string>

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

// A text has what a stream prints, whichever way it is made.
TEST(Error, TextsAreWhatAStreamPrints) {
  const auto same = [](const auto&... parts) {
    std::ostringstream out;
    (out << ... << parts);
    EXPECT_EQ(quintet::text(parts...), out.str());
  };
  same("a", std::string("b"), std::string_view("c"), 'd', true, false);
  same(std::int64_t(-7), " ", std::uint8_t('x'), " ", std::int8_t('y'), " ", std::size_t(9), " ", short(-1));
  same(INT64_MIN, " ", INT64_MAX, " ", UINT64_MAX);
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double x : {0.0, -0.0, 1.0, 0.1, 1e5, 1e6, 123456789.0, 1.0 / 3, 1e-4, 1e-5, -2.5e300, 5e-324, infinity,
                         -infinity, std::numeric_limits<double>::quiet_NaN()}) {
    same(x);
    same(float(x));
    same(static_cast<long double>(x));
  }
}

}  // namespace
