// Collectives of a team: results, their order, and storage that may be used again.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kernels.hpp"
#include "support/devices.hpp"

namespace quintet::device {
namespace {

using test::gpu_team;
using test::on_every_device;

TEST(team, reduce_combines_blocks_in_the_order_of_the_ranks_for_everybody) {
  on_every_device([](const Device& device) {
    for (const int repeats : {1, 2, 10}) {
      const auto found = test::reduce_ranks(repeats, device);
      const auto size = found[gpu_team];
      ASSERT_GE(size, 1u);
      // What every thread has before a round; in order, with the combination that notices.
      std::vector<std::uint64_t> value;
      for (std::uint64_t r = 0; r < size; ++r) value.push_back(1 + r);
      for (int i = 0; i < repeats; ++i) {
        std::uint64_t total = 0;
        for (std::uint64_t first = 0; first < size; first += 16) {
          std::uint64_t block = value[first] + first;
          for (std::uint64_t r = first + 1; r < std::min(size, first + 16); ++r) block = 7 * block + value[r] + r;
          total = first == 0 ? block : 7 * total + block;
        }
        value.assign(size, total);
      }
      EXPECT_EQ(std::vector<std::uint64_t>(found.begin(), found.begin() + std::int64_t(size)), value);
    }
  });
}

TEST(team, broadcast_gives_everybody_the_value_of_each_root) {
  on_every_device([](const Device& device) {
    const auto found = test::broadcast_ranks(device);
    const int size = found.back();
    ASSERT_GE(size, 1);
    for (int root = 0; root < size; ++root)
      for (int rank = 0; rank < size; ++rank) EXPECT_EQ(found[root * gpu_team + rank], 100 + root);
  });
}

// The butterfly: the partner's sum is added to one's own, distance 1, 2, 4, ...
template <class Value>
std::vector<Value> butterfly(std::vector<Value> value, int width) {
  for (int mask = 1; mask < width; mask *= 2) {
    const std::vector<Value> before = value;
    for (std::size_t r = 0; r < value.size(); ++r) value[r] = before[r] + before[r ^ std::size_t(mask)];
  }
  return value;
}

template <class Value>
void expect_butterflies(const Device& device) {
  std::vector<Value> value;
  for (int r = 0; r < gpu_team; ++r) value.push_back(Value(1) / Value(3) * Value(1 << (r % 12)) + Value(r));
  const int size = test::look_at_teams(1, device)[0].size;
  for (const int width : {1, 2, 4, 8, 16, 32}) {
    const bool is_host = device.kind() == device_kind::host;
    // A group needs its threads. The emulated device has as many as the kernel asks for; launch_test looks at others.
    if (device.kind() == device_kind::offload && size < width) continue;
    // Where the x86_64 plugin runs teams on the host, libomp keeps their limit of 16 threads for the process.
    if (device.kind() == device_kind::emulated && Device::count() > 0 && width > 16) continue;
    const auto expected = butterfly(value, is_host ? 1 : width);
    std::vector<Value> found;
    try {
      found = test::sum_subgroups(width, value, device);
    } catch (const DeviceError& error) {
      // A group without its threads is refused, where the environment allows fewer of them.
      ASSERT_TRUE(!is_host && test::may_get_fewer(std::max(width, test::emulated_team))) << error.what();
      continue;
    }
    // Each launch may get another number of threads then: one group is there at least.
    const bool one_group = !is_host && test::may_get_fewer(std::max(width, test::emulated_team));
    // Bits: addition commutes, and the tree is the same everywhere.
    for (int r = 0; r < (one_group ? width : std::max(size, is_host ? 1 : width)); ++r)
      ASSERT_EQ(found[r], expected[r]) << "width " << width << ", rank " << r;
  }
}

TEST(team, subgroups_are_reduced_by_the_same_tree_everywhere) {
  on_every_device([](const Device& device) {
    expect_butterflies<float>(device);
    expect_butterflies<double>(device);
    expect_butterflies<std::int32_t>(device);
  });
}

TEST(team, for_each_in_tile_visits_every_element_once) {
  on_every_device([](const Device& device) {
    for (const int rows : {0, 1, 2, 31})
      EXPECT_EQ(test::visit_tile(rows, device), std::vector<std::int32_t>(rows * 12, 1)) << rows << " rows";
  });
}

TEST(team, locks_let_one_host_team_in_at_a_time) {
  for (const int count : {1, 2, 5}) {
    set_threads(count);
    EXPECT_EQ(test::count_under_lock(3000), 3000);
  }
  set_threads(0);
}

}  // namespace
}  // namespace quintet::device
