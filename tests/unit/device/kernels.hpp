// Kernels that exercise launches and teams, as plain functions: each allocates, launches on `device` and copies back.
#pragma once

#include <cstdint>
#include <vector>

#include "quintet/device/device.hpp"

namespace quintet::test {

/// Threads a team of these kernels has on a GPU, and on the emulated devices.
constexpr int gpu_team = 64, emulated_team = 16;

/// How often each of `items` items of each of `tiles` tiles was visited, [tile][item].
std::vector<std::int32_t> count_visits(std::int64_t tiles, int items, const Device& device);

/// What the teams of `tiles` tiles looked like, by tile.
struct team_facts {
  std::int32_t size, on_device, distinct_ranks;
};
std::vector<team_facts> look_at_teams(std::int64_t tiles, const Device& device);

/// Whether teams that ask for `threads` threads may get fewer in this process: OMP_THREAD_LIMIT is below what all of
/// them need, or OMP_DYNAMIC lets the runtime decide.
bool may_get_fewer(int threads);

/// The size of the team of each of `calls` launches side by side.
std::vector<int> team_sizes_side_by_side(int calls, const Device& device);

/// Values 0 ... items - 1 of each tile, written to team memory and read back in reverse by other threads, twice.
std::vector<std::int32_t> reverse_in_team_memory(std::int64_t tiles, int items, const Device& device);

/// reduce() over 1 + rank with (a, b) -> 7 a + b, which depends on the order; what every thread got, by rank, of a team
/// that reduces `repeats` times with the same storage. The last element is the team's size.
std::vector<std::uint64_t> reduce_ranks(int repeats, const Device& device);

/// broadcast() of 100 + rank from each root: [root][rank]. The last element is the team's size.
std::vector<std::int32_t> broadcast_ranks(const Device& device);

/// subgroup_reduce<Width>() of value(rank) by addition: what every thread got, by rank. Width 1, 2, 4, 8, 16 or 32.
template <class Value>
std::vector<Value> sum_subgroups(int width, const std::vector<Value>& value, const Device& device);

/// a * b + c as kernels are compiled.
double product_and_sum(double a, double b, double c);

/// How often for_each_in_tile<12>() called for each (i, j) of `rows` rows, [row][column].
std::vector<std::int32_t> visit_tile(int rows, const Device& device);

/// One counter that `tiles` tiles on the host add 1 to, under a lock.
std::int64_t count_under_lock(std::int64_t tiles);

}  // namespace quintet::test
