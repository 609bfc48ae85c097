// The reference data of prediction: NAME_predict.csv and NAME_predict_summary.csv.
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include "support/embedding_data.hpp"

namespace quintet::test {

/// Rows of one role: where they are in NAME.csv, and what the peer says about them.
struct predicted_rows {
  std::vector<std::int64_t> rows, labels;
  std::vector<double> probabilities;
  std::vector<std::vector<double>> members;  ///< [row][label]
};

struct prediction_case {
  predicted_rows fit, unseen;
  double dbcv = 0, relative_validity = 0, cut = 0;
  std::int64_t clusters_at_cut = 0, noise_at_cut = 0;
};

inline prediction_case read_prediction(const std::string& name) {
  const csv_table table(embedding_folder() / (name + "_predict.csv"));
  const csv_table summary(embedding_folder() / (name + "_predict_summary.csv"));
  prediction_case result;
  std::int64_t clusters = 0;
  for (const std::int64_t label : table.integers("label")) clusters = std::max(clusters, label + 1);
  for (std::size_t i = 0; i < table.rows(); ++i) {
    predicted_rows& to = table.at(i, "role") == "fit" ? result.fit : result.unseen;
    to.rows.push_back(std::stoll(table.at(i, "row")));
    to.labels.push_back(std::stoll(table.at(i, "label")));
    // strtod takes numbers below the normal range, which stod refuses.
    const auto number = [&](const std::string& column) { return std::strtod(table.at(i, column).c_str(), nullptr); };
    to.probabilities.push_back(number("prob"));
    to.members.emplace_back();
    for (std::int64_t k = 0; k < clusters; ++k) to.members.back().push_back(number("member" + std::to_string(k)));
  }
  result.dbcv = summary.doubles("dbcv").at(0);
  result.relative_validity = summary.doubles("relative_validity").at(0);
  result.cut = summary.doubles("cut").at(0);
  result.clusters_at_cut = summary.integers("k_at_cut").at(0);
  result.noise_at_cut = summary.integers("noise_at_cut").at(0);
  return result;
}

}  // namespace quintet::test
