// Metrics of the pairwise engine. A tile holds surrogates, numbers that order pairs as their distances do; the distance
// itself is taken where it is asked for.
//
//   euclidean  surrogate |x - y|^2,                 distance sqrt(surrogate)
//   cosine     surrogate |x/|x| - y/|y||^2,         distance surrogate / 2 = 1 - cos(x, y)
//   hyperbolic surrogate |x - y|^2 f_x f_y with the points' factors f, distance 2 asinh(sqrt(.)), see surrogate_curve
//
// A metric is data, not a type: it acts once per tile or per winner, where a branch costs nothing, and the expensive
// loop is compiled once for all of them.
#pragma once

#include <cmath>

#include "device/asinh.hpp"
#include "quintet/pairwise/metric.hpp"

namespace quintet::pairwise {

/// What becomes of a surrogate that was multiplied by the factors of its points. Factors of the Poincare ball of
/// curvature -c are such that the surrogate is T t, t = c |x - y|^2 / ((1 - c |x|^2)(1 - c |y|^2)) and
/// T = 2^asinh_scale_exponent.
enum class surrogate_curve {
  none,        ///< the metric's kind says it
  hyperbolic,  ///< 2 asinh(sqrt(t)), the geodesic distance
  /// 2 artanh(min(sqrt(t), 1 - 1e-7)): the expression of old programs, which is no metric.
  clamped_artanh
};

template <class Real>
struct surrogate_metric {
  metric kind = metric::euclidean;
  /// Coordinates were multiplied by 1 / unscale, a power of two, so that no square overflows or vanishes.
  Real unscale = 1;
  /// Curves have unscale = 1 / sqrt(c).
  surrogate_curve curve = surrogate_curve::none;

  Real distance(Real surrogate) const {
    return curve == surrogate_curve::none ? flat_distance(surrogate) : distances<1>(surrogate);
  }
  /// distance() where curve is known to be none.
  Real flat_distance(Real surrogate) const {
    if (kind == metric::cosine) return surrogate * Real(0.5);
    return std::sqrt(surrogate) * unscale;
  }
  /// The same for W surrogates side by side, bit for bit.
  template <int W>
  device::pack<Real, W> distances(const device::pack<Real, W>& surrogates) const {
    if (curve == surrogate_curve::hyperbolic) return hyperbolic_distances<W>(surrogates);
    if (curve == surrogate_curve::clamped_artanh) return clamped_artanh<W>(surrogates) * unscale;
    if (kind == metric::cosine) return surrogates * Real(0.5);
    return device::root<Real, W>(surrogates) * unscale;
  }
  /// distances() where curve is known to be hyperbolic.
  template <int W>
  device::pack<Real, W> hyperbolic_distances(const device::pack<Real, W>& surrogates) const {
    return device::twice_asinh_root<Real, W>(surrogates) * unscale;
  }
  /// The surrogate of a distance; inverse of distance() up to rounding.
  Real surrogate(Real distance) const {
    if (curve == surrogate_curve::hyperbolic) {
      const Real root = std::sinh(distance / (2 * unscale)) * Real(1 << (device::asinh_scale_exponent / 2));
      return root * root;
    }
    if (kind == metric::cosine) return distance * 2;
    return (distance / unscale) * (distance / unscale);
  }

 private:
  /// 2 artanh(s) = log1p(2 s / (1 - s)).
  template <int W>
  static device::pack<Real, W> clamped_artanh(const device::pack<Real, W>& surrogates) {
    typedef device::pack<Real, W> value;
    const value largest = device::broadcast_pack<value>(Real(1 - 1e-7));
    const value s = device::root<Real, W>(surrogates) * device::detail::asinh_root_unscale<Real>;
    const value clamped = s > largest ? largest : s;
    return device::log1p<Real, W>(clamped * Real(2) / (Real(1) - clamped));
  }
};

/// max(core_i, core_j, scaled), Campello's mutual reachability, where scaled = distance / alpha. A NaN distance (a
/// point with NaN) gives NaN.
template <class Real>
inline Real mutual_reachability(Real core_i, Real core_j, Real scaled) {
  const Real core = core_i > core_j ? core_i : core_j;
  return core > scaled ? core : scaled;
}

}  // namespace quintet::pairwise
