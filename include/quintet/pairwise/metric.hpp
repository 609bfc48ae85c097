// The distances that all-pairs functions can use. Everything here is O(1).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "quintet/core/compiler.hpp"
#include "quintet/pairwise/product_space.hpp"

namespace quintet {

/// A distance d(x, y) of two points of D coordinates.
enum class metric {
  euclidean,  ///< |x - y|
  /// 1 - <x, y> / (|x| |y|). A point has no cosine distance and counts as invalid if its 1 / |x| is no normal number of
  /// its type (x = 0 above all).
  cosine,
  /// Geodesic distance in the Poincare ball of curvature -c < 0: (2 / sqrt(c)) asinh(sqrt(t)),
  /// t = c |x - y|^2 / ((1 - c |x|^2)(1 - c |y|^2)). A point with c |x|^2 >= 1 is not in the ball and counts as
  /// invalid.
  poincare,
  manhattan,  ///< sum_k |x_k - y_k|
  chebyshev,  ///< max_k |x_k - y_k|
  /// (sum_k |x_k - y_k|^p)^(1/p), p >= 1: that of manhattan, euclidean and chebyshev, bit for bit, for p = 1, 2 and
  /// infinity. Other p are at most 8 for points of 32 bits and fewer, and 64 for double. Up to there the p-th power of
  /// a difference that is 2^-28 (2^-29) of the largest coordinate is still a number; smaller ones may count as 0.
  minkowski,
  /// Great-circle distance on a sphere: sphere_radius times the angle between two points, in [0, pi]. Points are rows
  /// of latitude and longitude (D = 2) in the `unit` of the metric: latitudes in [-90, 90] degrees, longitudes in
  /// [-360, 360]; in radians +-pi / 2 and +-2 pi, rounded to the type. Rows out of range are invalid.
  ///
  /// Coordinates count as exact. Distances are within 4 ulp for angles from 1e-10 on (points of 32 bits and fewer:
  /// 1e-7); below, the error is at most 2^-97 (2^-44) of the radius. All longitudes at a pole are one point.
  haversine,
  /// Geodesic distance in the Lorentz model of curvature -c < 0, of space parts x as in poincare/lorentz.hpp. With s =
  /// sqrt(1 + c |.|^2), sinh^2(sqrt(c) d / 2) is right to 2^-100 (s_x s_y)^(1/2) beyond the roundings of a sum of
  /// squares. That is 1e-13 at radius 40. Points are double and have s <= 2^64: radius 45 / sqrt(c).
  lorentz,
  /// Of rows of bits (packed_bits.hpp): x / bits, x bits that differ.
  hamming,
  /// Of rows of bits: 1 - Tanimoto's similarity, x / o with o bits that are 1 in either row, rounded once; two rows
  /// without ones are at distance 0. Equal fractions tie.
  jaccard,
  /// Distance of a product of spaces of constant curvature, sqrt(sum of w_i d_i^2) over the factors of point_metric, of
  /// rows as in poincare/product.hpp. Points are double. The sum of squares is right to 16 roundings for each factor.
  /// Lorentz factors are as right as metric lorentz, and distances on a sphere to 2^-97 of its radius. A row with a
  /// part that is no point of its factor counts as invalid.
  ///
  /// Weights are in [1e-30, 1e30]. Numbers of flat parts are at most 2^480 (and sqrt(k) |x| of stereographic ones of
  /// curvature k > 0), where differences below 1e-150 count as 0. Trees of boxes exclude nothing: every pair is
  /// computed.
  product,
  /// Of rows of integers (packed_integers.hpp): |x - y|, ordered by its exact square.
  integer_euclidean,
  /// Of rows of integers: 1 - <x, y> / (|x| |y|), right to 0.5 (1 + 2^-30) ulp; 0 of rows that are multiples of each
  /// other. Distances that are one double tie. A row of zeros is invalid.
  integer_cosine,
  /// Of rows of integers: -<x, y>, the largest product first. No distance: for neighbours alone. A row need not be its
  /// own nearest.
  integer_inner_product,
};

/// Whether points are rows of bits.
constexpr bool is_of_bits(metric kind) { return kind == metric::hamming || kind == metric::jaccard; }
/// Whether points are rows of integers.
constexpr bool is_of_integers(metric kind) {
  return kind == metric::integer_euclidean || kind == metric::integer_cosine || kind == metric::integer_inner_product;
}
/// Whether points are rows of words: of bits or of integers.
constexpr bool is_of_words(metric kind) { return is_of_bits(kind) || is_of_integers(kind); }

/// The most bits of a row: different fractions of larger numbers may be one double.
constexpr std::int64_t max_bits = std::int64_t(1) << 24;
/// The most integers of a row: their products fill 32 bits. Each has 16 bits.
constexpr std::int64_t max_integers = 65536, bits_of_integer = 16;  ///< the bits of each

/// What coordinates of points on a sphere are measured in.
enum class angle_unit { degrees, radians };

/// A metric with its parameter. Made from a metric as it is, so that options read {.distance = metric::cosine}.
struct point_metric {
  metric kind = metric::euclidean;  ///< which distance
  double curvature = -1;            ///< of metric::poincare and lorentz alone: -c with c in [1e-30, 1e30]
  double p = 2;                     ///< of metric::minkowski alone
  double sphere_radius = 1;         ///< of metric::haversine alone: in [1e-30, 1e30]; that of the Earth is 6371008.8 m
  angle_unit unit = angle_unit::degrees;  ///< of metric::haversine alone
  /// Of a row, of metric::hamming, jaccard and those of integers (16 each) alone; packed_bits::distance() and
  /// packed_integers::distance() set it.
  std::int64_t bits = 0;
  product_space space;  ///< of metric::product alone

  constexpr point_metric() = default;
  /// Implicit; every parameter has its default.
  constexpr point_metric(metric distance) : kind(distance) {}  // NOLINT: implicit
  /// `parameter` is the curvature of metric::poincare and lorentz, the p of metric::minkowski and the sphere_radius of
  /// metric::haversine, the bits of rows of words, and has no effect on others. Functions check it, the constructor
  /// does not.
  constexpr point_metric(metric distance, double parameter) : kind(distance) {
    if (is_of_words(kind))
      bits = parameter >= 1 && parameter <= double(max_bits) ? std::int64_t(parameter) : 0;
    else
      (kind == metric::minkowski ? p : kind == metric::haversine ? sphere_radius : curvature) = parameter;
  }
  /// metric::product of these factors.
  constexpr point_metric(const product_space& factors) : kind(metric::product), space(factors) {}  // NOLINT: implicit
  /// The same kind and parameters, also where they do not count.
  friend constexpr bool operator==(const point_metric&, const point_metric&) = default;
};

/// Coordinates of points that are stored in `cols` columns: of rows of integers their number.
constexpr std::int64_t dimension_of(const point_metric& distance, std::int64_t cols) {
  return is_of_integers(distance.kind) ? distance.bits / bits_of_integer : cols;
}

/// "euclidean", "cosine", "poincare", "manhattan", "chebyshev", "minkowski", "haversine", "lorentz", "hamming",
/// "jaccard" (also "tanimoto"), "integer_euclidean", "integer_cosine", "integer_inner_product" or "product", in this
/// case; throws InvalidArgument for other text.
metric parse_metric(std::string_view name);
/// The name that parse_metric() reads.
std::string_view to_string(metric value);
/// "cosine", "poincare of curvature -1", "minkowski of p 3", "haversine of degrees and radius 1", "hamming of 64 bits",
/// "product of lorentz 3 -1 1, sphere 3 1 1".
std::string to_string(const point_metric& value);

}  // namespace quintet
