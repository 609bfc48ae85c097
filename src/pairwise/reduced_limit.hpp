// The reduced distances that a radius takes in.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "pairwise/metric.hpp"

namespace quintet::pairwise {

/// The largest reduced distance whose distance is at most the radius.
template <class Real>
Real reduced_limit(const reduced_metric<Real>& metric, Real radius) {
  typedef std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t> key;
  constexpr Real most = std::numeric_limits<Real>::max();
  const auto is_within = [&](key reduced) { return metric.distance(std::bit_cast<Real>(reduced)) <= radius; };
  const Real near = metric.reduced(radius);
  if (!(near < most) || metric.distance(most) <= radius) return most;
  // Bits of numbers >= 0 are ordered as they are. Steps double: at antipodes billions of reduced distances have one
  // distance.
  key low = std::bit_cast<key>(near), high = low;
  for (key step = 1; low > 0 && !is_within(low); step *= 2) low -= std::min(low, step);
  for (key step = 1; is_within(high); step *= 2) high = std::min<key>(high + step, std::bit_cast<key>(most));
  while (high - low > 1) {
    const key middle = low + (high - low) / 2;
    (is_within(middle) ? low : high) = middle;
  }
  return std::bit_cast<Real>(low);
}

}  // namespace quintet::pairwise
