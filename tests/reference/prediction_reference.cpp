#include "reference/prediction_reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

namespace quintet::reference {

joined_point join(const std::vector<double>& distance, const std::vector<double>& core, std::int64_t k, double alpha,
                  bool as_peer) {
  std::vector<std::int64_t> order(distance.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](auto a, auto b) { return std::tie(distance[a], a) < std::tie(distance[b], b); });
  const std::int64_t rank = as_peer ? k : k - 1;
  const double own_core = rank < 0 ? 0 : distance[order[rank]];
  if (as_peer) order.resize(2 * k);
  joined_point best;
  double min = std::numeric_limits<double>::infinity();
  for (const std::int64_t j : order) {
    const double m = std::max({own_core, core[j], distance[j] / alpha});
    if (m < min) best = {j, 1 / m}, min = m;
  }
  return best;
}

const hdbscan::condensed_row& plain_tree::row_of(std::int64_t child) const {
  const auto& rows = model_.condensed.rows;
  return *std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.child == child; });
}

double plain_tree::death(std::int64_t cluster) const {
  const bool is_finite = std::any_of(model_.condensed.rows.begin(), model_.condensed.rows.end(), [&](const auto& row) {
    return row.parent == cluster && row.lambda > 0 && std::isfinite(row.lambda);
  });
  double max = 0;
  for (const auto& row : model_.condensed.rows)
    if (row.parent == cluster && (std::isfinite(row.lambda) || !is_finite)) max = std::max(max, row.lambda);
  return max;
}

std::vector<std::int64_t> plain_tree::path_up(std::int64_t cluster) const {
  std::vector<std::int64_t> path{cluster};
  while (path.back() != root()) path.push_back(row_of(path.back()).parent);
  return path;
}

hdbscan::condensed_row plain_tree::place(const joined_point& at) const {
  hdbscan::condensed_row place = row_of(at.neighbour);
  if (place.lambda <= at.lambda) return place;
  while (place.parent != root() && row_of(place.parent).lambda >= at.lambda) place.parent = row_of(place.parent).parent;
  place.lambda = at.lambda;
  return place;
}

std::int64_t plain_tree::label(std::int64_t cluster) const {
  for (const std::int64_t c : path_up(cluster))
    for (std::int64_t k = 0; k < model_.clusters(); ++k)
      if (model_.selected[k] == c) return k;
  return -1;
}

double plain_tree::merge_lambda(std::int64_t cluster, double lambda, std::int64_t k) const {
  const auto from_point = path_up(cluster), from_label = path_up(model_.selected[k]);
  std::int64_t last = -1;
  for (const std::int64_t c : from_point) {
    const auto common = std::find(from_label.begin(), from_label.end(), c);
    if (common == from_label.end()) {
      last = c;
      continue;
    }
    return last < 0 || common == from_label.begin() ? lambda : row_of(last).lambda;
  }
  return 0;
}

predicted_point predict(const plain_tree& tree, const joined_point& at) {
  const std::int64_t label = tree.label(tree.place(at).parent);
  if (label < 0) return {};
  const double max = tree.death(tree.model().selected[label]);
  return {label, std::min(at.lambda, max) / max};
}

std::vector<double> membership(const plain_tree& tree, std::int64_t cluster, double lambda,
                               const std::vector<double>& nearest, bool is_new, bool as_peer) {
  const auto labels = std::int64_t(nearest.size());
  const double tiny = as_peer ? 1e-8 : 0, max = tree.death(cluster);
  std::vector<double> merge, score, weight;
  for (std::int64_t k = 0; k < labels; ++k) {
    merge.push_back(tree.merge_lambda(cluster, lambda, k));
    const double rounded = is_new && as_peer ? tree.merge_lambda(cluster, double(float(lambda)), k) : merge[k];
    if (!is_new)
      score.push_back(std::exp(-(max + tiny) / merge[k]));
    else
      score.push_back(max - rounded > 0 ? max / (max - rounded) : as_peer ? max / 1e-8 : 1e300);
  }
  const double largest = *std::max_element(score.begin(), score.end());
  for (std::int64_t k = 0; k < labels; ++k) {
    const double of_tree = std::exp(score[k] - largest), near = 1 / std::max(nearest[k], 1e-300);
    weight.push_back(is_new ? std::sqrt(near) * of_tree * of_tree : near * of_tree);
  }
  const double sum = std::accumulate(weight.begin(), weight.end(), 0.0);
  const std::int64_t together = std::max_element(merge.begin(), merge.end()) - merge.begin();
  const double whole = std::max(lambda, tree.death(tree.model().selected[together])) + (is_new ? tiny : 0);
  for (double& w : weight) w *= merge[together] / whole / sum;
  return weight;
}

}  // namespace quintet::reference
