#include "quintet/hdbscan/medoids.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "hdbscan/checks.hpp"
#include "hdbscan/each_row.hpp"
#include "hdbscan/members.hpp"
#include "hdbscan/row_blocks.hpp"
#include "pairwise/scanned_points.hpp"

namespace quintet::hdbscan {

namespace {

constexpr std::int64_t block_bytes = std::int64_t(64) << 20;

void check_weights(std::span<const double> weights, std::int64_t n) {
  if (weights.empty()) return;
  require_argument(std::int64_t(weights.size()) == n, "weights.size", weights.size(), text("0 or points.rows=", n));
  for (std::int64_t i = 0; i < n; ++i)
    require_element(weights[i] >= 0 && std::isfinite(weights[i]), "weights", i, weights[i], "finite and >= 0");
}

/// The weights of some rows: 1 each if none are given or all of these are 0.
std::vector<double> weights_of(const std::vector<std::int32_t>& members, std::span<const double> weights) {
  std::vector<double> result(members.size(), 1);
  if (weights.empty() || std::all_of(members.begin(), members.end(), [&](std::int32_t i) { return weights[i] == 0; }))
    return result;
  std::transform(members.begin(), members.end(), result.begin(), [&](std::int32_t i) { return weights[i]; });
  return result;
}

/// total[i] := sum over j of weight[j] distance(i, j).
template <class Real>
struct weigh_row {
  matrix_view<const Real> distance;
  const double* weight;
  double* total;
  void operator()(std::int64_t i) const {
    const Real* row = distance.row(i);
    double sum = 0;
    for (std::int64_t j = 0; j < distance.cols(); ++j) sum = std::fma(weight[j], double(row[j]), sum);
    total[i] = sum;
  }
};

/// Position of the medoid among the packed points.
template <class Real>
std::int64_t medoid(const pairwise::panels<Real>& panels, const pairwise::reduced_metric<Real>& measure,
                    const std::vector<double>& weights) {
  const Device& device = panels.device();
  const Buffer<double> weight(weights, device);
  Buffer<double> total(panels.count, device);
  for_row_blocks(panels, distance_arguments(panels, measure), block_bytes,
                 [&](std::int64_t first, matrix_view<const Real> rows) {
                   for_each_row(rows.rows(), weigh_row<Real>{rows, weight.data(), total.data() + first}, device);
                   return true;
                 });
  const std::vector<double> totals = total.to_vector();
  return std::min_element(totals.begin(), totals.end()) - totals.begin();
}

/// Weighted means of the members of clusters. Tile = (cluster, part of the coordinates). (weighted_cluster_centroid of
/// McInnes, Healy 2017's program.)
template <class Storage, class Shape>
struct centroid_kernel {
  using shape = Shape;
  enum { threads = 64, emulated_threads = 4, part = 64 };
  struct scratch {
    double sum[part];
  };
  pairwise::stored_rows<Storage> points;
  const std::int64_t* offsets;  ///< of the members of every cluster
  const std::int32_t* members;
  const double* weight;  ///< of every member
  double* centroids;     ///< [cluster][dim]

  template <class Team>
  void operator()(const Team& team, std::int64_t tile, scratch& s) const {
    const std::int64_t parts = (points.dim + part - 1) / part, k = tile / parts, first = tile % parts * part;
    const int width = int(points.dim - first < part ? points.dim - first : std::int64_t(part));
    double total = 0;
    for (int d = team.rank(); d < width; d += team.size()) s.sum[d] = 0;
    for (std::int64_t m = offsets[k]; m < offsets[k + 1]; ++m) {
      const Storage* row = points.row(members[m]) + first;
      total += weight[m];
      for (int d = team.rank(); d < width; d += team.size())
        s.sum[d] = std::fma(weight[m], double(accumulator_t<Storage>(row[d])), s.sum[d]);
    }
    const double none = std::numeric_limits<double>::quiet_NaN();
    for (int d = team.rank(); d < width; d += team.size())
      centroids[k * points.dim + first + d] = offsets[k] < offsets[k + 1] ? s.sum[d] / total : none;
  }
};

template <class Storage>
std::vector<std::int64_t> medoids_of(matrix_view<const Storage> points, std::span<const std::int64_t> labels,
                                     std::span<const double> weights, const point_metric& distance,
                                     const Device& requested_device) {
  const Device device = device::run_device(requested_device, {{"points", points}});
  check_points(points);
  check_distance(distance);
  check_weights(weights, points.rows());
  const std::int64_t clusters = count_labels(labels, points.rows());
  const pairwise::scanned_points<Storage> scanned(points, distance, device);
  const auto members = members_by_label(labels, clusters, scanned.valid_rows());
  std::vector<std::int64_t> result(clusters, -1);
  for (std::int64_t k = 0; k < clusters; ++k) {
    // An empty order would stand for all points.
    if (members[k].empty()) continue;
    result[k] = members[k][medoid(scanned.pack(members[k]), scanned.measure, weights_of(members[k], weights))];
  }
  return result;
}

/// Means of unit vectors become coordinates of the points in their direction.
std::vector<double> centroids_on_sphere(const std::vector<double>& means, angle_unit unit) {
  // Below this length the mean of vectors of length 1 is what rounding left of it.
  constexpr double least_length = 1e-14;
  const auto clusters = std::int64_t(means.size()) / pairwise::unit_vector_words;
  std::vector<double> centroids(clusters * pairwise::sphere_dimensions);
  for (std::int64_t k = 0; k < clusters; ++k) {
    const double* high = means.data() + k * pairwise::unit_vector_words;
    const double x = high[0] + high[3], y = high[1] + high[4], z = high[2] + high[5];
    const double length = std::sqrt(x * x + y * y + z * z);
    if (length <= least_length)
      throw InvalidArgument(text("the points of a label must have a mean on one side of the sphere (label=", k,
                                 ", length of the mean=", length, ")"));
    pairwise::write_coordinates(x, y, z, unit, centroids.data() + k * pairwise::sphere_dimensions);
  }
  return centroids;
}

/// The integers of rows of words as numbers.
template <class Storage>
std::vector<double> unpacked_integers(matrix_view<const Storage> points, const point_metric& distance) {
  check_distance(distance);
  check_points(points);
  // Throws for what are no rows of integers.
  const pairwise::scanned_points<Storage> scanned(points, distance, Device::host());
  const device::staged_in on_host(points, Device::host());
  const std::int64_t dim = dimension_of(distance, points.cols());
  std::vector<double> values(points.rows() * dim);
  for (std::int64_t i = 0; i < points.rows(); ++i)
    for (std::int64_t k = 0; k < dim; ++k) {
      std::int16_t value;
      std::memcpy(&value, reinterpret_cast<const char*>(on_host.view().row(i)) + k * sizeof value, sizeof value);
      values[i * dim + k] = value;
    }
  return values;
}

template <class Storage>
std::vector<double> centroids_of(matrix_view<const Storage> points, std::span<const std::int64_t> labels,
                                 std::span<const double> weights, const point_metric& distance,
                                 const Device& requested_device) {
  using Real = accumulator_t<Storage>;
  if (is_of_bits(distance.kind) || distance.kind == metric::product)
    throw InvalidArgument(text(is_of_bits(distance.kind) ? "rows of bits" : "points of products",
                               " have no mean: medoids() chooses among them (metric=", to_string(distance.kind), ")"));
  if (is_of_integers(distance.kind)) {
    const std::vector<double> rows = unpacked_integers(points, distance);
    return centroids_of<double>({rows.data(), points.rows(), dimension_of(distance, points.cols())}, labels, weights,
                                metric::euclidean, requested_device);
  }
  const bool on_sphere = distance.kind == metric::haversine;
  const Device device = device::run_device(requested_device, {{"points", points}});
  check_points(points);
  check_weights(weights, points.rows());
  const std::int64_t clusters = count_labels(labels, points.rows());
  const pairwise::scanned_points<Storage> scanned(points, on_sphere ? distance : metric::euclidean, device);
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> members;
  std::vector<double> weight;
  for (const auto& of_cluster : members_by_label(labels, clusters, scanned.valid_rows())) {
    const std::vector<double> of_members = weights_of(of_cluster, weights);
    members.insert(members.end(), of_cluster.begin(), of_cluster.end());
    weight.insert(weight.end(), of_members.begin(), of_members.end());
    offsets.push_back(std::int64_t(members.size()));
  }
  const Buffer<std::int64_t> offsets_on_device(offsets, device);
  const Buffer<std::int32_t> members_on_device(members, device);
  const Buffer<double> weight_on_device(weight, device);
  Buffer<double> centroids;
  scanned.with_packed_rows([&]<class Stored>(const pairwise::stored_rows<Stored>& rows) {
    centroids = Buffer<double>(clusters * rows.dim, device);
    device::with_shape<pairwise::host_shape<Real>, pairwise::device_shape<Real>>(device, [&](auto shape) {
      using kernel = centroid_kernel<Stored, decltype(shape)>;
      device::launch(
          kernel{rows, offsets_on_device.data(), members_on_device.data(), weight_on_device.data(), centroids.data()},
          clusters * ((rows.dim + kernel::part - 1) / kernel::part), device);
    });
  });
  return on_sphere ? centroids_on_sphere(centroids.to_vector(), distance.unit) : centroids.to_vector();
}

}  // namespace

std::vector<std::int64_t> medoids(any_matrix points, std::span<const std::int64_t> labels,
                                  std::span<const double> weights, const point_metric& distance, const Device& device) {
  return with_storage(
      points.type, [&]<class T>() { return medoids_of<T>(points.as<T>("points"), labels, weights, distance, device); });
}

std::vector<double> weighted_centroids(any_matrix points, std::span<const std::int64_t> labels,
                                       std::span<const double> weights, const point_metric& distance,
                                       const Device& device) {
  return with_storage(points.type, [&]<class T>() {
    return centroids_of<T>(points.as<T>("points"), labels, weights, distance, device);
  });
}

}  // namespace quintet::hdbscan
