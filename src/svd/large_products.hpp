// Products of matrices with few columns, in tiles: all threads and all teams share one of them. Columns of `a` and `x`
// are contiguous, with padding of zeros to whole chunks, on the rows map. Sums have a fixed order.
#pragma once

#include "svd/jacobi_policies.hpp"

namespace quintet::svd {

/// Matrices of one shape: element (i, j) of matrix b at data[b * slot + i * row + j * column].
template <class Real>
struct strided_batch {
  Real* data;
  std::int64_t slot, row, column;

  QUINTET_SVD_INLINE Real* at(std::int64_t b, std::int64_t i, std::int64_t j) const {
    return data + b * slot + i * row + j * column;
  }
};

/// Y = A X: a tile is `rows_of_tile` rows of one matrix, in register tiles of a few chunks by 4 columns. (A Omega and
/// A Q in Algorithms 4.1 and 4.4 of Halko, Martinsson, Tropp 2011.)
template <class Real>
struct multiply_by_rows {
  strided_batch<const Real> a, x;
  strided_batch<Real> y;
  int rows, inner, columns;
  bool has_padding;  ///< of the columns of y, which are contiguous then; otherwise its strides are any

  /// Chunks of a register tile.
  template <class Map>
  static constexpr int chunks_together() {
    return !Map::row_cyclic ? 1 : device::host_registers() < 32 ? 3 : 4;
  }
  template <class Map>
  static constexpr int chunks_of_tile() {
    return Map::row_cyclic ? 4 * chunks_together<Map>() : 256;
  }
  template <class Map>
  QUINTET_SVD_INLINE std::int64_t tiles() const {
    return (padded_rows<Map>(rows) / Map::chunk + chunks_of_tile<Map>() - 1) / chunks_of_tile<Map>();
  }

  template <class Map>
  QUINTET_SVD_INLINE void operator()(const Map& map, std::int64_t tile) const {
    const std::int64_t parts = tiles<Map>(), b = tile / parts;
    const int chunks = padded_rows<Map>(rows) / Map::chunk, begin = int(tile % parts) * chunks_of_tile<Map>();
    const int end = begin + chunks_of_tile<Map>() < chunks ? begin + chunks_of_tile<Map>() : chunks;
    constexpr int group_size = chunks_together<Map>();
    const int step = map.team_step() * group_size;
    if constexpr (Map::row_cyclic) {
      if (has_padding && inner > terms_of_part) return multiply_tile<group_size, Map>(b, begin, end);
    }
    for (int c = begin + map.team_first() * group_size; c < end; c += step)
      for (int j = 0; j < columns; j += 4) multiply_block<group_size, Map>(b, c, end, j);
  }

  /// Y += A X, on the rows map of the host.
  template <class Map>
  QUINTET_SVD_INLINE void add_to_y(const Map&, std::int64_t tile) const {
    const std::int64_t parts = tiles<Map>();
    const int chunks = padded_rows<Map>(rows) / Map::chunk, begin = int(tile % parts) * chunks_of_tile<Map>();
    const int end = begin + chunks_of_tile<Map>() < chunks ? begin + chunks_of_tile<Map>() : chunks;
    multiply_tile<chunks_together<Map>(), Map>(tile / parts, begin, end, true);
  }

  enum { terms_of_part = 2 * terms_of_short_sum };

  enum { columns_in_cache = 256 };

  /// A whole tile by one thread, with sums kept in Y: a part of A is copied to where the first-level cache holds it for
  /// columns of X that the second-level cache holds, and the next one is asked for.
  template <int Count, class Map>
  QUINTET_SVD_INLINE void multiply_tile(std::int64_t b, int begin, int end, bool adds = false) const {
    alignas(64) Real packed[terms_of_part * Count * Map::chunk];
    for (int from = 0; from < columns; from += columns_in_cache) {
      const int to = from + columns_in_cache < columns ? from + columns_in_cache : columns;
      for (int first = 0; first < inner; first += terms_of_part) {
        const int last = first + terms_of_part < inner ? first + terms_of_part : inner;
        for (int c = begin; c < end; c += Count) {
          pack_part<Count, Map>(b, c, end, first, last, packed);
          const bool is_last = c + Count >= end;
          const int next = is_last ? begin : c + Count, ahead = is_last ? last - first : 0,
                    shares = (to - from + 3) / 4;
          for (int share = 0; share < shares; ++share) {
            for (int k = first + ahead + share; k < last + ahead && k < inner; k += shares) {
              const Real* column = a.at(b, 0, k) + std::int64_t(next) * Map::stride;
              for (int i = 0; i < Count && next + i < end; ++i) __builtin_prefetch(column + i * Map::stride);
            }
            add_products<Count, Map>(packed, b, c, end, from + 4 * share, first, last, adds || first > 0);
          }
        }
      }
    }
  }

  /// Chunks [c, c + Count) of the columns [first, last) of A, one after the other.
  template <int Count, class Map>
  QUINTET_SVD_INLINE void pack_part(std::int64_t b, int c, int end, int first, int last, Real* to) const {
    for (int k = first; k < last; ++k) {
      const Real* column = a.at(b, 0, k);
      for (int i = 0; i < Count; ++i, to += Map::chunk)
        device::store_pack(to, load<Map>(column, c + i < end ? c + i : end - 1));
    }
  }

  /// The terms [first, last) of four columns from j on, added to Y or in its place.
  template <int Count, class Map>
  QUINTET_SVD_INLINE void add_products(const Real* packed, std::int64_t b, int c, int end, int j, int first, int last,
                                       bool adds) const {
    using vector = typename Map::vector;
    const Real* factors[4];
    for (int e = 0; e < 4; ++e) factors[e] = x.at(b, first, j + e < columns ? j + e : columns - 1);
    vector sum[Count][4] = {};
    for (std::int64_t k = 0; k < last - first; ++k, packed += Count * Map::chunk) {
      vector value[Count];
      for (int i = 0; i < Count; ++i) value[i] = device::load_pack<vector>(packed + i * Map::chunk);
      for (int e = 0; e < 4; ++e) {
        const Real factor = factors[e][k * x.row];
        for (int i = 0; i < Count; ++i) sum[i][e] = device::fma(value[i], factor, sum[i][e]);
      }
    }
    for (int i = 0; i < Count && c + i < end; ++i)
      for (int e = 0; e < 4 && j + e < columns; ++e) {
        Real* to = y.at(b, 0, j + e);
        store<Map>(to, c + i, adds ? load<Map>(to, c + i) + sum[i][e] : sum[i][e]);
      }
  }

  /// Chunks [c, c + Count) below `end` of the columns j ... j + 3.
  template <int Count, class Map>
  QUINTET_SVD_INLINE void multiply_block(std::int64_t b, int c, int end, int j) const {
    using vector = typename Map::vector;
    constexpr int block = 4 * terms_of_short_sum;
    vector total[Count][4] = {};
    for (int first = 0; first < inner; first += block) {
      const int last = first + block < inner ? first + block : inner;
      vector sum[Count][4] = {};
      for (int k = first; k < last; ++k) {
        const Real* column = a.at(b, 0, k);
        vector value[Count];
        for (int i = 0; i < Count; ++i) value[i] = load<Map>(column, c + i < end ? c + i : end - 1);
        for (int e = 0; e < 4; ++e) {
          const Real factor = *x.at(b, k, j + e < columns ? j + e : columns - 1);
          for (int i = 0; i < Count; ++i) sum[i][e] = device::fma(value[i], factor, sum[i][e]);
        }
      }
      for (int i = 0; i < Count; ++i)
        for (int e = 0; e < 4; ++e) total[i][e] += sum[i][e];
    }
    for (int i = 0; i < Count && c + i < end; ++i)
      for (int e = 0; e < 4 && j + e < columns; ++e) {
        if (has_padding) {
          store<Map>(y.at(b, 0, j + e), c + i, total[i][e]);
          continue;
        }
        Real numbers[Map::chunk];
        device::store_pack(numbers, total[i][e]);
        for (int r = 0; r < Map::chunk && (c + i) * Map::chunk + r < rows; ++r)
          *y.at(b, (c + i) * Map::chunk + r, j + e) = numbers[r];
      }
  }
};

/// Z = A^T X: a tile is 16 columns of one A; products of 4 by 4 columns at a time. (A^T Q in Algorithm 4.4 and step 1
/// of Algorithm 5.1 of Halko, Martinsson, Tropp 2011.)
template <class Real>
struct multiply_transposed {
  strided_batch<const Real> a, x;
  strided_batch<Real> z;
  int rows, a_columns, x_columns;

  enum { columns_of_tile = 16 };
  QUINTET_SVD_INLINE std::int64_t tiles() const { return (a_columns + columns_of_tile - 1) / columns_of_tile; }

  template <class Map>
  QUINTET_SVD_INLINE void operator()(const Map& map, std::int64_t tile) const {
    const std::int64_t b = tile / tiles();
    const int begin = int(tile % tiles()) * columns_of_tile, rest = a_columns - begin;
    const int width = columns_of_tile, blocks = ((rest < width ? rest : width) + 3) / 4, x_blocks = (x_columns + 3) / 4;
    if constexpr (Map::row_cyclic) {
      if (rows > 4 * chunks_of_sum * Map::chunk)
        return multiply_tile<Map>(b, begin, begin + (rest < width ? rest : width));
    }
    for_each_item(map, 0, blocks * x_blocks, [&](int item, bool valid) QUINTET_SVD_INLINE_LAMBDA {
      multiply_block(map, b, begin + item % blocks * 4, item / blocks * 4, valid);
    });
  }

  enum { chunks_of_sum = 2 * terms_of_short_sum, columns_in_cache = 64 };

  /// The columns [begin, end) of A by one thread: parts of the rows for all columns of X, which the caches hold.
  template <class Map>
  QUINTET_SVD_INLINE void multiply_tile(std::int64_t b, int begin, int end) const {
    const int chunks = padded_rows<Map>(rows) / Map::chunk;
    for (int x_first = 0; x_first < x_columns; x_first += columns_in_cache) {
      const int x_last = x_first + columns_in_cache < x_columns ? x_first + columns_in_cache : x_columns;
      compensated_sum<Real> sums[columns_in_cache][columns_of_tile] = {};
      for (int first = 0; first < chunks; first += chunks_of_sum) {
        const int last = first + chunks_of_sum < chunks ? first + chunks_of_sum : chunks;
        const int next = last + chunks_of_sum < chunks ? last + chunks_of_sum : chunks;
        for (int j = x_first; j < x_last; j += 4)
          for (int i = begin; i < end; i += 4) {
            // A share of what comes next; every share for all X.
            for (int e = 0; e < 4 && i + e < end; ++e)
              for (int c = last + (j - x_first) / 4; c < next; c += columns_in_cache / 4)
                __builtin_prefetch(a.at(b, 0, i + e) + std::int64_t(c) * Map::stride);
            Real part[16];
            multiply_part<Map>(b, i, j, first, last, part);
            for (int k = 0; k < 4; ++k)
              for (int e = 0; e < 4; ++e) sums[j - x_first + e][i - begin + k].add(part[4 * k + e]);
          }
      }
      for (int j = x_first; j < x_last; ++j)
        for (int i = begin; i < end; ++i) *z.at(b, i, j) = sums[j - x_first][i - begin].total();
    }
  }

  /// The products of four columns of A from i on and four of X from j on, over the chunks [first, last).
  template <class Map>
  QUINTET_SVD_INLINE void multiply_part(std::int64_t b, int i, int j, int first, int last, Real* products) const {
    using vector = typename Map::vector;
    const Real *left[4], *right[4];
    for (int e = 0; e < 4; ++e) {
      left[e] = a.at(b, 0, i + e < a_columns ? i + e : a_columns - 1);
      right[e] = x.at(b, 0, j + e < x_columns ? j + e : x_columns - 1);
    }
    vector sums[16] = {};
    for (int c = first; c < last; ++c) {
      vector value[4];
      for (int e = 0; e < 4; ++e) value[e] = load<Map>(left[e], c);
      for (int e = 0; e < 4; ++e) {
        const vector other = load<Map>(right[e], c);
        for (int k = 0; k < 4; ++k) sums[4 * k + e] = device::fma(value[k], other, sums[4 * k + e]);
      }
    }
    fold_sixteen<Map>(sums, products);
  }

  template <class Map>
  QUINTET_SVD_INLINE void multiply_block(const Map& map, std::int64_t b, int i, int j, bool valid) const {
    using vector = typename Map::vector;
    const Real *left[4], *right[4];
    for (int e = 0; e < 4; ++e) {
      left[e] = a.at(b, 0, i + e < a_columns ? i + e : a_columns - 1);
      right[e] = x.at(b, 0, j + e < x_columns ? j + e : x_columns - 1);
    }
    const int step = map.pair_step(), chunks = valid ? padded_rows<Map>(rows) / Map::chunk : 0;
    const int block = 2 * terms_of_short_sum * step;
    compensated_sum<vector> sums[4][4];
    for (int first = map.pair_first(); first < chunks; first += block) {
      const int last = first + block < chunks ? first + block : chunks;
      vector sum[4][4] = {};
      for (int c = first; c < last; c += step) {
        vector value[4];
        for (int e = 0; e < 4; ++e) value[e] = load<Map>(left[e], c);
        for (int e = 0; e < 4; ++e) {
          const vector other = load<Map>(right[e], c);
          for (int k = 0; k < 4; ++k) sum[k][e] = device::fma(value[k], other, sum[k][e]);
        }
      }
      for (int k = 0; k < 4; ++k)
        for (int e = 0; e < 4; ++e) sums[k][e].add(sum[k][e]);
    }
    // Unrolled, or a GPU would keep the sums on a stack.
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k)
#pragma GCC unroll 4
      for (int e = 0; e < 4; ++e) {
        const Real value = map.pair_sum(sums[k][e].total());
        if (valid && map.leads_pair() && i + k < a_columns && j + e < x_columns) *z.at(b, i + k, j + e) = value;
      }
  }
};

}  // namespace quintet::svd
