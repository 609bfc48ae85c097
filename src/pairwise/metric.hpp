// Metrics of the pairwise engine. A tile holds surrogates, numbers that order pairs as their distances do; the distance
// itself is taken where it is asked for.
//
//   euclidean  surrogate |x - y|^2,                 distance sqrt(surrogate)
//   cosine     surrogate |x/|x| - y/|y||^2,         distance surrogate / 2 = 1 - cos(x, y)
//
// A metric is data, not a type: it acts once per tile or per winner, where a branch costs nothing, and the expensive
// loop is compiled once for all of them.
#pragma once

#include <cmath>

#include "quintet/pairwise/metric.hpp"

namespace quintet::pairwise {

template <class Real>
struct surrogate_metric {
  metric kind = metric::euclidean;
  /// Coordinates were multiplied by 1 / unscale, a power of two, so that no square overflows or vanishes.
  Real unscale = 1;

  Real distance(Real surrogate) const {
    if (kind == metric::cosine) return surrogate * Real(0.5);
    return std::sqrt(surrogate) * unscale;
  }
  /// The surrogate of a distance; inverse of distance() up to rounding.
  Real surrogate(Real distance) const {
    if (kind == metric::cosine) return distance * 2;
    return (distance / unscale) * (distance / unscale);
  }
};

/// max(core_i, core_j, scaled), Campello's mutual reachability, where scaled = distance / alpha. A NaN distance (a point
/// with NaN) gives NaN.
template <class Real>
inline Real mutual_reachability(Real core_i, Real core_j, Real scaled) {
  const Real core = core_i > core_j ? core_i : core_j;
  return core > scaled ? core : scaled;
}

}  // namespace quintet::pairwise
