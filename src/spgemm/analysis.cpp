#include "spgemm/analysis.hpp"

#include <cmath>
#include <vector>

#include "quintet/spgemm/semiring.hpp"

#include "instantiate.hpp"

namespace quintet::spgemm {

std::vector<row_sample> choose_rows(const row_analysis& rows) {
  std::int64_t count[64] = {}, products[64] = {}, total = 0, strata = 0;
  const auto stratum = [&](std::int64_t i) { return std::bit_width(std::uint64_t(rows.products[i])) - 1; };
  for (std::int64_t i = 0; i < rows.products.size(); ++i)
    if (rows.products[i] > 0) {
      const int s = stratum(i);
      strata += count[s]++ == 0;
      products[s] += rows.products[i];
      total += rows.products[i];
    }
  std::int64_t step[64], wait[64] = {};  // rows of a stratum from one chosen to the next, and before the next
  for (int s = 0; s < 64; ++s) {
    if (count[s] == 0) continue;
    const std::int64_t allowed = std::int64_t(0.01 * double(total) / double(strata) * double(count[s]) /
                                              double(products[s]));  // each stratum may use the same share
    const std::int64_t wanted = std::max<std::int64_t>(16, count[s] / 100);
    step[s] = std::max<std::int64_t>(1, count[s] / std::max<std::int64_t>(2, std::min(wanted, allowed)));
    wait[s] = step[s] / 2;
  }
  std::vector<row_sample> chosen;
  for (std::int64_t i = 0; i < rows.products.size(); ++i)
    if (rows.products[i] > 0) {
      const int s = stratum(i);
      if (wait[s]-- > 0) continue;
      wait[s] = step[s] - 1;
      chosen.push_back({i, 0});
    }
  return chosen;
}

compression compression_of(const std::vector<row_sample>& chosen, const row_analysis& rows) {
  compression result;
  double products[64] = {}, entries[64] = {};
  for (const row_sample& s : chosen) {
    const int stratum = std::bit_width(std::uint64_t(rows.products[s.row])) - 1;
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
    std::int64_t found = 0;
    each([&](std::uint64_t column) {
      const std::uint64_t bit = std::uint64_t{1} << (column % 64);
      found += (device::team_or(team, &m.bits[column / 64], bit) & bit) == 0;
    });
    if constexpr (Memory::kept_clean) each([&](std::uint64_t column) { m.bits[column / 64] = 0; });
    device::atomic_add(&entries, found);
  }
};

}  // namespace

template <class Value, class Index>
compression sample_compression(const problem<Value, Index>& p, const row_analysis& rows, const Device& device,
                               memory_source& memory) {
  std::vector<row_sample> chosen = choose_rows(rows);
  const std::int64_t count = std::int64_t(chosen.size());
  if (device.kind() == device_kind::host) {
    const std::int64_t words = (p.b.cols + 63) / 64, tiles = std::min<std::int64_t>(threads(), (count + 15) / 16);
    array<std::uint64_t> bits(tiles * words, memory);
    std::fill(bits.begin(), bits.end(), 0);
    device::launch(count_kernel<Value, Index, host_shape>{p, chosen.data(), count, tiles, p.b.cols, words, bits.data()},
                   tiles, device);
  } else {
    device_array<row_sample> there(chosen.data(), count, device, memory);
    device::launch(count_kernel<Value, Index, team_shape>{p, there.data(), count, count, team_block, 0, nullptr}, count,
                   device);
    there.to_host(chosen.data(), count);
  }
  return compression_of(chosen, rows);
}

std::int64_t predicted_entries(const row_analysis& rows, const compression& sampled) {
  double sum = 0;
  for (std::int64_t i = 0; i < rows.products.size(); ++i) sum += sampled.entries(rows.products[i], rows.bound[i]);
  return std::llround(sum);
}

#define QUINTET_INSTANTIATE(Value, Index)                                                                   \
  template compression sample_compression(const problem<Value, Index>&, const row_analysis&, const Device&, \
                                          memory_source&);
QUINTET_FOR_EACH_SPARSE(QUINTET_INSTANTIATE)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::spgemm
