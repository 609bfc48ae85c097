// Rows of small integers, such as quantised embeddings, as arguments of functions of points.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "quintet/core/error.hpp"
#include "quintet/core/view.hpp"
#include "quintet/pairwise/metric.hpp"

namespace quintet {

/// Rows of integers of 8 bits, copied to words of four 16-bit integers each, the first one lowest; 0 behind the last
/// one. Twice the bytes of the rows.
///
///   packed_integers rows(codes, n, 768);  // const std::int8_t* or const std::uint8_t*
///   neighbours::nearest(rows.points(), 10, {.distance = rows.distance(metric::integer_cosine)});
///   hdbscan::cluster(rows.points(), {.distance = rows.distance(metric::integer_euclidean)});
///
/// Every function of points takes the words as points of double. With the metrics of integers it reads them as words;
/// with another metric they would be numbers without a meaning. Sums of products are integers, so that order and ties
/// are exact. Words of both types are alike, so queries and points may be of either.
class packed_integers {
 public:
  /// `rows` rows of `integers` numbers each, one after another. Throws InvalidArgument for rows < 0 and for integers
  /// outside [1, 65536].
  packed_integers(const std::int8_t* values, std::int64_t rows, std::int64_t integers)
      : packed_integers(values, rows, integers, integers) {}
  /// The same of bytes without a sign.
  packed_integers(const std::uint8_t* values, std::int64_t rows, std::int64_t integers)
      : packed_integers(values, rows, integers, integers) {}
  /// The same with `stride` numbers from one row to the next.
  template <class Integer>
  packed_integers(const Integer* values, std::int64_t rows, std::int64_t integers, std::int64_t stride)
      : rows_(rows), integers_(integers) {
    static_assert(sizeof(Integer) == 1, "integers of 8 bits");
    require_argument(rows >= 0, "rows", rows, ">= 0");
    require_argument(integers >= 1 && integers <= max_integers, "integers", integers,
                     text("in [1, ", max_integers, "]"));
    require_argument(stride >= integers, "stride", stride, text(">= integers=", integers));
    words_.assign(std::size_t(rows * words()), 0);
    for (std::int64_t i = 0; i < rows; ++i) {
      auto* const to = reinterpret_cast<char*>(words_.data() + i * words());
      for (std::int64_t k = 0; k < integers; ++k) {
        const auto value = std::int16_t(values[i * stride + k]);
        std::memcpy(to + k * std::int64_t(sizeof value), &value, sizeof value);
      }
    }
  }

  /// The words as functions of points take them; valid as long as this is.
  matrix_view<const double> points() const {
    return {reinterpret_cast<const double*>(words_.data()), rows_, words(), words(), Device::host()};
  }
  /// A metric of integers, of these. Throws InvalidArgument for another metric.
  point_metric distance(metric kind) const {
    require_argument(is_of_integers(kind), "metric", to_string(kind), "of integers for rows of integers");
    return {kind, double(bits_of_integer * integers_)};
  }
  /// Integers of a row.
  std::int64_t integers() const { return integers_; }
  /// Rows.
  std::int64_t rows() const { return rows_; }

 private:
  std::int64_t words() const { return (integers_ + 3) / 4; }

  std::int64_t rows_, integers_;
  std::vector<std::uint64_t> words_;
};

}  // namespace quintet
