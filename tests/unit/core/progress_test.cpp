#include "quintet/core/progress.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "quintet/core/error.hpp"

namespace {

using quintet::progress;
using report = std::pair<std::string, double>;

TEST(Progress, WithoutCallbackNothingHappens) {
  progress none;
  EXPECT_NO_THROW(none("stage", 0.5));
  progress empty{quintet::progress_callback()};
  EXPECT_NO_THROW(empty("stage", 0.5));
}

TEST(Progress, StartAndEndOfEachStageArePassedOnAndTheRestIsThinnedOut) {
  std::vector<report> seen;
  progress reports(
      [&](std::string_view stage, double fraction) {
        seen.emplace_back(stage, fraction);
        return true;
      },
      std::chrono::hours(1));
  for (const char* stage : {"first", "second"})
    for (int i = 0; i <= 1000; ++i) reports(stage, i / 1000.0);
  reports("second", 1.0);  // the end is told once
  EXPECT_EQ(seen, (std::vector<report>{{"first", 0}, {"first", 1}, {"second", 0}, {"second", 1}}));
}

TEST(Progress, WithoutIntervalEveryReportIsPassedOn) {
  int calls = 0;
  progress reports([&](std::string_view, double) { return ++calls, true; }, std::chrono::seconds(0));
  for (int i = 0; i <= 10; ++i) reports("stage", i / 10.0);
  EXPECT_EQ(calls, 11);
}

TEST(Progress, FractionsAreClamped) {
  std::vector<double> seen;
  progress reports([&](std::string_view, double fraction) { return seen.push_back(fraction), true; },
                   std::chrono::seconds(0));
  reports("a", -1);
  reports("b", std::nan(""));
  reports("c", 7);
  EXPECT_EQ(seen, (std::vector<double>{0, 0, 1}));
}

TEST(Progress, FalseCancels) {
  progress reports([](std::string_view, double fraction) { return fraction < 0.5; }, std::chrono::seconds(0));
  EXPECT_NO_THROW(reports("spanning tree", 0.25));
  try {
    reports("spanning tree", 0.75);
    FAIL() << "not cancelled";
  } catch (const quintet::Cancelled& e) {
    EXPECT_STREQ(e.what(), "cancelled by the caller in stage \"spanning tree\"");
  }
}

}  // namespace
