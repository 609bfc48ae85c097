// Prim's algorithm (1957) on a matrix of distances, in the total order (weight, smaller index, larger index) of edges,
// so that the tree is the one that every exact algorithm finds in that order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <tuple>
#include <vector>

#include "pairwise/metric.hpp"
#include "quintet/core/view.hpp"
#include "quintet/hdbscan/edge.hpp"

namespace quintet::hdbscan {

namespace detail {

/// The lightest known edge from the tree to each point outside it.
template <class Real>
struct prim_front {
  std::vector<Real> weight;
  std::vector<std::int64_t> from;  ///< end in the tree; -1: none
  std::vector<std::int64_t> outside;

  bool is_before(Real w, std::int64_t a, std::int64_t b, Real other_w, std::int64_t c, std::int64_t d) const {
    if (w != other_w) return w < other_w;
    return std::tuple(std::min(a, b), std::max(a, b)) < std::tuple(std::min(c, d), std::max(c, d));
  }
};

}  // namespace detail

/// Edges of finite weight of the minimum spanning forest, sorted. O(N^2) time, O(N) memory.
template <class Real>
std::vector<edge> prim_edges(matrix_view<const Real> distances, const std::vector<Real>& core, Real alpha) {
  constexpr Real infinity = std::numeric_limits<Real>::infinity();
  const std::int64_t n = distances.rows();
  detail::prim_front<Real> front{std::vector<Real>(n, infinity), std::vector<std::int64_t>(n, -1), {}};
  for (std::int64_t j = 1; j < n; ++j) front.outside.push_back(j);
  std::vector<edge> edges;
  for (std::int64_t at = 0; !front.outside.empty();) {
    const Real* row = distances.row(at);
    std::size_t best = 0;
    for (std::size_t e = 0; e < front.outside.size(); ++e) {
      const std::int64_t j = front.outside[e];
      const Real weight = pairwise::mutual_reachability(core[at], core[j], row[j] / alpha);
      if (weight < front.weight[j] || (weight == front.weight[j] && weight < infinity &&
                                       front.is_before(weight, at, j, weight, front.from[j], j))) {
        front.weight[j] = weight;
        front.from[j] = at;
      }
      const std::int64_t b = front.outside[best];
      if (front.weight[j] < front.weight[b] ||
          (front.weight[j] == front.weight[b] && front.weight[j] < infinity &&
           front.is_before(front.weight[j], front.from[j], j, front.weight[b], front.from[b], b)))
        best = e;
    }
    const std::int64_t next = front.outside[best];
    if (front.weight[next] < infinity)
      edges.push_back({std::min(front.from[next], next), std::max(front.from[next], next), double(front.weight[next])});
    front.outside[best] = front.outside.back();
    front.outside.pop_back();
    at = next;
  }
  std::sort(edges.begin(), edges.end());
  return edges;
}

}  // namespace quintet::hdbscan
