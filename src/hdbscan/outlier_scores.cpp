#include "quintet/hdbscan/outlier_scores.hpp"

#include "hdbscan/tree_rules.hpp"

namespace quintet::hdbscan {

std::vector<double> outlier_scores(const tree_summary& summary) {
  std::vector<double> scores(summary.point_cluster.size());
  for (std::size_t p = 0; p < scores.size(); ++p)
    scores[p] = outlier_score(summary.point_lambda[p], summary.deepest[summary.point_cluster[p]]);
  return scores;
}

}  // namespace quintet::hdbscan
