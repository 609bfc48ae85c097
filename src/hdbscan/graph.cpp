// HDBSCAN of a sparse graph of distances.
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

#include "core/polled.hpp"
#include "hdbscan/checks.hpp"
#include "hdbscan/disjoint_sets.hpp"
#include "hdbscan/finish.hpp"
#include "hdbscan/symmetric_check.hpp"
#include "instantiate.hpp"
#include "pairwise/metric.hpp"
#include "quintet/core/profile.hpp"
#include "quintet/hdbscan/precomputed.hpp"

namespace quintet::hdbscan {

namespace {

template <class Real>
void check_graph(const csr_graph<Real>& graph) {
  const std::int64_t n = graph.points, entries = std::int64_t(graph.columns.size());
  require_argument(n >= 0, "graph.points", n, ">= 0");
  require_argument(std::int64_t(graph.row_begin.size()) - 1 == n, "graph.row_begin.size", graph.row_begin.size(),
                   text("points + 1, points=", n));
  require_argument(std::int64_t(graph.values.size()) == entries, "graph.values.size", graph.values.size(),
                   text("columns.size=", entries));
  require_argument(graph.row_begin[0] == 0, "graph.row_begin[0]", graph.row_begin[0], "0");
  require_argument(graph.row_begin[n] == entries, text("graph.row_begin[", n, "]"), graph.row_begin[n],
                   text("columns.size=", entries));
  for (std::int64_t i = 0; i < n; ++i)
    require_argument(graph.row_begin[i] <= graph.row_begin[i + 1], text("graph.row_begin[", i + 1, "]"),
                     graph.row_begin[i + 1], text(">= graph.row_begin[", i, "]=", graph.row_begin[i]));
  const Real largest = largest_finite(graph.values);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t e = graph.row_begin[i]; e < graph.row_begin[i + 1]; ++e) {
      quintet::detail::poll_sometimes(e);
      const std::int64_t j = graph.columns[e];
      const Real value = graph.values[e];
      if (j == i && (is_rounded_zero(value, largest) || value == std::numeric_limits<Real>::infinity())) continue;
      if (j >= 0 && j < n && value >= 0 && j != i) continue;
      require_argument(j >= 0 && j < n, text("graph.columns[", e, "]"), j, text("in [0, points=", n, ")"));
      if (!(value >= 0)) refuse_negative(text("graph.values[", e, "]"), value);
      require_argument(false, text("graph.values[", e, "]"), all_digits(value),
                       text("0 as the distance of ", i, " from itself: a graph of distances, not of similarities"));
    }
}

/// Every edge once, u < v, sorted by (u, v); edges of infinite weight are left out. Where an edge is stored several
/// times, and they differ by rounding, the smallest counts.
template <class Real>
std::vector<edge> distinct_edges(const csr_graph<Real>& graph) {
  std::vector<edge> edges;
  edges.reserve(graph.columns.size());
  for (std::int64_t i = 0; i < graph.points; ++i)
    for (std::int64_t e = graph.row_begin[i]; e < graph.row_begin[i + 1]; ++e)
      if (graph.values[e] < std::numeric_limits<Real>::infinity() && graph.columns[e] != i)
        edges.push_back({std::min(i, graph.columns[e]), std::max(i, graph.columns[e]), double(graph.values[e])});
  const auto ends = [](const edge& e) { return std::pair(e.u, e.v); };
  quintet::detail::polled_sort(edges.begin(), edges.end(), [](const edge& a, const edge& b) {
    return std::tuple(a.u, a.v, a.weight) < std::tuple(b.u, b.v, b.weight);
  });
  Real largest = 0;
  for (const edge& e : edges) largest = std::max(largest, Real(e.weight));
  for (std::size_t e = 1, first = 0; e < edges.size(); ++e) {
    if (ends(edges[e]) != ends(edges[first])) {
      first = e;
    } else if (const Real a = Real(edges[first].weight), b = Real(edges[e].weight); !is_rounded(a, b, largest)) {
      require_argument(false, text("the distance of ", edges[e].u, " and ", edges[e].v), all_digits(b),
                       text("the same up to rounding wherever it is stored (also found ", all_digits(a), ")"));
    }
  }
  edges.erase(std::unique(edges.begin(), edges.end(), [&](const edge& a, const edge& b) { return ends(a) == ends(b); }),
              edges.end());
  return edges;
}

/// The k-th smallest distance of every point to a neighbour; infinity where there are fewer.
std::vector<double> core_distances_of_edges(const std::vector<edge>& edges, std::int64_t n, std::int64_t k) {
  std::vector<double> core(n, 0);
  if (k == 0) return core;
  std::vector<std::int64_t> begin(n + 1, 0);
  for (const edge& e : edges) {
    ++begin[e.u + 1];
    ++begin[e.v + 1];
  }
  for (std::int64_t i = 0; i < n; ++i) begin[i + 1] += begin[i];
  std::vector<double> distance(begin[n]);
  std::vector<std::int64_t> next(begin.begin(), begin.end() - 1);
  for (const edge& e : edges) {
    distance[next[e.u]++] = e.weight;
    distance[next[e.v]++] = e.weight;
  }
  for (std::int64_t i = 0; i < n; ++i) {
    quintet::detail::poll_sometimes(i);
    core[i] = std::numeric_limits<double>::infinity();
    if (begin[i + 1] - begin[i] < k) continue;
    std::nth_element(distance.begin() + begin[i], distance.begin() + begin[i] + (k - 1),
                     distance.begin() + begin[i + 1]);
    core[i] = distance[begin[i] + k - 1];
  }
  return core;
}

/// Kruskal's algorithm (1956): the edges of the minimum spanning forest, in the order (weight, u, v).
std::vector<edge> kruskal_edges(std::vector<edge> edges, std::int64_t n) {
  quintet::detail::polled_sort(edges.begin(), edges.end());
  disjoint_sets sets(n);
  std::int64_t looked = 0;
  std::erase_if(edges, [&](const edge& e) {
    quintet::detail::poll_sometimes(looked++);
    return !sets.join(e.u, e.v);
  });
  return edges;
}

}  // namespace

template <class Real>
spanning_tree_result spanning_tree_of(const csr_graph<Real>& graph, const spanning_tree_options& options) {
  check_alpha<double>(options.alpha);
  check_graph(graph);
  double seconds = 0;
  stage_region stage("spanning_tree", &seconds);
  std::vector<edge> edges = distinct_edges(graph);
  spanning_tree_result result;
  result.neighbours = neighbour_count(options, graph.points);
  result.clamped = is_clamped(options, result.neighbours);
  result.tie_tolerance = default_tie_tolerance(scalar_type_of<Real>());
  result.core_distances = core_distances_of_edges(edges, graph.points, result.neighbours);
  for (edge& e : edges)
    e.weight =
        pairwise::mutual_reachability(result.core_distances[e.u], result.core_distances[e.v], e.weight / options.alpha);
  std::erase_if(edges, [](const edge& e) { return e.weight == std::numeric_limits<double>::infinity(); });
  result.edges = kruskal_edges(std::move(edges), graph.points);
  stage.end();
  result.spanning_tree_seconds = seconds;
  return result;
}

template <class Real>
cluster_result cluster_graph(const csr_graph<Real>& graph, const cluster_options& options) {
  return finish_clustering(spanning_tree_of(graph, spanning_tree_part(options)), graph.points, options);
}

#define QUINTET_INSTANTIATE(Real)                                                                       \
  template spanning_tree_result spanning_tree_of(const csr_graph<Real>&, const spanning_tree_options&); \
  template cluster_result cluster_graph(const csr_graph<Real>&, const cluster_options&);
QUINTET_FOR_EACH_REAL(QUINTET_INSTANTIATE)

}  // namespace quintet::hdbscan
