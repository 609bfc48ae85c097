// Rows of bits, 64 in a word, as arguments of functions of points.
#pragma once

#include <cstdint>

#include "quintet/core/error.hpp"
#include "quintet/core/view.hpp"
#include "quintet/pairwise/metric.hpp"

namespace quintet {

/// Rows of bits, not owned: bit b of a row is bit b % 64 of its word b / 64, the least significant one first. Bits
/// behind the last one are 0. (np.packbits(..., bitorder="little") packs so; the order of bits changes no distance.)
///
///   packed_bits rows(words, n, 1024);
///   neighbours::nearest(rows.points(), 10, {.distance = rows.distance(metric::jaccard)});
///   hdbscan::cluster(rows.points(), {.distance = rows.distance(metric::hamming)});
///
/// Every function of points takes the words as points of double. With metric::hamming and metric::jaccard it reads them
/// as words; with another metric they would be numbers without a meaning.
class packed_bits {
 public:
  /// `rows` rows of (bits + 63) / 64 words each, one after another. Throws InvalidArgument for bits outside [1, 2^24],
  /// and as matrix_view does.
  packed_bits(const std::uint64_t* words, std::int64_t rows, std::int64_t bits, const Device& device = Device::host())
      : packed_bits(words, rows, bits, (bits + 63) / 64, device) {}
  /// The same with `stride` words from one row to the next.
  packed_bits(const std::uint64_t* words, std::int64_t rows, std::int64_t bits, std::int64_t stride,
              const Device& device)
      : bits_(checked(bits)), points_(reinterpret_cast<const double*>(words), rows, (bits + 63) / 64, stride, device) {}

  /// The words as functions of points take them.
  const matrix_view<const double>& points() const { return points_; }
  /// metric::hamming or metric::jaccard of these bits. Throws InvalidArgument for another metric.
  point_metric distance(metric kind) const {
    require_argument(is_of_bits(kind), "metric", to_string(kind), "hamming or jaccard for rows of bits");
    return {kind, double(bits_)};
  }
  /// Bits of a row.
  std::int64_t bits() const { return bits_; }
  /// Rows.
  std::int64_t rows() const { return points_.rows(); }

 private:
  static std::int64_t checked(std::int64_t bits) {
    require_argument(bits >= 1 && bits <= max_bits, "bits", bits, text("in [1, ", max_bits, "]"));
    return bits;
  }

  std::int64_t bits_;
  matrix_view<const double> points_;
};

}  // namespace quintet
