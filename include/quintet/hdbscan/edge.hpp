// An edge of a spanning tree, and the total order that makes results independent of how the edges were found.
#pragma once

#include <cstdint>
#include <tuple>

#include "quintet/core/compiler.hpp"

namespace quintet::hdbscan {

/// An undirected edge between points u < v, both in [0, N); functions that take edges check them, comparisons are O(1).
/// The weight is a distance (>= 0, +infinity = not connected); float weights widen to double exactly, so equal floats
/// stay equal.
struct edge {
  ///@{
  /// The two points.
  std::int64_t u = 0, v = 0;
  ///@}
  double weight = 0;  ///< distance

  /// Equal in points and weight.
  friend bool operator==(const edge& a, const edge& b) = default;
};

/// The total order (weight, u, v): under it the minimum spanning tree is unique. No order where a weight is NaN.
inline bool operator<(const edge& a, const edge& b) {
  return std::tie(a.weight, a.u, a.v) < std::tie(b.weight, b.u, b.v);
}

}  // namespace quintet::hdbscan
