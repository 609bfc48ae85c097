#include "quintet/hdbscan/tree_stages.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "hdbscan/tree_rules.hpp"
#include "quintet/core/error.hpp"

namespace quintet::hdbscan {
namespace {

using flags = std::vector<char>;  // one per cluster

std::int64_t clusters(const tree_summary& s) { return static_cast<std::int64_t>(s.parent.size()); }

// Height of the merge that ends the cluster upwards; infinite for the root.
double height_at_birth(const tree_summary& s, std::int64_t c) { return 1 / s.birth[c]; }

// Leaves of `selected` only clusters without a selected ancestor.
void keep_topmost(const tree_summary& s, flags& selected) {
  flags covered(selected.size(), 0);
  for (std::int64_t c = 1; c < clusters(s); ++c) {
    covered[c] = covered[s.parent[c]] || selected[s.parent[c]];
    if (covered[c]) selected[c] = 0;
  }
}

flags excess_of_mass(const tree_summary& s, const tree_options& options) {
  flags selected(clusters(s), 0);
  std::vector<double> best = s.stability;  // of any antichain at or below a cluster
  std::vector<double> terms;
  const height_order order(options);
  for (std::int64_t c = clusters(s) - 1; c >= (options.allow_single_cluster ? 0 : 1); --c) {
    const auto first = best.begin() + s.first_child[c];
    terms.assign(first, first + s.children[c]);
    std::sort(terms.begin(), terms.end());  // a sum that does not depend on how the children are numbered
    const double below = std::accumulate(terms.begin(), terms.end(), 0.0);
    const bool too_large = options.max_cluster_size > 0 && mass_of(s, c) > double(options.max_cluster_size);
    const bool too_wide = order.is_above(height_at_birth(s, c), options.epsilon_max);
    selected[c] = !(below > s.stability[c] || too_large || too_wide);
    if (!selected[c]) best[c] = below;
  }
  keep_topmost(s, selected);
  return selected;
}

flags leaves(const tree_summary& s) {
  flags selected(clusters(s), 0);
  for (std::int64_t c = 1; c < clusters(s); ++c) selected[c] = s.children[c] == 0;
  return selected;
}

// For every cluster but the root: where the climb out of it ends. Top down, because a climb that goes on ends where the
// parent's ends.
std::vector<std::int64_t> climb_ends(const tree_summary& s, const tree_options& options) {
  std::vector<std::int64_t> end(clusters(s), 0);
  const height_order order(options);
  for (std::int64_t c = 1; c < clusters(s); ++c) {
    const std::int64_t p = s.parent[c];
    if (p == 0) {
      end[c] = options.allow_single_cluster ? 0 : c;
    } else {
      end[c] = order.is_above(height_at_birth(s, p), options.epsilon) ? p : end[p];
    }
  }
  return end;
}

flags widen(const tree_summary& s, const tree_options& options, const flags& selected) {
  const std::vector<std::int64_t> end = climb_ends(s, options);
  flags widened(selected.size(), 0);
  const height_order order(options);
  for (std::int64_t c = 0; c < clusters(s); ++c)
    if (selected[c]) widened[order.is_below(height_at_birth(s, c), options.epsilon) ? end[c] : c] = 1;
  keep_topmost(s, widened);
  return widened;
}

flags before_widening(const tree_summary& s, const tree_options& options) {
  return options.method == selection::eom ? excess_of_mass(s, options) : leaves(s);
}

// One epsilon of each interval in which it selects the same clusters, increasing.
std::vector<double> distinct_epsilons(const tree_summary& s) {
  std::vector<double> heights;
  for (std::int64_t c = 1; c < clusters(s); ++c)
    if (const double height = height_at_birth(s, c); height > 0 && std::isfinite(height)) heights.push_back(height);
  std::sort(heights.begin(), heights.end());
  heights.erase(std::unique(heights.begin(), heights.end()), heights.end());
  std::vector<double> epsilons{0};
  for (std::size_t i = 0; i + 1 < heights.size(); ++i) epsilons.push_back(heights[i] / 2 + heights[i + 1] / 2);
  if (!heights.empty()) epsilons.push_back(std::min(2 * heights.back(), std::numeric_limits<double>::max()));
  return epsilons;
}

struct number_of_clusters {
  tree_options options;
  std::int64_t clusters;
};

// The most clusters that are not more than `limit`, by one method.
number_of_clusters most_clusters_up_to(std::int64_t limit, const tree_summary& s, tree_options options,
                                       const std::vector<double>& epsilons) {
  const flags selected = before_widening(s, options);
  const auto count = [&](double epsilon) {
    options.epsilon = epsilon;
    const flags selection_there = epsilon > 0 && !selected[0] ? widen(s, options, selected) : selected;
    return std::int64_t(std::count(selection_there.begin(), selection_there.end(), 1));
  };
  const auto few_enough =
      std::partition_point(epsilons.begin(), epsilons.end(), [&](double epsilon) { return count(epsilon) > limit; });
  const double epsilon = few_enough == epsilons.end() ? epsilons.back() : *few_enough;
  const std::int64_t number = count(epsilon);
  return {options, number};
}

}  // namespace

void check_options(const tree_options& options) {
  require_argument(options.min_cluster_size >= 2, "min_cluster_size", options.min_cluster_size, ">= 2");
  const double tolerance = options.tie_tolerance.value_or(0);
  require_argument(tolerance >= 0 && tolerance < 1, "tie_tolerance", tolerance, "in [0, 1)");
  require_argument(options.epsilon >= 0, "epsilon", options.epsilon, ">= 0");
  require_argument(options.epsilon_max > 0, "epsilon_max", options.epsilon_max, "> 0");
  require_argument(options.max_cluster_size >= 0, "max_cluster_size", options.max_cluster_size,
                   ">= 0, where 0 is no limit");
}

std::vector<std::int64_t> select_clusters(const tree_summary& summary, const tree_options& options) {
  check_options(options);
  check_summary(summary);
  // A single point has no density, but copies of it have.
  if (summary.point_cluster.size() < 2 && (summary.mass.empty() || summary.mass[0] <= 1)) return {};
  flags chosen = before_widening(summary, options);
  if (options.epsilon > 0 && !chosen[0]) chosen = widen(summary, options, chosen);
  std::vector<std::int64_t> selected;
  for (std::int64_t c = 0; c < clusters(summary); ++c)
    if (chosen[c]) selected.push_back(c);
  return selected;
}

tree_options options_for_clusters(const tree_summary& summary, std::int64_t number, const tree_options& options) {
  require_argument(number >= 1, "clusters", number, ">= 1");
  check_options(options);
  check_summary(summary);
  if (summary.parent.empty()) return options;
  const std::vector<double> epsilons = distinct_epsilons(summary);
  number_of_clusters best = most_clusters_up_to(number, summary, options, epsilons);
  if (best.clusters == number || options.method == selection::leaf) return best.options;
  tree_options by_leaves = options;
  by_leaves.method = selection::leaf;
  const number_of_clusters leaf = most_clusters_up_to(number, summary, by_leaves, epsilons);
  const bool is_nearer =
      best.clusters > number ? leaf.clusters < best.clusters : leaf.clusters <= number && leaf.clusters > best.clusters;
  return is_nearer ? leaf.options : best.options;
}

}  // namespace quintet::hdbscan
