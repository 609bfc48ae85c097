// Rows of bits for tests: owned, with any stride, and plain distances of them.
#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <utility>
#include <vector>

#include "quintet/pairwise/packed_bits.hpp"
#include "reference/matrix.hpp"
#include "support/points.hpp"

namespace quintet::test {

/// n rows of `bits` bits in words; between the rows are words of ones, so that reading them shows.
struct bit_set {
  std::int64_t n, bits, stride;
  std::vector<std::uint64_t> words;

  bit_set(std::int64_t n, std::int64_t bits, std::int64_t padding = 0)
      : n(n), bits(bits), stride((bits + 63) / 64 + padding), words(std::size_t(n * stride), ~std::uint64_t(0)) {
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t w = 0; w < (bits + 63) / 64; ++w) words[i * stride + w] = 0;
  }

  bool get(std::int64_t i, std::int64_t b) const { return (words[i * stride + b / 64] >> (b % 64) & 1) != 0; }
  void set(std::int64_t i, std::int64_t b, bool value) {
    std::uint64_t& word = words[i * stride + b / 64];
    const std::uint64_t bit = std::uint64_t(1) << (b % 64);
    word = value ? word | bit : word & ~bit;
  }
  packed_bits packed() const { return {words.data(), n, bits, stride, Device::host()}; }
  matrix_view<const double> points() const { return packed().points(); }
  /// Rows [first, end).
  matrix_view<const double> points(std::int64_t first, std::int64_t end) const { return points().slice(first, end); }
};

/// The words as rows of points, NaN between them.
inline point_set<double> words_of(const bit_set& rows, std::int64_t padding = 0) {
  const std::int64_t count = (rows.bits + 63) / 64;
  point_set<double> points(rows.n, count, padding);
  for (std::int64_t i = 0; i < rows.n; ++i)
    std::memcpy(&points.data[i * points.stride], &rows.words[i * rows.stride], std::size_t(count) * sizeof(double));
  return points;
}

/// Groups around random rows of different densities, in which a share of the bits flips; a few copies, a row without
/// ones and one of ones alone.
inline bit_set clustered_bits(std::int64_t n, std::int64_t bits, std::uint64_t seed, double flips = 0.05,
                              std::int64_t padding = 0) {
  constexpr std::int64_t groups = 6;
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform;
  bit_set centres(groups, bits), rows(n, bits, padding);
  for (std::int64_t g = 0; g < groups; ++g)
    for (std::int64_t b = 0; b < bits; ++b) centres.set(g, b, uniform(random) < 0.1 + 0.12 * double(g));
  for (std::int64_t i = 0; i < n; ++i) {
    const auto group = std::int64_t(random() % groups);
    const bool is_copy = i > 0 && random() % 20 == 0;
    for (std::int64_t b = 0; b < bits; ++b) {
      const bool flipped = uniform(random) < flips;
      rows.set(i, b, is_copy ? rows.get(i - 1, b) : centres.get(group, b) != flipped);
    }
  }
  for (std::int64_t b = 0; b < bits; ++b) {
    if (n > 4) rows.set(4, b, false);
    if (n > 9) rows.set(9, b, true);
  }
  return rows;
}

/// Numerator and denominator of a distance, bit by bit.
inline std::pair<std::int64_t, std::int64_t> bit_fraction(const bit_set& a, std::int64_t i, const bit_set& b,
                                                          std::int64_t j, metric kind) {
  std::int64_t different = 0, either = 0;
  for (std::int64_t bit = 0; bit < a.bits; ++bit) {
    const bool x = a.get(i, bit), y = b.get(j, bit);
    different += x != y;
    either += x || y;
  }
  if (kind == metric::hamming) return {different, a.bits};
  return either == 0 ? std::pair<std::int64_t, std::int64_t>{0, 1} : std::pair{different, either};
}

inline double bit_distance(const bit_set& a, std::int64_t i, const bit_set& b, std::int64_t j, metric kind) {
  const auto [numerator, denominator] = bit_fraction(a, i, b, j, kind);
  return double(numerator) / double(denominator);
}

/// All distances.
inline reference::matrix bit_distances(const bit_set& a, const bit_set& b, metric kind) {
  reference::matrix d(a.n, b.n);
  for (std::int64_t i = 0; i < a.n; ++i)
    for (std::int64_t j = 0; j < b.n; ++j) d(i, j) = bit_distance(a, i, b, j, kind);
  return d;
}

}  // namespace quintet::test
