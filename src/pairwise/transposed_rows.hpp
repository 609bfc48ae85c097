// Coordinates of several stored rows side by side: squares of W x W numbers are transposed in registers, because a
// store and a load of every single number would take longer than what is done with them.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "device/inline.hpp"
#include "device/pack.hpp"
#include "pairwise/stored_rows.hpp"

namespace quintet::pairwise {

namespace detail {

/// Exchanges the upper right and the lower left quarters of all blocks of 2 Step x 2 Step.
template <int Step, int Depth, int W, class Pack, int... Lane>
QUINTET_INLINE inline void exchange_blocks(Pack* row, std::integer_sequence<int, Lane...>) {
#pragma GCC unroll 16
  for (int i = 0; i < Depth; ++i) {
    if ((i & Step) != 0) continue;
    const Pack upper = row[i], lower = row[i + Step];
    row[i] = __builtin_shufflevector(upper, lower, ((Lane & Step) != 0 ? W + Lane - Step : Lane)...);
    row[i + Step] = __builtin_shufflevector(upper, lower, ((Lane & Step) != 0 ? W + Lane : Lane + Step)...);
  }
}

/// Blocks of Depth x Depth side by side, each transposed.
template <int Step, int Depth, int W, class Pack>
QUINTET_INLINE inline void transpose(Pack* row) {
  if constexpr (Step > 0) {
    exchange_blocks<Step, Depth, W>(row, std::make_integer_sequence<int, W>{});
    transpose<Step / 2, Depth, W>(row);
  }
}

template <class Pack, class Half, int... Lane>
QUINTET_INLINE inline Pack side_by_side(const Half& low, const Half& high, std::integer_sequence<int, Lane...>) {
  return __builtin_shufflevector(low, high, Lane...);
}

/// column[j] := coordinate j, 0 <= j < Depth, of W rows times their factors; load<Pack>(i) reads those of row i.
template <class Real, int W, int Depth, class Load>
QUINTET_INLINE inline void load_columns(device::pack<Real, W>* column, const Real* factor, const Load& load) {
#pragma GCC unroll 16
  for (int i = 0; i < Depth; ++i) {
    typedef device::pack<Real, Depth> part;
    if constexpr (Depth == W)
      column[i] = load.template operator()<part>(i) * factor[i];
    else
      column[i] = side_by_side<device::pack<Real, W>>(
          part(load.template operator()<part>(i) * factor[i]),
          part(load.template operator()<part>(i + Depth) * factor[i + Depth]), std::make_integer_sequence<int, W>{});
  }
  transpose<Depth / 2, Depth, W>(column);
}

}  // namespace detail

/// f(k, coordinate k of row[0], ..., row[W - 1] times factor[0], ..., factor[W - 1]) for 0 <= k < padded in ascending
/// order; coordinates from `dim` on are zero.
template <class Real, int W, class Storage, class Function>
QUINTET_INLINE inline void for_each_coordinate(const Storage* const* row, const Real* factor, std::int64_t dim,
                                               std::int64_t padded, const Function& f) {
  typedef device::pack<Real, W> value;
  constexpr int half = W >= 8 ? W / 2 : W;
  value column[W];
  // The last square begins so early that it ends with the row, and gives only what is left.
  std::int64_t k = 0;
  const auto square = [&](auto depth) QUINTET_INLINE {
    constexpr int size = decltype(depth)::value;
    const std::int64_t first = k + size <= dim ? k : dim - size;
    detail::load_columns<Real, W, size>(column, factor, [&]<class Pack>(int i) QUINTET_INLINE {
      return device::convert_pack<Pack, Real>(row[i] + first);
    });
#pragma GCC unroll 16
    for (int j = 0; j < size; ++j)
      if (first + j >= k) f(first + j, column[j]);
    k = first + size;
  };
  while (k < dim && dim >= W && k + half < dim) square(std::integral_constant<int, W>{});
  while (k < dim && dim >= half) square(std::integral_constant<int, half>{});
  for (; k < padded; ++k) {
    value rest{};
#pragma GCC unroll 16
    for (int i = 0; i < W; ++i) set_lane<W>(rest, i, (k < dim ? Real(row[i][k]) : Real(0)) * factor[i]);
    f(k, rest);
  }
}

}  // namespace quintet::pairwise
