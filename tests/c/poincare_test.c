/* The Poincare ball: distances, neighbours, operations, gradients, means. */
#include "check.h"

enum { n = 20, dim = 3, stride = 4 };
static double x[n * stride], y[n * stride], v[n * stride];

static void make_points(void) {
  uint64_t state = 11;
  int i;
  for (i = 0; i < n * stride; ++i) {
    x[i] = next_uniform(&state) - 0.5;
    y[i] = next_uniform(&state) - 0.5;
    v[i] = next_uniform(&state) - 0.5;
  }
}

static double dot(const double* a, const double* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static double distance(const double* a, const double* b) {
  const double difference[] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
  return 2 * asinh(sqrt(dot(difference, difference) / ((1 - dot(a, a)) * (1 - dot(b, b)))));
}

/* Every row of a and b, dense, agrees to `tolerance`. */
static void check_rows(const double* a, int64_t a_stride, const double* b, int64_t b_stride, double tolerance) {
  double worst = 0;
  int i, d;
  for (i = 0; i < n; ++i)
    for (d = 0; d < dim; ++d) worst = fmax(worst, fabs(a[i * a_stride + d] - b[i * b_stride + d]));
  CHECK_NEAR(worst, 0, tolerance);
}

static void test_distances(void) {
  double matrix[n * (n + 2)], pairs[n], one = 0, origin[n];
  const double zero[] = {0, 0, 0};
  uint8_t status_x[n], status_y[n];
  int64_t index[n * 2];
  double nearest[n * 2];
  uint16_t half_x[n * stride];
  float half_pairs[n];
  quintet_poincare_options options;
  int i, j;
  CHECK_OK(quintet_poincare_options_default(&options, sizeof options));
  CHECK(options.curvature == -1 && options.strict == 0 && options.max_iterations == 500);
  CHECK_INVALID(quintet_poincare_options_default(NULL, sizeof options), "options must not be null");

  CHECK_OK(quintet_poincare_distances(x, n, stride, y, n, stride, QUINTET_DOUBLE, dim, NULL, NULL, matrix, n + 2,
                                      status_x, status_y));
  CHECK_OK(quintet_poincare_pair_distances(x, stride, y, stride, QUINTET_DOUBLE, n, dim, NULL, "emulated", pairs,
                                           status_x, NULL));
  CHECK_OK(quintet_poincare_origin_distances(x, stride, QUINTET_DOUBLE, n, dim, NULL, NULL, origin, status_x));
  for (i = 0; i < n; ++i) {
    CHECK(status_x[i] == QUINTET_INSIDE && status_y[i] == QUINTET_INSIDE);
    for (j = 0; j < n; ++j) CHECK_NEAR(matrix[i * (n + 2) + j], distance(x + i * stride, y + j * stride), 1e-13);
    CHECK(pairs[i] == matrix[i * (n + 2) + i]);
    CHECK_NEAR(origin[i], distance(zero, x + i * stride), 1e-13);
  }
  CHECK_OK(quintet_poincare_distance(x, y, QUINTET_DOUBLE, dim, NULL, &one));
  CHECK(one == pairs[0]);
  CHECK_OK(quintet_poincare_nearest(x, n, stride, y, n, stride, QUINTET_DOUBLE, dim, 2, NULL, NULL, index, nearest,
                                    NULL, NULL));
  for (i = 0; i < n; ++i) {
    CHECK(nearest[2 * i] <= nearest[2 * i + 1]);
    CHECK(nearest[2 * i] == matrix[i * (n + 2) + index[2 * i]]);
    for (j = 0; j < n; ++j) CHECK(j == index[2 * i] || matrix[i * (n + 2) + j] >= nearest[2 * i + 1]);
  }
  CHECK_OK(quintet_convert(x, QUINTET_DOUBLE, half_x, QUINTET_HALF, n * stride));
  CHECK_OK(quintet_poincare_pair_distances(half_x, stride, half_x + stride, stride, QUINTET_HALF, n - 1, dim, NULL,
                                           NULL, half_pairs, NULL, NULL));
  CHECK_NEAR(half_pairs[0], distance(x, x + stride), 5e-3);

  CHECK_INVALID(quintet_poincare_nearest(x, n, stride, y, n, stride, QUINTET_DOUBLE, dim, n + 1, NULL, NULL, index,
                                         nearest, NULL, NULL),
                "k");
  CHECK_INVALID(quintet_poincare_nearest(x, n, stride, y, n, stride, QUINTET_DOUBLE, dim, 1, NULL, NULL, NULL, nearest,
                                         NULL, NULL),
                "index must not be null");
  CHECK_INVALID(
      quintet_poincare_distances(x, n, 2, y, n, stride, QUINTET_DOUBLE, dim, NULL, NULL, matrix, n, NULL, NULL),
      "stride of queries");
  CHECK_INVALID(quintet_poincare_distance(NULL, y, QUINTET_DOUBLE, dim, NULL, &one), "x must not be null");
  CHECK_INVALID(quintet_poincare_origin_distances(x, stride, QUINTET_DOUBLE, -1, dim, NULL, NULL, origin, NULL), "-1");
  options.curvature = 2;
  CHECK_INVALID(quintet_poincare_distance(x, y, QUINTET_DOUBLE, dim, &options, &one), "curvature");
  options.curvature = -1;
  options.formula = 5;
  CHECK_INVALID(quintet_poincare_distance(x, y, QUINTET_DOUBLE, dim, &options, &one), "formula must be one of");
  options.formula = QUINTET_CLAMPED_ARTANH;
  CHECK_OK(quintet_poincare_distance(x, y, QUINTET_DOUBLE, dim, &options, &one));
  CHECK(one > pairs[0]);
}

static void test_status(void) {
  const double points[] = {0.5, 0, 1, 0, NAN, 0};
  const uint8_t expected[] = {QUINTET_INSIDE, QUINTET_OUTSIDE, QUINTET_NOT_FINITE};
  uint8_t status[3];
  double out[3];
  quintet_poincare_options options;
  CHECK_OK(quintet_poincare_origin_distances(points, 2, QUINTET_DOUBLE, 3, 2, NULL, NULL, out, status));
  CHECK(memcmp(status, expected, sizeof status) == 0);
  CHECK_NEAR(out[0], log(3), 1e-14);
  CHECK(isnan(out[1]) && isnan(out[2]));
  CHECK_OK(quintet_poincare_options_default(&options, sizeof options));
  options.strict = 1;
  CHECK_INVALID(quintet_poincare_origin_distances(points, 2, QUINTET_DOUBLE, 3, 2, &options, NULL, out, status), "1");
}

static void test_operations(void) {
  double out[n * stride], back[n * stride], sum[n * dim], factor[n], half = 0.5, moved_row[n * stride],
                                                                     hyperboloid[n * (dim + 1)], one = 1;
  double minus_x[n * stride], lengths[n];
  uint8_t status[n];
  int64_t moved = -1;
  int i;
  for (i = 0; i < n * stride; ++i) minus_x[i] = -x[i];

  /* (-x) (+) (x (+) y) = y */
  CHECK_OK(quintet_poincare_mobius_add(x, stride, y, stride, QUINTET_DOUBLE, n, dim, NULL, NULL, sum, dim, status));
  CHECK_OK(
      quintet_poincare_mobius_add(minus_x, stride, sum, dim, QUINTET_DOUBLE, n, dim, NULL, NULL, back, stride, NULL));
  check_rows(back, stride, y, stride, 1e-13);
  CHECK(status[n - 1] == QUINTET_INSIDE);
  /* exp and log are inverse to one another, at x and at the origin. */
  CHECK_OK(quintet_poincare_log_map(x, stride, y, stride, QUINTET_DOUBLE, n, dim, NULL, NULL, out, stride, NULL));
  CHECK_OK(quintet_poincare_exp_map(x, stride, out, stride, QUINTET_DOUBLE, n, dim, NULL, NULL, back, stride, NULL));
  check_rows(back, stride, y, stride, 1e-13);
  CHECK_OK(quintet_poincare_conformal_factor(x, stride, QUINTET_DOUBLE, n, dim, NULL, NULL, factor, NULL));
  for (i = 0; i < n; ++i) {
    CHECK_NEAR(factor[i], 2 / (1 - dot(x + i * stride, x + i * stride)), 1e-13);
    CHECK_NEAR(factor[i] * sqrt(dot(out + i * stride, out + i * stride)), distance(x + i * stride, y + i * stride),
               1e-12);
  }
  CHECK_OK(quintet_poincare_log_map_origin(x, stride, QUINTET_DOUBLE, n, dim, NULL, NULL, out, stride, NULL));
  CHECK_OK(quintet_poincare_exp_map_origin(out, stride, QUINTET_DOUBLE, n, dim, NULL, NULL, back, stride, NULL));
  check_rows(back, stride, x, stride, 1e-14);
  /* Half of x is half as far from the origin, and the middle of the geodesic from there. */
  CHECK_OK(
      quintet_poincare_mobius_scalar_mul(&half, 1, x, stride, QUINTET_DOUBLE, n, dim, NULL, NULL, out, stride, NULL));
  memset(back, 0, sizeof back);
  CHECK_OK(quintet_poincare_geodesic(back, stride, x, stride, &half, 1, QUINTET_DOUBLE, n, dim, NULL, NULL, moved_row,
                                     stride, NULL));
  check_rows(out, stride, moved_row, stride, 1e-14);
  CHECK_OK(quintet_poincare_origin_distances(out, stride, QUINTET_DOUBLE, n, dim, NULL, NULL, lengths, NULL));
  CHECK_NEAR(2 * lengths[3], distance(back, x + 3 * stride), 1e-13);
  /* Transport there and back. */
  CHECK_OK(quintet_poincare_parallel_transport(x, stride, y, stride, v, stride, QUINTET_DOUBLE, n, dim, NULL, NULL, out,
                                               stride, NULL));
  CHECK_OK(quintet_poincare_parallel_transport(y, stride, x, stride, out, stride, QUINTET_DOUBLE, n, dim, NULL, NULL,
                                               out, stride, NULL));
  check_rows(out, stride, v, stride, 1e-13);
  CHECK_OK(quintet_poincare_to_hyperboloid(x, stride, QUINTET_DOUBLE, n, dim, NULL, NULL, hyperboloid, dim + 1, NULL));
  CHECK_NEAR(hyperboloid[0] * hyperboloid[0] - dot(hyperboloid + 1, hyperboloid + 1), 1, 1e-13);
  CHECK_OK(
      quintet_poincare_from_hyperboloid(hyperboloid, dim + 1, QUINTET_DOUBLE, n, dim, NULL, NULL, back, stride, NULL));
  check_rows(back, stride, x, stride, 1e-14);
  CHECK_OK(quintet_poincare_project(x, stride, QUINTET_DOUBLE, n, dim, 0.9, NULL, NULL, out, stride, status, &moved));
  CHECK(moved > 0 && moved <= n);
  CHECK_NEAR(fmax(0.1, sqrt(dot(out, out))), 0.1, 1e-14);

  CHECK_INVALID(quintet_poincare_project(x, stride, QUINTET_DOUBLE, n, dim, 2, NULL, NULL, out, stride, NULL, NULL),
                "epsilon");
  CHECK_INVALID(quintet_poincare_mobius_add(x, stride, y, stride, QUINTET_HALF, n, dim, NULL, NULL, out, stride, NULL),
                "type must be QUINTET_FLOAT (1) or QUINTET_DOUBLE (2) (type=3)");
  CHECK_INVALID(
      quintet_poincare_mobius_scalar_mul(&one, 2, x, stride, QUINTET_DOUBLE, n, dim, NULL, NULL, out, stride, NULL),
      "2");
  CHECK_INVALID(
      quintet_poincare_exp_map(x, stride, NULL, stride, QUINTET_DOUBLE, n, dim, NULL, NULL, out, stride, NULL),
      "v must not be null");
  CHECK_INVALID(quintet_poincare_conformal_factor(x, stride, QUINTET_DOUBLE, n, dim, NULL, NULL, NULL, NULL),
                "out must not be null");
  CHECK_INVALID(quintet_poincare_to_hyperboloid(x, stride, QUINTET_DOUBLE, n, dim, NULL, NULL, out, dim, NULL),
                "stride of out must be >= its columns=4");
  CHECK_INVALID(quintet_poincare_from_hyperboloid(x, stride, QUINTET_DOUBLE, n, 0, NULL, NULL, out, dim, NULL), "dim");
}

static void test_gradients(void) {
  double by_x[n * dim], by_y[n * dim], riemannian[n * dim], stepped[n * dim], before[n], after[n];
  const double h = 1e-6;
  int64_t moved = -1;
  int i, d;
  CHECK_OK(quintet_poincare_distance_gradients(x, stride, y, stride, QUINTET_DOUBLE, n, dim, NULL, NULL, by_x, dim,
                                               by_y, dim, NULL));
  for (i = 0; i < n; ++i)
    for (d = 0; d < dim; ++d) {
      double ahead[dim], behind[dim];
      memcpy(ahead, x + i * stride, sizeof ahead);
      memcpy(behind, x + i * stride, sizeof behind);
      ahead[d] += h;
      behind[d] -= h;
      CHECK_NEAR(by_x[i * dim + d], (distance(ahead, y + i * stride) - distance(behind, y + i * stride)) / (2 * h),
                 1e-7);
    }
  CHECK_OK(quintet_poincare_riemannian_gradient(x, stride, by_x, dim, QUINTET_DOUBLE, n, dim, NULL, NULL, riemannian,
                                                dim, NULL));
  CHECK_NEAR(riemannian[0], by_x[0] * pow((1 - dot(x, x)) / 2, 2), 1e-14);
  /* A step of 0.01 along the gradient of the distance makes it smaller by 0.01: the gradient has length 1. */
  CHECK_OK(quintet_poincare_rsgd_step(x, stride, by_x, dim, QUINTET_DOUBLE, n, dim, 0.01, 1e-9, NULL, NULL, stepped,
                                      dim, NULL, &moved));
  CHECK(moved == 0);
  CHECK_OK(
      quintet_poincare_pair_distances(x, stride, y, stride, QUINTET_DOUBLE, n, dim, NULL, NULL, before, NULL, NULL));
  CHECK_OK(
      quintet_poincare_pair_distances(stepped, dim, y, stride, QUINTET_DOUBLE, n, dim, NULL, NULL, after, NULL, NULL));
  for (i = 0; i < n; ++i) CHECK_NEAR(before[i] - after[i], 0.01, 1e-12);
  CHECK_INVALID(quintet_poincare_rsgd_step(x, stride, by_x, dim, QUINTET_DOUBLE, n, dim, NAN, 1e-9, NULL, NULL, stepped,
                                           dim, NULL, NULL),
                "rate");
  CHECK_INVALID(quintet_poincare_distance_gradients(x, stride, y, stride, QUINTET_DOUBLE, n, dim, NULL, NULL, by_x, dim,
                                                    NULL, dim, NULL),
                "gradient_y must not be null");
  CHECK_INVALID(quintet_poincare_riemannian_gradient(x, stride, NULL, dim, QUINTET_DOUBLE, n, dim, NULL, NULL,
                                                     riemannian, dim, NULL),
                "gradient must not be null");
}

static void test_means(void) {
  const int64_t offsets[] = {0, 2, n};
  double mid[2 * dim], mean[2 * dim], weights[n], to_mean[2];
  uint8_t status[n], converged[2] = {9, 9};
  int32_t iterations[2] = {-1, -1};
  int i;
  for (i = 0; i < n; ++i) weights[i] = 1;
  CHECK_OK(quintet_poincare_gyromidpoint(x, stride, QUINTET_DOUBLE, n, dim, offsets, 2, weights, NULL, NULL, mid, dim,
                                         status));
  CHECK_OK(quintet_poincare_frechet_mean(x, stride, QUINTET_DOUBLE, n, dim, offsets, 2, NULL, NULL, NULL, mean, dim,
                                         status, converged, iterations));
  CHECK(converged[0] == 1 && converged[1] == 1 && iterations[1] >= 1);
  /* Of two points both are the middle of the geodesic. */
  for (i = 0; i < dim; ++i) CHECK_NEAR(mid[i], mean[i], 1e-13);
  to_mean[0] = distance(x, mean);
  to_mean[1] = distance(x + stride, mean);
  CHECK_NEAR(to_mean[0], to_mean[1], 1e-12);
  CHECK_INVALID(
      quintet_poincare_gyromidpoint(x, stride, QUINTET_DOUBLE, n, dim, NULL, 2, NULL, NULL, NULL, mid, dim, NULL),
      "offsets must not be null");
  CHECK_INVALID(quintet_poincare_gyromidpoint(x, stride, QUINTET_DOUBLE, n - 1, dim, offsets, 2, NULL, NULL, NULL, mid,
                                              dim, NULL),
                "offsets");
  CHECK_INVALID(quintet_poincare_frechet_mean(x, stride, QUINTET_DOUBLE, n, dim, offsets, -1, NULL, NULL, NULL, mean,
                                              dim, NULL, NULL, NULL),
                "groups must be >= 0");
}

int main(void) {
  make_points();
  test_distances();
  test_status();
  test_operations();
  test_gradients();
  test_means();
  return check_result();
}
