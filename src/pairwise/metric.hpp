// Metrics of the pairwise engine. A tile holds reduced distances, numbers that order pairs as their distances do; the
// distance itself is taken where it is asked for.
//
//   euclidean  reduced distance |x - y|^2,                 distance sqrt(reduced distance)
//   cosine     reduced distance |x/|x| - y/|y||^2,         distance reduced distance / 2 = 1 - cos(x, y)
//   hyperbolic reduced distance |x - y|^2 f_x f_y with the points' factors f, distance 2 asinh(sqrt(.)), see
//   distance_curve
//              lorentz has the same reduced distances and factors, of the points of the ball in sheet_kernel.hpp
//   haversine  reduced distance that of an angle, see device/arc.hpp, distance the angle times the radius
//   manhattan, chebyshev, minkowski  reduced distance the distance, see coordinate_term.hpp
//   product    reduced distance the sum of squared distances of the factors, see product_rows.hpp, distance its root
//   hamming    reduced distance the bits that differ, distance their share; jaccard both the distance
//   of integers  reduced distance |x - y|^2, 1 - cos(x, y), or 2^32 - <x, y>
//
// A metric is data, not a type: it acts once per tile or per winner, where a branch costs nothing, and the expensive
// loop is compiled once for all that sum squares, and once for the others.
#pragma once

#include <algorithm>
#include <cmath>

#include "device/arc.hpp"
#include "device/asinh.hpp"
#include "pairwise/coordinate_term.hpp"
#include "quintet/pairwise/metric.hpp"

namespace quintet::pairwise {

/// What becomes of a reduced distance that was multiplied by the factors of its points. Factors of the Poincare ball of
/// curvature -c are such that the reduced distance is T t, t = c |x - y|^2 / ((1 - c |x|^2)(1 - c |y|^2)) and
/// T = 2^asinh_scale_exponent.
enum class distance_curve {
  none,        ///< the metric's kind says it
  hyperbolic,  ///< 2 asinh(sqrt(t)), the geodesic distance
  /// 2 artanh(min(sqrt(t), 1 - 1e-7)): the expression of old programs, which is no metric.
  clamped_artanh
};

template <class Real>
struct reduced_metric {
  metric kind = metric::euclidean;
  /// Coordinates were multiplied by 1 / unscale, a power of two, so that no square overflows or vanishes.
  Real unscale = 1;
  /// Curves have unscale = 1 / sqrt(c), great circles that of the sphere's radius.
  distance_curve curve = distance_curve::none;
  coordinate_term<Real> term = {};

  Real distance(Real reduced) const {
    if (curve != distance_curve::none) return distances<1>(reduced);
    return term.kind == term_kind::square ? flat_distance(reduced) : other_distance(reduced);
  }
  /// distance() where the term is known not to be the square.
  Real other_distance(Real reduced) const {
    if (term.kind == term_kind::great_circle) return device::arc<Real, 1>(reduced) * unscale;
    if (term.kind == term_kind::hamming) return reduced / term.p;
    if (term.kind == term_kind::product) return std::sqrt(reduced);
    if (term.kind == term_kind::integer_square) return std::sqrt(reduced);
    if (term.kind == term_kind::integer_product) return reduced - Real(largest_product);
    return reduced * unscale;
  }
  /// distance() where the term is known to be the square and curve to be none.
  Real flat_distance(Real reduced) const {
    if (kind == metric::cosine) return reduced * Real(0.5);
    return std::sqrt(reduced) * unscale;
  }
  /// The same for W reduced distances of squares side by side, bit for bit.
  template <int W>
  device::pack<Real, W> distances(const device::pack<Real, W>& reduced) const {
    if (curve == distance_curve::hyperbolic) return hyperbolic_distances<W>(reduced);
    if (curve == distance_curve::clamped_artanh) return clamped_artanh<W>(reduced) * unscale;
    if (kind == metric::cosine) return reduced * Real(0.5);
    return device::root<Real, W>(reduced) * unscale;
  }
  /// distances() where curve is known to be hyperbolic.
  template <int W>
  device::pack<Real, W> hyperbolic_distances(const device::pack<Real, W>& reduced) const {
    return device::twice_asinh_root<Real, W>(reduced) * unscale;
  }
  /// The reduced distance of a distance; inverse of distance() up to rounding.
  Real reduced(Real distance) const {
    if (curve == distance_curve::hyperbolic) {
      const Real root = std::sinh(distance / (2 * unscale)) * Real(1 << (device::asinh_scale_exponent / 2));
      return root * root;
    }
    if (kind == metric::cosine) return distance * 2;
    if (term.kind == term_kind::great_circle) return device::reduced_arc<Real>(distance / unscale);
    if (term.kind == term_kind::hamming) return distance * term.p;
    if (term.kind == term_kind::product) return distance * distance;
    if (term.kind == term_kind::integer_square) return distance * distance;
    if (term.kind == term_kind::integer_product) return std::max(Real(0), distance + Real(largest_product));
    if (term.kind != term_kind::square) return distance / unscale;
    return (distance / unscale) * (distance / unscale);
  }

 private:
  /// 2 artanh(s) = log1p(2 s / (1 - s)).
  template <int W>
  static device::pack<Real, W> clamped_artanh(const device::pack<Real, W>& reduced) {
    typedef device::pack<Real, W> value;
    const value largest = device::broadcast_pack<value>(Real(1 - 1e-7));
    const value s = device::root<Real, W>(reduced) * device::detail::asinh_root_unscale<Real>;
    const value clamped = s > largest ? largest : s;
    return device::log1p<Real, W>(clamped * Real(2) / (Real(1) - clamped));
  }
};

/// Whether panels hold rows of numbers and words behind them: bits, integers, or factors of a product.
constexpr bool is_of_whole_rows(metric kind) { return is_of_words(kind) || kind == metric::product; }

/// Whether panels hold other coordinates than those of the points: unit vectors, points of the ball in two parts, or
/// whole rows.
constexpr bool is_packed_as_other(metric kind) {
  return kind == metric::haversine || kind == metric::lorentz || is_of_whole_rows(kind);
}

/// Whether coordinates of points are scaled by one number, and distances by its inverse.
constexpr bool is_scaled(metric kind) {
  return kind != metric::cosine && kind != metric::poincare && !is_packed_as_other(kind);
}

/// max(core_i, core_j, scaled), Campello's mutual reachability, where scaled = distance / alpha. A NaN distance (a
/// point with NaN) gives NaN.
template <class Real>
inline Real mutual_reachability(Real core_i, Real core_j, Real scaled) {
  const Real core = core_i > core_j ? core_i : core_j;
  return core > scaled ? core : scaled;
}

}  // namespace quintet::pairwise
