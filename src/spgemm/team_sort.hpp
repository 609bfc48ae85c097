// Collective steps of a team: a scan, and a sort of what all its threads see.
#pragma once

#include <algorithm>
#include <cstdint>

namespace quintet::spgemm {

/// Sum of the values of the threads with lower rank; *total gets that of all. `storage`: team.size() elements.
template <class Team>
inline std::int32_t exclusive_scan(const Team& team, std::int32_t value, [[maybe_unused]] std::int32_t* storage,
                                   std::int32_t* total) {
  if constexpr (!Team::on_device) {
    *total = value;
    return 0;
  } else {
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
}

/// Sorts `count` elements by `less`, a total order, in room for the next power of two. `last` goes behind all others.
/// One thread sorts as the C++ library does, a team by a bitonic network (Batcher 1968): the order is the same.
template <class Team, class T, class Less>
inline void team_sort(const Team& team, T* elements, std::int32_t count, [[maybe_unused]] T last, Less less) {
  if constexpr (!Team::on_device) {
    std::sort(elements, elements + count, less);
  } else {
    std::int32_t padded = 1;
    while (padded < count) padded *= 2;
    for (std::int32_t e = count + team.rank(); e < padded; e += team.size()) elements[e] = last;
    team.barrier();
    for (std::int32_t length = 2; length <= padded; length *= 2)
      for (std::int32_t distance = length / 2; distance > 0; distance /= 2) {
        for (std::int32_t pair = team.rank(); pair < padded / 2; pair += team.size()) {
          const std::int32_t low = 2 * pair - (pair & (distance - 1)), high = low + distance;
          const T x = elements[low], y = elements[high];
          const bool ascending = (low & length) == 0;
          if (ascending ? less(y, x) : less(x, y)) {
            elements[low] = y;
            elements[high] = x;
          }
        }
        team.barrier();
      }
  }
}

}  // namespace quintet::spgemm
