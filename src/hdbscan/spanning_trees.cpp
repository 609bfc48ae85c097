#include "hdbscan/spanning_trees.hpp"

#include <algorithm>
#include <utility>

#include "core/require_element.hpp"
#include "hdbscan/checks.hpp"
#include "hdbscan/core_mass.hpp"
#include "hdbscan/tree_candidates.hpp"
#include "quintet/core/profile.hpp"
#include "quintet/hdbscan/spanning_trees.hpp"

namespace quintet::hdbscan {

namespace {

spanning_tree_options with_samples(spanning_tree_options options, std::int64_t min_samples) {
  options.min_samples = min_samples;
  return options;
}

/// The k of every min_samples for the valid points of a tree.
std::vector<std::int64_t> neighbours_of(std::span<const std::int64_t> min_samples, const spanning_tree_options& options,
                                        const spanning_tree_result& tree, std::int64_t points) {
  const std::vector<std::int64_t> left_out = rows_of_both(tree.invalid_rows, tree.excluded_rows);
  const double mass =
      tree.weights.empty() ? double(points - std::int64_t(left_out.size())) : mass_without(tree.weights, left_out);
  std::vector<std::int64_t> k;
  for (const std::int64_t value : min_samples) k.push_back(neighbour_mass(with_samples(options, value), mass));
  return k;
}

/// The trees of these min_samples, one after another.
std::vector<spanning_tree_result> separate_trees(any_matrix points, const std::vector<std::int64_t>& min_samples,
                                                 const spanning_tree_options& options, const Device& device,
                                                 const progress_callback& report, std::span<const double> weights) {
  std::vector<spanning_tree_result> trees;
  for (const std::int64_t value : min_samples)
    trees.push_back(spanning_tree(points, with_samples(options, value), device, report, weights));
  return trees;
}

/// The trees of `k`, increasing, from `largest`, that of the last.
template <class Real>
std::vector<spanning_tree_result> trees_within(tree_candidates<Real>& candidates, spanning_tree_result largest,
                                               const std::vector<std::int64_t>& k, progress& report) {
  std::vector<spanning_tree_result> trees(k.size());
  for (std::size_t t = k.size() - 1; t-- > 0;) {
    report("trees", double(k.size() - 1 - t) / double(k.size()));
    trees[t] = candidates.tree(k[t]);
    trees[t].ran_on = largest.ran_on;
    trees[t].tie_tolerance = largest.tie_tolerance;
  }
  trees.back() = std::move(largest);
  report("trees", 1);
  return trees;
}

template <class Storage>
shared_trees trees_of_points(matrix_view<const Storage> points, std::span<const std::int64_t> min_samples,
                             const spanning_tree_options& options, const Device& device,
                             const progress_callback& callback, std::span<const double> weights) {
  constexpr std::int64_t times_if_stretched = 4;
  const std::int64_t most = *std::max_element(min_samples.begin(), min_samples.end());
  auto largest = listed_spanning_tree<Storage>(points, with_samples(options, most),
                                               options.alpha > 1 ? times_if_stretched : 1, device, callback, weights);
  const std::vector<std::int64_t> k_of = neighbours_of(min_samples, options, largest.tree, points.rows());
  std::vector<std::int64_t> k(k_of);
  std::sort(k.begin(), k.end());
  k.erase(std::unique(k.begin(), k.end()), k.end());
  shared_trees result;
  for (const std::int64_t value : k_of)
    result.tree_of.push_back(std::lower_bound(k.begin(), k.end(), value) - k.begin());
  if (k.size() == 1) {
    result.trees.push_back(std::move(largest.tree));
    return result;
  }
  const stage_region stage("trees");
  tree_candidates<accumulator_t<Storage>> candidates(largest, points.rows(), options.alpha);
  if (candidates.suffice()) {
    progress report(callback);
    result.trees = trees_within(candidates, std::move(largest.tree), k, report);
    return result;
  }
  for (std::int64_t& value : k) value += options.count_self ? 1 : 0;
  k.pop_back();
  result.trees = separate_trees(points, k, options, device, callback, weights);
  result.trees.push_back(std::move(largest.tree));
  return result;
}

}  // namespace

shared_trees find_shared_trees(any_matrix points, std::span<const std::int64_t> min_samples,
                               const spanning_tree_options& options, const Device& device,
                               const progress_callback& report, std::span<const double> weights) {
  require_argument(!min_samples.empty(), "min_samples.size", min_samples.size(), ">= 1");
  for (std::size_t i = 0; i < min_samples.size(); ++i)
    require_element(min_samples[i] >= (options.count_self ? 1 : 0), "min_samples", std::int64_t(i), min_samples[i],
                    options.count_self ? ">= 1 (count_self)" : ">= 0");
  return with_storage(points.type, [&]<class T>() {
    return trees_of_points<T>(points.as<T>("points"), min_samples, options, device, report, weights);
  });
}

std::vector<spanning_tree_result> spanning_trees(any_matrix points, std::span<const std::int64_t> min_samples,
                                                 const spanning_tree_options& options, const Device& device,
                                                 const progress_callback& report, std::span<const double> weights) {
  const shared_trees shared = find_shared_trees(points, min_samples, options, device, report, weights);
  std::vector<spanning_tree_result> trees;
  for (std::size_t i = 0; i < min_samples.size(); ++i) {
    trees.push_back(shared.trees[shared.tree_of[i]]);
    trees.back().clamped = is_clamped(with_samples(options, min_samples[i]), trees.back().neighbours);
  }
  return trees;
}

}  // namespace quintet::hdbscan
