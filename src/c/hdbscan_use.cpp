// C functions of hdbscan for a finished clustering, or for labels from anywhere.
#include "c/hdbscan_support.hpp"
#include "quintet/hdbscan/cut.hpp"
#include "quintet/hdbscan/medoids.hpp"
#include "quintet/hdbscan/membership.hpp"
#include "quintet/hdbscan/prediction.hpp"
#include "quintet/hdbscan/validity.hpp"

using namespace quintet;
using namespace quintet::c;

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

quintet_status quintet_hdbscan_predict(const quintet_hdbscan_clustering* clustering, const void* points,
                                       quintet_type type, int64_t n, int64_t dim, int64_t stride,
                                       const void* new_points, int64_t m, int64_t new_stride, const char* device,
                                       int64_t* labels, double* probabilities, double* outlier_scores,
                                       int64_t* neighbours) noexcept {
  return guarded([&] {
    const auto& fitted = required(clustering, "clustering");
    with_storage(type, [&]<class T> {
      const auto found = hdbscan::approximate_predict<T>(
          fitted.model, clustered_points<T>(fitted, points, n, dim, stride),
          input_matrix<T>(new_points, m, dim, new_stride, "new_points"), chosen_device(device));
      copy_to(found.labels, labels);
      copy_to(found.probabilities, probabilities);
      copy_to(found.outlier_scores, outlier_scores);
      copy_to(found.neighbours, neighbours);
    });
  });
}

quintet_status quintet_hdbscan_membership(const quintet_hdbscan_clustering* clustering, const void* points,
                                          quintet_type type, int64_t n, int64_t dim, int64_t stride, const char* device,
                                          double* out, int64_t out_stride) noexcept {
  return guarded([&] {
    const auto& fitted = required(clustering, "clustering");
    with_storage(type, [&]<class T> {
      const auto view = clustered_points<T>(fitted, points, n, dim, stride);
      const auto target = output_matrix<double>(out, n, fitted.model.clusters(), out_stride, "out");
      hdbscan::all_points_membership_rows<T>(fitted.model, view, into(target), membership_budget,
                                             chosen_device(device));
    });
  });
}

quintet_status quintet_hdbscan_membership_new(const quintet_hdbscan_clustering* clustering, const void* points,
                                              quintet_type type, int64_t n, int64_t dim, int64_t stride,
                                              const void* new_points, int64_t m, int64_t new_stride, const char* device,
                                              double* out, int64_t out_stride) noexcept {
  return guarded([&] {
    const auto& fitted = required(clustering, "clustering");
    with_storage(type, [&]<class T> {
      const auto view = clustered_points<T>(fitted, points, n, dim, stride);
      const auto target = output_matrix<double>(out, m, fitted.model.clusters(), out_stride, "out");
      hdbscan::membership_rows<T>(fitted.model, view, input_matrix<T>(new_points, m, dim, new_stride, "new_points"),
                                  into(target), membership_budget, chosen_device(device));
    });
  });
}

quintet_status quintet_hdbscan_validity(const void* points, quintet_type type, int64_t n, int64_t dim, int64_t stride,
                                        const int64_t* labels, double dimension, const quintet_hdbscan_options* options,
                                        const char* device, quintet_progress report, void* user, double* index,
                                        double* per_cluster) noexcept {
  return guarded([&] {
    required(index, "index");
    with_storage(type, [&]<class T> {
      hdbscan::validity_options validity;
      validity.distance = metric_of(known_options(options));
      validity.dimension = dimension;
      const auto found =
          hdbscan::validity_index<T>(input_matrix<T>(points, n, dim, stride, "points"), array(labels, n, "labels"),
                                     validity, chosen_device(device), passed_on(report, user));
      *index = found.index;
      copy_to(found.cluster_validity, per_cluster);
    });
  });
}

quintet_status quintet_hdbscan_relative_validity(const quintet_hdbscan_clustering* clustering, double* index) noexcept {
  return guarded([&] {
    const auto& model = required(clustering, "clustering").model;
    required(index, "index") = hdbscan::relative_validity(model.spanning_tree, model.labels);
  });
}

quintet_status quintet_hdbscan_medoids(const void* points, quintet_type type, int64_t n, int64_t dim, int64_t stride,
                                       const int64_t* labels, const double* weights,
                                       const quintet_hdbscan_options* options, const char* device, int64_t* medoids,
                                       int64_t clusters) noexcept {
  return guarded([&] {
    with_storage(type, [&]<class T> {
      const auto given = array(labels, n, "labels");
      check_clusters(clusters, given);
      array(medoids, clusters, "medoids");
      copy_to(hdbscan::medoids<T>(input_matrix<T>(points, n, dim, stride, "points"), given,
                                  optional_array<double>(weights, n, "weights"), metric_of(known_options(options)),
                                  chosen_device(device)),
              medoids);
    });
  });
}

quintet_status quintet_hdbscan_centroids(const void* points, quintet_type type, int64_t n, int64_t dim, int64_t stride,
                                         const int64_t* labels, const double* weights, double* centroids,
                                         int64_t clusters) noexcept {
  return guarded([&] {
    with_storage(type, [&]<class T> {
      const auto given = array(labels, n, "labels");
      check_clusters(clusters, given);
      output_matrix<double>(centroids, clusters, dim, dim, "centroids");
      copy_to(hdbscan::weighted_centroids<T>(input_matrix<T>(points, n, dim, stride, "points"), given,
                                             optional_array<double>(weights, n, "weights"), Device::host()),
              centroids);
    });
  });
}

}  // extern "C"
