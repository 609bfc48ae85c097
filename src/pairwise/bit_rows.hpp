// Rows of bits: words of 64, which lie in memory that is declared to hold doubles (quintet/pairwise/packed_bits.hpp).
//
// Panels hold the number of ones of a row as coordinate 0, a double, and its words behind it. It bounds distances from
// below, and is NaN where a row is missing.
#pragma once

#include <cstdint>
#include <limits>

#include "device/bit_count.hpp"
#include "pairwise/shape.hpp"
#include "pairwise/stored_rows.hpp"
#include "quintet/core/error.hpp"

namespace quintet::pairwise {

constexpr std::int64_t words_of_bits(std::int64_t bits) { return (bits + 63) / 64; }

/// Copies a word as it is, whatever number its bits are.
inline void copy_word(const double* from, double* to) { __builtin_memcpy(to, from, sizeof(double)); }

/// The number of ones of a row of words; -1 where bits behind the last one are not 0.
inline double ones_of_row(const double* row, std::int64_t words, std::int64_t bits) {
  std::uint64_t count = 0, last = 0;
  for (std::int64_t k = 0; k < words; ++k) {
    last = device::load_words<1>(row + k);
    count += std::uint64_t(__builtin_popcountll(last));
  }
  const int used = int(bits - (words - 1) * 64);
  return used < 64 && (last >> used) != 0 ? -1 : double(count);
}

/// Throws InvalidArgument, of a row whose ones_of_row() is -1.
[[noreturn]] inline void refuse_bits_behind(std::int64_t row, std::int64_t bits) {
  throw InvalidArgument(text("bits behind the last one must be 0 (row=", row, ", bits=", bits, ")"));
}

/// ones_of_row() of every row. Population counts as in Knuth 2011, 7.1.3.
template <class Shape>
struct count_ones_kernel {
  using shape = Shape;
  struct scratch {};
  enum { threads = 64, emulated_threads = 4, rows_per_tile = 64 };
  stored_rows<double> points;
  std::int64_t bits;
  double* popcount;

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch&) const {
    const std::int64_t first = tile * rows_per_tile;
    const std::int64_t end = first + rows_per_tile < points.count ? first + rows_per_tile : points.count;
    for (std::int64_t i = first + team.rank(); i < end; i += team.size())
      popcount[i] = ones_of_row(points.row(i), points.dim, bits);
  }
};

/// Tile = one panel. Rows order[0], order[1], ... behind their numbers, of bits or of factors (product_rows.hpp); NaN
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
  double* panels;

  template <class Team>
  void operator()(const Team& team, std::int64_t panel, scratch& s) const {
    double* const to = panels + panel * padded_dim * lanes;
    for (int lane = team.rank(); lane < lanes; lane += team.size()) {
      const std::int64_t slot = panel * lanes + lane;
      const std::int64_t row = slot >= count ? -1 : order != nullptr ? order[slot] : slot;
      const bool usable = row >= 0 && number[row] >= 0;
      s.row[lane] = points.row(usable ? row : 0);
      to[lane] = usable ? number[row] : std::numeric_limits<double>::quiet_NaN();
    }
    team.barrier();
    for (std::int64_t e = team.rank(); e < (padded_dim - 1) * lanes; e += team.size()) {
      const std::int64_t k = e / lanes;
      const double* const row = s.row[e % lanes];
      double word = 0;
      if (k < points.dim) copy_word(row + k, &word);
      copy_word(&word, to + lanes + e);
    }
  }
};

}  // namespace quintet::pairwise
