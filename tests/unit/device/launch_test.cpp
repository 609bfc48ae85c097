// Launches: every tile once, teams as they should be, whatever the device.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "device/emulation.hpp"
#include "kernels.hpp"
#include "support/devices.hpp"
#include "support/expect_error.hpp"

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

TEST(launch, emulated_teams_have_the_size_that_a_test_wants) {
  for (const int wanted : {1, 2, 3, 5, 8, 32, 64, 100}) {
    const emulated_team_size size(wanted);
    // No more than on a GPU.
    EXPECT_EQ(test::look_at_teams(5, Device::emulated())[0].size, std::min(wanted, test::gpu_team));
    EXPECT_EQ(test::count_visits(7, 50, Device::emulated()), std::vector<std::int32_t>(350, 1));
    const emulated_team_size inner(2);
    EXPECT_EQ(test::look_at_teams(1, Device::emulated())[0].size, 2);
  }
  expect_invalid([] { emulated_team_size(0); }, "threads must be in [1, 1024] (threads=0)");
  expect_invalid([] { emulated_team_size(1025); }, "threads must be in [1, 1024] (threads=1025)");
}

TEST(launch, teams_are_whole_multiples_of_what_a_kernel_needs) {
  const std::vector<std::int32_t> ones(test::gpu_team, 1);
  for (const int wanted : {1, 3, 8, 9, 31, 64}) {
    const emulated_team_size size(wanted);
    const auto sums = test::sum_subgroups(8, ones, Device::emulated());
    const int threads = std::max(8, wanted / 8 * 8);
    for (int r = 0; r < test::gpu_team; ++r) EXPECT_EQ(sums[r], r < threads ? 8 : 0) << wanted << ", rank " << r;
  }
}

// A launch inside a parallel region has its threads as well.
TEST(launch, emulated_teams_have_their_threads_inside_a_parallel_call) {
  EXPECT_EQ(test::team_sizes_side_by_side(2, Device::emulated()),
            (std::vector<int>{test::emulated_team, test::emulated_team}));
}

// Run with OMP_THREAD_LIMIT as well: see CMakeLists.txt.
TEST(launch, teams_that_a_limit_makes_too_small_are_refused) {
  const char* limit = std::getenv("OMP_THREAD_LIMIT");
  if (limit == nullptr || std::stoi(limit) > 8) GTEST_SKIP() << "OMP_THREAD_LIMIT is not set to 8 or less";
  for (const auto& facts : test::look_at_teams(20, Device::emulated())) EXPECT_LT(facts.size, test::emulated_team);
  EXPECT_EQ(test::count_visits(7, 50, Device::emulated()), std::vector<std::int32_t>(350, 1));
  try {
    test::sum_subgroups(32, std::vector<std::int32_t>(test::gpu_team, 1), Device::emulated());
    ADD_FAILURE() << "a team of at most 8 threads was taken for groups of 32";
  } catch (const DeviceError& error) {
    const std::string words = error.what();
    EXPECT_NE(words.find("a kernel needs teams of a multiple of 32 threads and got teams of "), std::string::npos);
    EXPECT_NE(words.find("OMP_THREAD_LIMIT"), std::string::npos) << words;
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
