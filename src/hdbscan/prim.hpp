// Prim's algorithm (1957) on a matrix of distances, in the total order (weight, smaller index, larger index) of edges,
// so that the tree is the one that every exact algorithm finds in that order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "device/for_each.hpp"
#include "device/launch.hpp"
#include "pairwise/metric.hpp"
#include "pairwise/shape.hpp"
#include "quintet/core/view.hpp"
#include "quintet/hdbscan/edge.hpp"

namespace quintet::hdbscan {

namespace detail {

/// An edge from the tree to a point outside it. Without one, weight is infinity.
template <class Real>
struct front_edge {
  Real weight;
  std::int32_t from, to;  ///< to: -1 if no point is outside

  bool is_before(const front_edge& other) const {
    if (to < 0 || other.to < 0) return other.to < 0 && to >= 0;
    if (weight != other.weight) return weight < other.weight;
    const std::int32_t low = from < to ? from : to, other_low = other.from < other.to ? other.from : other.to;
    if (low != other_low) return low < other_low;
    return (from < to ? to : from) < (other.from < other.to ? other.to : other.from);
  }
};

/// One step: the first edge that the previous step left joins the tree, and its point's edges are looked at. Tile = a
/// part of the points. (Prim 1957; with an array of the best edges: Dijkstra 1959, problem 1.)
template <class Real, class Shape>
struct prim_kernel {
  using shape = Shape;
  enum { threads = 128, emulated_threads = 4, part = Shape::on_device ? 1024 : 16384 };
  struct scratch {
    front_edge<Real> best[threads];
  };
  const Real* matrix;
  std::int64_t n, stride, step;
  const Real* core;
  Real alpha;
  Real* weight;        ///< of the lightest edge to each point; NaN, which no comparison lets win: in the tree
  std::int32_t* from;  ///< its end in the tree
  const front_edge<Real>* last_best;  ///< [part], of the step before
  front_edge<Real>* best;             ///< [part]
  front_edge<Real>* tree;             ///< [step]

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch& s) const {
    front_edge<Real> joined = last_best[0];
    for (std::int64_t p = 1; p < (n + part - 1) / part; ++p)
      if (last_best[p].is_before(joined)) joined = last_best[p];
    if (tile == 0 && team.rank() == 0) tree[step] = joined;
    front_edge<Real> first{std::numeric_limits<Real>::infinity(), -1, -1};
    const std::int64_t end = (tile + 1) * part < n ? (tile + 1) * part : n;
    const Real *row = matrix + joined.to * stride, of_joined = core[joined.to];
    for (std::int64_t j = tile * part + team.rank(); j < end; j += team.size()) {
      if (j == joined.to) weight[j] = std::numeric_limits<Real>::quiet_NaN();
      const Real candidate = pairwise::mutual_reachability(of_joined, core[j], row[j] / alpha);
      // Of two edges to one point the one with the smaller other end comes first.
      if (candidate < weight[j] ||
          (candidate == weight[j] && joined.to < from[j] && candidate < std::numeric_limits<Real>::infinity())) {
        weight[j] = candidate;
        from[j] = joined.to;
      }
      if (!(weight[j] <= first.weight)) continue;
      const front_edge<Real> edge{weight[j], from[j], std::int32_t(j)};
      if (edge.is_before(first)) first = edge;
    }
    first = device::reduce(team, first, [](const auto& a, const auto& b) { return b.is_before(a) ? b : a; }, s.best);
    if (team.rank() == 0) best[tile] = first;
  }
};

}  // namespace detail

/// Edges of finite weight of the minimum spanning forest, sorted. Matrix and core distances lie in memory of `device`.
/// O(N^2) time in N launches, O(N) memory.
template <class Real>
std::vector<edge> prim_edges(matrix_view<const Real> distances, const Real* core, Real alpha, const Device& device) {
  using front_edge = detail::front_edge<Real>;
  const std::int64_t n = distances.rows();
  std::vector<edge> edges;
  if (n < 2) return edges;
  Buffer<Real> weight(n, device);
  Buffer<std::int32_t> from(n, device);
  Buffer<front_edge> tree(n, device);
  device::fill(weight, std::numeric_limits<Real>::infinity());
  device::fill(from, std::int32_t(-1));
  device::with_shape<pairwise::host_shape<Real>, pairwise::device_shape<Real>>(device, [&](auto shape) {
    using kernel = detail::prim_kernel<Real, decltype(shape)>;
    const std::int64_t parts = (n + kernel::part - 1) / kernel::part;
    Buffer<front_edge> even(parts, device), odd(parts, device);
    // The first step joins point 0, without an edge.
    device::fill(even, front_edge{std::numeric_limits<Real>::infinity(), -1, 0});
    for (std::int64_t step = 0; step < n; ++step) {
      const kernel k{distances.data(),
                     n,
                     distances.stride(),
                     step,
                     core,
                     alpha,
                     weight.data(),
                     from.data(),
                     step % 2 == 0 ? even.data() : odd.data(),
                     step % 2 == 0 ? odd.data() : even.data(),
                     tree.data()};
      device::launch(k, parts, device);
    }
  });
  for (const front_edge& e : tree.to_vector())
    if (e.weight < std::numeric_limits<Real>::infinity())
      edges.push_back({std::min(e.from, e.to), std::max(e.from, e.to), double(e.weight)});
  std::sort(edges.begin(), edges.end());
  return edges;
}

}  // namespace quintet::hdbscan
