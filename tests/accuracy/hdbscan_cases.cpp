// Core distances, mutual reachability and the weights of the spanning tree against matrices in long double.
#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>

#include "accuracy/case_run.hpp"
#include "quintet/hdbscan/core_distances.hpp"
#include "quintet/hdbscan/mutual_reachability.hpp"
#include "quintet/hdbscan/prediction.hpp"
#include "quintet/hdbscan/spanning_tree.hpp"
#include "reference/pairwise_reference.hpp"
#include "reference/spanning_tree_reference.hpp"
#include "support/ball_points.hpp"
#include "support/points.hpp"

namespace quintet::accuracy {

namespace {

// Points of a storage type, and exactly those in the type they are computed with.
template <class Storage>
struct problem {
  std::int64_t n, dim, k;
  point_metric distance;
  test::point_set<accumulator_t<Storage>> points;
  std::vector<Storage> stored;
  reference::matrix exact;

  explicit problem(const test_case& c)
      : n(c.integer("n")),
        dim(c.integer("dim")),
        k(c.integer("k")),
        distance(parse_metric(c.text("metric"))),
        points(n, dim) {
    using real = accumulator_t<Storage>;
    if (c.has("p")) distance.p = c.real("p");
    const auto seed = std::uint64_t(c.integer("seed"));
    points = distance.kind == metric::poincare ? test::ball_points<real>(n, dim, 0, 0.99, 1, seed)
                                               : test::clustered_points<real>(n, dim, seed);
    for (real& x : points.data) {
      stored.push_back(Storage(x));
      x = real(stored.back());
    }
    exact = reference::distances(reference::widened(points.view()), distance);
  }

  matrix_view<const Storage> view() const { return {stored.data(), n, dim}; }

  /// (D / 2 + 4) epsilon of core_distances.hpp. Cosine takes half the square of a distance of unit vectors, whose own
  /// rounding is absolute: errors of distances below 1 count as absolute ones.
  tolerance allowed() const {
    const bool cosine = distance.kind == metric::cosine;
    return {.bound = double(dim) / 2 + 4,
            .same_bits = true,
            .floor = cosine ? 1.0 : 0.0,
            .unit = cosine ? "eps max(|x|, 1)" : "eps |x|"};
  }
};

template <class Storage>
void core(case_run& run) {
  const problem<Storage> p(run.parameters());
  const auto compute = [&](const Device& device) {
    return hdbscan::core_distances<Storage>(p.view(), {p.k, false, p.distance}, device).distances;
  };
  measure_elements(run, "core distance", reference::core_distances(p.exact, p.k), p.allowed(), compute);
}

template <class Storage>
void mutual(case_run& run) {
  const problem<Storage> p(run.parameters());
  const reference::matrix whole = reference::mutual_reachability(p.exact, reference::core_distances(p.exact, p.k), 1);
  const auto core = hdbscan::core_distances<Storage>(p.view(), {p.k, false, p.distance}, Device::host()).distances;
  const auto compute = [&](const Device& device) {
    std::vector<accumulator_t<Storage>> matrix(std::size_t(p.n * p.n));
    hdbscan::mutual_reachability<Storage>(p.view(), core, {matrix.data(), p.n, p.n}, {.distance = p.distance}, device);
    return matrix;
  };
  measure_elements(run, "mutual reachability", std::vector<long double>(whole.data(), whole.data() + whole.size()),
                   p.allowed(), compute);
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
    for (const auto& e : hdbscan::spanning_tree<Storage>(p.view(), options, device).edges)
      weights.push_back(accumulator_t<Storage>(e.weight));
    return weights;
  };
  measure_elements(run, "tree weight", exact, p.allowed(), compute);
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
  const auto model = hdbscan::cluster<Storage>(points, options, Device::host());
  const auto compute = [&](const Device& device) {
    std::vector<accumulator_t<Storage>> reachability;
    for (const double lambda : hdbscan::approximate_predict<Storage>(model, points, added, device).lambdas)
      reachability.push_back(accumulator_t<Storage>(1 / lambda));
    return reachability;
  };
  measure_elements(run, "reachability of a new point", exact, p.allowed(), compute);
}

template <class Storage>
void run_as(case_run& run) {
  const std::map<std::string, std::function<void(case_run&)>> operations{{"core_distances", core<Storage>},
                                                                         {"mutual_reachability", mutual<Storage>},
                                                                         {"spanning_tree", tree<Storage>},
                                                                         {"approximate_predict", predict<Storage>}};
  const auto found = operations.find(run.parameters().operation);
  if (found == operations.end()) throw std::runtime_error("unknown operation: " + run.parameters().id());
  found->second(run);
}

}  // namespace

void run_hdbscan(case_run& run) {
  with_storage(run.parameters(), [&]<class T>() { run_as<T>(run); });
}

}  // namespace quintet::accuracy
