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

static void test_lorentz(void) {
  const double far[] = {3e200, 4e200}, near[] = {3, 4};
  double matrix[n * n], pairs[n], origin[n], one = 0, timed[3] = {2, 3, 4};
  uint8_t status_x[n], status_y[n];
  quintet_lorentz_options options;
  int i;
  CHECK_OK(quintet_lorentz_options_default(&options, sizeof options));
  CHECK(options.curvature == -1 && options.form == QUINTET_SPACE && options.tolerance < 0 && options.strict == 0);
  CHECK_OK(quintet_lorentz_distances(x, n, stride, y, n, stride, QUINTET_DOUBLE, dim, NULL, NULL, matrix, n, status_x,
                                     status_y));
  CHECK_OK(quintet_lorentz_pair_distances(x, stride, y, stride, QUINTET_DOUBLE, n, dim, &options, "emulated", pairs,
                                          status_x, NULL));
  CHECK_OK(quintet_lorentz_origin_distances(x, stride, QUINTET_DOUBLE, n, dim, NULL, NULL, origin, status_x));
  for (i = 0; i < n; ++i) {
    const double *a = x + i * stride, *b = y + i * stride;
    const double cosh_d = sqrt((1 + dot(a, a)) * (1 + dot(b, b))) - dot(a, b);
    CHECK(status_x[i] == QUINTET_INSIDE && status_y[i] == QUINTET_INSIDE);
    CHECK(pairs[i] == matrix[i * n + i]);
    CHECK_NEAR(cosh(pairs[i]), cosh_d, 1e-14);
    CHECK_NEAR(origin[i], asinh(sqrt(dot(a, a))), 1e-14);
  }
  /* On one ray: the difference of the radii, asinh(5e200) - asinh(5). */
  CHECK_OK(quintet_lorentz_distance(far, near, QUINTET_DOUBLE, 2, NULL, &one));
  CHECK_NEAR(one, log(1e201) - asinh(5), 1e-12);
  options.form = QUINTET_TIME_AND_SPACE;
  CHECK_OK(quintet_lorentz_origin_distances(timed, 3, QUINTET_DOUBLE, 1, 3, &options, NULL, &one, status_x));
  CHECK(status_x[0] == QUINTET_OUTSIDE && isnan(one));
  options.strict = 1;
  CHECK_INVALID(quintet_lorentz_origin_distances(timed, 3, QUINTET_DOUBLE, 1, 3, &options, NULL, &one, NULL), "x[0]");
  timed[0] = sqrt(26.0);
  CHECK_OK(quintet_lorentz_origin_distances(timed, 3, QUINTET_DOUBLE, 1, 3, &options, NULL, &one, NULL));
  CHECK_NEAR(one, asinh(5), 1e-15);
  options.tolerance = 0;
  CHECK_INVALID(quintet_lorentz_distance(timed, timed, QUINTET_DOUBLE, 3, &options, &one), "tolerance must be > 0");
  options.form = 3;
  CHECK_INVALID(quintet_lorentz_distance(timed, timed, QUINTET_DOUBLE, 3, &options, &one), "form must be one of");
  options.form = QUINTET_SPACE;
  options.curvature = 0;
  CHECK_INVALID(quintet_lorentz_distance(timed, timed, QUINTET_DOUBLE, 3, &options, &one),
                "curvature must be negative");
}

static void test_lorentz_operations(void) {
  static double out[n * stride], back[n * stride], moved[n * stride];
  const double half = 0.5;
  double whole[n], part[n];
  uint8_t status[n];
  quintet_lorentz_options options;
  int i;
  CHECK_OK(quintet_lorentz_options_default(&options, sizeof options));
  CHECK_OK(quintet_lorentz_exp_map(x, stride, v, stride, QUINTET_DOUBLE, n, dim, NULL, NULL, out, stride, status));
  CHECK_OK(
      quintet_lorentz_log_map(x, stride, out, stride, QUINTET_DOUBLE, n, dim, NULL, "emulated", back, stride, NULL));
  {
    /* Of two points both means are the middle of their geodesic. */
    const int64_t offsets[] = {0, 2};
    const double half = 0.5;
    double centroid[dim], frechet[dim], middle[dim];
    uint8_t converged = 0;
    int d;
    CHECK_OK(
        quintet_lorentz_centroid(x, stride, QUINTET_DOUBLE, 2, dim, offsets, 1, NULL, NULL, NULL, centroid, dim, NULL));
    CHECK_OK(quintet_lorentz_frechet_mean(x, stride, QUINTET_DOUBLE, 2, dim, offsets, 1, NULL, NULL, NULL, frechet, dim,
                                          status, &converged, NULL));
    CHECK_OK(quintet_lorentz_geodesic(x, stride, x + stride, stride, &half, 1, QUINTET_DOUBLE, 1, dim, NULL, NULL,
                                      middle, dim, NULL));
    CHECK(converged == 1 && status[0] == 0);
    for (d = 0; d < dim; ++d) {
      CHECK_NEAR(centroid[d], middle[d], 1e-14);
      CHECK_NEAR(frechet[d], middle[d], 1e-14);
    }
    CHECK_INVALID(
        quintet_lorentz_centroid(x, stride, QUINTET_DOUBLE, n, dim, offsets, 1, NULL, NULL, NULL, centroid, dim, NULL),
        "offsets[1] must be");
  }
  check_rows(back, stride, v, stride, 1e-14);
  CHECK_OK(quintet_lorentz_parallel_transport(x, stride, out, stride, v, stride, QUINTET_DOUBLE, n, dim, NULL, NULL,
                                              moved, stride, NULL));
  CHECK_OK(quintet_lorentz_log_map(out, stride, x, stride, QUINTET_DOUBLE, n, dim, NULL, NULL, back, stride, NULL));
  for (i = 0; i < n * stride; ++i) back[i] = -back[i];
  check_rows(moved, stride, back, stride, 1e-14);
  CHECK_OK(quintet_lorentz_geodesic(x, stride, y, stride, &half, 1, QUINTET_DOUBLE, n, dim, NULL, NULL, out, stride,
                                    status));
  CHECK_OK(quintet_lorentz_pair_distances(x, stride, y, stride, QUINTET_DOUBLE, n, dim, NULL, NULL, whole, NULL, NULL));
  CHECK_OK(
      quintet_lorentz_pair_distances(x, stride, out, stride, QUINTET_DOUBLE, n, dim, NULL, NULL, part, NULL, NULL));
  for (i = 0; i < n; ++i) CHECK_NEAR(2 * part[i], whole[i], 1e-14);
  CHECK_OK(quintet_lorentz_to_ball(x, stride, QUINTET_DOUBLE, n, dim, NULL, NULL, out, stride, NULL));
  CHECK_NEAR(distance(out, out + stride),
             acosh(sqrt((1 + dot(x, x)) * (1 + dot(x + stride, x + stride))) - dot(x, x + stride)), 1e-13);
  CHECK_OK(quintet_lorentz_from_ball(out, stride, QUINTET_DOUBLE, n, dim, NULL, NULL, back, stride, NULL));
  check_rows(back, stride, x, stride, 1e-14);
  CHECK_OK(quintet_lorentz_to_klein(x, stride, QUINTET_DOUBLE, n, dim, NULL, NULL, out, stride, NULL));
  CHECK_NEAR(out[0], x[0] / sqrt(1 + dot(x, x)), 1e-15);
  CHECK_OK(quintet_lorentz_from_klein(out, stride, QUINTET_DOUBLE, n, dim, NULL, NULL, back, stride, NULL));
  check_rows(back, stride, x, stride, 1e-14);
  CHECK_OK(quintet_lorentz_to_half_space(x, stride, QUINTET_DOUBLE, n, dim, NULL, NULL, out, stride, NULL));
  CHECK_NEAR(out[2], 1 / (sqrt(1 + dot(x, x)) - x[2]), 1e-14);
  CHECK_OK(quintet_lorentz_from_half_space(out, stride, QUINTET_DOUBLE, n, dim, NULL, NULL, back, stride, NULL));
  check_rows(back, stride, x, stride, 1e-14);
  {
    /* Row 0, from the hyperplane through the origin, and the slope of its way along the normal. */
    const double offset = 0;
    double distances[n], slopes[n];
    CHECK_OK(quintet_lorentz_hyperplane_distances(x, stride, y, stride, &offset, 1, QUINTET_DOUBLE, n, dim, NULL,
                                                  "emulated", distances, status));
    CHECK_NEAR(sinh(distances[0]), dot(x, y) / sqrt(dot(y, y)), 1e-14);
    CHECK(status[0] == QUINTET_INSIDE);
    CHECK_OK(quintet_lorentz_hyperplane_gradients(x, stride, y, stride, &offset, 1, QUINTET_DOUBLE, n, dim, NULL, NULL,
                                                  out, stride, back, stride, slopes, NULL));
    CHECK_NEAR(out[0], y[0] / sqrt(dot(y, y)) / cosh(distances[0]), 1e-14);
    CHECK_NEAR(slopes[0], -sqrt(1 + dot(x, x)) / cosh(distances[0]), 1e-14);
    CHECK_NEAR(dot(back, y), 0, 1e-14);
    CHECK_INVALID(quintet_lorentz_hyperplane_distances(x, stride, y, stride, &offset, 0, QUINTET_DOUBLE, n, dim, NULL,
                                                       NULL, distances, NULL),
                  "offsets.size must be 1 or N");
  }
  options.form = QUINTET_TIME_AND_SPACE;
  CHECK_INVALID(quintet_lorentz_to_ball(x, stride, QUINTET_DOUBLE, n, dim, &options, NULL, out, stride, NULL), "form");
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
  {
    const int64_t links[] = {0, 1, 2, 1, 0, 2};
    double losses[2], pull[n * dim];
    const double one = distance(x, x + stride), two = distance(x, x + 2 * stride);
    CHECK_OK(quintet_poincare_negative_sampling(x, stride, QUINTET_DOUBLE, n, dim, links, 2, 3, NULL, NULL, losses,
                                                pull, dim, NULL));
    CHECK_NEAR(losses[0], one + log(exp(-one) + exp(-two)), 1e-14);
    CHECK_INVALID(quintet_poincare_negative_sampling(x, stride, QUINTET_DOUBLE, n, dim, links, 2, 1, NULL, NULL, losses,
                                                     pull, dim, NULL),
                  "width must be >= 2");
    CHECK_INVALID(quintet_poincare_negative_sampling(x, stride, QUINTET_DOUBLE, n, dim, NULL, 2, 3, NULL, NULL, losses,
                                                     pull, dim, NULL),
                  "links must not be null");
  }
  {
    const int64_t links[] = {0, 1, 2};
    quintet_lorentz_options sheet;
    double timed[9], space[6] = {0, 0, 3, 4, -1, 0}, of_time[1], losses[1], pull[6], timed_pull[9], one, two;
    for (i = 0; i < 3; ++i) {
      timed[3 * i] = sqrt(1 + space[2 * i] * space[2 * i] + space[2 * i + 1] * space[2 * i + 1]);
      memcpy(timed + 3 * i + 1, space + 2 * i, 2 * sizeof *space);
    }
    CHECK_OK(quintet_lorentz_options_default(&sheet, sizeof sheet));
    CHECK_OK(quintet_lorentz_distance(space, space + 2, QUINTET_DOUBLE, 2, NULL, &one));
    CHECK_OK(quintet_lorentz_distance(space, space + 4, QUINTET_DOUBLE, 2, NULL, &two));
    CHECK_OK(quintet_lorentz_negative_sampling(space, 2, QUINTET_DOUBLE, 3, 2, links, 1, 3, NULL, NULL, losses, pull, 2,
                                               NULL));
    CHECK_NEAR(losses[0], one + log(exp(-one) + exp(-two)), 1e-14);
    sheet.form = QUINTET_TIME_AND_SPACE;
    CHECK_OK(quintet_lorentz_negative_sampling(timed, 3, QUINTET_DOUBLE, 3, 3, links, 1, 3, &sheet, "emulated", of_time,
                                               timed_pull, 3, NULL));
    CHECK_NEAR(of_time[0], losses[0], 1e-15);
    CHECK(timed_pull[3] == 0);
    CHECK_NEAR(timed_pull[4], pull[2], 1e-15);
    CHECK_INVALID(quintet_lorentz_negative_sampling(space, 2, QUINTET_DOUBLE, 3, 2, links, -1, 3, NULL, NULL, losses,
                                                    pull, 2, NULL),
                  "rows must be >= 0");
  }
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

/* The first step of Adam goes along the gradient, and is as long as the rate. */
static void test_adam(void) {
  double by_x[n * dim], by_y[n * dim], first[n * dim] = {0}, second[n] = {0}, stepped[n * dim], before[n], after[n];
  double timed[3] = {0, 3, 4}, slope[3] = {0, 3, 4}, space[2] = {0, 0}, square = 0;
  quintet_adam_options settings;
  quintet_lorentz_options sheet;
  int64_t moved = -1;
  uint8_t status[n];
  int i;
  CHECK_OK(quintet_adam_options_default(&settings, sizeof settings));
  CHECK(settings.step == 1 && settings.beta1 == 0.9 && settings.beta2 == 0.999);
  settings.rate = 0.01;
  CHECK_OK(quintet_poincare_distance_gradients(x, stride, y, stride, QUINTET_DOUBLE, n, dim, NULL, NULL, by_x, dim,
                                               by_y, dim, NULL));
  CHECK_OK(quintet_poincare_adam_step(x, stride, by_x, dim, QUINTET_DOUBLE, n, dim, 1e-9, &settings, NULL, NULL, first,
                                      dim, second, stepped, dim, status, &moved));
  CHECK(moved == 0 && status[0] == QUINTET_INSIDE);
  CHECK_OK(
      quintet_poincare_pair_distances(x, stride, y, stride, QUINTET_DOUBLE, n, dim, NULL, NULL, before, NULL, NULL));
  CHECK_OK(
      quintet_poincare_pair_distances(stepped, dim, y, stride, QUINTET_DOUBLE, n, dim, NULL, NULL, after, NULL, NULL));
  for (i = 0; i < n; ++i) {
    CHECK_NEAR(before[i] - after[i], 0.01, 1e-9);
    CHECK_NEAR(second[i], 0.001, 1e-12);
  }
  settings.step = 0;
  CHECK_INVALID(quintet_poincare_adam_step(x, stride, by_x, dim, QUINTET_DOUBLE, n, dim, 1e-9, &settings, NULL, NULL,
                                           first, dim, second, stepped, dim, NULL, NULL),
                "step must be >= 1");
  CHECK_INVALID(quintet_poincare_adam_step(x, stride, by_x, dim, QUINTET_DOUBLE, n, dim, 1e-9, NULL, NULL, NULL, NULL,
                                           dim, second, stepped, dim, NULL, NULL),
                "first must not be null");
  settings.step = 1;
  CHECK_OK(quintet_lorentz_options_default(&sheet, sizeof sheet));
  sheet.form = QUINTET_TIME_IGNORED;
  before[0] = asinh(5);
  CHECK_OK(quintet_lorentz_adam_step(timed, 3, slope, 3, QUINTET_DOUBLE, 1, 3, &settings, &sheet, NULL, space, 2,
                                     &square, timed, 3, NULL));
  CHECK_NEAR(before[0] - asinh(sqrt(timed[1] * timed[1] + timed[2] * timed[2])), 0.01, 1e-10);
  CHECK_NEAR(timed[0], sqrt(1 + timed[1] * timed[1] + timed[2] * timed[2]), 1e-14);
  sheet.form = QUINTET_TIME_AND_SPACE;
  CHECK_INVALID(quintet_lorentz_adam_step(timed, 3, slope, 3, QUINTET_DOUBLE, 1, 3, &settings, &sheet, NULL, space, 2,
                                          &square, timed, 3, NULL),
                "form must be space or time_ignored");
}

static void test_product(void) {
  const quintet_factor factors[] = {{QUINTET_STEREOGRAPHIC_FACTOR, 0, 1, -1, 1},
                                    {QUINTET_SPHERE_FACTOR, 0, 2, 4, 1},
                                    {QUINTET_FLAT_FACTOR, 0, 1, 0, 9}};
  const double a[] = {0.5, 1, 0, 2}, b[] = {0, 0, 3, 1};
  const double expected = sqrt(log(3) * log(3) + pow(acos(0) / 2, 2) + 9);
  double matrix[4], pair;
  float narrow = 0;
  const float c[] = {3, 4}, d[] = {0, 0};
  uint8_t status[2] = {9, 9};
  CHECK_OK(quintet_product_distances(a, 1, 4, b, 1, 4, QUINTET_DOUBLE, 4, factors, 3, 0, NULL, matrix, 1, status,
                                     status + 1));
  CHECK_NEAR(matrix[0], expected, 1e-15);
  CHECK(status[0] == QUINTET_INSIDE && status[1] == QUINTET_INSIDE);
  CHECK_OK(
      quintet_product_pair_distances(a, 4, b, 4, QUINTET_DOUBLE, 1, 4, factors, 3, 0, "emulated", &pair, NULL, NULL));
  CHECK_NEAR(pair, expected, 1e-14);
  CHECK_OK(
      quintet_product_pair_distances(c, 1, d, 1, QUINTET_FLOAT, 1, 1, factors + 2, 1, 0, NULL, &narrow, NULL, NULL));
  CHECK(narrow == 9);
  CHECK_INVALID(
      quintet_product_distances(a, 1, 4, b, 1, 4, QUINTET_DOUBLE, 4, factors, 2, 0, NULL, matrix, 1, NULL, NULL),
      "points.cols must be the sum of the dimensions, 3");
  CHECK_INVALID(quintet_product_distances(a, 1, 4, b, 1, 4, QUINTET_DOUBLE, 4, NULL, 3, 0, NULL, matrix, 1, NULL, NULL),
                "factors must not be null");
}

/* On the circle of radius 1 angles add up, and the point of an angle is tan(angle / 2). */
static void test_stereographic(void) {
  const double a[2] = {0.3, 0}, b[2] = {0.4, 0}, part = 0.5;
  double sum[2], twice[2], log_b[2], end[2], middle[2], opposite[2] = {-1 / 0.3, 0};
  uint8_t status = 9;
  CHECK_OK(quintet_stereographic_add(a, 2, b, 2, QUINTET_DOUBLE, 1, 2, 1, 0, NULL, sum, 2, &status));
  CHECK(status == 0 && sum[1] == 0);
  CHECK_NEAR(atan(sum[0]), atan(0.3) + atan(0.4), 1e-15);
  CHECK_OK(quintet_stereographic_scalar_mul(&part, 1, sum, 2, QUINTET_DOUBLE, 1, 2, 1, 0, "emulated", twice, 2, NULL));
  CHECK_NEAR(atan(twice[0]), (atan(0.3) + atan(0.4)) / 2, 1e-15);
  CHECK_OK(quintet_stereographic_log_map(a, 2, b, 2, QUINTET_DOUBLE, 1, 2, 1, 0, NULL, log_b, 2, NULL));
  CHECK_NEAR(log_b[0], 1.09 * (atan(0.4) - atan(0.3)), 1e-15);
  CHECK_OK(quintet_stereographic_exp_map(a, 2, log_b, 2, QUINTET_DOUBLE, 1, 2, 1, 0, NULL, end, 2, NULL));
  CHECK_NEAR(end[0], 0.4, 1e-15);
  CHECK_OK(quintet_stereographic_geodesic(a, 2, b, 2, &part, 1, QUINTET_DOUBLE, 1, 2, 0, 0, NULL, middle, 2, NULL));
  CHECK_NEAR(middle[0], 0.35, 1e-15);
  CHECK_OK(quintet_stereographic_log_map(a, 2, opposite, 2, QUINTET_DOUBLE, 1, 2, 1, 0, NULL, log_b, 2, &status));
  CHECK(status == 0 || (status == 1 && isnan(log_b[0])));
  CHECK_INVALID(quintet_stereographic_add(a, 2, b, 2, QUINTET_DOUBLE, 1, 2, 1e40, 0, NULL, sum, 2, NULL),
                "curvature must be 0, or of a magnitude in");
  CHECK_INVALID(quintet_stereographic_exp_map(a, 2, NULL, 2, QUINTET_DOUBLE, 1, 2, 1, 0, NULL, end, 2, NULL),
                "v must not be null");
  CHECK_INVALID(quintet_stereographic_scalar_mul(&part, 2, a, 2, QUINTET_DOUBLE, 1, 2, 1, 0, NULL, twice, 2, NULL),
                "r.size");
  CHECK_INVALID(quintet_stereographic_geodesic(a, 2, b, 2, NULL, 1, QUINTET_DOUBLE, 1, 2, 1, 0, NULL, middle, 2, NULL),
                "t must not be null");
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
  test_lorentz();
  test_adam();
  test_product();
  test_stereographic();
  test_lorentz_operations();
  test_status();
  test_operations();
  test_gradients();
  test_means();
  return check_result();
}
