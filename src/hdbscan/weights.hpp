// Weights of points: how often each counts.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

#include "core/require_element.hpp"
#include "quintet/hdbscan/tree_stages.hpp"

namespace quintet::hdbscan {

/// A sum of weights, rounded once: what additions round off is kept apart (Knuth 1997, 4.2.2, theorem B). So the order
/// of the weights is no matter, and ten of 0.1 are 1.
struct mass_sum {
  double high = 0, low = 0;

  void add(double weight) {
    const double sum = high + weight, grown = sum - high;
    low += (high - (sum - grown)) + (weight - grown);
    high = sum;
  }
  void add(const mass_sum& other) {
    add(other.high);
    low += other.low;
  }
  double total() const { return high + low; }
};

/// Throws InvalidArgument unless there are n weights >= 0, all finite.
inline void check_weights(std::span<const double> weights, std::int64_t n, std::string_view name) {
  require_argument(std::int64_t(weights.size()) == n, text(name, ".size()"), weights.size(),
                   text("the number of points, ", n));
  for (std::int64_t i = 0; i < n; ++i)
    require_element(weights[i] >= 0 && std::isfinite(weights[i]), name, i, weights[i], ">= 0 and finite");
}

/// Copies of a point would be joined in an order of their own.
inline void check_ties(std::span<const double> weights, ties tie_mode) {
  if (!weights.empty() && tie_mode != ties::canonical)
    throw InvalidArgument("ties must be canonical where points have weights (ties=binary)");
}

/// `weights` of n points as they are used: empty stands for 1 each. Throws as check_weights() does.
inline std::vector<double> used_weights(std::span<const double> weights, std::int64_t n) {
  if (weights.empty()) return {};
  check_weights(weights, n, "weights");
  if (std::all_of(weights.begin(), weights.end(), [](double weight) { return weight == 1; })) return {};
  return {weights.begin(), weights.end()};
}

/// The rows of weight 0, which count as absent.
inline std::vector<std::int64_t> rows_of_no_weight(std::span<const double> weights) {
  std::vector<std::int64_t> rows;
  for (std::size_t i = 0; i < weights.size(); ++i)
    if (weights[i] == 0) rows.push_back(std::int64_t(i));
  return rows;
}

/// The rows of `rows` that are not among `dropped`, each in ascending order.
inline std::vector<std::int64_t> rows_except(const std::vector<std::int64_t>& rows,
                                             const std::vector<std::int64_t>& dropped) {
  std::vector<std::int64_t> rest;
  std::set_difference(rows.begin(), rows.end(), dropped.begin(), dropped.end(), std::back_inserter(rest));
  return rest;
}

/// Rows of two lists without a common row, each in ascending order.
inline std::vector<std::int64_t> rows_of_both(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b) {
  std::vector<std::int64_t> rows(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(), rows.begin());
  return rows;
}

/// The sum of all but the `left_out` rows, which are in ascending order.
inline double mass_without(std::span<const double> weights, const std::vector<std::int64_t>& left_out) {
  mass_sum sum;
  auto next = left_out.begin();
  for (std::size_t i = 0; i < weights.size(); ++i)
    if (next != left_out.end() && *next == std::int64_t(i))
      ++next;
    else
      sum.add(weights[i]);
  return sum.total();
}

/// A mass as a number of points: rounded down, and within the range of numbers of points.
inline std::int64_t whole_mass(double mass) { return std::int64_t(std::floor(std::min(mass, 0x1p62))); }

/// Masses of the nodes of a dendrogram with weights, points first.
inline std::vector<double> masses_of(const single_linkage_tree& tree) {
  std::vector<mass_sum> sums(std::size_t(tree.points) + tree.rows.size());
  for (std::int64_t p = 0; p < tree.points; ++p) sums[p].add(tree.weights[p]);
  for (std::size_t t = 0; t < tree.rows.size(); ++t)
    for (const std::int64_t child : {tree.rows[t].left, tree.rows[t].right})
      sums[std::size_t(tree.points) + t].add(sums[child]);
  std::vector<double> masses;
  masses.reserve(sums.size());
  for (const mass_sum& sum : sums) masses.push_back(sum.total());
  return masses;
}

/// Per label of [0, clusters): the mass of the points that have it. No weights: 1 each.
inline std::vector<double> label_masses(std::span<const std::int64_t> labels, std::span<const double> weights,
                                        std::size_t clusters) {
  std::vector<mass_sum> sums(clusters);
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (labels[i] >= 0) sums[labels[i]].add(weights.empty() ? 1 : weights[i]);
  std::vector<double> masses;
  for (const mass_sum& sum : sums) masses.push_back(sum.total());
  return masses;
}

}  // namespace quintet::hdbscan
