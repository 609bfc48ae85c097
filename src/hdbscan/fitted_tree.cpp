#include "hdbscan/fitted_tree.hpp"

#include "hdbscan/tree_rules.hpp"
#include "quintet/core/error.hpp"

namespace quintet::hdbscan {

fitted_tree::fitted_tree(const cluster_result& model)
    : options_(model.options), summary_(summarise(model.condensed)), peaks_(find_peaks(summary_)) {
  const std::int64_t root = model.condensed.points;
  for (const std::int64_t cluster : model.selected) {
    require_argument(cluster >= root, "model.selected", cluster, text("clusters, >= N=", root));
    selected_.push_back(cluster - root);
  }
  check_selected(summary_, selected_);
  label_of_cluster_ = cluster_labels(summary_, selected_);
}

tree_place fitted_tree::attachment(std::int64_t neighbour, double lambda) const {
  tree_place place = of_point(neighbour);
  if (place.lambda <= lambda) return place;
  while (place.cluster != 0 && summary_.birth[place.cluster] >= lambda) place.cluster = summary_.parent[place.cluster];
  place.lambda = lambda;
  return place;
}

std::int64_t fitted_tree::label(const tree_place& place) const {
  const std::int64_t k = label_of_cluster_[place.cluster];
  return k >= 0 && place.lambda >= entry_lambda(summary_, selected_[k], options_) ? k : -1;
}

double fitted_tree::outlier_score(const tree_place& place) const {
  return hdbscan::outlier_score(place.lambda, peaks_.below[place.cluster]);
}

void fitted_tree::merge_lambdas(const tree_place& place, std::span<double> out) const {
  for (std::int64_t k = 0; k < labels(); ++k) {
    std::int64_t from_point = place.cluster, from_label = selected_[k], last = -1;
    bool point_climbed = false, label_climbed = false;
    // Parents have smaller numbers than their children, so the larger of two different clusters can be climbed out of.
    while (from_point != from_label) {
      const bool is_point = from_point > from_label;
      (is_point ? point_climbed : label_climbed) = true;
      std::int64_t& climber = is_point ? from_point : from_label;
      last = climber;
      climber = summary_.parent[climber];
    }
    out[k] = point_climbed && label_climbed ? summary_.birth[last] : place.lambda;
  }
}

}  // namespace quintet::hdbscan
