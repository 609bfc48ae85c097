// Long loops of the host that are no launches, heard by polls: quintet/core/poll.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <vector>

#include "quintet/core/poll.hpp"

namespace quintet::detail {

/// In step i of a loop whose steps take less than a microsecond or two.
inline void poll_sometimes(std::int64_t i) {
  if ((i & 0xffff) == 0) poll();
}

/// std::sort in parts of at most 2^20 elements, merged afterwards through a copy.
template <class Iterator, class Less = std::less<>>
void polled_sort(Iterator first, Iterator last, const Less& less = {}) {
  constexpr std::int64_t part = std::int64_t{1} << 20;
  const std::int64_t count = last - first;
  const auto at = [&](std::int64_t i) { return first + std::min(i, count); };
  for (std::int64_t begin = 0; begin < count; begin += part) {
    poll();
    std::sort(at(begin), at(begin + part), less);
  }
  std::vector<std::iter_value_t<Iterator>> merged;
  for (std::int64_t width = part; width < count; width *= 2) {
    merged.clear();
    merged.reserve(std::size_t(count));
    for (std::int64_t begin = 0; begin < count; begin += 2 * width) {
      poll();
      std::merge(at(begin), at(begin + width), at(begin + width), at(begin + 2 * width), std::back_inserter(merged),
                 less);
    }
    std::copy(merged.begin(), merged.end(), first);
  }
}

}  // namespace quintet::detail
