// Points of a case of hdbscan, their exact distances, and how far computed ones may be from these.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "accuracy/bounds.hpp"
#include "accuracy/case_run.hpp"
#include "quintet/pairwise/metric.hpp"
#include "reference/pairwise_reference.hpp"
#include "support/ball_points.hpp"
#include "support/points.hpp"

namespace quintet::accuracy {

template <class Real>
double largest_norm(const test::point_set<Real>& points) {
  double largest = 0;
  for (std::int64_t i = 0; i < points.n; ++i) {
    double square = 0;
    for (std::int64_t d = 0; d < points.dim; ++d) square += double(points(i, d)) * double(points(i, d));
    largest = std::max(largest, std::sqrt(square));
  }
  return largest;
}

/// Points of a storage type, and exactly those in the type they are computed with.
template <class Storage>
struct hdbscan_problem {
  using real = accumulator_t<Storage>;
  std::int64_t n, dim, k;
  point_metric distance;
  test::point_set<real> points;
  std::vector<Storage> stored;
  reference::matrix exact;

  explicit hdbscan_problem(const test_case& c)
      : n(c.integer("n")),
        dim(c.integer("dim")),
        k(c.integer("k")),
        distance(parse_metric(c.text("metric"))),
        points(n, dim) {
    if (c.has("p")) distance.p = c.real("p");
    const auto seed = std::uint64_t(c.integer("seed"));
    const bool has_groups = distance.kind != metric::poincare || c.has("groups_within");
    points =
        has_groups ? test::clustered_points<real>(n, dim, seed) : test::ball_points<real>(n, dim, 0, 0.99, 1, seed);
    if (c.has("groups_within")) points = test::scaled(points, real(c.real("groups_within") / largest_norm(points)));
    for (real& x : points.data) {
      stored.push_back(Storage(x));
      x = real(stored.back());
    }
    exact = reference::distances(reference::widened(points.view()), distance);
  }

  matrix_view<const Storage> view() const { return {stored.data(), n, dim}; }

  /// Of distances: distance_bound(). Cosine is half the square of a distance d of unit vectors: twice the bound, and
  /// what the rounding of the vectors does, 2 eps d at most (for two vectors, each coordinate off by u).
  template <class Exact>
  tolerance allowed(const std::vector<Exact>& exact_distances) const {
    if (distance.kind != metric::cosine) return {.bound = distance_bound(dim, distance), .same_bits = true};
    const double bound = 2 * distance_bound(dim, distance);
    tolerance result{.bound = bound, .same_bits = true, .unit = "eps (|x| + 2 sqrt(2 |x|) / bound)"};
    for (const Exact x : exact_distances) result.sizes.push_back(double(x) + 2 * std::sqrt(2 * double(x)) / bound);
    return result;
  }
};

/// What clusterings are made of, in hdbscan_tree_cases.cpp. Returns false for an operation that is not among these.
template <class Storage>
bool run_hdbscan_tree(case_run& run);

}  // namespace quintet::accuracy
