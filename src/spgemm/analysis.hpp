// The pass before a product: products and bounds of every row, and how many entries a sample of rows makes expect.
#pragma once

#include <bit>
#include <vector>

#include "device/atomic.hpp"
#include "quintet/spgemm/options.hpp"
#include "spgemm/device_memory.hpp"
#include "spgemm/problem.hpp"
#include "spgemm/range_loop.hpp"

namespace quintet::spgemm {

struct row_analysis {
  array<std::int64_t> products, bound;  ///< of each row, on the host
  std::int64_t total_products = 0, total_bound = 0;
  device_array<std::int64_t> products_there;  ///< the same where the product is computed, unless that is the host
};

/// Rows of at most so many products are bounded by them alone: to look for their columns costs more than it can save.
constexpr std::int64_t unspanned_products = 64;

/// min(products, columns between the first and the last used) of row i.
template <class Value, class Index>
inline std::int64_t row_bound(const problem<Value, Index>& p, std::int64_t i, std::int64_t products) {
  if (products <= unspanned_products) return products;
  std::int64_t low = p.b.cols, high = -1;
  for (std::int64_t k = p.a.row_pointers[i]; k < p.a.row_pointers[i + 1]; ++k) {
    const std::int64_t j = p.a.columns[k];
    const std::int64_t first = p.b.row_pointers[j], last = p.b.row_pointers[j + 1];
    if (first == last) continue;
    low = std::min(low, std::int64_t(p.b.columns[first]));
    high = std::max(high, std::int64_t(p.b.columns[last - 1]));
  }
  return std::min(products, high - low + 1);
}

/// products = sum of the lengths of B's rows used; bound = min(products, columns between the first and last used), or
/// products where these are few. A thread takes some rows.
/// The flop count of Gustavson 1978.
template <class Value, class Index>
struct analyse_rows {
  problem<Value, Index> p;
  std::int64_t *products, *bound, *totals;

  template <class Team>
  void operator()(const Team& team, std::int64_t begin, std::int64_t end) const {
    if constexpr (Team::on_device) {
      std::int64_t sum = 0, bound_sum = 0;
      for (std::int64_t i = begin + team.rank(); i < end; i += team.size()) {
        std::int64_t count = 0;
        for (std::int64_t k = p.a.row_pointers[i]; k < p.a.row_pointers[i + 1]; ++k) count += length(p.a.columns[k]);
        products[i] = count;
        bound[i] = row_bound(p, i, count);
        sum += count;
        bound_sum += bound[i];
      }
      device::atomic_add(&totals[0], sum);
      device::atomic_add(&totals[1], bound_sum);
    } else {
      count_by_blocks(begin, end);
    }
  }

 private:
  std::int64_t length(std::int64_t j) const { return p.b.row_pointers[j + 1] - p.b.row_pointers[j]; }

  /// Running sums over a block of A's entries first, their differences at the ends of rows then: neither loop knows
  /// how long a row is, which a processor would guess wrong.
  void count_by_blocks(std::int64_t begin, std::int64_t end) const {
    constexpr std::int64_t block = 1024, ahead = 32;
    const problem<Value, Index> q = p;
    const std::int64_t *const rows = q.a.row_pointers, entries_end = rows[q.a.rows];
    std::int64_t before[block + 1];  // before[e]: products of the range before entry k + e
    std::int64_t sum = 0, bound_sum = 0, row_begin = 0, i = begin;
    for (std::int64_t k = rows[begin], last = rows[end]; i < end; k += block) {
      const std::int64_t count = std::min(block, last - k);
      for (std::int64_t e = 0; e < count; ++e) {
        if (k + e + ahead < entries_end) __builtin_prefetch(q.b.row_pointers + q.a.columns[k + e + ahead]);
        before[e] = sum;
        const std::int64_t j = q.a.columns[k + e];
        sum += q.b.row_pointers[j + 1] - q.b.row_pointers[j];
      }
      before[count] = sum;
      for (; i < end && rows[i + 1] <= k + count; ++i) {
        const std::int64_t row_end = before[rows[i + 1] - k], of_row = row_end - row_begin;
        products[i] = of_row;
        const std::int64_t most = row_bound(q, i, of_row);
        bound[i] = most;
        bound_sum += most;
        row_begin = row_end;
      }
    }
    device::atomic_add(&totals[0], sum);
    device::atomic_add(&totals[1], bound_sum);
  }
};

/// The analysis, computed on `device`, where the operands are, and kept on the host too.
template <class Value, class Index>
row_analysis analyse(const problem<Value, Index>& p, const Device& device, memory_source& memory) {
  const std::int64_t m = p.a.rows;
  row_analysis all{array<std::int64_t>(m, memory), array<std::int64_t>(m, memory), 0, 0, {}};
  std::int64_t totals[2] = {0, 0};
  if (device.kind() == device_kind::host) {
    range_loop(m, 2048, analyse_rows<Value, Index>{p, all.products.data(), all.bound.data(), totals}, device);
  } else {
    all.products_there = device_array<std::int64_t>(m, device, memory);
    device_array<std::int64_t> bound(m, device, memory), sums(totals, 2, device, memory);
    range_loop(m, 2048, analyse_rows<Value, Index>{p, all.products_there.data(), bound.data(), sums.data()}, device);
    all.products_there.to_host(all.products.data(), m);
    bound.to_host(all.bound.data(), m);
    sums.to_host(totals, 2);
  }
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
