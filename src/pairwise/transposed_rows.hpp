// Coordinates of several stored rows side by side: squares of W x W numbers are transposed in registers, because a
// store and a load of every single number would take longer than what is done with them.
#pragma once

#include <cstdint>
#include <utility>

#include "device/inline.hpp"
#include "device/pack.hpp"

namespace quintet::pairwise {

namespace detail {

/// Exchanges the upper right and the lower left quarters of all blocks of 2 Step x 2 Step.
template <int Step, int W, class Pack, int... Lane>
QUINTET_INLINE inline void exchange_blocks(Pack* row, std::integer_sequence<int, Lane...>) {
#pragma GCC unroll 16
  for (int i = 0; i < W; ++i) {
    if ((i & Step) != 0) continue;
    const Pack upper = row[i], lower = row[i + Step];
    row[i] = __builtin_shufflevector(upper, lower, ((Lane & Step) != 0 ? W + Lane - Step : Lane)...);
    row[i + Step] = __builtin_shufflevector(upper, lower, ((Lane & Step) != 0 ? W + Lane : Lane + Step)...);
  }
}

template <int Step, int W, class Pack>
QUINTET_INLINE inline void transpose(Pack* row) {
  if constexpr (Step > 0) {
    exchange_blocks<Step, W>(row, std::make_integer_sequence<int, W>{});
    transpose<Step / 2, W>(row);
  }
}

}  // namespace detail

/// f(k, coordinate k of row[0], ..., row[W - 1] times factor[0], ..., factor[W - 1]) for 0 <= k < padded in ascending
/// order; coordinates from `dim` on are zero.
template <class Real, int W, class Storage, class Function>
QUINTET_INLINE inline void for_each_coordinate(const Storage* const* row, const Real* factor, std::int64_t dim,
                                               std::int64_t padded, const Function& f) {
  typedef device::pack<Real, W> value;
  const auto square = [&](std::int64_t first, std::int64_t used, const auto& load) QUINTET_INLINE {
    value rows[W];
#pragma GCC unroll 16
    for (int i = 0; i < W; ++i) rows[i] = load(row[i] + first) * factor[i];
    detail::transpose<W / 2, W>(rows);
#pragma GCC unroll 16
    for (int j = 0; j < W; ++j)
      if (j < used) f(first + j, rows[j]);
  };
  std::int64_t k = 0;
  for (; k + W <= dim; k += W)
    square(k, W, [](const Storage* from) QUINTET_INLINE { return device::convert_pack<value, Real>(from); });
  for (; k < padded; k += W)
    square(k, padded - k, [&](const Storage* from) QUINTET_INLINE {
      Real rest[W] = {};
      for (int j = 0; j < W && k + j < dim; ++j) rest[j] = Real(from[j]);
      return device::load_pack<value>(rest);
    });
}

}  // namespace quintet::pairwise
