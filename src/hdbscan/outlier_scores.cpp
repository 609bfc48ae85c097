#include "quintet/hdbscan/outlier_scores.hpp"

#include <cmath>

namespace quintet::hdbscan {
namespace {

double score(double lambda, double deepest) {
  if (deepest == 0 || std::isinf(lambda)) return 0;
  if (std::isinf(deepest)) return 1;
  return (deepest - lambda) / deepest;
}

}  // namespace

std::vector<double> outlier_scores(const tree_summary& summary) {
  std::vector<double> scores(summary.point_cluster.size());
  for (std::size_t p = 0; p < scores.size(); ++p)
    scores[p] = score(summary.point_lambda[p], summary.deepest[summary.point_cluster[p]]);
  return scores;
}

}  // namespace quintet::hdbscan
