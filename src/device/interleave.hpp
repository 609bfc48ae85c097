// Records of Count numbers that lie one after another in memory, as Count packs with the same number of every record,
// and back. For a power of two Count.
#pragma once

#include <utility>

#include "device/pack.hpp"

namespace quintet::device {

namespace detail {

template <int Width, int... L, class Pack>
inline void interleave_two(const Pack& a, const Pack& b, Pack& first, Pack& second, std::integer_sequence<int, L...>) {
  first = __builtin_shufflevector(a, b, (L % 2 * Width + L / 2)...);
  second = __builtin_shufflevector(a, b, (L % 2 * Width + Width / 2 + L / 2)...);
}
template <int... L, class Pack>
inline void separate_two(const Pack& first, const Pack& second, Pack& a, Pack& b, std::integer_sequence<int, L...>) {
  a = __builtin_shufflevector(first, second, (2 * L)...);
  b = __builtin_shufflevector(first, second, (2 * L + 1)...);
}

}  // namespace detail

/// packs[e][l], number e of record l, becomes number l * Count + e of all packs one after another.
template <int Count, int Width, class Pack>
inline void interleave_packs(Pack (&packs)[Count]) {
#pragma GCC unroll 4
  for (int width = 1; width < Count; width *= 2) {
    Pack current[Count];
#pragma GCC unroll 16
    for (int i = 0; i < Count / 2; ++i)
      detail::interleave_two<Width>(packs[i], packs[i + Count / 2], current[2 * i], current[2 * i + 1],
                                    std::make_integer_sequence<int, Width>());
#pragma GCC unroll 16
    for (int i = 0; i < Count; ++i) packs[i] = current[i];
  }
}

/// Takes interleave_packs() back.
template <int Count, int Width, class Pack>
inline void separate_packs(Pack (&packs)[Count]) {
#pragma GCC unroll 4
  for (int width = 1; width < Count; width *= 2) {
    Pack current[Count];
#pragma GCC unroll 16
    for (int i = 0; i < Count / 2; ++i)
      detail::separate_two(packs[2 * i], packs[2 * i + 1], current[i], current[i + Count / 2],
                           std::make_integer_sequence<int, Width>());
#pragma GCC unroll 16
    for (int i = 0; i < Count; ++i) packs[i] = current[i];
  }
}

}  // namespace quintet::device
