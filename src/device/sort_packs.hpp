// A bitonic sorting network on packs (Batcher 1968): the numbers of several SIMD registers in ascending order, without
// a branch on any of them.
#pragma once

#include <utility>

#include "device/inline.hpp"
#include "device/pack.hpp"

namespace quintet::device {

namespace detail {

/// Lane l compares with lane l ^ Step and keeps the smaller number where bits Step and Run of l, or Run of `first` + l,
/// agree.
template <int Step, int Run, bool Ascending, class Pack, int... L>
QUINTET_INLINE inline Pack compare_lanes(const Pack& x, std::integer_sequence<int, L...>) {
  constexpr int width = sizeof...(L);
  const Pack other = __builtin_shufflevector(x, x, (L ^ Step)...);
  const Pack low = x < other ? x : other, high = x < other ? other : x;
  return __builtin_shufflevector(
      low, high, ((((L & Step) == 0) == (Run < width ? (L & Run) == 0 : Ascending)) ? L : width + L)...);
}

/// Elements at a distance of Step, in runs of Run that ascend and descend in turn.
template <int Width, int Count, int Step, int Run, class Pack, int... V>
QUINTET_INLINE inline void compare_packs(Pack* packs, std::integer_sequence<int, V...>) {
  if constexpr (Step >= Width) {
    constexpr int apart = Step / Width;
    const auto pair = [&](auto number) QUINTET_INLINE {
      constexpr int v = decltype(number)::value;
      if constexpr ((v & apart) == 0) {
        const Pack x = packs[v], y = packs[v + apart];
        const Pack low = x < y ? x : y, high = x < y ? y : x;
        constexpr bool ascending = (v * Width & Run) == 0;
        packs[v] = ascending ? low : high;
        packs[v + apart] = ascending ? high : low;
      }
    };
    (pair(std::integral_constant<int, V>{}), ...);
  } else {
    ((packs[V] = compare_lanes < Step, Run,
      (V * Width & Run) == 0 > (packs[V], std::make_integer_sequence<int, Width>{})),
     ...);
  }
}

template <int Width, int Count, int Step, int Run, class Pack>
QUINTET_INLINE inline void sort_runs(Pack* packs) {
  compare_packs<Width, Count, Step, Run>(packs, std::make_integer_sequence<int, Count>{});
  if constexpr (Step > 1)
    sort_runs<Width, Count, Step / 2, Run>(packs);
  else if constexpr (Run < Width * Count)
    sort_runs<Width, Count, Run, 2 * Run>(packs);
}

}  // namespace detail

namespace detail {
template <class Pack, int... L>
QUINTET_INLINE inline Pack next_lanes(const Pack& x, const Pack& after, std::integer_sequence<int, L...>) {
  return __builtin_shufflevector(x, after, (L + 1)...);
}
template <class Pack, int... L>
QUINTET_INLINE inline Pack previous_lanes(const Pack& x, std::integer_sequence<int, L...>) {
  return __builtin_shufflevector(x, x, (L == 0 ? 0 : L - 1)...);
}
}  // namespace detail

/// Lane l is lane l + 1 of x, the last one the first of what comes after x.
template <int Width, class Pack>
QUINTET_INLINE inline Pack next_lanes(const Pack& x, const Pack& after) {
  return detail::next_lanes(x, after, std::make_integer_sequence<int, Width>{});
}

/// Lane l is lane l - 1 of x, the first one stays.
template <int Width, class Pack>
QUINTET_INLINE inline Pack previous_lanes(const Pack& x) {
  return detail::previous_lanes(x, std::make_integer_sequence<int, Width>{});
}

/// The Width * Count numbers of `packs` in ascending order, lane by lane, for powers of two.
template <int Width, int Count, class Pack>
QUINTET_INLINE inline void sort_packs(Pack* packs) {
  detail::sort_runs<Width, Count, 1, 2>(packs);
}

}  // namespace quintet::device
