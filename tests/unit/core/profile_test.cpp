#include "quintet/core/profile.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

using quintet::profile_hook;
using quintet::set_profile_hook;
using quintet::stage_region;

using events = std::vector<std::string>;

/// Writes "+stage" and "-stage" into `seen`.
profile_hook into(events& seen) {
  return {.begin = [](void* to, const char* stage) { static_cast<events*>(to)->push_back(std::string("+") + stage); },
          .end = [](void* to, const char* stage) { static_cast<events*>(to)->push_back(std::string("-") + stage); },
          .context = &seen};
}

class Profile : public testing::Test {
 protected:
  ~Profile() override { set_profile_hook({}); }
};

TEST_F(Profile, WithoutHookOnlySecondsAreCounted) {
  double seconds = 0;
  {
    const stage_region stage("stage", &seconds);
    EXPECT_EQ(stage.name(), std::string("stage"));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_EQ(seconds, 0);
  }
  EXPECT_GE(seconds, 0.002);
  const double once = seconds;
  {
    stage_region stage("stage", &seconds);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    stage.end();
    const double twice = seconds;
    EXPECT_GE(twice, once + 0.002);
    stage.end();
    EXPECT_EQ(seconds, twice);
  }
  EXPECT_LT(seconds, 10);
}

TEST_F(Profile, RegionsNestAndOneNameIsOneRegion) {
  events seen;
  set_profile_hook(into(seen));
  {
    const stage_region outer("outer");
    const stage_region same("outer");
    {
      const stage_region inner("inner");
      const stage_region outer_again("outer");
    }
    stage_region ended("ended");
    ended.end();
    const stage_region after("after");
  }
  EXPECT_EQ(seen, (events{"+outer", "+inner", "+outer", "-outer", "-inner", "+ended", "-ended", "+after", "-after",
                          "-outer"}));
}

TEST_F(Profile, RegionsEndWithExceptions) {
  events seen;
  set_profile_hook(into(seen));
  try {
    const stage_region stage("stage");
    throw 1;
  } catch (int) {
  }
  const stage_region next("next");
  EXPECT_EQ(seen, (events{"+stage", "-stage", "+next"}));
}

TEST_F(Profile, OpenRegionsKeepTheirHook) {
  events first, second;
  stage_region before("before");
  set_profile_hook(into(first));
  {
    const stage_region outer("outer");
    set_profile_hook(into(second));
    {
      const stage_region inner("inner");
      set_profile_hook({});
      const stage_region unseen("unseen");
    }
  }
  before.end();
  EXPECT_EQ(first, (events{"+outer", "-outer"}));
  EXPECT_EQ(second, (events{"+inner", "-inner"}));
}

TEST_F(Profile, HalfAHookIsOne) {
  int begun = 0;
  set_profile_hook({.begin = [](void* count, const char*) { ++*static_cast<int*>(count); }, .context = &begun});
  {
    const stage_region stage("stage");
  }
  EXPECT_EQ(begun, 1);
}

// A static of the function would be constructed by the thread that runs the function only.
thread_local events mine;

TEST_F(Profile, ThreadsHaveRegionsOfTheirOwn) {
  constexpr int threads = 8, rounds = 500;
  set_profile_hook({.begin = [](void*, const char* stage) { mine.push_back(std::string("+") + stage); },
                    .end = [](void*, const char* stage) { mine.push_back(std::string("-") + stage); }});
  std::vector<events> seen(threads);
  std::vector<std::thread> team;
  for (int t = 0; t < threads; ++t)
    team.emplace_back([&, t] {
      for (int i = 0; i < rounds; ++i) {
        const stage_region outer("outer");
        const stage_region inner("inner");
      }
      seen[t] = mine;
    });
  for (std::thread& one : team) one.join();
  events expected;
  for (int i = 0; i < rounds; ++i) expected.insert(expected.end(), {"+outer", "+inner", "-inner", "-outer"});
  for (const events& one : seen) EXPECT_EQ(one, expected);
}

TEST_F(Profile, HelpersAreInsideTheStageThatWaitsForThem) {
  events seen;
  set_profile_hook(into(seen));
  stage_region stage("stage");
  stage_region* const outer = quintet::detail::innermost_stage();
  ASSERT_EQ(outer, &stage);
  std::thread([&] {
    {
      const quintet::detail::stage_guard inside(outer);
      const stage_region same("stage");
      const stage_region inner("inner");
    }
    EXPECT_EQ(quintet::detail::innermost_stage(), nullptr);
  }).join();
  EXPECT_EQ(quintet::detail::innermost_stage(), &stage);
  stage.end();
  EXPECT_EQ(seen, (events{"+stage", "+inner", "-inner", "-stage"}));
}

// In a process of its own, because the variable is read once.
TEST(ProfileDeathTest, TheVariablePrintsATableAtTheEnd) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto work = [](const char* value) {
    ::setenv("QUINTET_PROFILE", value, 1);
    {
      const stage_region outer("outer");
      for (int i = 0; i < 3; ++i) const stage_region inner("inner");
    }
    const stage_region outer("outer");
    const stage_region open("open");  // never ends: no calls
    std::exit(7);
  };
  const std::string number = " +[0-9.]+", numbers = number + number;
  EXPECT_EXIT(work("1"), testing::ExitedWithCode(7),
              "^    calls     seconds  own seconds  stage\n +1" + numbers + "  outer\n +3" + numbers +
                  "    inner\n +0" + numbers + "    open\n$");
  EXPECT_EXIT(work("0"), testing::ExitedWithCode(7), "^$");
  EXPECT_EXIT(work(""), testing::ExitedWithCode(7), "^$");
}

}  // namespace
