// C functions of hdbscan for many parameters at once.
#include "quintet/hdbscan/sweep.hpp"

#include <cstddef>

#include "c/hdbscan_support.hpp"

using namespace quintet;
using namespace quintet::c;

// The settings of the library are shown as they are.
static_assert(sizeof(quintet_hdbscan_setting) == sizeof(hdbscan::sweep_setting) &&
              offsetof(quintet_hdbscan_setting, epsilon) == offsetof(hdbscan::sweep_setting, epsilon) &&
              offsetof(quintet_hdbscan_setting, noise) == offsetof(hdbscan::sweep_setting, noise) &&
              offsetof(quintet_hdbscan_setting, dbcv) == offsetof(hdbscan::sweep_setting, dbcv) &&
              offsetof(quintet_hdbscan_setting, stability) == offsetof(hdbscan::sweep_setting, stability));
static_assert(QUINTET_AUTOMATIC_SIZE == hdbscan::automatic_size);

struct quintet_hdbscan_sweep {
  hdbscan::sweep_result result;
  quintet_type type = 0;
  std::int64_t dim = 0;
};

namespace {

hdbscan::sweep_options sweep_options_of(const quintet_hdbscan_options* requested, quintet_score score) {
  require_argument(score >= QUINTET_SCORE_PERSISTENCE && score <= QUINTET_SCORE_DBCV, "score", score, "0, 1 or 2");
  const hdbscan::cluster_options shared = cluster_options(requested);
  hdbscan::sweep_options options;
  options.tie_mode = shared.tie_mode;
  options.tie_tolerance = shared.tie_tolerance;
  options.method = shared.method;
  options.epsilon_max = shared.epsilon_max;
  options.max_cluster_size = shared.max_cluster_size;
  options.allow_single_cluster = shared.allow_single_cluster;
  options.count_self = shared.count_self;
  options.alpha = shared.alpha;
  options.distance = shared.distance;
  options.by = hdbscan::score(score);
  options.labels = false;
  return options;
}

template <class T>
std::vector<T> values_of(const T* values, std::int64_t count, const char* name) {
  const auto elements = array(values, count, name);
  return {elements.begin(), elements.end()};
}

}  // namespace

extern "C" {

quintet_status quintet_hdbscan_sweep_points(const void* points, quintet_type type, int64_t n, int64_t dim,
                                            int64_t stride, const int64_t* min_samples, int64_t samples,
                                            const int64_t* min_cluster_size, int64_t sizes, const double* epsilon,
                                            int64_t epsilons, quintet_score score,
                                            const quintet_hdbscan_options* options, const char* device,
                                            quintet_progress report, void* user,
                                            quintet_hdbscan_sweep** sweep) noexcept {
  return make_handle(sweep, [&] {
    hdbscan::sweep_options all = sweep_options_of(options, score);
    all.min_samples = values_of(min_samples, samples, "min_samples");
    all.min_cluster_size = values_of(min_cluster_size, sizes, "min_cluster_size");
    all.epsilon = values_of(epsilon, epsilons, "epsilon");
    return quintet_hdbscan_sweep{hdbscan::sweep(any_input(points, storage_type_of(type), n, dim, stride, "points"), all,
                                                chosen_device(device), passed_on(report, user), weights_of(options, n)),
                                 type, dim};
  });
}

void quintet_hdbscan_sweep_free(quintet_hdbscan_sweep* sweep) noexcept { delete sweep; }

quintet_status quintet_hdbscan_sweep_settings(const quintet_hdbscan_sweep* sweep,
                                              const quintet_hdbscan_setting** settings, int64_t* count,
                                              int64_t* best) noexcept {
  return guarded([&] {
    const auto& result = required(sweep, "sweep").result;
    give(reinterpret_cast<const quintet_hdbscan_setting*>(result.settings.data()), std::int64_t(result.settings.size()),
         settings, count);
    set(best, result.best);
  });
}

quintet_status quintet_hdbscan_sweep_labels(const quintet_hdbscan_sweep* sweep, int64_t setting,
                                            int64_t* labels) noexcept {
  return guarded([&] {
    const std::vector<std::int32_t> narrow = hdbscan::labels_at(required(sweep, "sweep").result, setting);
    copy_to(std::vector<std::int64_t>(narrow.begin(), narrow.end()), labels);
  });
}

quintet_status quintet_hdbscan_sweep_clustering(const quintet_hdbscan_sweep* sweep, int64_t setting,
                                                quintet_hdbscan_clustering** clustering) noexcept {
  return make_handle(clustering, [&] {
    const auto& all = required(sweep, "sweep");
    return quintet_hdbscan_clustering{hdbscan::clustering_at(all.result, setting), all.type, all.dim};
  });
}

quintet_status quintet_hdbscan_refit(const quintet_hdbscan_clustering* clustering,
                                     const quintet_hdbscan_options* options,
                                     quintet_hdbscan_clustering** refitted) noexcept {
  return make_handle(refitted, [&] {
    const auto& fitted = required(clustering, "clustering");
    return quintet_hdbscan_clustering{hdbscan::refit(fitted.model, cluster_options(options)), fitted.type, fitted.dim};
  });
}

quintet_status quintet_hdbscan_flat(const quintet_hdbscan_clustering* clustering, int64_t clusters,
                                    quintet_selection* selection, double* epsilon,
                                    quintet_hdbscan_clustering** refitted) noexcept {
  return make_handle(refitted, [&] {
    const auto& fitted = required(clustering, "clustering");
    quintet_hdbscan_clustering result{hdbscan::flat(fitted.model, clusters), fitted.type, fitted.dim};
    if (selection != nullptr) *selection = quintet_selection(result.model.options.method);
    if (epsilon != nullptr) *epsilon = result.model.options.epsilon;
    return result;
  });
}

quintet_status quintet_hdbscan_cluster_size(const quintet_hdbscan_clustering* clustering,
                                            int64_t* min_cluster_size) noexcept {
  return guarded([&] { set(min_cluster_size, required(clustering, "clustering").model.options.min_cluster_size); });
}

}  // extern "C"
