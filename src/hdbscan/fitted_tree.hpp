// The condensed tree of a finished clustering, made ready for questions about single points.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hdbscan/tree_rules.hpp"
#include "quintet/hdbscan/hdbscan.hpp"
#include "quintet/hdbscan/tree_stages.hpp"

namespace quintet::hdbscan {

/// Where a point is in the condensed tree: the cluster (index, 0 is the root) that it leaves at density lambda.
struct tree_place {
  std::int64_t cluster = 0;
  double lambda = 0;
};

class fitted_tree {
 public:
  explicit fitted_tree(const cluster_result& model);

  std::int64_t labels() const { return static_cast<std::int64_t>(selected_.size()); }

  tree_place of_point(std::int64_t point) const {
    return {summary_.point_cluster[point], summary_.point_lambda[point]};
  }

  /// Where a new point goes that comes to `neighbour` at density lambda. A neighbour that has left by then takes it
  /// along; otherwise it is in that ancestor of the neighbour's cluster which exists at lambda.
  tree_place attachment(std::int64_t neighbour, double lambda) const;

  /// The label of a point there, or -1.
  std::int64_t label(const tree_place& place) const;
  /// Peak of the own rows of a cluster (index), and of the selected cluster of a label.
  double peak(std::int64_t cluster) const { return peaks_.own[cluster]; }
  double peak_of_label(std::int64_t label) const { return peaks_.own[selected_[label]]; }
  double outlier_score(const tree_place& place) const;

  /// out[k] := the density up to which a point there and the selected cluster of label k are in one cluster: its own
  /// lambda where one of the two clusters is, or is below, the other; else the lambda at which their common ancestor
  /// splits. Cost: O(labels x depth of the tree).
  void merge_lambdas(const tree_place& place, std::span<double> out) const;

 private:
  cluster_options options_;
  tree_summary summary_;
  lambda_peaks peaks_;
  std::vector<std::int64_t> selected_;          ///< cluster index of every label
  std::vector<std::int64_t> label_of_cluster_;  ///< label of every cluster index, or -1
};

}  // namespace quintet::hdbscan
