/* Batched singular values: decomposition, gradient, applications. */
#include "check.h"

enum { batch = 3, rows = 7, cols = 4 };
static double a[batch * rows * cols];

static void make_matrices(void) {
  uint64_t state = 5;
  int i;
  for (i = 0; i < batch * rows * cols; ++i) a[i] = next_uniform(&state) - 0.5;
}

static quintet_svd* decompose(void) {
  quintet_svd* svd = NULL;
  CHECK_OK(quintet_svd_decompose(a, QUINTET_DOUBLE, batch, rows, cols, rows * cols, cols, 1, NULL, NULL, &svd));
  return svd;
}

/* Largest deviation of U S V^T from a. */
static double residual(const double* u, const double* s, const double* v) {
  double worst = 0;
  int b, i, j, k;
  for (b = 0; b < batch; ++b)
    for (i = 0; i < rows; ++i)
      for (j = 0; j < cols; ++j) {
        double sum = 0;
        for (k = 0; k < cols; ++k) sum += u[(b * rows + i) * cols + k] * s[b * cols + k] * v[(b * cols + j) * cols + k];
        worst = fmax(worst, fabs(sum - a[(b * rows + i) * cols + j]));
      }
  return worst;
}

static void test_decompose(void) {
  quintet_svd *svd = decompose(), *transposed = NULL, *other = NULL;
  quintet_svd_shape shape;
  quintet_svd_options options;
  const void *u = NULL, *s = NULL, *v = NULL, *s_of_transposed = NULL;
  const int32_t *outcome = NULL, *sweeps = NULL;
  const double* residuals = NULL;
  int64_t count = 0;
  uint16_t half[batch * rows * cols];
  int i;
  memset(&shape, 0, sizeof shape);
  shape.size = sizeof shape;
  CHECK_OK(quintet_svd_get_shape(svd, &shape));
  CHECK(shape.type == QUINTET_DOUBLE && shape.batch == batch && shape.rows == rows && shape.cols == cols);
  CHECK(shape.values == cols && shape.u_cols == cols && shape.v_cols == cols);
  CHECK_OK(quintet_svd_u(svd, &u, &count));
  CHECK(count == batch * rows * cols);
  CHECK_OK(quintet_svd_s(svd, &s, &count));
  CHECK(count == batch * cols);
  CHECK_OK(quintet_svd_v(svd, &v, &count));
  CHECK(count == batch * cols * cols);
  CHECK_NEAR(residual(u, s, v), 0, 1e-14);
  CHECK_OK(quintet_svd_outcome(svd, &outcome, &sweeps, &count));
  CHECK(count == batch && outcome[0] == QUINTET_SVD_CONVERGED && sweeps[0] >= 1);
  CHECK_OK(quintet_svd_residual(svd, &residuals, &count));
  CHECK(count == 0);
  /* The transpose by its strides: the same singular values. */
  CHECK_OK(
      quintet_svd_decompose(a, QUINTET_DOUBLE, batch, cols, rows, rows * cols, 1, cols, NULL, "emulated", &transposed));
  CHECK_OK(quintet_svd_s(transposed, &s_of_transposed, NULL));
  for (i = 0; i < batch * cols; ++i) CHECK_NEAR(((const double*)s)[i], ((const double*)s_of_transposed)[i], 1e-14);
  quintet_svd_free(transposed);

  CHECK_OK(quintet_svd_options_default(&options, sizeof options));
  CHECK(options.vectors == QUINTET_SVD_ECONOMY && options.max_sweeps == 30 && options.rank == 10);
  options.vectors = QUINTET_SVD_NONE;
  options.top = 2;
  CHECK_OK(quintet_convert(a, QUINTET_DOUBLE, half, QUINTET_HALF, batch * rows * cols));
  CHECK_OK(quintet_svd_decompose(half, QUINTET_HALF, batch, rows, cols, rows * cols, cols, 1, &options, NULL, &other));
  CHECK_OK(quintet_svd_get_shape(other, &shape));
  CHECK(shape.type == QUINTET_HALF && shape.values == 2 && shape.u_cols == 0);
  CHECK_OK(quintet_svd_s(other, &s_of_transposed, &count));
  CHECK(count == 2 * batch);
  CHECK_NEAR(((const float*)s_of_transposed)[0], ((const double*)s)[0], 2e-3);
  quintet_svd_free(other);

  options.top = 0;
  options.vectors = QUINTET_SVD_ECONOMY;
  options.rank = 2;
  options.oversampling = 2;
  CHECK_OK(quintet_svd_randomised(a, QUINTET_DOUBLE, batch, rows, cols, rows * cols, cols, 1, &options, NULL, &other));
  CHECK_OK(quintet_svd_residual(other, &residuals, &count));
  CHECK(count == batch);
  CHECK_NEAR(residuals[0], hypot(((const double*)s)[2], ((const double*)s)[3]), 1e-12);
  quintet_svd_free(other);
  quintet_svd_free(svd);
  quintet_svd_free(NULL);
}

static void test_errors(void) {
  double odd[] = {1, NAN, 2, 3};
  const int32_t* outcome = NULL;
  quintet_svd_options options;
  quintet_svd* svd = NULL;
  CHECK_OK(quintet_svd_options_default(&options, sizeof options));
  CHECK_INVALID(quintet_svd_options_default(NULL, sizeof options), "options must not be null");
  options.vectors = 3;
  CHECK_INVALID(quintet_svd_decompose(a, QUINTET_DOUBLE, batch, rows, cols, 28, 4, 1, &options, NULL, &svd),
                "vectors must");
  options.vectors = 1;
  options.max_sweeps = 0;
  CHECK_INVALID(quintet_svd_decompose(a, QUINTET_DOUBLE, batch, rows, cols, 28, 4, 1, &options, NULL, &svd),
                "max_sweeps");
  options.rank = 0;
  CHECK_INVALID(quintet_svd_randomised(a, QUINTET_DOUBLE, batch, rows, cols, 28, 4, 1, &options, NULL, &svd), "rank");
  CHECK_INVALID(quintet_svd_randomised(a, QUINTET_HALF, batch, rows, cols, 28, 4, 1, NULL, NULL, &svd), "type must be");
  CHECK_INVALID(quintet_svd_decompose(a, QUINTET_DOUBLE, -2, rows, cols, 28, 4, 1, NULL, NULL, &svd),
                "number of matrices of a must be >= 0");
  CHECK_INVALID(quintet_svd_decompose(NULL, QUINTET_DOUBLE, batch, rows, cols, 28, 4, 1, NULL, NULL, &svd),
                "a must not be null (3 matrices 7 x 4)");
  CHECK_INVALID(quintet_svd_decompose(a, QUINTET_DOUBLE, 1, 40000, 40000, 1, 1, 1, NULL, NULL, &svd), "32768");
  CHECK(svd == NULL);
  CHECK_INVALID(quintet_svd_decompose(a, QUINTET_DOUBLE, batch, rows, cols, 28, 4, 1, NULL, NULL, NULL), "handle");
  CHECK_INVALID(quintet_svd_s(NULL, NULL, NULL), "svd must not be null");
  CHECK_INVALID(quintet_svd_residual(NULL, NULL, NULL), "svd must not be null");
  /* A matrix that is not finite is told, not refused. */
  CHECK_OK(quintet_svd_decompose(odd, QUINTET_DOUBLE, 1, 2, 2, 4, 2, 1, NULL, NULL, &svd));
  CHECK_OK(quintet_svd_outcome(svd, &outcome, NULL, NULL));
  CHECK(outcome[0] == QUINTET_SVD_NOT_FINITE);
  CHECK_INVALID(quintet_svd_get_shape(svd, NULL), "shape must not be null");
  quintet_svd_free(svd);
}

static void test_gradient(void) {
  /* By the sum of squares of the singular values: 2 A. */
  quintet_svd* svd = decompose();
  const void* s = NULL;
  double gs[batch * cols], ga[batch * rows * cols];
  int i;
  CHECK_OK(quintet_svd_s(svd, &s, NULL));
  for (i = 0; i < batch * cols; ++i) gs[i] = 2 * ((const double*)s)[i];
  CHECK_OK(quintet_svd_gradient(svd, NULL, 0, 0, 0, gs, cols, NULL, 0, 0, 0, QUINTET_SVD_DROP, 0, NULL, ga));
  for (i = 0; i < batch * rows * cols; ++i) CHECK_NEAR(ga[i], 2 * a[i], 1e-13);
  CHECK_INVALID(quintet_svd_gradient(svd, NULL, 0, 0, 0, gs, cols, NULL, 0, 0, 0, 7, 0, NULL, ga),
                "policy must be one of");
  CHECK_INVALID(quintet_svd_gradient(svd, NULL, 0, 0, 0, gs, cols, NULL, 0, 0, 0, 1, 0, NULL, NULL),
                "ga must not be null");
  CHECK_INVALID(quintet_svd_gradient(svd, NULL, 0, 0, 0, gs, 1, NULL, 0, 0, 0, 1, 0, NULL, ga), "stride of gs");
  CHECK_INVALID(quintet_svd_gradient(NULL, NULL, 0, 0, 0, gs, cols, NULL, 0, 0, 0, 1, 0, NULL, ga),
                "svd must not be null");
  quintet_svd_free(svd);
}

static void test_applications(void) {
  quintet_svd* svd = decompose();
  const void* s = NULL;
  const double* singular;
  double pseudo[batch * cols * rows], x[batch * cols * 2], right[batch * rows * 2], low[batch * rows * cols],
      condition[batch], w[batch * rows * cols], h[batch * cols * cols], worst = 0, error = 0;
  int64_t rank[batch];
  uint64_t state = 3;
  int b, i, j, k;
  CHECK_OK(quintet_svd_s(svd, &s, NULL));
  singular = s;
  for (i = 0; i < batch * rows * 2; ++i) right[i] = next_uniform(&state);
  CHECK_OK(quintet_svd_rank(svd, QUINTET_SVD_DEFAULT_TOLERANCE, rank));
  CHECK(rank[0] == cols && rank[2] == cols);
  CHECK_OK(quintet_svd_pseudo_inverse(svd, QUINTET_SVD_DEFAULT_TOLERANCE, pseudo));
  CHECK_OK(quintet_svd_least_squares(svd, right, 2, rows * 2, 2, 1, QUINTET_SVD_DEFAULT_TOLERANCE, x));
  CHECK_OK(quintet_svd_low_rank(svd, 3, low));
  CHECK_OK(quintet_svd_condition_number(svd, condition));
  CHECK_OK(quintet_svd_polar(svd, w, h));
  for (b = 0; b < batch; ++b) {
    double squares = 0;
    CHECK_NEAR(condition[b], singular[b * cols] / singular[b * cols + cols - 1], 1e-12 * condition[b]);
    for (i = 0; i < rows * cols; ++i) squares += pow(low[b * rows * cols + i] - a[b * rows * cols + i], 2);
    CHECK_NEAR(sqrt(squares), singular[b * cols + 3], 1e-13);
    for (i = 0; i < cols; ++i)
      for (j = 0; j < 2; ++j) { /* x = A^+ right */
        double sum = 0;
        for (k = 0; k < rows; ++k) sum += pseudo[(b * cols + i) * rows + k] * right[(b * rows + k) * 2 + j];
        worst = fmax(worst, fabs(sum - x[(b * cols + i) * 2 + j]));
      }
    for (i = 0; i < rows; ++i)
      for (j = 0; j < cols; ++j) { /* A = W H */
        double sum = 0;
        for (k = 0; k < cols; ++k) sum += w[(b * rows + i) * cols + k] * h[(b * cols + k) * cols + j];
        error = fmax(error, fabs(sum - a[(b * rows + i) * cols + j]));
      }
  }
  CHECK_NEAR(worst, 0, 1e-12);
  CHECK_NEAR(error, 0, 1e-14);
  CHECK_OK(quintet_svd_polar(svd, NULL, h));
  CHECK_INVALID(quintet_svd_rank(svd, 0, NULL), "out must not be null (3 elements)");
  CHECK_INVALID(quintet_svd_rank(svd, -2, rank), "tolerance");
  CHECK_INVALID(quintet_svd_low_rank(svd, -1, low), "rank");
  CHECK_INVALID(quintet_svd_least_squares(svd, NULL, 2, rows * 2, 2, 1, 0, x), "right must not be null");
  CHECK_INVALID(quintet_svd_pseudo_inverse(NULL, 0, pseudo), "svd must not be null");
  CHECK_INVALID(quintet_svd_condition_number(svd, NULL), "out must not be null");
  quintet_svd_free(svd);
}

int main(void) {
  make_matrices();
  test_decompose();
  test_errors();
  test_gradient();
  test_applications();
  return check_result();
}
