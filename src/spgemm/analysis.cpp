#include "spgemm/analysis.hpp"

#include <cmath>
#include <vector>

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

// Different columns among the products of a row; `bits` has a zero bit for every column before and after.
template <class Value, class Index>
std::int64_t count_entries(const problem<Value, Index>& p, std::int64_t row, std::uint64_t* bits) {
  std::int64_t found = 0;
  const auto each = [&](auto&& f) {
    for (std::int64_t k = p.a.row_pointers[row]; k < p.a.row_pointers[row + 1]; ++k) {
      const std::int64_t j = p.a.columns[k];
      for (std::int64_t q = p.b.row_pointers[j]; q < p.b.row_pointers[j + 1]; ++q) f(std::uint64_t(p.b.columns[q]));
    }
  };
  each([&](std::uint64_t c) {
    const std::uint64_t word = bits[c / 64];
    found += std::int64_t(~word >> (c % 64) & 1u);
    bits[c / 64] = word | (std::uint64_t{1} << (c % 64));
  });
  each([&](std::uint64_t c) { bits[c / 64] = 0; });
  return found;
}

}  // namespace

template <class Value, class Index>
compression sample_compression(const problem<Value, Index>& p, const row_analysis& rows, memory_source& memory) {
  std::vector<row_sample> chosen = choose_rows(rows);
  const std::int64_t count = std::int64_t(chosen.size()), words = (p.b.cols + 63) / 64;
  const std::int64_t workers = std::min<std::int64_t>(threads(), (count + 15) / 16);
  array<std::uint64_t> bits(workers * words, memory);
  std::fill(bits.begin(), bits.end(), 0);
  row_sample* samples = chosen.data();
  std::uint64_t* all_bits = bits.data();
  host_loop(workers, 1, [=](std::int64_t w, std::int64_t) {
    for (std::int64_t s = w; s < count; s += workers)
      samples[s].entries = count_entries(p, samples[s].row, all_bits + w * words);
  });
  return compression_of(chosen, rows);
}

std::int64_t predicted_entries(const row_analysis& rows, const compression& sampled) {
  double sum = 0;
  for (std::int64_t i = 0; i < rows.products.size(); ++i) sum += sampled.entries(rows.products[i], rows.bound[i]);
  return std::llround(sum);
}

template compression sample_compression(const problem<float, std::int32_t>&, const row_analysis&, memory_source&);
template compression sample_compression(const problem<float, std::int64_t>&, const row_analysis&, memory_source&);
template compression sample_compression(const problem<double, std::int32_t>&, const row_analysis&, memory_source&);
template compression sample_compression(const problem<double, std::int64_t>&, const row_analysis&, memory_source&);

}  // namespace quintet::spgemm
