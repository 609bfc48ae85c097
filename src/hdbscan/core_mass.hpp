// Core distances by the mass of balls: points count as often as their weights say.
#pragma once

#include <cmath>
#include <cstdint>

#include "hdbscan/weights.hpp"
#include "quintet/hdbscan/core_distances.hpp"

namespace quintet::hdbscan {

/// neighbour_count() for points of this mass: the k of which k + 1 is the mass of a ball, the point itself with it.
inline std::int64_t neighbour_mass(const core_options& options, double mass) {
  return neighbour_count(options, whole_mass(std::ceil(mass)));
}

/// Where the mass of a ball reaches what is needed.
template <class Real>
struct ball_of_mass {
  Real radius = 0;  ///< reduced; the last entry of a list where the mass is never reached
  bool is_reached = true;
};

/// `own` counts from the start, then the weights of the entries of a list by distance; weight(e) is that of entry e,
/// negative where there is none.
template <class Real, class Weight>
ball_of_mass<Real> ball_of(double needed, double own, const Real* values, std::int64_t length, const Weight& weight) {
  mass_sum mass;
  mass.add(own);
  ball_of_mass<Real> ball;
  for (std::int64_t e = 0; mass.total() < needed; ++e) {
    const double of_entry = e < length ? weight(e) : -1;
    if (of_entry < 0) return {ball.radius, false};
    ball.radius = values[e];
    mass.add(of_entry);
  }
  return ball;
}

}  // namespace quintet::hdbscan
