// Sorting a handful of columns without branches: the rank of each is how many are smaller.
#pragma once

#include <cstdint>

namespace quintet::spgemm {

/// Columns that one call of rank_columns orders at most.
constexpr int most_ranked = 64;

/// rank[e] = number of the `count` keys that are smaller than keys[e], for Lanes * Vectors >= count. Behind the keys
/// the array holds INT32_MAX up to that size; their ranks are `count`. With Fixed the loop has a fixed length, which no
/// processor predicts wrong.
template <int Lanes, int Vectors, bool Fixed>
inline void rank_columns(const std::int32_t* keys, int count, std::int32_t* rank) {
  typedef std::int32_t lanes __attribute__((vector_size(4 * Lanes)));
  lanes key[Vectors], smaller[Vectors];
#pragma GCC unroll 4
  for (int v = 0; v < Vectors; ++v) {
    __builtin_memcpy(&key[v], keys + Lanes * v, sizeof(lanes));
    smaller[v] = lanes{};
  }
  const auto compare_with = [&](std::int32_t column) {
    const lanes other = lanes{} + column;
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) smaller[v] -= key[v] > other;  // true is -1
  };
  if constexpr (Fixed) {
#pragma GCC unroll 16
    for (int e = 0; e < Lanes * Vectors; ++e) compare_with(keys[e]);
  } else {
    for (int e = 0; e < count; ++e) compare_with(keys[e]);
  }
#pragma GCC unroll 4
  for (int v = 0; v < Vectors; ++v) __builtin_memcpy(rank + Lanes * v, &smaller[v], sizeof(lanes));
}

}  // namespace quintet::spgemm
