/* Indexes of neighbours. */
#include "check.h"

enum { N = 500, DIM = 3, K = 4, Q = 70 };

static double points[N][DIM], queries[Q][DIM];

static double distance_of(const double* x, const double* y) {
  double sum = 0;
  for (int k = 0; k < DIM; ++k) sum += (x[k] - y[k]) * (x[k] - y[k]);
  return sqrt(sum);
}

/* The nearest ones by a look at every pair; `self` is left out. */
static void check_lists(const double* query, int self, const int64_t* numbers, const double* distances) {
  double last = -1;
  int closer = 0;
  for (int e = 0; e < K; ++e) {
    CHECK(numbers[e] >= 0 && numbers[e] < N && numbers[e] != self && distances[e] >= last);
    CHECK_NEAR(distances[e], distance_of(query, points[numbers[e]]), 1e-12);
    last = distances[e];
  }
  for (int j = 0; j < N; ++j) closer += j != self && distance_of(query, points[j]) < last * (1 - 1e-12);
  CHECK(closer == K - 1);
}

static void check_searches(const quintet_index* index) {
  static int64_t numbers[N * K], single[K];
  static double distances[N * K], single_distances[K];
  quintet_index_lists* lists = NULL;
  const int64_t *rows, *near;
  const void* values;
  int64_t count, entries, expected = 0;
  CHECK_OK(quintet_index_nearest(index, queries, QUINTET_DOUBLE, Q, DIM, DIM, K, numbers, distances));
  for (int i = 0; i < Q; ++i) {
    check_lists(queries[i], -1, numbers + i * K, distances + i * K);
    CHECK_OK(quintet_index_nearest(index, queries[i], QUINTET_DOUBLE, 1, DIM, DIM, K, single, single_distances));
    CHECK(memcmp(single, numbers + i * K, sizeof single) == 0);
    CHECK(memcmp(single_distances, distances + i * K, sizeof single_distances) == 0);
  }
  CHECK_OK(quintet_index_nearest_others(index, K, numbers, distances));
  for (int i = 0; i < N; i += 7) check_lists(points[i], i, numbers + i * K, distances + i * K);

  CHECK_OK(quintet_index_within_radius(index, queries, QUINTET_DOUBLE, Q, DIM, DIM, 0.2, &lists));
  CHECK_OK(quintet_index_lists_rows(lists, &rows, &count));
  CHECK_OK(quintet_index_lists_entries(lists, &near, &values, &entries));
  for (int i = 0; i < Q; ++i) {
    for (int j = 0; j < N; ++j) expected += distance_of(queries[i], points[j]) <= 0.2;
    for (int64_t e = rows[i]; e < rows[i + 1]; ++e)
      CHECK_NEAR(((const double*)values)[e], distance_of(queries[i], points[near[e]]), 1e-12);
  }
  CHECK(count == Q && entries == expected && rows[Q] == entries);
  quintet_index_lists_free(lists);
  CHECK_OK(quintet_index_others_within_radius(index, 0, &lists));
  CHECK_OK(quintet_index_lists_rows(lists, NULL, &count));
  CHECK_OK(quintet_index_lists_entries(lists, NULL, NULL, &entries));
  CHECK(count == N && entries == 0);
  quintet_index_lists_free(lists);
}

/* Rows of 70 bits: row i has the bits below i. */
static void check_bits(void) {
  uint64_t rows[20][2] = {{0}}, behind[2] = {0, 64};
  int64_t numbers[20 * 3];
  double distances[20 * 3];
  quintet_index_options options;
  quintet_index* index = NULL;
  for (int i = 0; i < 20; ++i)
    for (int b = 0; b < i; ++b) rows[i][0] |= (uint64_t)1 << b;
  CHECK_OK(quintet_index_options_default(&options, sizeof options));
  CHECK(options.bits == 0);
  options.metric = QUINTET_JACCARD;
  CHECK_INVALID(quintet_index_create(rows, QUINTET_DOUBLE, 20, 2, 2, &options, NULL, &index), "bits must be in [1, ");
  options.bits = 70;
  CHECK_INVALID(quintet_index_create(rows, QUINTET_FLOAT, 20, 2, 2, &options, NULL, &index),
                "points must be rows of bits");
  CHECK_OK(quintet_index_create(rows, QUINTET_DOUBLE, 20, 2, 2, &options, NULL, &index));
  CHECK_OK(quintet_index_nearest_others(index, 3, numbers, distances));
  for (int i = 3; i < 18; ++i) {
    CHECK(numbers[3 * i] == i + 1 && distances[3 * i] == 1.0 / (i + 1));
    CHECK(numbers[3 * i + 1] == i - 1 && distances[3 * i + 1] == 1.0 / i);
    CHECK(numbers[3 * i + 2] == i + 2 && distances[3 * i + 2] == 2.0 / (i + 2));
  }
  CHECK_INVALID(quintet_index_nearest(index, behind, QUINTET_DOUBLE, 1, 2, 2, 1, numbers, distances),
                "bits behind the last one must be 0 (row=0, bits=70)");
  quintet_index_free(index);
  options.metric = QUINTET_HAMMING;
  CHECK_OK(quintet_index_create(rows, QUINTET_DOUBLE, 20, 2, 2, &options, NULL, &index));
  CHECK_OK(quintet_index_nearest(index, rows[7], QUINTET_DOUBLE, 1, 2, 2, 3, numbers, distances));
  CHECK(numbers[0] == 7 && numbers[1] == 6 && numbers[2] == 8 && distances[0] == 0 && distances[2] == 1.0 / 70);
  quintet_index_free(index);
}

/* Rows of three integers, of which the last ones of each word are 0. */
static void check_integers(void) {
  const int16_t rows[4][4] = {{1, 2, 3}, {2, 4, 6}, {-128, 0, 255}, {0, 0, 0}}, query[4] = {1, 1, 1};
  int64_t numbers[4];
  double distances[4];
  quintet_index_options options;
  quintet_index* index = NULL;
  CHECK_OK(quintet_index_options_default(&options, sizeof options));
  options.metric = QUINTET_INTEGER_INNER_PRODUCT;
  options.bits = 48;
  CHECK_OK(quintet_index_create(rows, QUINTET_DOUBLE, 4, 1, 1, &options, NULL, &index));
  CHECK_OK(quintet_index_nearest(index, query, QUINTET_DOUBLE, 1, 1, 1, 4, numbers, distances));
  CHECK(numbers[0] == 2 && numbers[1] == 1 && numbers[2] == 0 && numbers[3] == 3);
  CHECK(distances[0] == -127 && distances[1] == -12 && distances[2] == -6 && distances[3] == 0);
  quintet_index_free(index);
  options.metric = QUINTET_INTEGER_COSINE;
  CHECK_OK(quintet_index_create(rows, QUINTET_DOUBLE, 4, 1, 1, &options, NULL, &index));
  CHECK_OK(quintet_index_nearest_others(index, 1, numbers, distances));
  CHECK(numbers[0] == 1 && numbers[1] == 0 && numbers[3] == -1 && distances[0] == 0);
  quintet_index_free(index);
  options.bits = 40;
  CHECK_INVALID(quintet_index_create(rows, QUINTET_DOUBLE, 4, 1, 1, &options, NULL, &index),
                "bits must be a multiple of 16 in [16, ");
}

int main(void) {
  uint64_t state = 7;
  quintet_index_options options;
  quintet_index* index = NULL;
  int64_t n = 0, dim = 0, bytes = 0, number = -2;
  double distance = 0;
  const float square[4][2] = {{0, 0}, {3, 4}, {0, 1}, {NAN, 0}}, origin[2] = {0, 0};
  float near_origin = 0;
  quintet_type type = 0;
  quintet_index_lists* lists = NULL;
  for (int i = 0; i < N; ++i)
    for (int k = 0; k < DIM; ++k) points[i][k] = next_uniform(&state);
  for (int i = 0; i < Q; ++i)
    for (int k = 0; k < DIM; ++k) queries[i][k] = next_uniform(&state);

  CHECK_OK(quintet_index_options_default(&options, sizeof options));
  CHECK(options.metric == QUINTET_EUCLIDEAN && options.search == QUINTET_SEARCH_AUTOMATIC && options.curvature == -1 &&
        options.p == 2);
  CHECK_OK(quintet_index_create(points, QUINTET_DOUBLE, N, DIM, DIM, NULL, "host", &index));
  check_searches(index);
  quintet_index_free(index);
  CHECK_OK(quintet_index_create(points, QUINTET_DOUBLE, N - 30, DIM, DIM, &options, NULL, &index));
  CHECK_OK(quintet_index_append(index, points[N - 30], QUINTET_DOUBLE, 30, DIM, DIM));
  CHECK_OK(quintet_index_facts(index, &n, &dim, &type, &bytes));
  CHECK(n == N && dim == DIM && type == QUINTET_DOUBLE && bytes > (int64_t)sizeof points);
  CHECK_OK(quintet_index_facts(index, NULL, NULL, NULL, NULL));
  check_searches(index);

  CHECK_INVALID(quintet_index_nearest(index, points, QUINTET_DOUBLE, 1, DIM, DIM, 0, &number, &distance),
                "k must be in [1, 500] (k=0)");
  CHECK_INVALID(quintet_index_nearest(index, points, QUINTET_FLOAT, 1, DIM, DIM, 1, &number, &distance),
                "type must be the index's type 2 (type=1)");
  CHECK_INVALID(quintet_index_nearest(index, points, QUINTET_DOUBLE, 1, 2, 2, 1, &number, &distance),
                "queries.cols must be points.cols=3");
  CHECK_INVALID(quintet_index_nearest(index, NULL, QUINTET_DOUBLE, 1, DIM, DIM, 1, &number, &distance), "queries");
  CHECK_INVALID(quintet_index_nearest(index, points, QUINTET_DOUBLE, 1, DIM, DIM, 1, NULL, &distance), "numbers");
  CHECK_INVALID(quintet_index_nearest_others(index, N, &number, &distance), "k must be in [1, 499]");
  CHECK_INVALID(quintet_index_within_radius(index, points, QUINTET_DOUBLE, 1, DIM, DIM, -1, &lists), "radius");
  CHECK_INVALID(quintet_index_append(index, points, QUINTET_DOUBLE, 1, 2, 2), "points.cols must be the index's dim=3");
  CHECK_INVALID(quintet_index_facts(NULL, &n, NULL, NULL, NULL), "index must not be null");
  CHECK_INVALID(quintet_index_lists_rows(NULL, NULL, NULL), "lists must not be null");
  CHECK(lists == NULL);
  quintet_index_free(index);
  options.search = 3;
  CHECK_INVALID(quintet_index_create(points, QUINTET_DOUBLE, N, DIM, DIM, &options, NULL, &index), "search must be");
  CHECK(index == NULL);

  options.search = QUINTET_SEARCH_ALL_PAIRS;
  options.metric = QUINTET_MANHATTAN;
  CHECK_OK(quintet_index_create(square, QUINTET_FLOAT, 4, 2, 2, &options, NULL, &index));
  CHECK_OK(quintet_index_nearest(index, origin, QUINTET_FLOAT, 1, 2, 2, 1, &number, &near_origin));
  CHECK(number == 0 && near_origin == 0);
  CHECK_OK(quintet_index_nearest(index, square[3], QUINTET_FLOAT, 1, 2, 2, 1, &number, &near_origin));
  CHECK(number == -1 && isnan(near_origin));
  quintet_index_free(index);
  quintet_index_free(NULL);
  quintet_index_lists_free(NULL);
  check_bits();
  check_integers();
  return check_result();
}
