// The Poincare ball as the pairwise engine sees it: scaled coordinates, and a factor for every point.
#pragma once

#include <cmath>
#include <limits>

#include "pairwise/compensated.hpp"
#include "pairwise/metric.hpp"

namespace quintet::pairwise {

/// Coordinates are packed as scale * x, scale a power of two about 2^50 sqrt(c): then squares of differences down to
/// 2^-110 / sqrt(c) are normal floats, and sums of squares within the ball stay far from overflow.
struct ball_constants {
  double c = 0, root_c = 0;
  double scale = 1;
  /// A point's factor is numerator / (1 - c |x|^2), so that the reduced distance is 2^asinh_scale_exponent t.
  double numerator = 0;

  ball_constants() = default;
  /// c >= 0, and sqrt(c) and its products normal numbers of float.
  explicit ball_constants(double minus_curvature) : c(minus_curvature), root_c(std::sqrt(minus_curvature)) {
    if (flat()) return;
    scale = std::ldexp(1.0, 50 + std::ilogb(root_c));
    numerator = std::ldexp(root_c, device::asinh_scale_exponent / 2) / scale;
  }
  bool flat() const { return c == 0; }

  /// Whether a distance was summed from squares that may have left the normal numbers of Real, so that it has to be
  /// measured again (measured_again()).
  template <class Real>
  bool lost(Real distance) const {
    if constexpr (sizeof(Real) == 8)
      return flat() ? distance < 0x1p-500 || distance > 0x1p500 : distance * root_c < 0x1p-500;
    return flat() ? distance < 0x1p-59 || distance > 0x1p63 : distance * root_c < 0x1p-68;
  }
  /// Packed coordinates of these magnitudes can have such distances: numbers that differ do so by 2^-digits of the
  /// smaller one, so two that are 0 or >= m in every coordinate are 0 or m 2^-digits apart.
  template <class Real>
  double small() const {
    if constexpr (sizeof(Real) == 8) return flat() ? 0x1p-447 : scale / root_c * 0x1p-447;
    return flat() ? 0x1p-35 : scale / root_c * 0x1p-44;
  }
  template <class Real>
  double large() const {
    if (!flat()) return std::numeric_limits<double>::infinity();
    return sizeof(Real) == 8 ? 0x1p480 : 0x1p40;
  }
  /// What differences are multiplied by before a lost distance is summed in double: squares of those of float are in
  /// range as they are.
  template <class Real>
  double again_scale(Real lost_distance) const {
    if constexpr (sizeof(Real) == 4) return 1;
    return lost_distance < 1 ? 0x1p600 : 0x1p-600;
  }
  /// The distance again, from the sum in double of squares of packed differences times again_scale(), and the factors
  /// of both points (1 in the flat ball): 2 asinh(sqrt(t)) = 2 sqrt(t) to all digits.
  double measured_again(double squared, double factors, double again_scale) const {
    const double unscale = flat() ? 2 : std::ldexp(2 / root_c, -device::asinh_scale_exponent / 2);
    return std::sqrt(squared * factors) * unscale / again_scale;
  }

  template <class Real>
  reduced_metric<Real> measure(distance_curve curve) const {
    reduced_metric<Real> metric;
    metric.kind = quintet::metric::poincare;
    if (flat()) {
      metric.kind = quintet::metric::euclidean;
      metric.unscale = 2;  // lambda = 2: the limit of the distances is 2 |x - y|
      return metric;
    }
    metric.unscale = Real(1 / root_c);
    metric.curve = curve;
    return metric;
  }

  /// Factors up to 2^60: products of two of them are finite floats. Only points with 1 - c |x|^2 < 2^-89 are affected.
  template <class Real>
  Real factor(double gap) const {
    constexpr double largest = 0x1p60;
    const double factor = numerator / gap;
    return Real(factor < largest || sizeof(Real) == 8 ? factor : largest);
  }
};

/// What is summed over the coordinates of W points.
template <class Storage, int W>
struct norm_sums {
  compensated_sum<W> square;
  device::pack<double, W> not_finite{};

  void add(const device::pack<double, W>& x) {
    add_square<Storage, W>(square, x);
    not_finite += x - x;
  }
};

}  // namespace quintet::pairwise
