// Core distances, mutual reachability and the weights of the spanning tree against matrices in long double.
#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>

#include "accuracy/hdbscan_problem.hpp"
#include "quintet/hdbscan/core_distances.hpp"
#include "quintet/hdbscan/mutual_reachability.hpp"
#include "quintet/hdbscan/prediction.hpp"
#include "quintet/hdbscan/spanning_tree.hpp"
#include "reference/spanning_tree_reference.hpp"

namespace quintet::accuracy {

namespace {

template <class Storage>
using problem = hdbscan_problem<Storage>;

template <class Storage>
void core(case_run& run) {
  const problem<Storage> p(run.parameters());
  const auto compute = [&](const Device& device) {
    return hdbscan::core_distances<Storage>(p.view(), {p.k, false, p.distance}, device).distances;
  };
  const auto exact = reference::core_distances(p.exact, p.k);
  measure_elements(run, "core distance", exact, p.allowed(exact), compute);
}

// max(core_i, core_j, d / alpha) by whole matrices, by blocks of rows, and for single pairs: the bits of one are those
// of the others.
template <class Storage>
struct reachability {
  using real = accumulator_t<Storage>;
  problem<Storage> p;
  hdbscan::reachability_options options;
  std::vector<real> core;
  reference::matrix exact;

  explicit reachability(const test_case& c) : p(c) {
    options.distance = p.distance;
    if (c.has("alpha")) options.alpha = c.real("alpha");
    core = hdbscan::core_distances<Storage>(p.view(), {p.k, false, p.distance}, Device::host()).distances;
    exact = reference::mutual_reachability(p.exact, reference::core_distances(p.exact, p.k), options.alpha);
  }
  /// One more rounding for the quotient by alpha.
  template <class Exact>
  tolerance allowed(const std::vector<Exact>& values) const {
    tolerance result = p.allowed(values);
    if (options.alpha != 1) result.bound += 0.5;
    return result;
  }
};

template <class Storage>
void mutual(case_run& run) {
  const reachability<Storage> r(run.parameters());
  const std::vector<long double> whole(r.exact.data(), r.exact.data() + r.exact.size());
  measure_elements(run, "mutual reachability", whole, r.allowed(whole), [&](const Device& device) {
    std::vector<accumulator_t<Storage>> matrix(whole.size());
    hdbscan::mutual_reachability(r.p.view(), r.core, {matrix.data(), r.p.n, r.p.n}, r.options, device);
    return matrix;
  });
}

template <class Storage>
void mutual_by_rows(case_run& run) {
  using real = accumulator_t<Storage>;
  const reachability<Storage> r(run.parameters());
  const std::vector<long double> whole(r.exact.data(), r.exact.data() + r.exact.size());
  measure_elements(run, "mutual reachability", whole, r.allowed(whole), [&](const Device& device) {
    std::vector<real> rows;
    const auto receive = [&](std::int64_t first, matrix_view<const real> block) {
      // Blocks that are not the next ones are no result.
      if (first * r.p.n != std::int64_t(rows.size())) return false;
      for (std::int64_t i = 0; i < block.rows(); ++i) rows.insert(rows.end(), block.row(i), block.row(i) + r.p.n);
      return true;
    };
    hdbscan::mutual_reachability_rows<Storage>(r.p.view(), r.core, receive, 0, r.options, device);
    return rows;
  });
}

// Every pair (i, 7 i + e), the diagonal among them.
template <class Storage>
void mutual_of_pairs(case_run& run) {
  const reachability<Storage> r(run.parameters());
  const std::int64_t n = r.p.n;
  std::vector<std::int64_t> pairs;
  std::vector<long double> exact;
  for (std::int64_t e = 0; e < 8; ++e)
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t j = (7 * i + e) % n;
      pairs.insert(pairs.end(), {i, j});
      exact.push_back(r.exact(i, j));
    }
  const matrix_view<const std::int64_t> view(pairs.data(), std::int64_t(exact.size()), 2);
  measure_elements(run, "mutual reachability", exact, r.allowed(exact), [&](const Device& device) {
    return hdbscan::mutual_reachability_pairs<Storage>(r.p.view(), r.core, view, r.options, device);
  });
}

// Weights in ascending order: equal ones may belong to other edges, and the minimum tree's weights are unique.
template <class Storage>
void tree(case_run& run) {
  const problem<Storage> p(run.parameters());
  const reference::matrix whole = reference::mutual_reachability(p.exact, reference::core_distances(p.exact, p.k), 1);
  std::vector<std::int64_t> vertices(std::size_t(p.n));
  std::iota(vertices.begin(), vertices.end(), 0);
  std::vector<double> exact;
  for (const auto& e : reference::spanning_tree(vertices, [&](auto i, auto j) { return whole(i, j); }))
    exact.push_back(e.weight);
  const auto compute = [&](const Device& device) {
    hdbscan::spanning_tree_options options;
    options.min_samples = p.k;
    options.distance = p.distance;
    std::vector<accumulator_t<Storage>> weights;
    for (const auto& e : hdbscan::spanning_tree(p.view(), options, device).edges)
      weights.push_back(accumulator_t<Storage>(e.weight));
    return weights;
  };
  measure_elements(run, "tree weight", exact, p.allowed(exact), compute);
}

// The last quarter of the points joins a clustering of the others: 1 / lambda is the reachability of the nearest of
// them.
template <class Storage>
void predict(case_run& run) {
  const problem<Storage> p(run.parameters());
  const std::int64_t known = p.n * 3 / 4;
  const reference::matrix among = reference::corner(p.exact, known, known);
  const auto core = reference::core_distances(among, p.k);
  std::vector<long double> exact;
  for (std::int64_t i = known; i < p.n; ++i) {
    std::vector<long double> to, nearest;
    for (std::int64_t j = 0; j < known; ++j) to.push_back(p.exact(i, j));
    nearest = to;
    std::nth_element(nearest.begin(), nearest.begin() + (p.k - 1), nearest.end());
    long double min = std::numeric_limits<long double>::infinity();
    for (std::size_t j = 0; j < to.size(); ++j)
      min = std::min(min, std::max({to[j], nearest[std::size_t(p.k - 1)], core[j]}));
    exact.push_back(min);
  }
  const matrix_view<const Storage> points(p.stored.data(), known, p.dim),
      added(p.stored.data() + known * p.dim, p.n - known, p.dim);
  hdbscan::cluster_options options{.min_cluster_size = 5};
  options.min_samples = p.k;
  options.distance = p.distance;
  const auto model = hdbscan::cluster(points, options, Device::host());
  const auto compute = [&](const Device& device) {
    std::vector<accumulator_t<Storage>> reachability;
    for (const double lambda : hdbscan::approximate_predict(model, points, added, device).lambdas)
      reachability.push_back(accumulator_t<Storage>(1 / lambda));
    return reachability;
  };
  measure_elements(run, "reachability of a new point", exact, p.allowed(exact), compute);
}

template <class Storage>
void run_as(case_run& run) {
  const std::map<std::string, std::function<void(case_run&)>> operations{
      {"core_distances", core<Storage>},
      {"mutual_reachability", mutual<Storage>},
      {"reachability_rows", mutual_by_rows<Storage>},
      {"reachability_pairs", mutual_of_pairs<Storage>},
      {"spanning_tree", tree<Storage>},
      {"approximate_predict", predict<Storage>}};
  const auto found = operations.find(run.parameters().operation);
  if (found != operations.end()) return found->second(run);
  if (!run_hdbscan_tree<Storage>(run)) throw std::runtime_error("unknown operation: " + run.parameters().id());
}

}  // namespace

void run_hdbscan(case_run& run) {
  with_storage(run.parameters(), [&]<class T>() { run_as<T>(run); });
}

}  // namespace quintet::accuracy
