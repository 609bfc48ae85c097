// Rows of a prediction.
#pragma once

#include <cstdint>
#include <vector>

#include "hdbscan/fitted_tree.hpp"
#include "hdbscan/tree_rules.hpp"
#include "quintet/hdbscan/prediction.hpp"

namespace quintet::hdbscan {

/// Places of rows that are nowhere.
inline prediction nothing_known(std::int64_t count) {
  return {std::vector<std::int64_t>(count, -1), std::vector<double>(count, 0), std::vector<double>(count, 1),
          std::vector<std::int64_t>(count, -1), std::vector<double>(count, 0)};
}

/// Puts row `row` where it joins.
inline void enter(prediction& result, std::int64_t row, const fitted_tree& tree, std::int64_t neighbour,
                  double lambda) {
  const tree_place place = tree.attachment(neighbour, lambda);
  const std::int64_t label = tree.label(place);
  result.labels[row] = label;
  result.probabilities[row] = label < 0 ? 0 : membership_probability(lambda, tree.peak_of_label(label));
  result.outlier_scores[row] = tree.outlier_score(place);
  result.neighbours[row] = neighbour;
  result.lambdas[row] = lambda;
}

}  // namespace quintet::hdbscan
