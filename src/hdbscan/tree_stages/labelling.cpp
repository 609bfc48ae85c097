#include "quintet/hdbscan/tree_stages.hpp"

#include <cmath>
#include <numeric>

#include "core/require_element.hpp"
#include "hdbscan/tree_rules.hpp"
#include "hdbscan/weights.hpp"

namespace quintet::hdbscan {

void check_selected(const tree_summary& summary, std::span<const std::int64_t> selected) {
  const auto clusters = static_cast<std::int64_t>(summary.parent.size());
  for (std::size_t k = 0; k < selected.size(); ++k) {
    const std::int64_t above = k == 0 ? -1 : selected[k - 1];
    if (selected[k] <= above || selected[k] >= clusters)
      throw InvalidArgument(text("selected[", k, "] must be in (", above, ", ", clusters, "), the clusters above the ",
                                 "one before (selected[", k, "]=", selected[k], ")"));
  }
}

void check_groups(const point_groups& groups, std::int64_t count, std::int64_t points) {
  const auto listed = std::int64_t(groups.points.size());
  if (count == 0 && groups.offsets.empty() && listed == 0) return;
  require_argument(std::int64_t(groups.offsets.size()) == count + 1, "exemplars.offsets.size", groups.offsets.size(),
                   text("the number of clusters and 1, ", count + 1));
  for (std::int64_t k = 0; k <= count; ++k) {
    const std::int64_t min = k == 0 ? 0 : groups.offsets[k - 1], max = k == 0 ? 0 : listed;
    require_element(groups.offsets[k] >= min && groups.offsets[k] <= max && (k < count || groups.offsets[k] == listed),
                    "exemplars.offsets", k, groups.offsets[k], "increasing from 0 to the number of exemplars");
  }
  for (std::int64_t i = 0; i < listed; ++i)
    require_element(groups.points[i] >= 0 && groups.points[i] < points, "exemplars.points", i, groups.points[i],
                    "one of the points");
}

namespace {

void check_labels(const tree_summary& summary, std::span<const std::int64_t> selected,
                  std::span<const std::int64_t> labels) {
  check_summary(summary);
  check_selected(summary, selected);
  require_argument(labels.size() == summary.point_cluster.size(), "labels.size", labels.size(),
                   text("the number of points, ", summary.point_cluster.size()));
  const auto max = static_cast<std::int64_t>(selected.size());
  for (std::size_t p = 0; p < labels.size(); ++p)
    if (labels[p] < -1 || labels[p] >= max)
      throw InvalidArgument(text("labels[", p, "] must be in [-1, K=", max, ") (labels[", p, "]=", labels[p], ")"));
}

}  // namespace

point_labels label_points(const tree_summary& summary, std::span<const std::int64_t> selected,
                          const tree_options& options) {
  check_options(options);
  check_summary(summary);
  check_selected(summary, selected);
  const std::size_t n = summary.point_cluster.size();
  const std::vector<std::int64_t> label = cluster_labels(summary, selected);
  const std::vector<double> peaks = find_peaks(summary).own;
  point_labels result{std::vector<std::int64_t>(n, -1), std::vector<double>(n, 0.0)};
  for (std::size_t p = 0; p < n; ++p) {
    const std::int64_t k = label[summary.point_cluster[p]];
    const double lambda = summary.point_lambda[p];
    if (k < 0 || lambda < entry_lambda(summary, selected[k], options)) continue;
    result.labels[p] = k;
    result.probabilities[p] = membership_probability(lambda, peaks[selected[k]]);
  }
  return result;
}

std::vector<double> persistence(const tree_summary& summary, std::span<const std::int64_t> selected,
                                std::span<const std::int64_t> labels) {
  check_labels(summary, selected, labels);
  const std::vector<double> mass = label_masses(labels, summary.point_weight, selected.size());
  std::vector<double> result(selected.size(), 1.0);
  if (selected.empty()) return result;
  const double largest = summary.deepest[0];
  if (largest == 0 || std::isinf(largest)) return result;
  for (std::size_t k = 0; k < selected.size(); ++k)
    if (mass[k] > 0) result[k] = summary.stability[selected[k]] / (mass[k] * largest);
  return result;
}

point_groups exemplars(const tree_summary& summary, std::span<const std::int64_t> selected,
                       std::span<const std::int64_t> labels) {
  check_labels(summary, selected, labels);
  const auto is_exemplar = [&](std::size_t p) {
    const std::int64_t c = summary.point_cluster[p];
    return labels[p] >= 0 && summary.children[c] == 0 && summary.point_lambda[p] == summary.death[c];
  };
  point_groups groups;
  groups.offsets.assign(selected.size() + 1, 0);
  for (std::size_t p = 0; p < labels.size(); ++p)
    if (is_exemplar(p)) ++groups.offsets[labels[p] + 1];
  std::partial_sum(groups.offsets.begin(), groups.offsets.end(), groups.offsets.begin());
  groups.points.resize(groups.offsets.back());
  std::vector<std::int64_t> next = groups.offsets;
  for (std::size_t p = 0; p < labels.size(); ++p)
    if (is_exemplar(p)) groups.points[next[labels[p]]++] = static_cast<std::int64_t>(p);
  return groups;
}

std::vector<double> outlier_scores(const tree_summary& summary) {
  check_summary(summary);
  const std::vector<double> peaks = find_peaks(summary).below;
  std::vector<double> scores(summary.point_cluster.size());
  for (std::size_t p = 0; p < scores.size(); ++p)
    scores[p] = outlier_score(summary.point_lambda[p], peaks[summary.point_cluster[p]]);
  return scores;
}

}  // namespace quintet::hdbscan
