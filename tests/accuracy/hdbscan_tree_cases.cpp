// What is made of distances: scores and memberships of a clustering, its validity, medoids and centroids.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>

#include "accuracy/hdbscan_problem.hpp"
#include "quintet/hdbscan/hdbscan.hpp"
#include "quintet/hdbscan/medoids.hpp"
#include "quintet/hdbscan/membership.hpp"
#include "quintet/hdbscan/prediction.hpp"
#include "quintet/hdbscan/validity.hpp"
#include "reference/cluster_tree_reference.hpp"
#include "reference/prediction_reference.hpp"
#include "reference/spanning_tree_reference.hpp"
#include "reference/validity_reference.hpp"

namespace quintet::accuracy {

namespace {

constexpr long double infinite = std::numeric_limits<long double>::infinity();

template <class Storage>
hdbscan::cluster_options options_of(const hdbscan_problem<Storage>& p) {
  hdbscan::cluster_options options{.min_cluster_size = 5};
  options.min_samples = p.k;
  options.distance = p.distance;
  return options;
}

/// The numbers of a result in the precision that distances have, which is theirs too.
template <class Storage>
std::vector<accumulator_t<Storage>> in_precision_of(const std::vector<double>& values) {
  return {values.begin(), values.end()};
}

// GLOSH (M - lambda) / M and probability min(lambda, M) / M, of a tree of exact weights. Both densities are 1 / weight,
// so that either is off by what two distances are, and by two roundings; so is the share of persistence.
template <class Storage>
void scores(case_run& run) {
  const hdbscan_problem<Storage> p(run.parameters());
  const reference::matrix whole = reference::mutual_reachability(p.exact, reference::core_distances(p.exact, p.k), 1);
  std::vector<std::int64_t> vertices(std::size_t(p.n), 0);
  std::iota(vertices.begin(), vertices.end(), 0);
  const auto tree = reference::spanning_tree(vertices, [&](auto i, auto j) { return whole(i, j); });
  const auto options = options_of(p);
  const auto exact = hdbscan::reference::tree_stage(tree, p.n, options).run();
  const tolerance allowed{
      .bound = 2 * distance_bound(p.dim, p.distance) + 2, .same_bits = true, .floor = 1, .unit = "eps"};
  measure_elements(run, "outlier score", exact.outlier_scores, allowed, [&](const Device& device) {
    return in_precision_of<Storage>(hdbscan::cluster(p.view(), options, device).outlier_scores);
  });
  measure_elements(run, "probability", exact.probabilities, allowed, [&](const Device& device) {
    return in_precision_of<Storage>(hdbscan::cluster(p.view(), options, device).probabilities);
  });
}

/// The vector of a point that leaves `cluster` at `lambda`, by the formulas of membership.hpp, and what each of its
/// elements can be off by, relative to itself and beyond what `distance` is, in epsilon of double.
struct membership {
  std::vector<long double> values;
  double sensitivity = 0;
};
membership membership_of(const reference::plain_tree& tree, std::int64_t cluster, double lambda,
                         const std::vector<long double>& nearest, bool is_new) {
  const std::size_t labels = nearest.size();
  const long double most = tree.death(cluster), closest = *std::min_element(nearest.begin(), nearest.end());
  std::vector<long double> merge, exponent, weight;
  membership result;
  for (std::size_t k = 0; k < labels; ++k) {
    merge.push_back(tree.merge_lambda(cluster, lambda, std::int64_t(k)));
    // Twice log o_k, or log o_k; infinite where a new point is as dense as its cluster.
    exponent.push_back(!is_new                ? std::exp(-most / merge[k])
                       : most - merge[k] <= 0 ? infinite
                                              : 2 * most / (most - merge[k]));
  }
  const long double largest = *std::max_element(exponent.begin(), exponent.end());
  for (std::size_t k = 0; k < labels; ++k) {
    const long double of_tree = exponent[k] == largest ? 1 : std::exp(exponent[k] - largest);
    // A cluster with an exemplar where the point is takes the whole.
    const long double near = closest == 0 ? (nearest[k] == 0 ? 1.0L : 0.0L) : closest / nearest[k];
    weight.push_back(of_tree * (is_new ? std::sqrt(near) : near));
    // An exponent of some size is known to its last digit only; so is x = M / h_k in exp(-x), which is x exp(-x) <= 1.
    if (!std::isinf(exponent[k])) result.sensitivity = std::max(result.sensitivity, 2 + double(exponent[k]));
  }
  const long double sum = std::accumulate(weight.begin(), weight.end(), 0.0L);
  const auto together = std::size_t(std::max_element(merge.begin(), merge.end()) - merge.begin());
  const long double whole = std::max<long double>(lambda, tree.death(tree.model().selected[together]));
  for (const long double w : weight) result.values.push_back(merge[together] / whole * w / sum);
  return result;
}

/// Distances of point i to the nearest exemplar of each cluster.
std::vector<long double> nearest_exemplars(const hdbscan::cluster_result& model, const reference::matrix& distances,
                                           std::int64_t i) {
  std::vector<long double> nearest(std::size_t(model.clusters()), infinite);
  for (std::size_t k = 0; k < nearest.size(); ++k)
    for (std::int64_t e = model.exemplars.offsets[k]; e < model.exemplars.offsets[k + 1]; ++e)
      nearest[k] = std::min(nearest[k], distances(i, model.exemplars.points[std::size_t(e)]));
  return nearest;
}

// Of a given tree, and for new points of the density at which they join (case approximate_predict): what is measured is
// distances to exemplars, exponentials and normalisation. v_k has the error of two distances, w_k and the sum's, and of
// its exponents.
template <class Storage>
void soft_membership(case_run& run, bool is_new) {
  using real = accumulator_t<Storage>;
  const hdbscan_problem<Storage> p(run.parameters());
  const std::int64_t known = is_new ? p.n * 3 / 4 : p.n;
  const matrix_view<const Storage> points(p.stored.data(), known, p.dim),
      added(p.stored.data() + known * p.dim, p.n - known, p.dim);
  const auto model = hdbscan::cluster(points, options_of(p), Device::host());
  const reference::plain_tree tree(model);
  const auto joined = hdbscan::approximate_predict(model, points, added, Device::host());
  std::vector<long double> exact;
  tolerance allowed{.bound = 2 * distance_bound(p.dim, p.distance) + 2, .same_bits = true, .unit = "eps' |v_k|"};
  for (std::int64_t i = is_new ? known : 0; i < p.n; ++i) {
    const std::size_t one = std::size_t(i - known);
    const hdbscan::condensed_row row =
        is_new ? tree.place({joined.neighbours[one], joined.lambdas[one]}) : tree.row_of(i);
    const membership v = membership_of(tree, row.parent, row.lambda, nearest_exemplars(model, p.exact, i), is_new);
    // The exponents' errors are those of double arithmetic.
    const double ratio = std::numeric_limits<double>::epsilon() / std::numeric_limits<real>::epsilon();
    for (const long double value : v.values) {
      exact.push_back(value);
      allowed.sizes.push_back(std::max(double(value), double(std::numeric_limits<real>::min())) *
                              (1 + v.sensitivity * ratio / allowed.bound * 4));
    }
  }
  if (exact.empty()) throw std::runtime_error("case " + run.parameters().id() + ": there is no cluster");
  measure_elements(run, "membership", exact, allowed, [&](const Device& device) {
    return in_precision_of<Storage>(is_new ? hdbscan::membership_vectors(model, points, added, device)
                                           : hdbscan::all_points_membership_vectors(model, points, device));
  });
}

// DBCV. A core distance is a mean of distances, relative to the smallest of them, and off by as much as they are; two
// of these make a validity in [-1, 1], and N of them their mean.
template <class Storage>
void validity(case_run& run) {
  const hdbscan_problem<Storage> p(run.parameters());
  const auto labels = hdbscan::cluster(p.view(), options_of(p), Device::host()).labels;
  const auto exact = reference::validity_index(p.exact, labels, static_cast<long double>(p.dim));
  const double one = distance_bound(p.dim, p.distance) + 2;
  const auto found = [&](const Device& device) {
    return hdbscan::validity_index(p.view(), labels, {.distance = p.distance}, device);
  };
  const tolerance of_index{.bound = 2 * one, .same_bits = true, .floor = 1, .unit = "eps"};
  std::vector<double> indices = exact.cluster_validity, lengths = exact.sparseness;
  indices.push_back(exact.index);
  lengths.insert(lengths.end(), exact.separation.begin(), exact.separation.end());
  measure_elements(run, "validity", indices, of_index, [&](const Device& device) {
    auto result = found(device);
    result.cluster_validity.push_back(result.index);
    return in_precision_of<Storage>(result.cluster_validity);
  });
  measure_elements(
      run, "sparseness and separation", lengths, {.bound = one, .same_bits = true}, [&](const Device& device) {
        auto result = found(device);
        result.sparseness.insert(result.sparseness.end(), result.separation.begin(), result.separation.end());
        return in_precision_of<Storage>(result.sparseness);
      });
}

// From the edges of a given tree; a quotient, a product and a sum for each of K clusters.
template <class Storage>
void relative_validity(case_run& run) {
  const hdbscan_problem<Storage> p(run.parameters());
  const auto model = hdbscan::cluster(p.view(), options_of(p), Device::host());
  const auto clusters = std::size_t(model.clusters());
  std::vector<long double> sparseness(clusters, 0), separation(clusters, infinite), size(clusters, 0);
  long double longest = 0;
  for (const std::int64_t k : model.labels)
    if (k >= 0) ++size[std::size_t(k)];
  for (const hdbscan::edge& e : model.spanning_tree) {
    const long double weight = e.weight;
    const std::int64_t a = model.labels[std::size_t(e.u)], b = model.labels[std::size_t(e.v)];
    longest = std::max(longest, weight);
    if (a >= 0 && a == b) sparseness[std::size_t(a)] = std::max(sparseness[std::size_t(a)], weight);
    if (a < 0 || b < 0 || a == b) continue;
    for (const std::int64_t k : {a, b}) separation[std::size_t(k)] = std::min(separation[std::size_t(k)], weight);
  }
  if (clusters < 2) throw std::runtime_error("case " + run.parameters().id() + ": too few clusters");
  long double exact = 0;
  for (std::size_t k = 0; k < clusters; ++k) {
    const long double apart = std::isinf(separation[k]) ? 2 * longest : separation[k];
    exact += size[k] / p.n * (apart - sparseness[k]) / std::max(apart, sparseness[k]);
  }
  measure_elements(run, "relative validity", std::vector<long double>{exact},
                   {.bound = double(clusters + 3) / 2, .same_bits = true, .floor = 1, .unit = "eps"},
                   [&](const Device&) {
                     return std::vector<double>{hdbscan::relative_validity(model.spanning_tree, model.labels)};
                   });
}

// The total distance of the medoids that were found, in exact arithmetic, beside the least one: both totals are chosen
// by computed ones, each off by what a distance is.
template <class Storage>
void medoids(case_run& run) {
  const hdbscan_problem<Storage> p(run.parameters());
  const auto model = hdbscan::cluster(p.view(), options_of(p), Device::host());
  const auto total = [&](std::int64_t i) {
    long double sum = 0;
    for (std::int64_t j = 0; j < p.n; ++j)
      if (model.labels[std::size_t(j)] == model.labels[std::size_t(i)])
        sum += model.probabilities[std::size_t(j)] * p.exact(i, j);
    return sum;
  };
  std::vector<long double> exact(std::size_t(model.clusters()), infinite), weight(exact.size(), 0);
  for (std::int64_t i = 0; i < p.n; ++i)
    if (const std::int64_t k = model.labels[std::size_t(i)]; k >= 0) {
      exact[std::size_t(k)] = std::min(exact[std::size_t(k)], total(i));
      weight[std::size_t(k)] += model.probabilities[std::size_t(i)];
    }
  const tolerance allowed{.bound = 2 * distance_bound(p.dim, p.distance) + 0.5, .same_bits = true};
  measure_elements(run, "total distance of a medoid", exact, allowed, [&](const Device& device) {
    std::vector<accumulator_t<Storage>> totals;
    for (const std::int64_t i : hdbscan::medoids(p.view(), model.labels, model.probabilities, p.distance, device))
      totals.push_back(i < 0 ? std::nanf("") : accumulator_t<Storage>(total(i)));
    return totals;
  });
  // Sums in double of sum |w x|, over the sum of the weights, of at most n terms.
  std::vector<long double> mean(exact.size() * std::size_t(p.dim), 0), size(mean.size(), 0);
  for (std::int64_t i = 0; i < p.n; ++i)
    if (const std::int64_t k = model.labels[std::size_t(i)]; k >= 0)
      for (std::int64_t d = 0; d < p.dim; ++d) {
        const long double term =
            model.probabilities[std::size_t(i)] * static_cast<long double>(p.points(i, d)) / weight[std::size_t(k)];
        mean[std::size_t(k * p.dim + d)] += term;
        size[std::size_t(k * p.dim + d)] += std::fabs(term);
      }
  tolerance of_means{.bound = 2 * sum_bound(double(p.n) / double(exact.size())) + 1,
                     .same_bits = true,
                     .unit = "eps sum |w x| / sum w"};
  of_means.sizes.assign(size.begin(), size.end());
  measure_elements(run, "centroid", mean, of_means, [&](const Device& device) {
    return hdbscan::weighted_centroids(p.view(), model.labels, model.probabilities, metric::euclidean, device);
  });
}

}  // namespace

template <class Storage>
bool run_hdbscan_tree(case_run& run) {
  const std::map<std::string, std::function<void()>> operations{
      {"scores", [&] { scores<Storage>(run); }},
      {"membership", [&] { soft_membership<Storage>(run, false); }},
      {"membership_of_new", [&] { soft_membership<Storage>(run, true); }},
      {"validity", [&] { validity<Storage>(run); }},
      {"relative_validity", [&] { relative_validity<Storage>(run); }},
      {"medoids", [&] { medoids<Storage>(run); }}};
  const auto found = operations.find(run.parameters().operation);
  if (found != operations.end()) found->second();
  return found != operations.end();
}
template bool run_hdbscan_tree<float>(case_run&);
template bool run_hdbscan_tree<double>(case_run&);
template bool run_hdbscan_tree<half>(case_run&);
template bool run_hdbscan_tree<bfloat16>(case_run&);

}  // namespace quintet::accuracy
