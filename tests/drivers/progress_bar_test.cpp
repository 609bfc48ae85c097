#include "support/progress_bar.hpp"

#include <gtest/gtest.h>

#include <chrono>
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

TEST(TimeLeft, IsThatOfTheSharesOfTheStages) {
  using quintet::driver::time_left;
  time_left left({{"neighbours", 0.5}, {"spanning_tree", 0.5}});
  EXPECT_FALSE(left("neighbours", 0, 60));
  EXPECT_FALSE(left("neighbours", 0.1, 100)) << "the clock starts here, with a twentieth done";
  EXPECT_FALSE(left("neighbours", 0.19, 102));
  EXPECT_DOUBLE_EQ(left("neighbours", 0.3, 110).value(), 85);
  EXPECT_DOUBLE_EQ(left("neighbours", 1, 145).value(), 50);
  EXPECT_DOUBLE_EQ(left("spanning_tree", 0.6, 150).value(), 50 * 0.2 / 0.75);
  EXPECT_DOUBLE_EQ(left("spanning_tree", 1, 180).value(), 0);
  EXPECT_FALSE(left("another", 0.5, 190));
  EXPECT_FALSE(time_left()("neighbours", 0.5, 1));
}

TEST(TimeLeft, IsSaidInAUnitThatFits) {
  using quintet::driver::left_text;
  EXPECT_EQ(left_text(0.2), "about 0 s left");
  EXPECT_EQ(left_text(119), "about 119 s left");
  EXPECT_EQ(left_text(150), "about 3 min left");
  EXPECT_EQ(left_text(9000), "about 3 h left");
}

TEST(ProgressLog, SaysWhatIsLeft) {
  std::ostringstream log;
  progress_log often(log, "quintet-x", std::chrono::nanoseconds(1));
  often.expect({{"neighbours", 1.0}});
  often.show("neighbours", 0);
  often.show("neighbours", 0.1);
  often.show("neighbours", 0.5);
  EXPECT_NE(log.str().find("neighbours 50 % after 0 s, about 0 s left"), std::string::npos) << log.str();
}

TEST(ProgressLog, ShortWorkLeavesNoLine) {
  std::ostringstream log;
  progress_log seldom(log, "quintet-x", std::chrono::hours(1));
  for (int percent = 0; percent <= 100; ++percent) seldom.show("neighbours", percent / 100.0);
  EXPECT_EQ(log.str(), "");
}

}  // namespace
