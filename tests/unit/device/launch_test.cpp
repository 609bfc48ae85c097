// Launches: every tile once, teams as they should be, whatever the device.
#include <gtest/gtest.h>

#include "kernels.hpp"
#include "support/devices.hpp"

namespace quintet::device {
namespace {

using test::on_every_device;

TEST(launch, runs_every_tile_once) {
  on_every_device([](const Device& device) {
    for (const std::int64_t tiles : {0, 1, 2, 3, 7, 200})
      for (const int items : {1, 5, 64, 100})
        EXPECT_EQ(test::count_visits(tiles, items, device), std::vector<std::int32_t>(tiles * items, 1))
            << tiles << " tiles, " << items << " items";
  });
}

TEST(launch, runs_every_tile_once_with_any_number_of_threads) {
  for (const int count : {1, 2, 5, 9}) {
    set_threads(count);
    on_every_device(
        [](const Device& device) { EXPECT_EQ(test::count_visits(50, 3, device), std::vector<std::int32_t>(150, 1)); });
  }
  set_threads(0);
}

TEST(launch, host_teams_are_one_thread) {
  for (const auto& facts : test::look_at_teams(20, Device::host())) {
    EXPECT_EQ(facts.size, 1);
    EXPECT_EQ(facts.on_device, 0);
  }
}

// Without its threads a test of the device path would test nothing.
TEST(launch, emulated_teams_have_the_threads_asked_for) {
  for (const auto& facts : test::look_at_teams(20, Device::emulated())) {
    EXPECT_EQ(facts.size, test::emulated_team);
    EXPECT_EQ(facts.on_device, 1);
    EXPECT_EQ(facts.distinct_ranks, facts.size);
  }
}

TEST(launch, offload_teams_have_several_threads) {
  if (Device::count() == 0) GTEST_SKIP() << "no offload device";
  for (const auto& facts : test::look_at_teams(20, Device::offload(0))) {
    EXPECT_GE(facts.size, 2) << "the x86_64 plugin needs KMP_TEAMS_THREAD_LIMIT=1024 OMP_NUM_THREADS=16";
    EXPECT_EQ(facts.on_device, 1);
    EXPECT_EQ(facts.distinct_ranks, facts.size);
  }
}

TEST(launch, team_memory_is_shared_by_the_team_and_by_nobody_else) {
  on_every_device([](const Device& device) {
    for (const int items : {1, 2, 50, 256}) {
      constexpr std::int64_t tiles = 9;
      const auto found = test::reverse_in_team_memory(tiles, items, device);
      for (std::int64_t tile = 0; tile < tiles; ++tile)
        for (int e = 0; e < items; ++e) ASSERT_EQ(found[tile * items + e], 1000 * e + items - 1 - e);
    }
  });
}

TEST(launch, emulated_and_host_launches_may_follow_one_another) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(test::look_at_teams(1, Device::emulated())[0].size, test::emulated_team);
    EXPECT_EQ(test::look_at_teams(1, Device::host())[0].size, 1);
  }
}

}  // namespace
}  // namespace quintet::device
