// C functions of hdbscan for a finished clustering, or for labels from anywhere.
#include <algorithm>

#include "c/hdbscan_support.hpp"
#include "quintet/hdbscan/cut.hpp"
#include "quintet/hdbscan/medoids.hpp"
#include "quintet/hdbscan/membership.hpp"
#include "quintet/hdbscan/prediction.hpp"
#include "quintet/hdbscan/validity.hpp"

using namespace quintet;
using namespace quintet::c;

any_matrix quintet::c::clustered_points(const quintet_hdbscan_clustering& clustering, const void* points,
                                        quintet_type type, std::int64_t n, std::int64_t dim, std::int64_t stride) {
  const scalar_type t = storage_type_of(type);
  if (clustering.type == 0) throw InvalidArgument("clustering must be one of points, not of distances or edges");
  require_argument(type == clustering.type, "type", type, text("that of the clustered points: ", clustering.type));
  require_argument(dim == clustering.dim, "dim", dim, text("that of the clustered points: ", clustering.dim));
  const auto clustered = std::int64_t(clustering.model.labels.size());
  require_argument(n == clustered, "n", n, text("that of the clustering: ", clustered));
  return any_input(points, t, n, dim, stride, "points");
}

namespace {

// Takes blocks of rows into the caller's matrix.
hdbscan::membership_callback into(matrix_view<double> out) {
  return [out](std::int64_t first_row, matrix_view<const double> rows) {
    for (std::int64_t i = 0; i < rows.rows(); ++i)
      std::copy(rows.row(i), rows.row(i) + rows.cols(), out.row(first_row + i));
    return true;
  };
}

// `count` must be the number of clusters of `labels`.
void check_clusters(std::int64_t count, std::span<const std::int64_t> labels) {
  std::int64_t largest = -1;
  for (const std::int64_t label : labels) largest = std::max(largest, label);
  require_argument(count == largest + 1, "clusters", count, text("one more than the largest label, ", largest));
}

// Rows of the type and dimension of the clustered points.
any_matrix rows_like(const quintet_hdbscan_clustering& fitted, const void* rows, quintet_type type, std::int64_t m,
                     std::int64_t dim, std::int64_t stride) {
  const scalar_type t = storage_type_of(type);
  require_argument(type == fitted.type, "type", type, text("that of the clustered points: ", fitted.type));
  require_argument(dim == fitted.dim, "dim", dim, text("that of the clustered points: ", fitted.dim));
  return any_input(rows, t, m, dim, stride, "new_points");
}

void copy_prediction(const hdbscan::prediction& places, std::int64_t* labels, double* probabilities,
                     double* outlier_scores, std::int64_t* neighbours) {
  copy_to(places.labels, labels);
  copy_to(places.probabilities, probabilities);
  copy_to(places.outlier_scores, outlier_scores);
  copy_to(places.neighbours, neighbours);
}

constexpr std::int64_t membership_budget = 32 << 20;

}  // namespace

extern "C" {

quintet_status quintet_hdbscan_cut(const quintet_hdbscan_clustering* clustering, double height,
                                   int64_t min_cluster_size, int64_t* labels) noexcept {
  return guarded([&] {
    const auto& model = required(clustering, "clustering").model;
    array(labels, std::int64_t(model.labels.size()), "labels");
    copy_to(hdbscan::cut(model.single_linkage, height, min_cluster_size), labels);
  });
}

quintet_status quintet_hdbscan_assign_noise(const quintet_hdbscan_clustering* clustering, int64_t* labels) noexcept {
  return guarded([&] {
    const auto& model = required(clustering, "clustering").model;
    array(labels, std::int64_t(model.labels.size()), "labels");
    copy_to(hdbscan::assign_noise(model.spanning_tree, model.labels), labels);
  });
}

quintet_status quintet_hdbscan_predict(const quintet_hdbscan_clustering* clustering, const void* points,
                                       quintet_type type, int64_t n, int64_t dim, int64_t stride,
                                       const void* new_points, int64_t m, int64_t new_stride, const char* device,
                                       int64_t* labels, double* probabilities, double* outlier_scores,
                                       int64_t* neighbours) noexcept {
  return guarded([&] {
    const auto& fitted = required(clustering, "clustering");
    const any_matrix x = clustered_points(fitted, points, type, n, dim, stride);
    copy_prediction(
        hdbscan::approximate_predict(fitted.model, x, any_input(new_points, x.type, m, dim, new_stride, "new_points"),
                                     chosen_device(device)),
        labels, probabilities, outlier_scores, neighbours);
  });
}

quintet_status quintet_hdbscan_membership(const quintet_hdbscan_clustering* clustering, const void* points,
                                          quintet_type type, int64_t n, int64_t dim, int64_t stride, const char* device,
                                          double* out, int64_t out_stride) noexcept {
  return guarded([&] {
    const auto& fitted = required(clustering, "clustering");
    const any_matrix x = clustered_points(fitted, points, type, n, dim, stride);
    const auto target = output_matrix<double>(out, n, fitted.model.clusters(), out_stride, "out");
    hdbscan::all_points_membership_rows(fitted.model, x, into(target), membership_budget, chosen_device(device));
  });
}

quintet_status quintet_hdbscan_membership_new(const quintet_hdbscan_clustering* clustering, const void* points,
                                              quintet_type type, int64_t n, int64_t dim, int64_t stride,
                                              const void* new_points, int64_t m, int64_t new_stride, const char* device,
                                              double* out, int64_t out_stride) noexcept {
  return guarded([&] {
    const auto& fitted = required(clustering, "clustering");
    const any_matrix x = clustered_points(fitted, points, type, n, dim, stride);
    const auto target = output_matrix<double>(out, m, fitted.model.clusters(), out_stride, "out");
    hdbscan::membership_rows(fitted.model, x, any_input(new_points, x.type, m, dim, new_stride, "new_points"),
                             into(target), membership_budget, chosen_device(device));
  });
}

quintet_status quintet_hdbscan_predictor_create(const quintet_hdbscan_clustering* clustering, const void* points,
                                                quintet_type type, int64_t n, int64_t dim, int64_t stride,
                                                const char* device, quintet_hdbscan_predictor** predictor) noexcept {
  return make_handle(predictor, [&] {
    const auto& fitted = required(clustering, "clustering");
    const any_matrix x = clustered_points(fitted, points, type, n, dim, stride);
    return quintet_hdbscan_predictor{nullptr, clustering, hdbscan::predictor(fitted.model, x, chosen_device(device))};
  });
}

void quintet_hdbscan_predictor_free(quintet_hdbscan_predictor* predictor) noexcept { delete predictor; }

quintet_status quintet_hdbscan_predictor_clustering(const quintet_hdbscan_predictor* predictor,
                                                    const quintet_hdbscan_clustering** clustering) noexcept {
  return guarded([&] { required(clustering, "clustering") = required(predictor, "predictor").fitted; });
}

quintet_status quintet_hdbscan_predictor_predict(const quintet_hdbscan_predictor* predictor, const void* new_points,
                                                 quintet_type type, int64_t m, int64_t dim, int64_t stride,
                                                 int64_t* labels, double* probabilities, double* outlier_scores,
                                                 int64_t* neighbours) noexcept {
  return guarded([&] {
    const auto& of = required(predictor, "predictor");
    copy_prediction(of.place.predict(rows_like(*of.fitted, new_points, type, m, dim, stride)), labels, probabilities,
                    outlier_scores, neighbours);
  });
}

quintet_status quintet_hdbscan_predictor_membership(const quintet_hdbscan_predictor* predictor, const void* new_points,
                                                    quintet_type type, int64_t m, int64_t dim, int64_t stride,
                                                    double* out, int64_t out_stride) noexcept {
  return guarded([&] {
    const auto& of = required(predictor, "predictor");
    const std::int64_t clusters = of.fitted->model.clusters();
    const auto target = output_matrix<double>(out, m, clusters, out_stride, "out");
    const auto vectors = of.place.membership_vectors(rows_like(*of.fitted, new_points, type, m, dim, stride));
    for (std::int64_t i = 0; i < m; ++i) std::copy_n(vectors.data() + i * clusters, clusters, target.row(i));
  });
}

quintet_status quintet_hdbscan_validity(const void* points, quintet_type type, int64_t n, int64_t dim, int64_t stride,
                                        const int64_t* labels, double dimension, const quintet_hdbscan_options* options,
                                        const char* device, quintet_progress report, void* user, double* index,
                                        double* per_cluster) noexcept {
  return guarded([&] {
    required(index, "index");
    const scalar_type t = storage_type_of(type);
    hdbscan::validity_options validity;
    validity.distance = metric_of(known_options(options));
    validity.dimension = dimension;
    const auto result =
        hdbscan::validity_index(any_input(points, t, n, dim, stride, "points"), array(labels, n, "labels"), validity,
                                chosen_device(device), passed_on(report, user), weights_of(options, n));
    *index = result.index;
    copy_to(result.cluster_validity, per_cluster);
  });
}

quintet_status quintet_hdbscan_relative_validity(const quintet_hdbscan_clustering* clustering, double* index) noexcept {
  return guarded([&] {
    const auto& model = required(clustering, "clustering").model;
    required(index, "index") =
        hdbscan::relative_validity(model.spanning_tree, model.labels, model.weights, model.core_distances);
  });
}

quintet_status quintet_hdbscan_medoids(const void* points, quintet_type type, int64_t n, int64_t dim, int64_t stride,
                                       const int64_t* labels, const double* weights,
                                       const quintet_hdbscan_options* options, const char* device, int64_t* medoids,
                                       int64_t clusters) noexcept {
  return guarded([&] {
    const scalar_type t = storage_type_of(type);
    const auto label = array(labels, n, "labels");
    check_clusters(clusters, label);
    array(medoids, clusters, "medoids");
    copy_to(hdbscan::medoids(any_input(points, t, n, dim, stride, "points"), label,
                             optional_array<double>(weights, n, "weights"), metric_of(known_options(options)),
                             chosen_device(device)),
            medoids);
  });
}

quintet_status quintet_hdbscan_centroids(const void* points, quintet_type type, int64_t n, int64_t dim, int64_t stride,
                                         const int64_t* labels, const double* weights,
                                         const quintet_hdbscan_options* options, double* centroids,
                                         int64_t clusters) noexcept {
  return guarded([&] {
    const scalar_type t = storage_type_of(type);
    const auto label = array(labels, n, "labels");
    check_clusters(clusters, label);
    const point_metric distance = metric_of(known_options(options));
    const std::int64_t columns = dimension_of(distance, dim);
    output_matrix<double>(centroids, clusters, columns, columns, "centroids");
    copy_to(hdbscan::weighted_centroids(any_input(points, t, n, dim, stride, "points"), label,
                                        optional_array<double>(weights, n, "weights"), distance, Device::host()),
            centroids);
  });
}

}  // extern "C"
