// Prediction and soft membership, plain and slow: for one new point at a time, from the rows of the condensed tree. It
// knows nothing of infinite lambda. With `as_peer` it does what scikit-learn-contrib/hdbscan 0.8.43 does, to show that
// a difference of the library from that program is one of those it documents, and no other.
#pragma once

#include <cstdint>
#include <vector>

#include "quintet/hdbscan/hdbscan.hpp"

namespace quintet::reference {

struct joined_point {
  std::int64_t neighbour = -1;
  double lambda = 0;
};

/// The point that comes first in the order (m, distance, index). The peer has a core distance of one neighbour more for
/// the new point and looks at 2 k candidates.
joined_point join(const std::vector<double>& distance, const std::vector<double>& core, std::int64_t k, double alpha,
                  bool as_peer);

/// The condensed tree asked by walking through its rows.
class plain_tree {
 public:
  explicit plain_tree(const hdbscan::cluster_result& model) : model_(model) {}

  const hdbscan::condensed_row& row_of(std::int64_t child) const;
  std::int64_t root() const { return model_.condensed.points; }
  /// The largest finite lambda of its own rows, or where none is finite and > 0 the largest.
  double death(std::int64_t cluster) const;
  std::vector<std::int64_t> path_up(std::int64_t cluster) const;
  /// The cluster that a new point belongs to, and the lambda with which it leaves it.
  hdbscan::condensed_row place(const joined_point& at) const;
  std::int64_t label(std::int64_t cluster) const;
  /// Up to which density a point that leaves `cluster` at `lambda` and the cluster of label k are together.
  double merge_lambda(std::int64_t cluster, double lambda, std::int64_t k) const;
  const hdbscan::cluster_result& model() const { return model_; }

 private:
  const hdbscan::cluster_result& model_;
};

struct predicted_point {
  std::int64_t label = -1;
  double probability = 0;
};

predicted_point predict(const plain_tree& tree, const joined_point& at);

/// v for a point that leaves `cluster` at `lambda`; `nearest` are its distances to the exemplars of each label.
std::vector<double> membership(const plain_tree& tree, std::int64_t cluster, double lambda,
                               const std::vector<double>& nearest, bool is_new, bool as_peer);

}  // namespace quintet::reference
