// Kruskal's algorithm for many more edges than a tree has: the lightest are sorted and joined, and those that they
// close are never sorted (Osipov, Sanders, Singler: The filter-Kruskal minimum spanning tree algorithm, 2009).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "quintet/core/poll.hpp"

namespace quintet::hdbscan {

/// A weight >= 0 by its bits, which are in the order of weights, and which edge it is of. Its points are here as well:
/// in the order of weights a look elsewhere is a cache miss.
template <class Real>
struct weighed_edge {
  using bits = std::conditional_t<sizeof(Real) == 4, std::uint32_t, std::uint64_t>;
  bits weight;
  std::uint32_t edge;
  std::int32_t u, v;
};

/// Sorts edges that come by number by (weight, number): digits of 11 bits, the least first.
template <class Real>
void sort_by_weight(std::vector<weighed_edge<Real>>& edges, std::vector<weighed_edge<Real>>& space) {
  constexpr int digit_bits = 11, key_bits = 8 * sizeof(Real);
  if (edges.size() < 4096) {
    std::sort(edges.begin(), edges.end(), [](const auto& a, const auto& b) {
      return a.weight != b.weight ? a.weight < b.weight : a.edge < b.edge;
    });
    return;
  }
  space.resize(edges.size());
  for (int shift = 0; shift < key_bits; shift += digit_bits) {
    const auto digit = [&](const auto& e) { return std::size_t(e.weight >> shift) & ((1 << digit_bits) - 1); };
    std::vector<std::size_t> next((std::size_t(1) << digit_bits) + 1, 0);
    for (const auto& e : edges) ++next[digit(e) + 1];
    if (next[digit(edges.front()) + 1] == edges.size()) continue;
    std::partial_sum(next.begin(), next.end(), next.begin());
    for (const auto& e : edges) space[next[digit(e)]++] = e;
    edges.swap(space);
  }
}

/// Components of points with 32-bit numbers: half the memory of disjoint_sets, which decides the speed here.
class small_sets {
 public:
  explicit small_sets(std::int64_t count) : up_(std::size_t(count)) { std::iota(up_.begin(), up_.end(), 0); }
  std::int32_t root(std::int32_t element) {
    while (up_[element] != element) element = up_[element] = up_[up_[element]];
    return element;
  }
  /// Joins the components of a and b; false if they are one already.
  bool join(std::int32_t a, std::int32_t b) {
    a = root(a);
    b = root(b);
    if (a == b) return false;
    up_[std::max(a, b)] = std::min(a, b);
    return true;
  }

 private:
  std::vector<std::int32_t> up_;
};

/// A weight that about `share` of the edges do not exceed.
template <class Real>
typename weighed_edge<Real>::bits weight_of_share(const std::vector<weighed_edge<Real>>& edges, double share) {
  using bits = typename weighed_edge<Real>::bits;
  if (share > 0.66) return std::numeric_limits<bits>::max();
  constexpr std::int64_t sampled = 1024;
  const auto last = std::int64_t(edges.size()) - 1;
  std::vector<bits> sample(sampled);
  for (std::int64_t i = 0; i < sampled; ++i) sample[i] = edges[std::size_t(i * last / (sampled - 1))].weight;
  const auto at = sample.begin() + std::int64_t(share * (sampled - 1));
  std::nth_element(sample.begin(), at, sample.end());
  return *at;
}

/// Finds forests one after another in the same memory.
template <class Real>
class lightest_forest {
 public:
  explicit lightest_forest(std::int64_t points) : component_(std::size_t(points)) {}

  /// To be filled with edges by number.
  std::vector<weighed_edge<Real>>& edges() { return edges_; }

  /// The minimum spanning forest of edges() in the order (weight, number of the edge), in that order.
  std::vector<std::uint32_t> find() {
    const auto points = std::int64_t(component_.size());
    small_sets sets(points);
    std::vector<std::uint32_t> forest;
    forest.reserve(component_.size());
    while (!edges_.empty()) {
      poll();
      take_light(weight_of_share(edges_, 2 * double(points) / double(edges_.size())));
      sort_by_weight(light_, space_);
      for (const auto& e : light_)
        if (sets.join(e.u, e.v)) forest.push_back(e.edge);
      if (edges_.empty()) break;
      for (std::int64_t p = 0; p < points; ++p) component_[p] = sets.root(std::int32_t(p));
      std::erase_if(edges_, [&](const auto& e) { return component_[e.u] == component_[e.v]; });
    }
    return forest;
  }

 private:
  /// Moves edges of at most this weight, in their order, without a branch.
  void take_light(typename weighed_edge<Real>::bits limit) {
    light_.resize(edges_.size());
    std::size_t light = 0, heavy = 0;
    for (std::size_t i = 0; i < edges_.size(); ++i) {
      const weighed_edge<Real> e = edges_[i];
      light_[light] = e;
      edges_[heavy] = e;
      light += e.weight <= limit;
      heavy += e.weight > limit;
    }
    light_.resize(light);
    edges_.resize(heavy);
  }

  std::vector<weighed_edge<Real>> edges_, light_, space_;
  std::vector<std::int32_t> component_;
};

}  // namespace quintet::hdbscan
