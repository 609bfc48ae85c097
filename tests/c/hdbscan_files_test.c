/* Files of clusterings; the folder for them is the argument. */
#include <string.h>

#include "check.h"

enum { count = 40, fresh = 70 };

/* Two groups on a line, 100 apart, with gaps that differ. */
static void make_points(double* points, double* new_points) {
  int i;
  for (i = 0; i < count; ++i) points[i] = 100 * (i % 2) + i / 2 + 0.01 * (i * i % 7);
  for (i = 0; i < fresh; ++i) new_points[i] = 100 * (i % 2) + 0.3 * i;
}

static void check_predictor(const quintet_hdbscan_predictor* predictor, const quintet_hdbscan_clustering* model,
                            const double* points, const double* new_points, int64_t m) {
  int64_t labels[fresh], expected_labels[fresh], neighbours[fresh], expected_neighbours[fresh];
  double probabilities[fresh], expected_probabilities[fresh], scores[fresh], expected_scores[fresh];
  double soft[fresh * 3], expected_soft[fresh * 3];
  int64_t i;
  memset(soft, 0, sizeof soft);
  memset(expected_soft, 0, sizeof expected_soft);
  CHECK_OK(quintet_hdbscan_predict(model, points, QUINTET_DOUBLE, count, 1, 1, new_points, m, 1, NULL, expected_labels,
                                   expected_probabilities, expected_scores, expected_neighbours));
  CHECK_OK(quintet_hdbscan_predictor_predict(predictor, new_points, QUINTET_DOUBLE, m, 1, 1, labels, probabilities,
                                             scores, neighbours));
  CHECK(memcmp(labels, expected_labels, m * sizeof *labels) == 0);
  CHECK(memcmp(neighbours, expected_neighbours, m * sizeof *neighbours) == 0);
  CHECK(memcmp(probabilities, expected_probabilities, m * sizeof *probabilities) == 0);
  CHECK(memcmp(scores, expected_scores, m * sizeof *scores) == 0);
  for (i = 0; i < m; ++i) CHECK(neighbours[i] % 2 == i % 2);
  CHECK_OK(quintet_hdbscan_membership_new(model, points, QUINTET_DOUBLE, count, 1, 1, new_points, m, 1, NULL,
                                          expected_soft, 3));
  CHECK_OK(quintet_hdbscan_predictor_membership(predictor, new_points, QUINTET_DOUBLE, m, 1, 1, soft, 3));
  CHECK(memcmp(soft, expected_soft, sizeof soft) == 0);
  CHECK(soft[0] > 0.3 && soft[0] <= 1 && soft[2] == 0);
}

int main(int argc, char** argv) {
  char path[1000];
  double points[count], new_points[fresh];
  const quintet_hdbscan_clustering* kept = NULL;
  const int64_t *labels = NULL, *kept_labels = NULL;
  int64_t n = 0, clusters = 0;
  quintet_hdbscan_options options;
  quintet_hdbscan_clustering* model = NULL;
  quintet_hdbscan_predictor *place = NULL, *loaded = NULL, *refused = NULL;
  snprintf(path, sizeof path, "%s/%s", argc > 1 ? argv[1] : ".", "model.h5");
  make_points(points, new_points);
  quintet_hdbscan_options_default(&options, sizeof options);
  options.min_samples = 3;
  CHECK_OK(quintet_hdbscan_cluster(points, QUINTET_DOUBLE, count, 1, 1, &options, NULL, NULL, NULL, &model));
  CHECK_OK(quintet_hdbscan_predictor_create(model, points, QUINTET_DOUBLE, count, 1, 1, NULL, &place));
  check_predictor(place, model, points, new_points, 5);
  check_predictor(place, model, points, new_points, fresh);
  CHECK_OK(quintet_hdbscan_predictor_clustering(place, &kept));
  CHECK(kept == model);

  CHECK_OK(quintet_hdbscan_save(model, points, QUINTET_DOUBLE, count, 1, 1, path));
  CHECK_OK(quintet_hdbscan_load(path, "host", &loaded));
  check_predictor(loaded, model, points, new_points, 5);
  check_predictor(loaded, model, points, new_points, fresh);
  CHECK_OK(quintet_hdbscan_predictor_clustering(loaded, &kept));
  CHECK_OK(quintet_hdbscan_labels(model, &labels, NULL));
  CHECK_OK(quintet_hdbscan_labels(kept, &kept_labels, &n));
  CHECK(n == count && memcmp(labels, kept_labels, count * sizeof *labels) == 0);
  CHECK_OK(quintet_hdbscan_selected(kept, NULL, &clusters));
  CHECK(clusters == 2);

  refused = place;
  CHECK_INVALID(quintet_hdbscan_predictor_create(model, points, QUINTET_DOUBLE, count - 1, 1, 1, NULL, &refused),
                "n must be that of the clustering: 40 (n=39)");
  CHECK(refused == NULL);
  CHECK_INVALID(quintet_hdbscan_predictor_predict(loaded, new_points, QUINTET_FLOAT, 1, 1, 1, NULL, NULL, NULL, NULL),
                "type must be that of the clustered points: 2 (type=1)");
  CHECK_INVALID(quintet_hdbscan_predictor_predict(loaded, new_points, QUINTET_DOUBLE, 1, 2, 2, NULL, NULL, NULL, NULL),
                "dim must be that of the clustered points: 1 (dim=2)");
  CHECK_INVALID(quintet_hdbscan_predictor_membership(loaded, new_points, QUINTET_DOUBLE, 1, 1, 1, NULL, 2),
                "out must not be null");
  CHECK_INVALID(quintet_hdbscan_predictor_clustering(NULL, &kept), "predictor must not be null");
  CHECK_INVALID(quintet_hdbscan_save(model, points, QUINTET_DOUBLE, count, 1, 1, NULL), "path must not be null");
  CHECK_FAILS(quintet_hdbscan_save(model, points, QUINTET_DOUBLE, count, 1, 1, "/nowhere/model.h5"), QUINTET_FILE_ERROR,
              "/nowhere/model.h5");
  quintet_hdbscan_predictor_free(loaded);
  CHECK_FAILS(quintet_hdbscan_load("/nowhere/model.h5", NULL, &loaded), QUINTET_FILE_ERROR, "/nowhere/model.h5");
  CHECK(loaded == NULL);
  quintet_hdbscan_predictor_free(place);
  quintet_hdbscan_free(model);
  return check_result();
}
