// Collective steps of the device kernels: a scan over the team, and a sort in team memory.
#pragma once

#include <cstdint>

namespace quintet::spgemm {

/// Sum of the values of the threads with lower rank; *total gets that of all. `storage`: team.size() elements.
template <class Team>
inline std::int32_t exclusive_scan(const Team& team, std::int32_t value, std::int32_t* storage, std::int32_t* total) {
  storage[team.rank()] = value;
  team.barrier();
  std::int32_t before = 0, all = 0;
  for (int r = 0; r < team.size(); ++r) {
    if (r == team.rank()) before = all;
    all += storage[r];
  }
  team.barrier();
  *total = all;
  return before;
}

/// Sorts `count` (a power of two) elements by a bitonic network: less(i, j) compares and exchange(i, j) swaps elements.
template <class Team, class Less, class Exchange>
inline void team_sort(const Team& team, std::int32_t count, Less less, Exchange exchange) {
  for (std::int32_t length = 2; length <= count; length *= 2)
    for (std::int32_t distance = length / 2; distance > 0; distance /= 2) {
      for (std::int32_t pair = team.rank(); pair < count / 2; pair += team.size()) {
        const std::int32_t low = 2 * pair - (pair & (distance - 1)), high = low + distance;
        const bool ascending = (low & length) == 0;
        if (ascending ? less(high, low) : less(low, high)) exchange(low, high);
      }
      team.barrier();
    }
}

}  // namespace quintet::spgemm
