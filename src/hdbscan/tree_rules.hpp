// What the place of a point in the condensed tree says about it, for points of the tree and for new ones alike.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "quintet/hdbscan/tree_stages.hpp"

namespace quintet::hdbscan {

/// Throws InvalidArgument unless `summary` can be one that summarise() made: columns of one length, parents before
/// children, ids in range, stabilities >= 0. O(N).
void check_summary(const tree_summary& summary);

/// Throws InvalidArgument unless `selected` increases within the clusters of `summary`.
void check_selected(const tree_summary& summary, std::span<const std::int64_t> selected);

/// Throws InvalidArgument unless `groups` are `count` groups of points below `points`, or nothing for no group.
void check_groups(const point_groups& groups, std::int64_t count, std::int64_t points);

/// Heights compared with a distance that options name: those within the tolerance of ties are equal to it.
class height_order {
 public:
  explicit height_order(const tree_options& options)
      : least_part_(options.tie_mode == ties::canonical ? 1 - options.tie_tolerance.value_or(default_tie_tolerance())
                                                        : 1) {}
  bool is_below(double height, double limit) const { return height < limit * least_part_; }
  bool is_above(double height, double limit) const { return height * least_part_ > limit; }
  /// The smallest lambda of points that leave at no height above the limit.
  double least_lambda(double limit) const { return least_part_ / limit; }

 private:
  double least_part_;
};

/// The mass of a cluster at its birth.
inline double mass_of(const tree_summary& s, std::int64_t cluster) {
  return s.mass.empty() ? static_cast<double>(s.size[cluster]) : s.mass[cluster];
}

/// Label of each cluster: that of the selected cluster (index) it is or lies below, or -1.
inline std::vector<std::int64_t> cluster_labels(const tree_summary& s, std::span<const std::int64_t> selected) {
  std::vector<std::int64_t> label(s.parent.size(), -1);
  for (std::size_t k = 0; k < selected.size(); ++k) label[selected[k]] = static_cast<std::int64_t>(k);
  for (std::size_t c = 1; c < label.size(); ++c)
    if (label[c] < 0) label[c] = label[s.parent[c]];
  return label;
}

/// Smallest lambda with which a point stays in a selected cluster. Only the root sheds points that belong nowhere else.
inline double entry_lambda(const tree_summary& s, std::int64_t cluster, const tree_options& options) {
  if (cluster != 0) return 0;
  return options.epsilon > 0 ? height_order(options).least_lambda(options.epsilon) : s.death[0];
}

/// Lambdas that those of points are compared with. Copies of a point leave at infinity, which would make the others
/// nothing: the largest finite lambda counts, or where none is finite and > 0 the largest.
struct lambda_peaks {
  std::vector<double> own;    ///< per cluster, of its own rows
  std::vector<double> below;  ///< the same with the rows of its descendants
};
lambda_peaks find_peaks(const tree_summary& summary);

/// Probability of a point with `lambda` in a selected cluster with this peak of its own rows: see label_points().
inline double membership_probability(double lambda, double peak) {
  if (peak == 0 || std::isinf(lambda)) return 1;
  return std::min(lambda, peak) / peak;
}

/// GLOSH of a point with `lambda` in a cluster with this peak of all rows below it: see outlier_scores().
inline double outlier_score(double lambda, double peak) {
  if (peak == 0 || lambda >= peak) return 0;
  if (std::isinf(peak)) return 1;
  return (peak - lambda) / peak;
}

}  // namespace quintet::hdbscan
