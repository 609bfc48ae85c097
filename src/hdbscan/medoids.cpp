#include "quintet/hdbscan/medoids.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hdbscan/checks.hpp"
#include "hdbscan/each_row.hpp"
#include "hdbscan/members.hpp"
#include "hdbscan/row_blocks.hpp"
#include "hdbscan/scan_points.hpp"

namespace quintet::hdbscan {

namespace {

constexpr std::int64_t budget_bytes = std::int64_t(64) << 20;

void check_weights(std::span<const double> weights, std::int64_t n) {
  if (weights.empty()) return;
  require_argument(std::int64_t(weights.size()) == n, "weights.size", weights.size(), text("0 or points.rows=", n));
  for (std::int64_t i = 0; i < n; ++i)
    if (!(weights[i] >= 0 && std::isfinite(weights[i])))
      throw InvalidArgument(text("weights[", i, "] must be finite and >= 0 (weights[", i, "]=", weights[i], ")"));
}

/// The weights of some rows: 1 each if none are given or all of these are 0.
std::vector<double> weights_of(const std::vector<std::int32_t>& members, std::span<const double> weights) {
  std::vector<double> result(members.size(), 1);
  if (weights.empty() || std::all_of(members.begin(), members.end(), [&](std::int32_t i) { return weights[i] == 0; }))
    return result;
  std::transform(members.begin(), members.end(), result.begin(), [&](std::int32_t i) { return weights[i]; });
  return result;
}

/// Position of the medoid among the packed points.
template <class Real>
std::int64_t medoid(const pairwise::panels<Real>& panels, const pairwise::surrogate_metric<Real>& surrogate,
                    const std::vector<double>& weight) {
  std::vector<double> total(panels.count);
  for_distance_rows(panels, surrogate, budget_bytes, [&](std::int64_t first, auto rows) {
    for_each_row(rows.rows(), [&](std::int64_t i) {
      const Real* distance = rows.row(i);
      double sum = 0;
      for (std::int64_t j = 0; j < rows.cols(); ++j) sum = std::fma(weight[j], double(distance[j]), sum);
      total[first + i] = sum;
    });
    return true;
  });
  return std::min_element(total.begin(), total.end()) - total.begin();
}

}  // namespace

template <class Storage>
std::vector<std::int64_t> medoids(matrix_view<const Storage> points, std::span<const std::int64_t> labels,
                                  std::span<const double> weights, const point_metric& distance, const Device& device) {
  check_points(points);
  check_weights(weights, points.rows());
  const std::int64_t clusters = count_labels(labels, points.rows());
  const auto scan = scan_points(points, distance);
  const auto members = members_by_label(labels, clusters, valid_rows(scan));
  std::vector<std::int64_t> result(clusters, -1);
  for (std::int64_t k = 0; k < clusters; ++k) {
    // An empty order would stand for all points.
    if (members[k].empty()) continue;
    const auto panels = pairwise::pack_points(points, scan, members[k], device);
    result[k] = members[k][medoid(panels, scan.surrogate, weights_of(members[k], weights))];
  }
  return result;
}

template <class Storage>
std::vector<double> weighted_centroids(matrix_view<const Storage> points, std::span<const std::int64_t> labels,
                                       std::span<const double> weights) {
  check_points(points);
  check_weights(weights, points.rows());
  const std::int64_t clusters = count_labels(labels, points.rows()), dim = points.cols();
  const auto members = members_by_label(labels, clusters, valid_rows(pairwise::scan_rows(points, metric::euclidean)));
  std::vector<double> centroids(clusters * dim, std::numeric_limits<double>::quiet_NaN());
  for_each_row(clusters, [&](std::int64_t k) {
    if (members[k].empty()) return;
    const std::vector<double> weight = weights_of(members[k], weights);
    double* centroid = centroids.data() + k * dim;
    std::fill_n(centroid, dim, 0);
    double sum = 0;
    for (std::size_t i = 0; i < weight.size(); ++i) {
      const Storage* row = points.row(members[k][i]);
      sum += weight[i];
      for (std::int64_t d = 0; d < dim; ++d)
        centroid[d] = std::fma(weight[i], double(accumulator_t<Storage>(row[d])), centroid[d]);
    }
    for (std::int64_t d = 0; d < dim; ++d) centroid[d] /= sum;
  });
  return centroids;
}

#define QUINTET_INSTANTIATE(Storage)                                                                         \
  template std::vector<std::int64_t> medoids(matrix_view<const Storage>, std::span<const std::int64_t>,      \
                                             std::span<const double>, const point_metric&, const Device&);   \
  template std::vector<double> weighted_centroids(matrix_view<const Storage>, std::span<const std::int64_t>, \
                                                  std::span<const double>);
QUINTET_INSTANTIATE(float)
QUINTET_INSTANTIATE(double)
QUINTET_INSTANTIATE(half)
QUINTET_INSTANTIATE(bfloat16)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::hdbscan
