#include "quintet/hdbscan/tree_stages.hpp"

#include <algorithm>
#include <numeric>

#include "hdbscan/tree_rules.hpp"
#include "quintet/core/error.hpp"

namespace quintet::hdbscan {
namespace {

using flags = std::vector<char>;  // one per cluster

std::int64_t clusters(const tree_summary& s) { return static_cast<std::int64_t>(s.parent.size()); }

// Height of the merge that ends the cluster upwards; infinite for the root.
double height_at_birth(const tree_summary& s, std::int64_t c) { return 1 / s.birth[c]; }

// Leaves of `taken` only clusters without a taken ancestor.
void keep_topmost(const tree_summary& s, flags& taken) {
  flags covered(taken.size(), 0);
  for (std::int64_t c = 1; c < clusters(s); ++c) {
    covered[c] = covered[s.parent[c]] || taken[s.parent[c]];
    if (covered[c]) taken[c] = 0;
  }
}

flags excess_of_mass(const tree_summary& s, const tree_options& options) {
  flags taken(clusters(s), 0);
  std::vector<double> best = s.stability;  // of any antichain at or below a cluster
  std::vector<double> terms;
  for (std::int64_t c = clusters(s) - 1; c >= (options.allow_single_cluster ? 0 : 1); --c) {
    const auto first = best.begin() + s.first_child[c];
    terms.assign(first, first + s.children[c]);
    std::sort(terms.begin(), terms.end());  // a sum that does not depend on how the children are numbered
    const double below = std::accumulate(terms.begin(), terms.end(), 0.0);
    const bool too_large = options.max_cluster_size > 0 && s.size[c] > options.max_cluster_size;
    const bool too_wide = height_at_birth(s, c) > options.epsilon_max;
    taken[c] = !(below > s.stability[c] || too_large || too_wide);
    if (!taken[c]) best[c] = below;
  }
  keep_topmost(s, taken);
  return taken;
}

flags leaves(const tree_summary& s) {
  flags taken(clusters(s), 0);
  for (std::int64_t c = 1; c < clusters(s); ++c) taken[c] = s.children[c] == 0;
  return taken;
}

// For every cluster but the root: where the climb out of it ends. Top down, because a climb that goes on ends where the
// parent's ends.
std::vector<std::int64_t> climb_ends(const tree_summary& s, const tree_options& options) {
  std::vector<std::int64_t> end(clusters(s), 0);
  for (std::int64_t c = 1; c < clusters(s); ++c) {
    const std::int64_t p = s.parent[c];
    if (p == 0) {
      end[c] = options.allow_single_cluster ? 0 : c;
    } else {
      end[c] = height_at_birth(s, p) > options.epsilon ? p : end[p];
    }
  }
  return end;
}

flags widen(const tree_summary& s, const tree_options& options, const flags& taken) {
  const std::vector<std::int64_t> end = climb_ends(s, options);
  flags widened(taken.size(), 0);
  for (std::int64_t c = 0; c < clusters(s); ++c)
    if (taken[c]) widened[height_at_birth(s, c) < options.epsilon ? end[c] : c] = 1;
  keep_topmost(s, widened);
  return widened;
}

}  // namespace

void check_options(const tree_options& options) {
  require_argument(options.min_cluster_size >= 2, "min_cluster_size", options.min_cluster_size, ">= 2");
  require_argument(options.tie_tolerance >= 0 && options.tie_tolerance < 1, "tie_tolerance", options.tie_tolerance,
                   "in [0, 1)");
  require_argument(options.epsilon >= 0, "epsilon", options.epsilon, ">= 0");
  require_argument(options.epsilon_max > 0, "epsilon_max", options.epsilon_max, "> 0");
  require_argument(options.max_cluster_size >= 0, "max_cluster_size", options.max_cluster_size,
                   ">= 0, where 0 is no limit");
}

std::vector<std::int64_t> select_clusters(const tree_summary& summary, const tree_options& options) {
  check_options(options);
  check_summary(summary);
  if (summary.point_cluster.size() < 2) return {};  // a single point has no density
  flags taken = options.method == selection::eom ? excess_of_mass(summary, options) : leaves(summary);
  if (options.epsilon > 0 && !taken[0]) taken = widen(summary, options, taken);
  std::vector<std::int64_t> selected;
  for (std::int64_t c = 0; c < clusters(summary); ++c)
    if (taken[c]) selected.push_back(c);
  return selected;
}

}  // namespace quintet::hdbscan
