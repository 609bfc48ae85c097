// Householder's reflections of a tridiagonalisation on many columns, in blocks of 32: I - V T V^T is their product
// (Schreiber, Van Loan 1989), and almost all work is in products of matrices.
#pragma once

#include "svd/large_products.hpp"

namespace quintet::svd {

/// Reflections I - tau_k h_k h_k^T, k = 0 ... n - 2, with h_k zero down to row k, in the columns of `h`. By one thread
/// a part, on the rows map of the host; n >= smallest_blocked.
template <class Map>
struct reflection_blocks {
  using real = typename Map::real;
  const real *h, *tau;
  real* factors;   ///< n ld numbers: -T V^T of each block, 32 numbers a row of V
  real* products;  ///< [n] columns, `ld` apart, of which the first 32 rows are used, and memory of make_block()
  int n, ld;

  enum { width = 32, columns_of_part = 32 };

  static QUINTET_SVD_INLINE int blocks(int n) { return (n - 1 + width - 1) / width; }
  static QUINTET_SVD_INLINE int parts(int n) { return (n + columns_of_part - 1) / columns_of_part; }

  /// -T V^T of a block: column k of T is -tau_k T (V^T h_k) above tau_k.
  QUINTET_SVD_INLINE void make_block(const Map& map, int block) const {
    const int first = width * block, count = count_of(block), row = first_row(block), rows = n - row;
    real* const t = factors + block_start(block);  // until -T V^T takes its place
    for (int i = 0; i < width * width; ++i) t[i] = 0;
    const strided_batch<const real> v = columns_from(row, first);
    const multiply_transposed<real> gram{v, v, {t, 0, 1, width}, rows, count, count};
    for (std::int64_t tile = 0; tile < gram.tiles(); ++tile) gram(map, tile);
    for (int k = 0; k < count; ++k) {
      real* const column = t + k * width;
      const real factor = -tau[first + k];
      // In place: element i needs those of the Gram matrix from i on only.
      for (int i = 0; i < k; ++i) {
        real sum = 0;
        for (int j = i; j < k; ++j) sum = device::fma(t[j * width + i], column[j], sum);
        column[i] = factor * sum;
      }
      column[k] = factor;
      for (int i = k + 1; i < width; ++i) column[i] = 0;
    }
    const int length = padded_rows<Map>(rows);
    real* const transposed = products + std::int64_t(first) * ld;
    const multiply_by_rows<real> product{v, {t, 0, width, 1}, {transposed, 0, 1, length}, rows, count, width, true};
    for (std::int64_t tile = 0; tile < product.template tiles<Map>(); ++tile) product(map, tile);
    for (int i = 0; i < rows; ++i)
      for (int k = 0; k < width; ++k) t[std::int64_t(i) * width + k] = transposed[std::int64_t(k) * length + i];
  }

  /// Part `part` of the columns of Z meets all reflections, the last one first: Z + V (-T V^T Z).
  QUINTET_SVD_INLINE void reflect(const Map& map, real* z, int part) const {
    const int begin = part * columns_of_part, count = begin + columns_of_part < n ? columns_of_part : n - begin;
    real* const product = products + std::int64_t(begin) * ld;
    for (int block = blocks(n) - 1; block >= 0; --block) {
      const int row = first_row(block), rows = n - row;
      real* const z_rows = z + std::int64_t(begin) * ld + row;
      const multiply_by_rows<real> first{{factors + block_start(block), 0, 1, width},
                                         {z_rows, 0, 1, ld},
                                         {product, 0, 1, ld},
                                         width,
                                         rows,
                                         count,
                                         true};
      for (std::int64_t tile = 0; tile < first.template tiles<Map>(); ++tile) first(map, tile);
      const multiply_by_rows<real> second{columns_from(row, width * block),
                                          {product, 0, 1, ld},
                                          {z_rows, 0, 1, ld},
                                          rows,
                                          count_of(block),
                                          count,
                                          true};
      for (std::int64_t tile = 0; tile < second.template tiles<Map>(); ++tile) second.add_to_y(map, tile);
    }
  }

 private:
  QUINTET_SVD_INLINE int count_of(int block) const {
    return width * (block + 1) < n - 1 ? int(width) : n - 1 - width * block;
  }
  /// The vectors of a block begin in the row after it, within a chunk.
  static QUINTET_SVD_INLINE int first_row(int block) { return width * block; }
  /// Where -T V^T of a block begins.
  QUINTET_SVD_INLINE std::int64_t block_start(int block) const {
    return std::int64_t(width) * block * n - std::int64_t(width) * width * block * (block - 1) / 2;
  }
  QUINTET_SVD_INLINE strided_batch<const real> columns_from(int row, int column) const {
    return {h + std::int64_t(column) * ld + row, 0, 1, ld};
  }
};

/// Fewer columns have no room for the factors.
constexpr int smallest_blocked = 64;

}  // namespace quintet::svd
