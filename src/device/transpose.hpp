// W packs of W numbers as a matrix in registers, transposed: how numbers that lie one after another in W places of
// memory come to lie side by side, and back.
#pragma once

#include <utility>

#include "device/pack.hpp"

namespace quintet::device {

namespace detail {

/// Lane l of the first result: from the first pack where bit `Step` of l is clear, else from lane l - Step of the
/// second.
template <int Width, int Step, int... L, class Pack>
inline void exchange_blocks(Pack& a, Pack& b, std::integer_sequence<int, L...>) {
  const Pack first = __builtin_shufflevector(a, b, (L & Step ? Width + L - Step : L)...);
  const Pack second = __builtin_shufflevector(a, b, (L & Step ? Width + L : L + Step)...);
  a = first;
  b = second;
}

template <int Width, int Step, class Pack>
inline void transpose_blocks(Pack* rows) {
  for (int i = 0; i < Width; ++i)
    if (!(i & Step)) exchange_blocks<Width, Step>(rows[i], rows[i + Step], std::make_integer_sequence<int, Width>());
  if constexpr (Step > 1) transpose_blocks<Width, Step / 2>(rows);
}

}  // namespace detail

/// Lane l of rows[i] and lane i of rows[l] change places, for a power of two Width > 1.
template <int Width, class Pack>
inline void transpose_packs(Pack* rows) {
  detail::transpose_blocks<Width, Width / 2>(rows);
}

}  // namespace quintet::device
