// The pass before a product: products and bounds of every row, and how many entries a sample of rows makes expect.
#pragma once

#include <bit>
#include <vector>

#include "quintet/spgemm/options.hpp"
#include "spgemm/device_memory.hpp"
#include "spgemm/problem.hpp"

namespace quintet::spgemm {

struct row_analysis {
  array<std::int64_t> products, bound;  ///< of each row, on the host
  std::int64_t total_products = 0, total_bound = 0;
  device_array<std::int64_t> device_products;  ///< the same where the product is computed, unless that is the host
};

/// The flop count of Gustavson 1978, and bounds of the rows: computed on `device`, where the operands are, and kept on
/// the host too.
template <class Value, class Index>
row_analysis analyse(const problem<Value, Index>& p, const Device& device, memory_source& memory);

/// Entries that a result has for each product, by rows with about equally many products: stratum s holds the rows with
/// 2^s <= products < 2^(s+1).
struct compression {
  double ratio[64];
  /// Nothing is known: every product may be an entry.
  compression() { std::fill(std::begin(ratio), std::end(ratio), 1.0); }
  /// Entries expected of a row: never above its bound.
  double entries(std::int64_t products, std::int64_t bound) const {
    if (products == 0) return 0;
    return std::min(double(bound), ratio[std::bit_width(std::uint64_t(products)) - 1] * double(products));
  }
};

/// Rows and products of every stratum.
struct strata {
  enum { blocks = 64 };
  std::int64_t rows[64] = {}, products[64] = {};
  std::int64_t block_rows = 0;       ///< the matrix in blocks of so many rows
  std::vector<std::int64_t> before;  ///< [stratum][block]: rows in blocks before
  explicit strata(const row_analysis& all);
};

/// A row whose entries are counted exactly.
struct row_sample {
  std::int64_t row, entries;
};

/// Evenly spread rows of every stratum: at least two, otherwise one in a hundred or sixteen, and altogether at most a
/// hundredth of the products. The choice depends on the matrices only. Their entries are 0.
std::vector<row_sample> choose_rows(const row_analysis& rows, const strata& all);
/// What the samples say.
compression compression_of(const std::vector<row_sample>& chosen, const row_analysis& rows);

/// Both, with the rows counted on `device`, where the operands are.
template <class Value, class Index>
compression sample_compression(const problem<Value, Index>& p, const row_analysis& rows, const strata& all,
                               const Device& device, memory_source& memory);

/// Sum of the entries expected of all rows.
std::int64_t predicted_entries(const row_analysis& rows, const strata& all, const compression& sampled);

}  // namespace quintet::spgemm
