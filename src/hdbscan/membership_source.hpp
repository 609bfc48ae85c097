// What membership vectors are made of: exemplars, and places in the condensed tree. Formulas: membership.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "hdbscan/each_row.hpp"
#include "hdbscan/fitted_tree.hpp"
#include "pairwise/group_minima.hpp"
#include "pairwise/scanned_points.hpp"

namespace quintet::hdbscan {

enum class origin { fitted, unseen };

/// 1 / d_k up to a common factor: 1 for the nearest.
inline double nearness(double distance, double nearest) {
  if (distance == nearest) return 1;
  return nearest / distance;
}

/// o_k is exp of this.
inline double tree_score(origin kind, double peak, double merge) {
  if (kind == origin::fitted) return merge == peak ? std::exp(-1.0) : std::exp(-peak / merge);
  if (merge >= peak) return std::numeric_limits<double>::infinity();
  return std::isinf(peak) ? 1 : peak / (peak - merge);
}

/// o_k up to a common factor: 1 for the largest.
inline double tree_weight(double score, double largest) { return score == largest ? 1 : std::exp(score - largest); }

/// h / max(lambda, M_s).
inline double some_cluster_probability(const fitted_tree& tree, double lambda, std::span<const double> merge) {
  const auto nearest = std::max_element(merge.begin(), merge.end());
  const double max = std::max(lambda, tree.peak_of_label(nearest - merge.begin()));
  if (*nearest == max) return 1;
  return std::isinf(max) ? 0 : *nearest / max;
}

/// Turns the K merge lambdas in `row` into the membership vector.
inline void finish_row(const fitted_tree& tree, origin kind, const tree_place& place, const auto& distance,
                       std::span<double> row) {
  const double probability = some_cluster_probability(tree, place.lambda, row);
  double nearest = distance(0), largest = 0, sum = 0;
  for (std::size_t k = 0; k < row.size(); ++k) {
    nearest = std::min(nearest, distance(k));
    row[k] = tree_score(kind, tree.peak(place.cluster), row[k]);
    largest = std::max(largest, row[k]);
  }
  const auto weight = [&](std::size_t k, double near) {
    const double of_tree = tree_weight(row[k], largest);
    return kind == origin::fitted ? near * of_tree : std::sqrt(near) * of_tree * of_tree;
  };
  for (std::size_t k = 0; k < row.size(); ++k) sum += weight(k, nearness(distance(k), nearest));
  const bool exclude_each_other = sum == 0;
  if (exclude_each_other)
    for (std::size_t k = 0; k < row.size(); ++k) sum += weight(k, 1);
  for (std::size_t k = 0; k < row.size(); ++k)
    row[k] = probability * (weight(k, exclude_each_other ? 1 : nearness(distance(k), nearest)) / sum);
}

/// The same from the smallest reduced distances to the exemplars of each cluster.
template <class Real>
void finish_row(const fitted_tree& tree, origin kind, const tree_place& place, const Real* minima,
                const pairwise::reduced_metric<Real>& measure, std::span<double> row) {
  tree.merge_lambdas(place, row);
  finish_row(tree, kind, place, [&](std::size_t k) { return double(measure.distance(minima[k])); }, row);
}

/// The exemplars of a model, those of one cluster after another's.
struct exemplar_rows {
  std::vector<std::int32_t> rows;
  std::vector<std::int32_t> cluster;  ///< of each, ascending

  explicit exemplar_rows(const cluster_result& model)
      : rows(model.exemplars.points.begin(), model.exemplars.points.end()) {
    for (std::int64_t k = 0; k < model.clusters(); ++k)
      cluster.insert(cluster.end(), model.exemplars.offsets[k + 1] - model.exemplars.offsets[k], std::int32_t(k));
  }
};

/// The exemplars of a model, packed, and what else a membership vector is made of.
template <class Storage>
class membership_source {
  using Real = accumulator_t<Storage>;

 public:
  membership_source(const pairwise::scanned_points<Storage>& points, const cluster_result& model)
      : tree_(model), exemplars_(model) {
    // An empty order would stand for all points.
    if (!exemplars_.rows.empty()) packed_ = points.pack(exemplars_.rows);
  }

  const fitted_tree& tree() const { return tree_; }

  /// Vectors of rows `which`, whose places are given; out(i) is where vector i goes.
  template <class Place, class Out>
  void fill(origin kind, const pairwise::scanned_points<Storage>& rows, const std::vector<std::int32_t>& row_numbers,
            const Place& place, const Out& out) const {
    if (row_numbers.empty()) return;
    const std::int64_t clusters = tree_.labels();
    std::vector<Real> minima(std::int64_t(row_numbers.size()) * clusters, std::numeric_limits<Real>::infinity());
    if (!exemplars_.rows.empty())
      minima = pairwise::group_minima(rows.pack(row_numbers), packed_, exemplars_.cluster, clusters);
    for_each_row_on_host(std::int64_t(row_numbers.size()), [&](std::int64_t i) {
      finish_row(tree_, kind, place(i), &minima[i * clusters], rows.measure,
                 std::span<double>(out(i), std::size_t(clusters)));
    });
  }

 private:
  fitted_tree tree_;
  exemplar_rows exemplars_;
  pairwise::panels<Real> packed_;
};

}  // namespace quintet::hdbscan
