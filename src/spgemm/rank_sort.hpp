// Sorting a handful of columns without branches: the rank of each is how many are smaller.
#pragma once

#include <cstdint>

namespace quintet::spgemm {

/// Columns that one call of rank_columns orders at most.
constexpr int most_ranked = 64;

/// rank[e] = number of the `count` keys that are smaller than keys[e], for 16 * Vectors >= count. Behind the keys the
/// array holds INT32_MAX up to that size.
template <int Vectors>
inline void rank_columns(const std::int32_t* keys, int count, std::int32_t* rank) {
  typedef std::int32_t lanes __attribute__((vector_size(64)));
  lanes key[Vectors], smaller[Vectors];
#pragma GCC unroll 4
  for (int v = 0; v < Vectors; ++v) {
    __builtin_memcpy(&key[v], keys + 16 * v, 64);
    smaller[v] = lanes{};
  }
  for (int e = 0; e < count; ++e) {
    const lanes other = lanes{} + keys[e];
#pragma GCC unroll 4
    for (int v = 0; v < Vectors; ++v) smaller[v] -= key[v] > other;  // true is -1
  }
#pragma GCC unroll 4
  for (int v = 0; v < Vectors; ++v) __builtin_memcpy(rank + 16 * v, &smaller[v], 64);
}

inline void rank_columns(const std::int32_t* keys, int count, std::int32_t* rank) {
  if (count <= 16)
    rank_columns<1>(keys, count, rank);
  else if (count <= 32)
    rank_columns<2>(keys, count, rank);
  else
    rank_columns<4>(keys, count, rank);
}

}  // namespace quintet::spgemm
