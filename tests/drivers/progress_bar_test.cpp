#include "support/progress_bar.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace {

using quintet::driver::progress_bar;
using quintet::driver::progress_log;

TEST(ProgressBar, ShowsChangesAndErasesItself) {
  std::ostringstream terminal;
  {
    progress_bar bar(terminal, std::chrono::seconds(0));
    bar.show("reading", 0.5);
    const std::string once = terminal.str();
    EXPECT_NE(once.find("reading [###############               ] 50 %"), std::string::npos) << once;
    bar.show("reading", 0.501);
    EXPECT_EQ(terminal.str(), once) << "nothing new to show";
    bar.show("writing", 7);
    EXPECT_NE(terminal.str().find("writing [##############################] 100 %"), std::string::npos);
  }
  EXPECT_TRUE(terminal.str().ends_with("\r\033[K"));
}

TEST(ProgressBar, ShortWorkShowsNothing) {
  std::ostringstream terminal;
  {
    progress_bar bar(terminal, std::chrono::hours(1));
    bar.show("reading", 0.5);
  }
  EXPECT_EQ(terminal.str(), "");
}

TEST(ProgressLog, WritesALineEveryInterval) {
  std::ostringstream log;
  progress_log often(log, "quintet-x", std::chrono::nanoseconds(1));
  often.show("neighbours", 0.355);
  often.show("spanning tree", 1);
  EXPECT_EQ(log.str(), "quintet-x: neighbours 35 % after 0 s\nquintet-x: spanning tree 100 % after 0 s\n");
}

TEST(ProgressLog, ShortWorkLeavesNoLine) {
  std::ostringstream log;
  progress_log seldom(log, "quintet-x", std::chrono::hours(1));
  for (int percent = 0; percent <= 100; ++percent) seldom.show("neighbours", percent / 100.0);
  EXPECT_EQ(log.str(), "");
}

}  // namespace
