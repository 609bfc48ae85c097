// C functions of hdbscan that make a clustering, or show what it holds.
#include <cstddef>
#include <limits>

#include "c/hdbscan_support.hpp"
#include "quintet/hdbscan/persistence_trace.hpp"
#include "quintet/hdbscan/precomputed.hpp"

using namespace quintet;
using namespace quintet::c;

// The rows of the library are shown as they are.
static_assert(sizeof(quintet_edge) == sizeof(hdbscan::edge) &&
              offsetof(quintet_edge, weight) == offsetof(hdbscan::edge, weight));
static_assert(sizeof(quintet_linkage_row) == sizeof(hdbscan::linkage_row) &&
              offsetof(quintet_linkage_row, height) == offsetof(hdbscan::linkage_row, height) &&
              offsetof(quintet_linkage_row, points) == offsetof(hdbscan::linkage_row, size));
static_assert(sizeof(quintet_condensed_row) == sizeof(hdbscan::condensed_row) &&
              offsetof(quintet_condensed_row, lambda) == offsetof(hdbscan::condensed_row, lambda) &&
              offsetof(quintet_condensed_row, points) == offsetof(hdbscan::condensed_row, size));

namespace {

template <class Row, class Rows>
quintet_status rows_of(const quintet_hdbscan_clustering* clustering, Rows&& rows, const Row** out,
                       int64_t* count) noexcept {
  return guarded([&] {
    const auto& held = rows(required(clustering, "clustering").model);
    give(reinterpret_cast<const Row*>(held.data()), std::int64_t(held.size()), out, count);
  });
}

}  // namespace

extern "C" {

quintet_status quintet_hdbscan_cluster(const void* points, quintet_type type, int64_t n, int64_t dim, int64_t stride,
                                       const quintet_hdbscan_options* options, const char* device,
                                       quintet_progress report, void* user,
                                       quintet_hdbscan_clustering** clustering) noexcept {
  return make_handle(clustering, [&] {
    const scalar_type t = storage_type_of(type);
    return quintet_hdbscan_clustering{
        hdbscan::cluster(any_input(points, t, n, dim, stride, "points"), cluster_options(options),
                         chosen_device(device), passed_on(report, user), weights_of(options, n)),
        type, dim};
  });
}

quintet_status quintet_hdbscan_cluster_distances(const void* distances, quintet_type type, int64_t n, int64_t stride,
                                                 const quintet_hdbscan_options* options,
                                                 quintet_hdbscan_clustering** clustering) noexcept {
  return make_handle(clustering, [&] {
    const scalar_type real = real_type(type);
    refuse_weights(options, "distances are of points, each once");
    return quintet_hdbscan_clustering{hdbscan::cluster_distances(any_input(distances, real, n, n, stride, "distances"),
                                                                 cluster_options(options), Device::host())};
  });
}

quintet_status quintet_hdbscan_cluster_graph(const int64_t* row_begin, const int64_t* columns, const void* values,
                                             quintet_type type, int64_t n, const quintet_hdbscan_options* options,
                                             quintet_hdbscan_clustering** clustering) noexcept {
  return make_handle(clustering, [&] {
    refuse_weights(options, "a graph is of nodes, each once");
    return with_real(real_type(type), "values", [&]<class T>() {
      require_argument(n >= 0 && n < std::numeric_limits<std::int64_t>::max(), "n", n, "in [0, 2^63 - 1)");
      const auto offsets = array(row_begin, n + 1, "row_begin");
      const std::int64_t entries = offsets[n];
      return quintet_hdbscan_clustering{hdbscan::cluster_graph<T>(
          {n, offsets, array(columns, entries, "columns"), input_array<T>(values, entries, "values")},
          cluster_options(options))};
    });
  });
}

quintet_status quintet_hdbscan_cluster_edges(const quintet_edge* edges, int64_t count, int64_t n,
                                             const quintet_hdbscan_options* options,
                                             quintet_hdbscan_clustering** clustering) noexcept {
  return make_handle(clustering, [&] {
    refuse_weights(options, "edges come without the core distances that join copies of a point");
    std::vector<hdbscan::edge> edge_list;
    for (const quintet_edge& e : array(edges, count, "edges")) edge_list.push_back({e.u, e.v, e.weight});
    quintet_hdbscan_clustering result;
    result.model.options = cluster_options(options);
    static_cast<hdbscan::clustering&>(result.model) = hdbscan::cluster_tree(edge_list, n, result.model.options);
    result.model.options = hdbscan::sized_options(result.model.single_linkage, result.model.options);
    result.model.spanning_tree = std::move(edge_list);
    return result;
  });
}

void quintet_hdbscan_free(quintet_hdbscan_clustering* clustering) noexcept { delete clustering; }

quintet_status quintet_hdbscan_labels(const quintet_hdbscan_clustering* clustering, const int64_t** labels,
                                      int64_t* n) noexcept {
  return rows_of(clustering, [](const auto& model) -> auto& { return model.labels; }, labels, n);
}

quintet_status quintet_hdbscan_probabilities(const quintet_hdbscan_clustering* clustering, const double** probabilities,
                                             int64_t* n) noexcept {
  return rows_of(clustering, [](const auto& model) -> auto& { return model.probabilities; }, probabilities, n);
}

quintet_status quintet_hdbscan_outlier_scores(const quintet_hdbscan_clustering* clustering, const double** scores,
                                              int64_t* n) noexcept {
  return rows_of(clustering, [](const auto& model) -> auto& { return model.outlier_scores; }, scores, n);
}

quintet_status quintet_hdbscan_persistence(const quintet_hdbscan_clustering* clustering, const double** persistence,
                                           int64_t* clusters) noexcept {
  return rows_of(clustering, [](const auto& model) -> auto& { return model.persistence; }, persistence, clusters);
}

quintet_status quintet_hdbscan_core(const quintet_hdbscan_clustering* clustering, const double** core,
                                    int64_t* n) noexcept {
  return rows_of(clustering, [](const auto& model) -> auto& { return model.core_distances; }, core, n);
}

quintet_status quintet_hdbscan_tree_edges(const quintet_hdbscan_clustering* clustering, const quintet_edge** edges,
                                          int64_t* count) noexcept {
  return rows_of(clustering, [](const auto& model) -> auto& { return model.spanning_tree; }, edges, count);
}

quintet_status quintet_hdbscan_single_linkage(const quintet_hdbscan_clustering* clustering,
                                              const quintet_linkage_row** rows, int64_t* count) noexcept {
  return rows_of(clustering, [](const auto& model) -> auto& { return model.single_linkage.rows; }, rows, count);
}

quintet_status quintet_hdbscan_condensed_tree(const quintet_hdbscan_clustering* clustering,
                                              const quintet_condensed_row** rows, int64_t* count) noexcept {
  return rows_of(clustering, [](const auto& model) -> auto& { return model.condensed.rows; }, rows, count);
}

quintet_status quintet_hdbscan_selected(const quintet_hdbscan_clustering* clustering, const int64_t** ids,
                                        int64_t* clusters) noexcept {
  return rows_of(clustering, [](const auto& model) -> auto& { return model.selected; }, ids, clusters);
}

quintet_status quintet_hdbscan_exemplars(const quintet_hdbscan_clustering* clustering, const int64_t** offsets,
                                         int64_t* clusters, const int64_t** points, int64_t* count) noexcept {
  static const std::int64_t none = 0;  // the offsets of no clusters
  return guarded([&] {
    const auto& model = required(clustering, "clustering").model;
    const auto& groups = model.exemplars;
    give(groups.offsets.empty() ? &none : groups.offsets.data(), model.clusters(), offsets, clusters);
    give(groups.points.data(), std::int64_t(groups.points.size()), points, count);
  });
}

quintet_status quintet_hdbscan_invalid_rows(const quintet_hdbscan_clustering* clustering, const int64_t** rows,
                                            int64_t* count) noexcept {
  return rows_of(clustering, [](const auto& model) -> auto& { return model.invalid_rows; }, rows, count);
}

quintet_status quintet_hdbscan_excluded_rows(const quintet_hdbscan_clustering* clustering, const int64_t** rows,
                                             int64_t* count) noexcept {
  return rows_of(clustering, [](const auto& model) -> auto& { return model.excluded_rows; }, rows, count);
}

quintet_status quintet_hdbscan_facts(const quintet_hdbscan_clustering* clustering, int64_t* neighbours,
                                     int64_t* components) noexcept {
  return guarded([&] {
    const auto& model = required(clustering, "clustering").model;
    set(neighbours, model.neighbours);
    set(components, model.components);
  });
}

}  // extern "C"
