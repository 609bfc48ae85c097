// The pass before a product: products and bounds of every row, and how many entries a sample of rows makes expect.
#pragma once

#include <bit>

#include "quintet/spgemm/options.hpp"
#include "spgemm/host_loop.hpp"
#include "spgemm/problem.hpp"

namespace quintet::spgemm {

struct row_analysis {
  array<std::int64_t> products, bound;  ///< of each row
  std::int64_t total_products = 0, total_bound = 0;
};

/// products = sum of the lengths of B's rows used; bound = min(products, columns between the first and last used).
template <class Value, class Index>
row_analysis analyse(const problem<Value, Index>& p, memory_source& memory) {
  row_analysis all{array<std::int64_t>(p.a.rows, memory), array<std::int64_t>(p.a.rows, memory)};
  std::int64_t *products = all.products.data(), *bound = all.bound.data();
  std::int64_t totals[2] = {0, 0}, *total = totals;
  host_loop(p.a.rows, 2048, [=](std::int64_t begin, std::int64_t end) {
    std::int64_t sum = 0, bound_sum = 0;
    for (std::int64_t i = begin; i < end; ++i) {
      std::int64_t count = 0, low = p.b.cols, high = -1;
      for (std::int64_t k = p.a.row_pointers[i]; k < p.a.row_pointers[i + 1]; ++k) {
        const std::int64_t j = p.a.columns[k];
        const std::int64_t first = p.b.row_pointers[j], last = p.b.row_pointers[j + 1];
        if (first == last) continue;
        count += last - first;
        low = std::min(low, std::int64_t(p.b.columns[first]));
        high = std::max(high, std::int64_t(p.b.columns[last - 1]));
      }
      products[i] = count;
      bound[i] = std::min(count, std::max<std::int64_t>(0, high - low + 1));
      sum += count;
      bound_sum += bound[i];
    }
    __atomic_fetch_add(&total[0], sum, __ATOMIC_RELAXED);
    __atomic_fetch_add(&total[1], bound_sum, __ATOMIC_RELAXED);
  });
  all.total_products = totals[0];
  all.total_bound = totals[1];
  return all;
}

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

/// Rows whose entries are counted exactly: of each stratum at least two, otherwise one in a hundred or sixteen, and
/// altogether at most a hundredth of the products. The choice depends on the matrices only.
template <class Value, class Index>
compression sample_compression(const problem<Value, Index>& p, const row_analysis& rows, memory_source& memory);

/// Sum of the entries expected of all rows.
std::int64_t predicted_entries(const row_analysis& rows, const compression& sampled);

}  // namespace quintet::spgemm
