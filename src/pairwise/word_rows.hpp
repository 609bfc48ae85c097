// Rows of bits and of 16-bit integers: words of 64, which lie in memory that is declared to hold doubles
// (quintet/pairwise/packed_bits.hpp, packed_integers.hpp).
//
// Panels hold numbers of a row first (word_term), and its words behind them. The first one bounds distances from below,
// and is NaN where a row is missing.
#pragma once

#include <cstdint>
#include <limits>

#include "pairwise/coordinate_term.hpp"
#include "pairwise/shape.hpp"
#include "pairwise/stored_rows.hpp"
#include "quintet/core/error.hpp"
#include "quintet/pairwise/metric.hpp"

namespace quintet::pairwise {

constexpr std::int64_t words_of_bits(std::int64_t bits) { return (bits + 63) / 64; }

/// Copies a word as it is, whatever number its bits are.
inline void copy_word(const double* from, double* to) { __builtin_memcpy(to, from, sizeof(double)); }

/// Numbers that panels hold before the words of a row.
constexpr std::int64_t numbers_of_words(term_kind kind) {
  return kind == term_kind::integer_cosine ? detail::integer_cosine_term::numbers : 1;
}

/// What is wrong with a row, in the place of its number, which is not negative.
constexpr double bits_behind = -1, integer_out_of_range = -2;

/// The number of ones of a row of words. Population counts as in Knuth 2011, 7.1.3.
inline double ones_of_row(const double* row, std::int64_t words) {
  std::uint64_t count = 0;
  for (std::int64_t k = 0; k < words; ++k) count += std::uint64_t(__builtin_popcountll(device::load_words<1>(row + k)));
  return double(count);
}

/// |x|^2 of a row of integers; integer_out_of_range where one is not in [-255, 255].
inline double square_of_row(const double* row, std::int64_t words) {
  std::int64_t sum = 0;
  for (std::int64_t k = 0; k < words; ++k) {
    const std::uint64_t word = device::load_words<1>(row + k);
    for (int part = 0; part < 4; ++part) {
      const auto value = std::int64_t(std::int16_t(std::uint16_t(word >> (bits_of_integer * part))));
      if (value < -255 || value > 255) return integer_out_of_range;
      sum += value * value;
    }
  }
  return double(sum);
}

/// What scan_kernel has for rows of numbers: ones of a row of bits or |x|^2 of one of integers, or what is wrong. For
/// cosine a row of zeros has NaN.
inline double number_of_row(const double* row, std::int64_t words, std::int64_t bits, metric kind) {
  const int used = int(bits - (words - 1) * 64);
  if (used < 64 && (device::load_words<1>(row + words - 1) >> used) != 0) return bits_behind;
  if (is_of_bits(kind)) return ones_of_row(row, words);
  const double square = square_of_row(row, words);
  return square == 0 && kind == metric::integer_cosine ? std::numeric_limits<double>::quiet_NaN() : square;
}

/// Throws InvalidArgument for a row whose number is negative.
inline void require_words(double number, std::int64_t row, std::int64_t bits) {
  if (number == bits_behind)
    throw InvalidArgument(text("bits behind the last one must be 0 (row=", row, ", bits=", bits, ")"));
  if (number == integer_out_of_range) throw InvalidArgument(text("integers must be in [-255, 255] (row=", row, ")"));
}

/// number_of_row() of every row.
template <class Shape>
struct scan_words_kernel {
  using shape = Shape;
  struct scratch {};
  enum { threads = 64, emulated_threads = 4, rows_per_tile = 64 };
  stored_rows<double> points;
  std::int64_t bits;
  metric kind;
  double* number;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    const std::int64_t first = tile * rows_per_tile;
    const std::int64_t end = first + rows_per_tile < points.count ? first + rows_per_tile : points.count;
    for (std::int64_t i = first + team.rank(); i < end; i += team.size())
      number[i] = number_of_row(points.row(i), points.dim, bits, kind);
  }
};

/// What panels hold before the words of a row with this number.
inline void write_row_numbers(term_kind kind, double number, double* to, std::int64_t step) {
  if (kind != term_kind::integer_cosine) {
    to[0] = number;
    return;
  }
  double numbers[detail::integer_cosine_term::numbers];
  detail::integer_cosine_term::write_numbers(number, numbers);
#pragma GCC unroll 3
  for (int k = 0; k < detail::integer_cosine_term::numbers; ++k) to[k * step] = numbers[k];
}

/// Tile = one panel. Rows order[0], order[1], ... behind their numbers, of words or of factors (product_rows.hpp); NaN
/// for the number where a row is missing. Packing as Goto, van de Geijn 2008 do it.
template <class Shape>
struct pack_rows_kernel {
  using shape = Shape;
  enum { threads = 64, emulated_threads = 4, lanes = panel_points<double> };
  struct scratch {
    const double* row[lanes];
  };
  stored_rows<double> points;
  std::int64_t count, padded_dim;
  const std::int32_t* order;  ///< null: the identity
  const double* number;       ///< of every stored row
  term_kind kind;
  double* panels;

  template <class Team>
  void operator()(const Team& team, std::int64_t panel, scratch& s) const {
    double* const to = panels + panel * padded_dim * lanes;
    const std::int64_t numbers = numbers_of_words(kind);
    for (int lane = team.rank(); lane < lanes; lane += team.size()) {
      const std::int64_t slot = panel * lanes + lane;
      const std::int64_t row = slot >= count ? -1 : order != nullptr ? order[slot] : slot;
      const bool usable = row >= 0 && number[row] >= 0;
      s.row[lane] = points.row(usable ? row : 0);
      write_row_numbers(kind, usable ? number[row] : std::numeric_limits<double>::quiet_NaN(), to + lane, lanes);
    }
    team.barrier();
    for (std::int64_t e = team.rank(); e < (padded_dim - numbers) * lanes; e += team.size()) {
      const std::int64_t k = e / lanes;
      const double* const row = s.row[e % lanes];
      double word = 0;
      if (k < points.dim) copy_word(row + k, &word);
      copy_word(&word, to + numbers * lanes + e);
    }
  }
};

}  // namespace quintet::pairwise
