/* Clustering: points, distances, graphs; what a clustering holds, and what it is used for. */
#define _POSIX_C_SOURCE 200809L
#include <float.h>
#include <pthread.h>

#include "check.h"

/* Three groups of 40 points in 3 dimensions, and 6 far from all; rows of 5 elements. */
enum { n = 126, dim = 3, stride = 5, m = 7 };
static double points[n * stride];
static float points_float[n * stride];
static double new_points[m * dim];

static void make_points(void) {
  uint64_t state = 7;
  int i, d;
  for (i = 0; i < n; ++i)
    for (d = 0; d < dim; ++d)
      points[i * stride + d] = i < 120 ? 10.0 * (i / 40) * (d == 0) + next_uniform(&state) : 300.0 + 40.0 * i * (d + 1);
  for (i = 0; i < n * stride; ++i) points_float[i] = (float)points[i];
  for (i = 0; i < m; ++i)
    for (d = 0; d < dim; ++d) new_points[i * dim + d] = 10.0 * (i % 3) * (d == 0) + next_uniform(&state);
}

static double distance(int i, int j) {
  double sum = 0;
  int d;
  for (d = 0; d < dim; ++d) {
    const double difference = points[i * stride + d] - points[j * stride + d];
    sum += difference * difference;
  }
  return sqrt(sum);
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

/* Distance to the k-th nearest other point, the slow way. */
static double core_of(int i, int k) {
  double all[n];
  int j;
  for (j = 0; j < n; ++j) all[j] = distance(i, j);
  qsort(all, n, sizeof all[0], compare);
  return all[k];
}

static quintet_hdbscan_options options_of_five(void) {
  quintet_hdbscan_options options;
  CHECK_OK(quintet_hdbscan_options_default(&options, sizeof options));
  options.min_samples = 4;
  options.min_cluster_size = 10;
  return options;
}

// A line in steps of 0.1: all distances are equal, and their bits are not.
static void test_ties(void) {
  enum { line = 60 };
  double values[line], tolerance = 0;
  quintet_hdbscan_options options;
  quintet_hdbscan_clustering* model = NULL;
  const int64_t* selected = NULL;
  int64_t clusters = -1;
  int i, exact;
  for (i = 0; i < line; ++i) values[i] = 0.1 * i;
  CHECK_OK(quintet_hdbscan_default_tie_tolerance(QUINTET_DOUBLE, 1, &tolerance));
  CHECK(tolerance == 68.5 * DBL_EPSILON);
  CHECK_INVALID(quintet_hdbscan_default_tie_tolerance(QUINTET_DOUBLE, -1, &tolerance), "dim must be >= 0");
  CHECK_INVALID(quintet_hdbscan_default_tie_tolerance(QUINTET_DOUBLE, 1, NULL), "tolerance must not be null");
  CHECK_OK(quintet_hdbscan_options_default(&options, sizeof options));
  options.min_samples = 8;
  options.selection = QUINTET_SELECT_LEAF;
  for (exact = 0; exact < 2; ++exact) {
    if (exact) options.tie_tolerance = 0;
    CHECK_OK(quintet_hdbscan_cluster(values, QUINTET_DOUBLE, line, 1, 1, &options, "host", NULL, NULL, &model));
    CHECK_OK(quintet_hdbscan_selected(model, &selected, &clusters));
    CHECK((clusters > 0) == exact);
    quintet_hdbscan_free(model);
  }
}

static void test_options(void) {
  quintet_hdbscan_options options;
  double core[n];
  CHECK_OK(quintet_hdbscan_options_default(&options, sizeof options));
  CHECK(options.size == sizeof options);
  CHECK(options.min_cluster_size == 5 && options.min_samples == 0 && options.alpha == 1 && options.curvature == -1);
  CHECK(isinf(options.epsilon_max) && options.epsilon_max > 0);
  CHECK(options.tie_tolerance == QUINTET_HDBSCAN_DEFAULT_TIE_TOLERANCE);
  CHECK_INVALID(quintet_hdbscan_options_default(NULL, sizeof options), "options must not be null");
  CHECK_INVALID(quintet_hdbscan_options_default(&options, sizeof options + 8), "options must be the size");
  options.metric = 14;
  CHECK_INVALID(quintet_hdbscan_core_distances(points, QUINTET_DOUBLE, n, dim, stride, &options, "host", core, NULL),
                "metric must be one of the named values 0 to 13 (metric=14)");
  options = options_of_five();
  options.size = 3;
  CHECK_INVALID(quintet_hdbscan_core_distances(points, QUINTET_DOUBLE, n, dim, stride, &options, "host", core, NULL),
                "options->size");
  /* A program that knows the first two members only: min_cluster_size is k, the rest are defaults. */
  options = options_of_five();
  options.size = offsetof(quintet_hdbscan_options, min_samples);
  options.alpha = -1;
  CHECK_OK(quintet_hdbscan_core_distances(points, QUINTET_DOUBLE, n, dim, stride, &options, "host", core, NULL));
  CHECK_NEAR(core[5], core_of(5, 10), 1e-12);
}

struct rows_seen {
  double (*expected)[n];
  int64_t rows, calls, stop_after;
  double worst;
};

static int32_t see_rows(int64_t first_row, const void* values, int64_t rows, int64_t columns, int64_t row_stride,
                        void* user) {
  struct rows_seen* seen = user;
  int64_t i, j;
  for (i = 0; i < rows; ++i)
    for (j = 0; j < columns; ++j) {
      const double error = fabs(((const double*)values)[i * row_stride + j] - seen->expected[first_row + i][j]);
      seen->worst = error > seen->worst ? error : seen->worst;
    }
  seen->rows += rows;
  return ++seen->calls != seen->stop_after;
}

static void test_reachability(void) {
  static double out[n][n], both[n][n];
  double core[n], core_again[n], worst = 0, first_time = 1, second_time = 1, product = 0;
  float core_float[n];
  uint16_t halves[n * stride];
  float core_half[n];
  int64_t neighbours = 0, pairs[] = {0, 1, 50, 120, 7, 7};
  double of_pairs[3];
  struct rows_seen seen = {out, 0, 0, 0, 0};
  quintet_hdbscan_options options = options_of_five();
  int i, j;

  CHECK_OK(quintet_hdbscan_core_distances(points, QUINTET_DOUBLE, n, dim, stride, &options, NULL, core, &neighbours));
  CHECK(neighbours == 4);
  CHECK_OK(
      quintet_hdbscan_mutual_reachability(points, QUINTET_DOUBLE, n, dim, stride, core, &options, "host", out[0], n));
  CHECK_OK(quintet_hdbscan_core_and_reachability(points, QUINTET_DOUBLE, n, dim, stride, &options, "emulated",
                                                 core_again, both[0], n));
  CHECK(memcmp(core, core_again, sizeof core) == 0);
  CHECK(memcmp(out, both, sizeof out) == 0);
  for (i = 0; i < n; ++i) {
    CHECK_NEAR(core[i], core_of(i, 4), 1e-12 * core[i]);
    for (j = 0; j < n; ++j) {
      const double wanted = i == j ? 0 : fmax(distance(i, j), fmax(core[i], core[j]));
      worst = fmax(worst, fabs(out[i][j] - wanted) / (1 + wanted));
    }
  }
  CHECK_NEAR(worst, 0, 1e-13);

  CHECK_OK(
      quintet_hdbscan_reachability_pairs(points, QUINTET_DOUBLE, n, dim, stride, core, pairs, 3, &options, of_pairs));
  CHECK(of_pairs[0] == out[0][1] && of_pairs[1] == out[50][120] && of_pairs[2] == 0);
  pairs[0] = n;
  CHECK_INVALID(
      quintet_hdbscan_reachability_pairs(points, QUINTET_DOUBLE, n, dim, stride, core, pairs, 3, &options, of_pairs),
      "126");
  CHECK_OK(quintet_hdbscan_reachability_rows(points, QUINTET_DOUBLE, n, dim, stride, core, 0, &options, "host",
                                             see_rows, &seen));
  CHECK(seen.rows == n && seen.calls == 2 && seen.worst == 0);
  seen.calls = 0;
  seen.stop_after = 1;
  CHECK_FAILS(quintet_hdbscan_reachability_rows(points, QUINTET_DOUBLE, n, dim, stride, core, 0, &options, "host",
                                                see_rows, &seen),
              QUINTET_CANCELLED, "cancelled");
  CHECK_INVALID(
      quintet_hdbscan_reachability_rows(points, QUINTET_DOUBLE, n, dim, stride, core, 0, &options, "host", NULL, &seen),
      "receive must not be null");

  CHECK_OK(
      quintet_hdbscan_core_distances(points_float, QUINTET_FLOAT, n, dim, stride, &options, "host", core_float, NULL));
  CHECK_NEAR(core_float[3], core[3], 1e-6);
  CHECK_OK(quintet_convert(points, QUINTET_DOUBLE, halves, QUINTET_HALF, n * stride));
  CHECK_OK(quintet_hdbscan_core_distances(halves, QUINTET_HALF, n, dim, stride, &options, "host", core_half, NULL));
  CHECK_NEAR(core_half[3], core[3], 2e-3);

  options.metric = QUINTET_MINKOWSKI;
  options.p = INFINITY;
  CHECK_OK(quintet_hdbscan_core_distances(points, QUINTET_DOUBLE, n, dim, stride, &options, "host", core, NULL));
  options.metric = QUINTET_CHEBYSHEV;
  CHECK_OK(quintet_hdbscan_core_distances(points, QUINTET_DOUBLE, n, dim, stride, &options, "host", core_again, NULL));
  CHECK(memcmp(core, core_again, sizeof core) == 0);
  CHECK_OK(
      quintet_hdbscan_mutual_reachability(points, QUINTET_DOUBLE, n, dim, stride, NULL, &options, "host", out[0], n));
  for (i = 0, worst = 0; i < dim; ++i) worst = fmax(worst, fabs(points[i] - points[stride + i]));
  CHECK_NEAR(out[0][1], worst, 1e-14);
  options.metric = QUINTET_MINKOWSKI;
  options.p = 0.5;
  CHECK_INVALID(quintet_hdbscan_core_distances(points, QUINTET_DOUBLE, n, dim, stride, &options, "host", core, NULL),
                "p must be infinity, or in [1, 64]");

  options.metric = QUINTET_LORENTZ;
  options.curvature = -4;
  CHECK_OK(
      quintet_hdbscan_mutual_reachability(points, QUINTET_DOUBLE, n, dim, stride, NULL, &options, "host", out[0], n));
  for (i = 0; i < dim; ++i) {
    first_time += 4 * points[i] * points[i];
    second_time += 4 * points[stride + i] * points[stride + i];
    product += 4 * points[i] * points[stride + i];
  }
  CHECK_NEAR(out[0][1], acosh(sqrt(first_time) * sqrt(second_time) - product) / 2, 1e-12);
  CHECK_INVALID(
      quintet_hdbscan_core_distances(points_float, QUINTET_FLOAT, n, dim, stride, &options, "host", core_float, NULL),
      "points must be double with metric lorentz (points=float32)");
  {
    const quintet_factor factors[] = {{QUINTET_FLAT_FACTOR, 0, 1, 0, 4}, {QUINTET_LORENTZ_FACTOR, 0, 2, -1, 1}};
    const double *x = points, *y = points + stride;
    double flat, whole;
    options.metric = QUINTET_PRODUCT;
    CHECK_INVALID(quintet_hdbscan_core_distances(points, QUINTET_DOUBLE, n, dim, stride, &options, "host", core, NULL),
                  "factor_count must be >= 1 (factor_count=0)");
    options.factors = factors;
    options.factor_count = 2;
    CHECK_OK(
        quintet_hdbscan_mutual_reachability(points, QUINTET_DOUBLE, n, dim, stride, NULL, &options, "host", out[0], n));
    whole =
        acosh(sqrt(1 + x[1] * x[1] + x[2] * x[2]) * sqrt(1 + y[1] * y[1] + y[2] * y[2]) - x[1] * y[1] - x[2] * y[2]);
    flat = 2 * (x[0] - y[0]);
    CHECK_NEAR(out[0][1], sqrt(flat * flat + whole * whole), 1e-12);
    options.factor_count = 1;
    CHECK_INVALID(quintet_hdbscan_core_distances(points, QUINTET_DOUBLE, n, dim, stride, &options, "host", core, NULL),
                  "points.cols must be the sum of the dimensions, 1 (points.cols=3)");
  }

  CHECK_INVALID(quintet_hdbscan_core_distances(points, 0, n, dim, stride, NULL, NULL, core, NULL), "type must be");
  CHECK_INVALID(quintet_hdbscan_core_distances(NULL, QUINTET_DOUBLE, n, dim, stride, NULL, NULL, core, NULL),
                "points must not be null (126 x 3)");
  CHECK_INVALID(quintet_hdbscan_core_distances(points, QUINTET_DOUBLE, -1, dim, stride, NULL, NULL, core, NULL),
                "=-1)");
  CHECK_INVALID(quintet_hdbscan_core_distances(points, QUINTET_DOUBLE, n, dim, 2, NULL, NULL, core, NULL),
                "stride of points must be >= its columns=3");
  CHECK_INVALID(quintet_hdbscan_core_distances(points, QUINTET_DOUBLE, n, dim, INT64_MAX, NULL, NULL, core, NULL),
                "points must have at most 2^63 - 1 bytes");
  CHECK_INVALID(quintet_hdbscan_core_distances(points, QUINTET_DOUBLE, n, dim, stride, NULL, NULL, NULL, NULL),
                "core must not be null");
  CHECK_INVALID(quintet_hdbscan_core_distances(points, QUINTET_DOUBLE, n, dim, stride, NULL, "x", core, NULL),
                "device=x");
  CHECK_INVALID(quintet_hdbscan_mutual_reachability(points, QUINTET_DOUBLE, n, dim, stride, core, NULL, NULL, NULL, n),
                "out must not be null");
  CHECK_INVALID(
      quintet_hdbscan_core_and_reachability(points, QUINTET_DOUBLE, n, dim, stride, NULL, NULL, core, out[0], n - 1),
      "stride of out");
}

struct told {
  int calls, stop_after;
  double last;
};

static int32_t hear(const char* stage, double fraction, void* user) {
  struct told* told = user;
  CHECK(strlen(stage) > 0 && fraction >= 0 && fraction <= 1);
  told->last = fraction;
  return ++told->calls != told->stop_after;
}

/* Both poles, which are half a turn apart, and points on both sides of the date line. */
static void test_sphere(void) {
  const double poles[4] = {90, 10, -90, 70}, across[4] = {0, 179, 0, -179};
  const int64_t labels[2] = {0, 0};
  double apart[2][2], centre[2];
  quintet_hdbscan_options options;
  CHECK_OK(quintet_hdbscan_options_default(&options, sizeof options));
  CHECK(options.sphere_radius == 1 && options.unit == QUINTET_DEGREES);
  options.metric = QUINTET_HAVERSINE;
  options.sphere_radius = 6371008.8;
  CHECK_OK(quintet_hdbscan_mutual_reachability(poles, QUINTET_DOUBLE, 2, 2, 2, NULL, &options, "host", apart[0], 2));
  CHECK_NEAR(apart[0][1], 6371008.8 * acos(-1.0), 1e-6);
  CHECK_OK(quintet_hdbscan_centroids(across, QUINTET_DOUBLE, 2, 2, 2, labels, NULL, &options, centre, 1));
  CHECK_NEAR(centre[0], 0, 1e-12);
  CHECK_NEAR(fabs(centre[1]), 180, 1e-12);
  CHECK_INVALID(quintet_hdbscan_centroids(poles, QUINTET_DOUBLE, 2, 2, 2, labels, NULL, &options, centre, 1),
                "the points of a label must have a mean on one side of the sphere");
  options.unit = QUINTET_RADIANS;
  CHECK_OK(quintet_hdbscan_mutual_reachability(poles, QUINTET_DOUBLE, 2, 2, 2, NULL, &options, "host", apart[0], 2));
  CHECK(isnan(apart[0][1]));
  options.unit = 2;
  CHECK_INVALID(
      quintet_hdbscan_mutual_reachability(poles, QUINTET_DOUBLE, 2, 2, 2, NULL, &options, "host", apart[0], 2),
      "unit must be one of the named values 0 to 1");
  options.unit = QUINTET_DEGREES;
  CHECK_INVALID(
      quintet_hdbscan_medoids(points, QUINTET_DOUBLE, 2, dim, stride, labels, NULL, &options, NULL, (int64_t[1]){0}, 1),
      "points.cols must be 2 for haversine");
}

static void test_spanning_tree(void) {
  const quintet_hdbscan_options options = options_of_five();
  quintet_edge edges[n - 1];
  double core[n];
  int64_t count = 0;
  struct told told = {0, 0, -1};
  int e;
  CHECK_OK(quintet_hdbscan_spanning_tree(points, QUINTET_DOUBLE, n, dim, stride, &options, "host", hear, &told, edges,
                                         &count, core));
  CHECK(count == n - 1);
  CHECK(told.calls > 0 && told.last == 1);
  for (e = 0; e < n - 1; ++e) {
    const int u = (int)edges[e].u, v = (int)edges[e].v;
    CHECK(u < v);
    CHECK_NEAR(edges[e].weight, fmax(distance(u, v), fmax(core[u], core[v])), 1e-12 * edges[e].weight);
    CHECK(e == 0 || edges[e - 1].weight <= edges[e].weight);
  }
  told.calls = 0;
  told.stop_after = 1;
  CHECK_FAILS(quintet_hdbscan_spanning_tree(points, QUINTET_DOUBLE, n, dim, stride, &options, "host", hear, &told,
                                            edges, &count, NULL),
              QUINTET_CANCELLED, "cancelled by the caller");
  CHECK_INVALID(
      quintet_hdbscan_spanning_tree(points, QUINTET_DOUBLE, n, dim, stride, NULL, NULL, NULL, NULL, NULL, &count, NULL),
      "edges must not be null (125 elements)");
  CHECK_INVALID(
      quintet_hdbscan_spanning_tree(points, QUINTET_DOUBLE, n, dim, stride, NULL, NULL, NULL, NULL, edges, NULL, NULL),
      "count must not be null");
}

static quintet_hdbscan_clustering* cluster(void) {
  const quintet_hdbscan_options options = options_of_five();
  quintet_hdbscan_clustering* model = NULL;
  CHECK_OK(quintet_hdbscan_cluster(points, QUINTET_DOUBLE, n, dim, stride, &options, NULL, NULL, NULL, &model));
  return model;
}

static void check_groups(const int64_t* labels) {
  int i;
  for (i = 0; i < n; ++i) CHECK(labels[i] == (i < 120 ? labels[40 * (i / 40)] : -1));
  CHECK(labels[0] + labels[40] + labels[80] == 3 && labels[0] != labels[40] && labels[0] != labels[80]);
}

static void test_clustering_holds(void) {
  quintet_hdbscan_clustering* model = cluster();
  const int64_t *labels = NULL, *ids = NULL, *offsets = NULL, *exemplars = NULL, *invalid = NULL;
  const double *probabilities = NULL, *scores = NULL, *persistence = NULL, *core = NULL;
  const quintet_edge* edges = NULL;
  const quintet_linkage_row* merges = NULL;
  const quintet_condensed_row* departures = NULL;
  int64_t count = 0, clusters = 0, neighbours = 0, components = 0;
  int i;
  CHECK_OK(quintet_hdbscan_labels(model, &labels, &count));
  CHECK(count == n);
  check_groups(labels);
  CHECK_OK(quintet_hdbscan_probabilities(model, &probabilities, NULL));
  CHECK_OK(quintet_hdbscan_outlier_scores(model, &scores, &count));
  CHECK(count == n);
  CHECK_OK(quintet_hdbscan_core(model, &core, &count));
  CHECK(count == n);
  for (i = 0; i < n; ++i) {
    CHECK((probabilities[i] > 0) == (i < 120) && probabilities[i] <= 1);
    CHECK(scores[i] >= 0 && scores[i] <= 1);
    CHECK_NEAR(core[i], core_of(i, 4), 1e-12 * core[i]);
  }
  CHECK_OK(quintet_hdbscan_persistence(model, &persistence, &clusters));
  CHECK(clusters == 3 && persistence[0] > 0 && persistence[2] <= 1);
  CHECK_OK(quintet_hdbscan_tree_edges(model, &edges, &count));
  CHECK(count == n - 1 && edges[0].u < edges[0].v && edges[0].weight <= edges[n - 2].weight);
  CHECK_OK(quintet_hdbscan_single_linkage(model, &merges, &count));
  CHECK(count == n - 1 && merges[0].points == 2 && merges[n - 2].points == n);
  CHECK(merges[n - 2].height == edges[n - 2].weight);
  CHECK_OK(quintet_hdbscan_condensed_tree(model, &departures, &count));
  CHECK(count >= n && departures[0].parent == n && departures[0].points >= 1 && departures[0].lambda > 0);
  CHECK_OK(quintet_hdbscan_selected(model, &ids, &count));
  CHECK(count == 3 && ids[0] > n);
  CHECK_OK(quintet_hdbscan_exemplars(model, &offsets, &clusters, &exemplars, &count));
  CHECK(clusters == 3 && offsets[0] == 0 && offsets[3] == count && labels[exemplars[0]] == 0);
  CHECK_OK(quintet_hdbscan_invalid_rows(model, &invalid, &count));
  CHECK(count == 0);
  CHECK_OK(quintet_hdbscan_facts(model, &neighbours, &components));
  CHECK(neighbours == 4 && components == 1);
  quintet_hdbscan_free(model);
  quintet_hdbscan_free(NULL);

  CHECK_INVALID(quintet_hdbscan_labels(NULL, &labels, &count), "clustering must not be null");
  CHECK_INVALID(quintet_hdbscan_probabilities(NULL, &core, &count), "clustering must not be null");
  CHECK_INVALID(quintet_hdbscan_exemplars(NULL, NULL, NULL, NULL, NULL), "clustering must not be null");
  CHECK_INVALID(quintet_hdbscan_facts(NULL, NULL, NULL), "clustering must not be null");
}

static void test_cluster_errors(void) {
  quintet_hdbscan_options options = options_of_five();
  quintet_hdbscan_clustering* model = (quintet_hdbscan_clustering*)points;
  const int64_t* rows = NULL;
  int64_t count = 0;
  double odd[4 * 2] = {0, 1, NAN, 2, 3, 4, 5, 6};
  struct told told = {0, 1, -1};
  options.min_cluster_size = 1;
  CHECK_INVALID(quintet_hdbscan_cluster(points, QUINTET_DOUBLE, n, dim, stride, &options, NULL, NULL, NULL, &model),
                "min_cluster_size must be");
  CHECK(model == NULL);
  options.min_cluster_size = 5;
  options.ties = -1;
  CHECK_INVALID(quintet_hdbscan_cluster(points, QUINTET_DOUBLE, n, dim, stride, &options, NULL, NULL, NULL, &model),
                "ties must be one of");
  options.tie_tolerance = -0.5;
  options.ties = QUINTET_TIES_CANONICAL;
  CHECK_INVALID(quintet_hdbscan_cluster(points, QUINTET_DOUBLE, n, dim, stride, &options, NULL, NULL, NULL, &model),
                "tie_tolerance must be in [0, 1)");
  options.tie_tolerance = QUINTET_HDBSCAN_DEFAULT_TIE_TOLERANCE;
  options.ties = QUINTET_TIES_BINARY;
  options.selection = 2;
  CHECK_INVALID(quintet_hdbscan_cluster(points, QUINTET_DOUBLE, n, dim, stride, &options, NULL, NULL, NULL, &model),
                "selection must be one of");
  CHECK_INVALID(quintet_hdbscan_cluster(points, QUINTET_DOUBLE, n, dim, stride, NULL, NULL, NULL, NULL, NULL),
                "handle must not be null");
  CHECK_FAILS(quintet_hdbscan_cluster(points, QUINTET_DOUBLE, n, dim, stride, NULL, "99", NULL, NULL, &model),
              QUINTET_DEVICE_ERROR, "device 99");
  CHECK_FAILS(quintet_hdbscan_cluster(points, QUINTET_DOUBLE, n, dim, stride, NULL, NULL, hear, &told, &model),
              QUINTET_CANCELLED, "cancelled");
  CHECK(model == NULL);
  CHECK_OK(quintet_hdbscan_cluster(odd, QUINTET_DOUBLE, 4, 2, 2, NULL, NULL, NULL, NULL, &model));
  CHECK_OK(quintet_hdbscan_invalid_rows(model, &rows, &count));
  CHECK(count == 1 && rows[0] == 1);
  quintet_hdbscan_free(model);
  CHECK_OK(quintet_hdbscan_cluster(NULL, QUINTET_FLOAT, 0, 2, 2, NULL, NULL, NULL, NULL, &model));
  CHECK_OK(quintet_hdbscan_exemplars(model, &rows, &count, NULL, NULL));
  CHECK(count == 0 && rows[0] == 0);
  quintet_hdbscan_free(model);
}

static void test_given_distances(void) {
  static double distances[n][n], values[n * n];
  static int64_t columns[n * n];
  int64_t row_begin[n + 1], entries = 0, count = 0;
  const quintet_hdbscan_options options = options_of_five();
  quintet_hdbscan_clustering *of_points = cluster(), *model = NULL;
  const int64_t *labels = NULL, *expected = NULL;
  const quintet_edge* edges = NULL;
  double unused = 0;
  int i, j;
  CHECK_OK(quintet_hdbscan_labels(of_points, &expected, NULL));
  for (i = 0; i < n; ++i) {
    row_begin[i] = entries;
    for (j = 0; j < n; ++j) {
      distances[i][j] = distance(i, j);
      if (j <= i) continue;
      columns[entries] = j;
      values[entries++] = distances[i][j];
    }
  }
  row_begin[n] = entries;
  CHECK_OK(quintet_hdbscan_cluster_distances(distances[0], QUINTET_DOUBLE, n, n, &options, &model));
  CHECK_OK(quintet_hdbscan_labels(model, &labels, &count));
  CHECK(count == n && memcmp(labels, expected, n * sizeof *labels) == 0);
  CHECK_INVALID(quintet_hdbscan_membership(model, points, QUINTET_DOUBLE, n, dim, stride, NULL, &unused, 3),
                "clustering must be one of points");
  quintet_hdbscan_free(model);
  CHECK_OK(quintet_hdbscan_cluster_graph(row_begin, columns, values, QUINTET_DOUBLE, n, &options, &model));
  CHECK_OK(quintet_hdbscan_labels(model, &labels, NULL));
  CHECK(memcmp(labels, expected, n * sizeof *labels) == 0);
  quintet_hdbscan_free(model);
  CHECK_OK(quintet_hdbscan_tree_edges(of_points, &edges, &count));
  CHECK_OK(quintet_hdbscan_cluster_edges(edges, count, n, &options, &model));
  CHECK_OK(quintet_hdbscan_labels(model, &labels, NULL));
  CHECK(memcmp(labels, expected, n * sizeof *labels) == 0);
  quintet_hdbscan_free(model);
  quintet_hdbscan_free(of_points);

  distances[3][4] = -1;
  CHECK_INVALID(quintet_hdbscan_cluster_distances(distances[0], QUINTET_DOUBLE, n, n, &options, &model), "-1");
  CHECK_INVALID(quintet_hdbscan_cluster_distances(distances[0], QUINTET_HALF, n, n, &options, &model),
                "type must be QUINTET_FLOAT (1) or QUINTET_DOUBLE (2) (type=3)");
  columns[0] = n;
  CHECK_INVALID(quintet_hdbscan_cluster_graph(row_begin, columns, values, QUINTET_DOUBLE, n, &options, &model), "126");
  CHECK_INVALID(quintet_hdbscan_cluster_graph(NULL, columns, values, QUINTET_DOUBLE, n, &options, &model), "row_begin");
  CHECK_INVALID(quintet_hdbscan_cluster_graph(row_begin, columns, NULL, QUINTET_DOUBLE, n, &options, &model), "values");
  CHECK_INVALID(quintet_hdbscan_cluster_graph(row_begin, columns, values, QUINTET_DOUBLE, -3, &options, &model),
                "n=-3");
  CHECK_INVALID(quintet_hdbscan_cluster_edges(NULL, 3, n, &options, &model), "edges must not be null (3 elements)");
  CHECK(model == NULL);
}

static void test_uses(void) {
  quintet_hdbscan_clustering* model = cluster();
  quintet_hdbscan_options options = options_of_five();
  const int64_t* labels = NULL;
  int64_t cut[n], predicted[m], neighbours[m], medoids[3];
  double probabilities[m], scores[m], soft[n * 4], soft_new[m * 3], index = 0, relative = 0, per_cluster[3],
                                                                    centroids[3 * dim], mean = 0;
  int i;
  CHECK_OK(quintet_hdbscan_labels(model, &labels, NULL));
  CHECK_OK(quintet_hdbscan_assign_noise(model, cut));
  for (i = 0; i < n; ++i) CHECK(labels[i] < 0 ? cut[i] >= 0 && cut[i] < 3 : cut[i] == labels[i]);
  CHECK_INVALID(quintet_hdbscan_assign_noise(model, NULL), "labels must not be null");
  CHECK_INVALID(quintet_hdbscan_assign_noise(NULL, cut), "clustering must not be null");
  CHECK_OK(quintet_hdbscan_cut(model, 3.0, 10, cut));
  check_groups(cut);
  CHECK_INVALID(quintet_hdbscan_cut(model, -1, 10, cut), "height");
  CHECK_INVALID(quintet_hdbscan_cut(model, 1, 10, NULL), "labels must not be null");
  CHECK_INVALID(quintet_hdbscan_cut(NULL, 1, 10, cut), "clustering must not be null");

  CHECK_OK(quintet_hdbscan_predict(model, points, QUINTET_DOUBLE, n, dim, stride, new_points, m, dim, NULL, predicted,
                                   probabilities, scores, neighbours));
  CHECK_OK(quintet_hdbscan_membership_new(model, points, QUINTET_DOUBLE, n, dim, stride, new_points, m, dim, NULL,
                                          soft_new, 3));
  for (i = 0; i < m; ++i) {
    CHECK(neighbours[i] / 40 == i % 3);
    CHECK(predicted[i] == labels[neighbours[i]] && probabilities[i] > 0 && scores[i] <= 1);
    CHECK(soft_new[3 * i + predicted[i]] > 0.3 && soft_new[3 * i + predicted[i]] <= 1);
  }
  soft[3] = 77;
  CHECK_OK(quintet_hdbscan_membership(model, points, QUINTET_DOUBLE, n, dim, stride, "host", soft, 4));
  for (i = 0; i < 120; ++i) CHECK(soft[4 * i + labels[i]] > 0.3 && soft[4 * i + labels[i]] <= 1);
  CHECK(soft[3] == 77);
  CHECK_OK(quintet_hdbscan_predict(model, points, QUINTET_DOUBLE, n, dim, stride, NULL, 0, dim, NULL, NULL, NULL, NULL,
                                   NULL));
  CHECK_INVALID(quintet_hdbscan_predict(model, points_float, QUINTET_FLOAT, n, dim, stride, new_points, m, dim, NULL,
                                        predicted, NULL, NULL, NULL),
                "type must be that of the clustered points: 2 (type=1)");
  CHECK_INVALID(quintet_hdbscan_predict(model, points, QUINTET_DOUBLE, n - 1, dim, stride, new_points, m, dim, NULL,
                                        predicted, NULL, NULL, NULL),
                "n must be that of the clustering: 126 (n=125)");
  CHECK_INVALID(quintet_hdbscan_predict(model, points, QUINTET_DOUBLE, n, 2, stride, new_points, m, dim, NULL,
                                        predicted, NULL, NULL, NULL),
                "dim must be that of the clustered points: 3 (dim=2)");
  CHECK_INVALID(quintet_hdbscan_membership(model, points, QUINTET_DOUBLE, n, dim, stride, "host", soft, 2),
                "stride of out");
  CHECK_INVALID(
      quintet_hdbscan_membership_new(model, points, QUINTET_DOUBLE, n, dim, stride, NULL, m, dim, NULL, soft_new, 3),
      "new_points must not be null");

  CHECK_OK(quintet_hdbscan_validity(points, QUINTET_DOUBLE, n, dim, stride, labels, 0, &options, NULL, NULL, NULL,
                                    &index, per_cluster));
  CHECK(index > 0.5 && index < 1);
  /* Noise counts in the number of points; the clusters are of one size. */
  CHECK_NEAR(index, 40.0 / n * (per_cluster[0] + per_cluster[1] + per_cluster[2]), 1e-12);
  CHECK_OK(quintet_hdbscan_relative_validity(model, &relative));
  CHECK(relative > 0.5 && relative <= 1);
  CHECK_INVALID(quintet_hdbscan_relative_validity(model, NULL), "index must not be null");
  CHECK_INVALID(quintet_hdbscan_validity(points, QUINTET_DOUBLE, n, dim, stride, labels, -1, &options, NULL, NULL, NULL,
                                         &index, NULL),
                "dimension");

  CHECK_OK(quintet_hdbscan_medoids(points, QUINTET_DOUBLE, n, dim, stride, labels, NULL, NULL, NULL, medoids, 3));
  CHECK_OK(quintet_hdbscan_centroids(points, QUINTET_DOUBLE, n, dim, stride, labels, NULL, NULL, centroids, 3));
  for (i = 0; i < 40; ++i) mean += points[i * stride + 1] / 40;
  CHECK_NEAR(centroids[labels[0] * dim + 1], mean, 1e-14);
  for (i = 0; i < 3; ++i) CHECK(labels[medoids[i]] == i);
  CHECK_INVALID(quintet_hdbscan_medoids(points, QUINTET_DOUBLE, n, dim, stride, labels, NULL, NULL, NULL, medoids, 2),
                "clusters must be one more than the largest label, 2 (clusters=2)");
  CHECK_INVALID(quintet_hdbscan_centroids(points, QUINTET_DOUBLE, n, dim, stride, labels, NULL, NULL, NULL, 3),
                "centroids must not be null");
  quintet_hdbscan_free(model);
}

/* Four threads cluster at the same time, and share one clustering for reading. */
static quintet_hdbscan_clustering* shared_model;

static void* cluster_in_thread(void* user) {
  quintet_hdbscan_clustering* model = NULL;
  const quintet_hdbscan_options* options = user;
  const int64_t *labels = NULL, *expected = NULL;
  int64_t predicted[m];
  intptr_t good = 1;
  int i;
  good &= quintet_hdbscan_labels(shared_model, &expected, NULL) == QUINTET_OK;
  for (i = 0; i < 5; ++i) {
    good &= quintet_hdbscan_cluster(points, QUINTET_DOUBLE, n, dim, stride, options, NULL, NULL, NULL, &model) ==
            QUINTET_OK;
    good &= quintet_hdbscan_labels(model, &labels, NULL) == QUINTET_OK;
    good &= memcmp(labels, expected, n * sizeof *labels) == 0;
    quintet_hdbscan_free(model);
    good &= quintet_hdbscan_predict(shared_model, points, QUINTET_DOUBLE, n, dim, stride, new_points, m, dim, NULL,
                                    predicted, NULL, NULL, NULL) == QUINTET_OK;
  }
  return (void*)good;
}

static void test_several_threads(void) {
  pthread_t threads[4];
  quintet_hdbscan_options options = options_of_five();
  void* good = NULL;
  int i;
  shared_model = cluster();
  for (i = 0; i < 4; ++i) CHECK(pthread_create(&threads[i], NULL, cluster_in_thread, &options) == 0);
  for (i = 0; i < 4; ++i) {
    CHECK(pthread_join(threads[i], &good) == 0);
    CHECK(good != NULL);
  }
  quintet_hdbscan_free(shared_model);
}

/* Labels and trees of two clusterings. */
static int same_clustering(const quintet_hdbscan_clustering* a, const quintet_hdbscan_clustering* b) {
  const int64_t *a_labels, *b_labels;
  const quintet_edge *a_edges, *b_edges;
  int64_t a_count, b_count, a_merges, b_merges;
  const quintet_linkage_row *a_rows, *b_rows;
  CHECK_OK(quintet_hdbscan_labels(a, &a_labels, &a_count));
  CHECK_OK(quintet_hdbscan_labels(b, &b_labels, &b_count));
  if (a_count != b_count || memcmp(a_labels, b_labels, (size_t)a_count * sizeof *a_labels) != 0) return 0;
  CHECK_OK(quintet_hdbscan_tree_edges(a, &a_edges, &a_count));
  CHECK_OK(quintet_hdbscan_tree_edges(b, &b_edges, &b_count));
  if (a_count != b_count || memcmp(a_edges, b_edges, (size_t)a_count * sizeof *a_edges) != 0) return 0;
  CHECK_OK(quintet_hdbscan_single_linkage(a, &a_rows, &a_merges));
  CHECK_OK(quintet_hdbscan_single_linkage(b, &b_rows, &b_merges));
  return a_merges == b_merges && memcmp(a_rows, b_rows, (size_t)a_merges * sizeof *a_rows) == 0;
}

static quintet_hdbscan_clustering* clustered(const quintet_hdbscan_options* options) {
  quintet_hdbscan_clustering* clustering = NULL;
  CHECK_OK(quintet_hdbscan_cluster(points, QUINTET_DOUBLE, n, dim, stride, options, NULL, NULL, NULL, &clustering));
  return clustering;
}

static void test_refit(void) {
  quintet_hdbscan_options options = options_of_five();
  quintet_hdbscan_clustering *model = clustered(&options), *again = NULL, *fresh;
  int64_t size = 0, labels[m];
  options.min_cluster_size = 25;
  options.selection = QUINTET_SELECT_LEAF;
  CHECK_OK(quintet_hdbscan_refit(model, &options, &again));
  fresh = clustered(&options);
  CHECK(same_clustering(again, fresh));
  CHECK_OK(quintet_hdbscan_cluster_size(again, &size));
  CHECK(size == 25);
  CHECK_OK(quintet_hdbscan_predict(again, points, QUINTET_DOUBLE, n, dim, stride, new_points, m, dim, NULL, labels,
                                   NULL, NULL, NULL));
  CHECK(labels[0] >= 0);
  quintet_hdbscan_free(again);
  quintet_hdbscan_free(fresh);
  options.min_cluster_size = QUINTET_AUTOMATIC_SIZE;
  CHECK_OK(quintet_hdbscan_refit(model, &options, &again));
  CHECK_OK(quintet_hdbscan_cluster_size(again, &size));
  CHECK(size > 4 && size <= 40);
  fresh = clustered(&options);
  CHECK(same_clustering(again, fresh));
  quintet_hdbscan_free(again);
  quintet_hdbscan_free(fresh);
  options.min_samples = 5;
  CHECK_FAILS(quintet_hdbscan_refit(model, &options, &again), QUINTET_INVALID_ARGUMENT, "min_samples must be 4");
  CHECK_FAILS(quintet_hdbscan_refit(NULL, &options, &again), QUINTET_INVALID_ARGUMENT, "clustering");
  quintet_hdbscan_free(model);
}

static void test_flat(void) {
  quintet_hdbscan_options options = options_of_five();
  quintet_hdbscan_clustering *model = clustered(&options), *two = NULL, *fresh;
  quintet_selection selection = -1;
  int64_t clusters = 0;
  double epsilon = -1;
  CHECK_OK(quintet_hdbscan_flat(model, 2, &selection, &epsilon, &two));
  CHECK_OK(quintet_hdbscan_persistence(two, NULL, &clusters));
  CHECK(clusters == 2);
  options.selection = selection;
  options.epsilon = epsilon;
  fresh = clustered(&options);
  CHECK(same_clustering(two, fresh));
  quintet_hdbscan_free(two);
  quintet_hdbscan_free(fresh);
  CHECK_OK(quintet_hdbscan_flat(model, 1000, NULL, NULL, &two));
  quintet_hdbscan_free(two);
  CHECK_FAILS(quintet_hdbscan_flat(model, 0, NULL, NULL, &two), QUINTET_INVALID_ARGUMENT, "clusters must be >= 1");
  CHECK_FAILS(quintet_hdbscan_flat(NULL, 2, NULL, NULL, &two), QUINTET_INVALID_ARGUMENT, "clustering");
  quintet_hdbscan_free(model);
}

static void test_sweep(void) {
  const int64_t min_samples[] = {8, 2}, sizes[] = {10, 30};
  const double epsilon[] = {0};
  quintet_hdbscan_options options = options_of_five();
  quintet_hdbscan_sweep* sweep = NULL;
  quintet_hdbscan_clustering *there = NULL, *fresh;
  const quintet_hdbscan_setting* settings;
  const int64_t* fresh_labels;
  int64_t count = 0, best = -2, s, labels[n];
  CHECK_OK(quintet_hdbscan_sweep_points(points, QUINTET_DOUBLE, n, dim, stride, min_samples, 2, sizes, 2, epsilon, 1,
                                        QUINTET_SCORE_RELATIVE_VALIDITY, &options, NULL, NULL, NULL, &sweep));
  CHECK_OK(quintet_hdbscan_sweep_settings(sweep, &settings, &count, &best));
  CHECK(count == 4);
  for (s = 0; s < count; ++s) {
    double validity;
    CHECK(settings[s].min_samples == (s < 2 ? 2 : 8) && settings[s].min_cluster_size == (s % 2 == 0 ? 10 : 30));
    options.min_samples = settings[s].min_samples;
    options.min_cluster_size = settings[s].min_cluster_size;
    fresh = clustered(&options);
    CHECK_OK(quintet_hdbscan_sweep_clustering(sweep, s, &there));
    CHECK(same_clustering(there, fresh));
    CHECK_OK(quintet_hdbscan_sweep_labels(sweep, s, labels));
    CHECK_OK(quintet_hdbscan_labels(fresh, &fresh_labels, NULL));
    CHECK(memcmp(labels, fresh_labels, sizeof labels) == 0);
    CHECK_OK(quintet_hdbscan_relative_validity(fresh, &validity));
    CHECK(validity == settings[s].relative_validity &&
          settings[s].relative_validity <= settings[best].relative_validity);
    quintet_hdbscan_free(there);
    quintet_hdbscan_free(fresh);
  }
  CHECK_FAILS(quintet_hdbscan_sweep_labels(sweep, 4, labels), QUINTET_INVALID_ARGUMENT, "setting must be in [0, 4)");
  CHECK_FAILS(quintet_hdbscan_sweep_clustering(sweep, -1, &there), QUINTET_INVALID_ARGUMENT, "setting must be");
  quintet_hdbscan_sweep_free(sweep);
  quintet_hdbscan_sweep_free(NULL);
  CHECK_FAILS(quintet_hdbscan_sweep_points(points, QUINTET_DOUBLE, n, dim, stride, min_samples, 0, sizes, 2, epsilon, 1,
                                           0, &options, NULL, NULL, NULL, &sweep),
              QUINTET_INVALID_ARGUMENT, "min_samples.size must be >= 1");
  CHECK_FAILS(quintet_hdbscan_sweep_points(points, QUINTET_DOUBLE, n, dim, stride, min_samples, 2, sizes, 2, epsilon, 1,
                                           3, &options, NULL, NULL, NULL, &sweep),
              QUINTET_INVALID_ARGUMENT, "score must be 0, 1 or 2");
}

/* Weights 0, 1 and 3 against rows that are left out and repeated. */
static void test_weights(void) {
  static double weights[n], repeated[3 * n * dim];
  static int64_t source[3 * n];
  quintet_hdbscan_options options = options_of_five();
  quintet_hdbscan_clustering *weighted = NULL, *plain = NULL;
  const int64_t *labels = NULL, *expected = NULL, *excluded = NULL;
  int64_t rows = 0, count = 0, i, copy;
  double core[n], index = 0, of_rows = 0;
  for (i = 0; i < n; ++i) {
    weights[i] = i % 7 == 0 ? 0 : i % 7 == 1 ? 3 : 1;
    for (copy = 0; copy < (int64_t)weights[i]; ++copy, ++rows) {
      source[rows] = i;
      memcpy(repeated + rows * dim, points + i * stride, dim * sizeof(double));
    }
  }
  CHECK_OK(quintet_hdbscan_cluster(repeated, QUINTET_DOUBLE, rows, dim, dim, &options, "host", NULL, NULL, &plain));
  options.weights = weights;
  weighted = clustered(&options);
  CHECK_OK(quintet_hdbscan_labels(weighted, &labels, NULL));
  CHECK_OK(quintet_hdbscan_labels(plain, &expected, NULL));
  for (i = 0; i < rows; ++i) CHECK(labels[source[i]] == expected[i]);
  CHECK(labels[0] == -1);
  CHECK_OK(quintet_hdbscan_excluded_rows(weighted, &excluded, &count));
  CHECK(count == (n + 6) / 7 && excluded[1] == 7);
  CHECK_OK(quintet_hdbscan_relative_validity(weighted, &index));
  CHECK_OK(quintet_hdbscan_relative_validity(plain, &of_rows));
  CHECK(index == of_rows);
  CHECK_OK(quintet_hdbscan_core_distances(points, QUINTET_DOUBLE, n, dim, stride, &options, "host", core, NULL));
  CHECK(isnan(core[0]) && core[1] >= 0);
  quintet_hdbscan_free(weighted);
  quintet_hdbscan_free(plain);
  weights[2] = -1;
  CHECK_FAILS(quintet_hdbscan_cluster(points, QUINTET_DOUBLE, n, dim, stride, &options, "host", NULL, NULL, &weighted),
              QUINTET_INVALID_ARGUMENT, "weights[2] must be >= 0 and finite");
  CHECK_FAILS(quintet_hdbscan_cluster_edges(NULL, 0, 2, &options, &weighted), QUINTET_INVALID_ARGUMENT,
              "options->weights must be NULL here");
}

int main(void) {
  make_points();
  test_options();
  test_ties();
  test_reachability();
  test_sphere();
  test_spanning_tree();
  test_clustering_holds();
  test_cluster_errors();
  test_given_distances();
  test_uses();
  test_refit();
  test_flat();
  test_sweep();
  test_weights();
  test_several_threads();
  return check_result();
}
