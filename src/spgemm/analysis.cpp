#include "spgemm/analysis.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <type_traits>
#include <vector>

#include "device/atomic.hpp"
#include "quintet/spgemm/semiring.hpp"
#include "spgemm/range_loop.hpp"

#include "instantiate.hpp"

namespace quintet::spgemm {

namespace {

/// Rows of a stratum from which on they are not all looked at to choose some.
constexpr std::int64_t common_rows = 4096;

int stratum_of(std::int64_t products) { return std::bit_width(std::uint64_t(products)) - 1; }

/// f(row, its stratum) for the rows of the strata in `wanted`.
template <class Function>
void each_row_of(const row_analysis& rows, std::uint64_t classes, const Function& f) {
  for (std::int64_t i = 0; i < rows.products.size(); ++i)
    if (const int s = stratum_of(rows.products[i]); s >= 0 && (classes >> s & 1) != 0) f(i, s);
}

/// Rows of at most so many products are bounded by them alone: to look for their columns costs more than it can save.
constexpr std::int64_t unspanned_products = 64;

/// min(products, columns between the first and the last used) of row i.
template <class Value, class Index>
inline std::int64_t row_bound(const problem<Value, Index>& p, std::int64_t i, std::int64_t products) {
  if (products <= unspanned_products) return products;
  std::int64_t low = p.b.cols, high = -1;
  for (std::int64_t k = p.a.row_pointers[i]; k < p.a.row_pointers[i + 1]; ++k) {
    const std::int64_t j = p.a.columns[k];
    const std::int64_t first = p.b.row_pointers[j], last = p.b_ends[j];
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
  std::int64_t length(std::int64_t j) const { return p.b_ends[j] - p.b.row_pointers[j]; }

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
        sum += q.b_ends[j] - q.b.row_pointers[j];
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

}  // namespace

template <class Value, class Index>
row_analysis analyse(const problem<Value, Index>& p, const Device& device, memory_source& memory) {
  const std::int64_t m = p.a.rows;
  row_analysis all{array<std::int64_t>(m, memory), array<std::int64_t>(m, memory), 0, 0, {}};
  std::int64_t totals[2] = {0, 0};
  if (device.kind() == device_kind::host) {
    range_loop(m, 2048, analyse_rows<Value, Index>{p, all.products.data(), all.bound.data(), totals}, device);
  } else {
    all.device_products = device_array<std::int64_t>(m, device, memory);
    device_array<std::int64_t> bound(m, device, memory), sums(totals, 2, device, memory);
    range_loop(m, 2048, analyse_rows<Value, Index>{p, all.device_products.data(), bound.data(), sums.data()}, device);
    all.device_products.to_host(all.products.data(), m);
    bound.to_host(all.bound.data(), m);
    sums.to_host(totals, 2);
  }
  all.total_products = totals[0];
  all.total_bound = totals[1];
  return all;
}

strata::strata(const row_analysis& all)
    : block_rows(all.products.size() < common_rows ? common_rows : (all.products.size() + blocks - 1) / blocks),
      before(all.products.size() < common_rows ? 0 : 64 * blocks) {
  for (int block = 0; block < (before.empty() ? 1 : int(blocks)); ++block) {
    if (!before.empty())
      for (int s = 0; s < 64; ++s) before[std::size_t(s * blocks + block)] = rows[s];
    // Two tables in turn, the first column for rows without products: neighbours are often of one stratum, and a sum
    // that was just stored is slow to come back.
    std::int64_t count[2][65] = {}, sum[2][65] = {};
    const std::int64_t end = std::min(all.products.size(), (block + 1) * block_rows);
    for (std::int64_t i = block * block_rows; i < end; ++i) {
      const std::int64_t of_row = all.products[i];
      const int s = std::bit_width(std::uint64_t(of_row));
      ++count[i % 2][s];
      sum[i % 2][s] += of_row;
    }
    for (int s = 0; s < 64; ++s) {
      rows[s] += count[0][s + 1] + count[1][s + 1];
      products[s] += sum[0][s + 1] + sum[1][s + 1];
    }
  }
}

std::vector<row_sample> choose_rows(const row_analysis& rows, const strata& all) {
  const std::int64_t count = rows.products.size(), present = std::count_if(all.rows, all.rows + 64, std::identity{});
  std::int64_t step[64], wait[64] = {};  // rows of a stratum from one chosen to the next, and before the next
  std::uint64_t rare = 0;
  std::vector<row_sample> chosen;
  // Rows of a stratum that many are of: the block of every sample is looked up, and the next row is near.
  const auto choose_in_blocks = [&](int s, std::int64_t number) {
    const std::int64_t* const before = &all.before[std::size_t(s * strata::blocks)];
    std::int64_t i = 0;
    for (std::int64_t k = 0, block = 0; k < number; ++k, ++i) {
      const std::int64_t target = (2 * k + 1) * all.rows[s] / (2 * number);
      while (block + 1 < strata::blocks && before[block + 1] <= target) ++block;
      const std::int64_t of_block = (block + 1 < strata::blocks ? before[block + 1] : all.rows[s]) - before[block];
      i = std::max(i, block * all.block_rows + (target - before[block]) * all.block_rows / of_block);
      while (i < count && stratum_of(rows.products[i]) != s) ++i;
      if (i == count) return;
      chosen.push_back({i, 0});
    }
  };
  for (int s = 0; s < 64; ++s) {
    if (all.rows[s] == 0) continue;
    const std::int64_t allowed =
        std::int64_t(0.01 * double(rows.total_products) / double(present) * double(all.rows[s]) /
                     double(all.products[s]));  // each stratum may use the same share
    const std::int64_t sample_size = std::max<std::int64_t>(16, all.rows[s] / 100);
    const std::int64_t number = std::min(all.rows[s], std::max<std::int64_t>(2, std::min(sample_size, allowed)));
    if (all.rows[s] > std::max(common_rows, count / 64) && all.rows[s] >= 16 * number) {
      choose_in_blocks(s, number);
    } else {
      rare |= std::uint64_t{1} << s;
      step[s] = all.rows[s] / number;
      wait[s] = step[s] / 2;
    }
  }
  if (rare != 0)
    each_row_of(rows, rare, [&](std::int64_t i, int s) {
      if (wait[s]-- > 0) return;
      wait[s] = step[s] - 1;
      chosen.push_back({i, 0});
    });
  return chosen;
}

compression compression_of(const std::vector<row_sample>& chosen, const row_analysis& rows) {
  compression result;
  double products[64] = {}, entries[64] = {};
  for (const row_sample& s : chosen) {
    const int stratum = stratum_of(rows.products[s.row]);
    entries[stratum] += double(s.entries);
    products[stratum] += double(rows.products[s.row]);
  }
  for (int s = 0; s < 64; ++s)
    if (products[s] > 0) result.ratio[s] = entries[s] / products[s];
  return result;
}

namespace {

/// Bits over a block of the columns, all zero before and after a row.
struct bit_array {
  enum { kept_clean = 1 };
  std::uint64_t* bits;
};
template <int Columns>
struct bit_memory {
  enum { kept_clean = 0 };
  std::uint64_t bits[Columns / 64];
};
constexpr std::int64_t team_block = 1 << 17;

/// Different columns among the products of the rows of a sample. A tile takes every `tiles`-th row.
/// Sampled rows are exact, where Cohen 1998 estimates each: bits over the columns.
template <class Value, class Index, class Shape>
struct count_kernel {
  using shape = Shape;
  enum { threads = 128, emulated_threads = 4, on_device = Shape::on_device };
  struct scratch {
    std::conditional_t<on_device, bit_memory<on_device ? team_block : 64>, int> memory;
  };
  problem<Value, Index> p;
  row_sample* samples;
  std::int64_t count, tiles, block, words;
  std::uint64_t* bits;  ///< of the host's tiles: `words` each

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch& s) const {
    for (std::int64_t n = tile; n < count; n += tiles)
      for (std::int64_t col = 0; col < p.b.cols; col += block) {
        const std::int64_t i = samples[n].row, last = std::min(p.b.cols, col + block);
        if constexpr (on_device) {
          count_columns(team, s.memory, {i, i + 1, col, last, 0, 0, block < p.b.cols, true}, samples[n].entries);
        } else {
          bit_array memory{bits + tile * words};
          count_columns(team, memory, {i, i + 1, col, last, 0, 0, block < p.b.cols, true}, samples[n].entries);
        }
      }
  }

 private:
  template <class Team, class Memory>
  void count_columns(const Team& team, Memory& m, const chunk& c, std::int64_t& entries) const {
    const row_product<or_and, Value, Index> r{p, {}};
    const auto each = [&](auto f) {
      r.each_row_of_b(c, c.first_row, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        for (std::int64_t q = begin + team.rank(); q < end; q += team.size())
          f(std::uint64_t(std::int64_t(p.b.columns[q]) - c.first_col));
      });
      team.barrier();
    };
    if constexpr (!Memory::kept_clean) {
      for (std::int64_t w = team.rank(); w < (c.last_col - c.first_col + 63) / 64; w += team.size()) m.bits[w] = 0;
      team.barrier();
    }
    std::int64_t own_columns = 0;
    each([&](std::uint64_t column) {
      const std::uint64_t bit = std::uint64_t{1} << (column % 64);
      own_columns += (device::team_or(team, &m.bits[column / 64], bit) & bit) == 0;
    });
    if constexpr (Memory::kept_clean) each([&](std::uint64_t column) { m.bits[column / 64] = 0; });
    device::atomic_add(&entries, own_columns);
  }
};

}  // namespace

template <class Value, class Index>
compression sample_compression(const problem<Value, Index>& p, const row_analysis& rows, const strata& all,
                               const Device& device, memory_source& memory) {
  std::vector<row_sample> chosen = choose_rows(rows, all);
  const std::int64_t count = std::int64_t(chosen.size());
  if (device.kind() == device_kind::host) {
    const std::int64_t words = (p.b.cols + 63) / 64, tiles = std::min<std::int64_t>(threads(), (count + 15) / 16);
    array<std::uint64_t> bits(tiles * words, memory);
    std::fill(bits.begin(), bits.end(), 0);
    device::launch(count_kernel<Value, Index, host_shape>{p, chosen.data(), count, tiles, p.b.cols, words, bits.data()},
                   tiles, device);
  } else {
    device_array<row_sample> device_copy(chosen.data(), count, device, memory);
    device::launch(count_kernel<Value, Index, team_shape>{p, device_copy.data(), count, count, team_block, 0, nullptr},
                   count, device);
    device_copy.to_host(chosen.data(), count);
  }
  return compression_of(chosen, rows);
}

std::int64_t predicted_entries(const row_analysis& rows, const strata& all, const compression& sampled) {
  constexpr int first_spanned = std::bit_width(std::uint64_t(unspanned_products));  // strata below have no other bounds
  static_assert(std::has_single_bit(std::uint64_t(unspanned_products)));
  double sum = 0;
  std::uint64_t spanned = 0;
  for (int s = 0; s < 64; ++s)
    if (s + 1 < first_spanned)
      sum += sampled.ratio[s] * double(all.products[s]);
    else if (all.rows[s] > 0)
      spanned |= std::uint64_t{1} << s;
  if (spanned != 0)
    each_row_of(rows, spanned, [&](std::int64_t i, int) { sum += sampled.entries(rows.products[i], rows.bound[i]); });
  return std::llround(sum);
}

#define QUINTET_INSTANTIATE(Value, Index)                                                                   \
  template row_analysis analyse(const problem<Value, Index>&, const Device&, memory_source&);               \
  template compression sample_compression(const problem<Value, Index>&, const row_analysis&, const strata&, \
                                          const Device&, memory_source&);
QUINTET_FOR_EACH_SPARSE(QUINTET_INSTANTIATE)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::spgemm
