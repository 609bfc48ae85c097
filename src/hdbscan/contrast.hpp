// The validity of one cluster from its separation and its sparseness.
#pragma once

#include <algorithm>
#include <limits>

namespace quintet::hdbscan {

/// (separation - sparseness) / max(separation, sparseness), in [-1, 1]; 0 where they are equal, 0 and infinity
/// included.
inline double contrast(double separation, double sparseness) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (separation == sparseness) return 0;
  if (separation == infinity) return 1;
  if (sparseness == infinity) return -1;
  return (separation - sparseness) / std::max(separation, sparseness);
}

}  // namespace quintet::hdbscan
