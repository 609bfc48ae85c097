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
  const void *u = NULL, *s = NULL, *v = NULL, *s_of_transposed = NULL, *means = NULL;
  double lost = 0;
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
  CHECK_OK(quintet_svd_means(svd, NULL, &count));
  CHECK(count == 0);
  options.centre = 1;
  CHECK_OK(quintet_svd_decompose(a, QUINTET_DOUBLE, batch, rows, cols, rows * cols, cols, 1, &options, NULL, &other));
  options.centre = 0;
  CHECK_OK(quintet_svd_means(other, &means, &count));
  CHECK(count == batch * cols);
  for (i = 0; i < cols; ++i) {
    double sum = 0;
    int row;
    for (row = 0; row < rows; ++row) sum += a[row * cols + i];
    CHECK_NEAR(((const double*)means)[i], sum / rows, 1e-14);
  }
  CHECK_OK(quintet_svd_s(other, &s_of_transposed, &count));
  /* Without its means the sum of squares is smaller, by rows times theirs. */
  for (i = 0; i < cols; ++i) {
    const double before = ((const double*)s)[i], after = ((const double*)s_of_transposed)[i],
                 mean = ((const double*)means)[i];
    lost += before * before - after * after - rows * mean * mean;
  }
  CHECK_NEAR(lost, 0, 1e-11);
  quintet_svd_free(other);

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

/* The first matrix has rank 2, the others 4. */
static void test_ranks(void) {
  double of_rank[batch * rows * cols], right[batch * rows], x[batch * cols], residual_norm[batch], worst = 0;
  double range[batch * rows * cols], null[batch * cols * cols];
  quintet_svd *svd = NULL, *symmetric = NULL;
  quintet_svd_shape shape;
  const void *s = NULL, *s_of_symmetric = NULL;
  int64_t rank[batch], dimension[batch], count = 0;
  int32_t outcome[batch];
  const double hankel[4] = {1, 2, 2, -3};
  int b, i, j;
  memcpy(of_rank, a, sizeof a);
  for (i = 0; i < rows; ++i) {
    of_rank[i * cols + 2] = of_rank[i * cols] - of_rank[i * cols + 1];
    of_rank[i * cols + 3] = 2 * of_rank[i * cols];
  }
  for (i = 0; i < batch * rows; ++i) right[i] = of_rank[i * cols];
  CHECK_OK(quintet_svd_decompose(of_rank, QUINTET_DOUBLE, batch, rows, cols, rows * cols, cols, 1, NULL, NULL, &svd));
  CHECK_OK(quintet_svd_range(svd, QUINTET_SVD_DEFAULT_TOLERANCE, QUINTET_SVD_DEFAULT_TOLERANCE, range, dimension));
  CHECK(dimension[0] == 2 && dimension[1] == 4 && range[2] == 0 && range[0] != 0);
  CHECK_OK(quintet_svd_null_space(svd, 1e-10, 0, null, dimension));
  CHECK(dimension[0] == 2 && dimension[1] == 0 && null[cols * cols] == 0);
  for (i = 0; i < rows; ++i)
    for (j = 0; j < 2; ++j) {
      double sum = 0;
      for (b = 0; b < cols; ++b) sum += of_rank[i * cols + b] * null[b * cols + j];
      worst = fmax(worst, fabs(sum));
    }
  CHECK_NEAR(worst, 0, 1e-14);
  CHECK_OK(quintet_svd_truncate(svd, QUINTET_SVD_DEFAULT_TOLERANCE, 1e-10, rank));
  CHECK(rank[0] == 2 && rank[1] == 4 && rank[2] == 4);
  CHECK_OK(quintet_svd_s(svd, &s, &count));
  CHECK(count == batch * cols && ((const double*)s)[2] == 0 && ((const double*)s)[6] > 0);
  CHECK_OK(quintet_svd_truncate(svd, 0, 1e10, NULL));
  memset(&shape, 0, sizeof shape);
  shape.size = sizeof shape;
  CHECK_OK(quintet_svd_get_shape(svd, &shape));
  CHECK(shape.values == 0 && shape.u_cols == 0 && shape.rows == rows);
  CHECK_INVALID(quintet_svd_range(svd, 0, 0, range, dimension), "values");
  CHECK_INVALID(quintet_svd_truncate(svd, -2, 0, NULL), "tolerance");
  CHECK_INVALID(quintet_svd_truncate(svd, 0, -3, NULL), "absolute");
  CHECK_INVALID(quintet_svd_truncate(NULL, 0, 0, NULL), "svd must not be null");
  quintet_svd_free(svd);

  /* The first columns as right-hand sides: A x = right without a rest. */
  CHECK_OK(quintet_svd_solve_least_squares(of_rank, QUINTET_DOUBLE, batch, rows, cols, rows * cols, cols, 1, right, 1,
                                           rows, 1, 1, QUINTET_SVD_DEFAULT_TOLERANCE, QUINTET_SVD_DEFAULT_TOLERANCE,
                                           NULL, x, residual_norm, rank, outcome));
  CHECK(rank[0] == 2 && rank[1] == 4 && outcome[0] == QUINTET_SVD_CONVERGED);
  for (b = 0; b < batch; ++b) CHECK_NEAR(residual_norm[b], 0, 1e-14);
  CHECK_NEAR(x[cols], 1, 1e-13); /* of full rank: x = (1, 0, 0, 0) */
  CHECK(x[0] * x[0] + x[3] * x[3] < 1);
  CHECK_OK(quintet_svd_solve_least_squares(of_rank, QUINTET_DOUBLE, batch, rows, cols, rows * cols, cols, 1, right, 1,
                                           rows, 1, 1, 0, 1e10, "host", x, NULL, NULL, NULL));
  for (i = 0; i < batch * cols; ++i) CHECK(x[i] == 0);
  CHECK_INVALID(quintet_svd_solve_least_squares(of_rank, QUINTET_DOUBLE, batch, rows, cols, rows * cols, cols, 1, NULL,
                                                1, rows, 1, 1, 0, 0, NULL, x, NULL, NULL, NULL),
                "right must not be null");
  CHECK_INVALID(quintet_svd_solve_least_squares(of_rank, QUINTET_DOUBLE, batch, rows, cols, rows * cols, cols, 1, right,
                                                1, rows, 1, 1, 0, 0, NULL, NULL, NULL, NULL, NULL),
                "x must not be null");

  CHECK_OK(
      quintet_svd_decompose_symmetric(hankel, QUINTET_DOUBLE, 1, 2, 4, 2, 1, QUINTET_SVD_LOWER, 1, NULL, &symmetric));
  CHECK_OK(quintet_svd_s(symmetric, &s_of_symmetric, &count));
  CHECK(count == 2);
  CHECK_NEAR(((const double*)s_of_symmetric)[0], 1 + sqrt(8), 1e-14);
  CHECK_NEAR(((const double*)s_of_symmetric)[1], sqrt(8) - 1, 1e-14);
  quintet_svd_free(symmetric);
  CHECK_INVALID(quintet_svd_decompose_symmetric(hankel, QUINTET_DOUBLE, 1, 2, 4, 2, 1, 5, 1, NULL, &symmetric),
                "triangle");
}

static void test_definite(void) {
  /* Graded by 10^-8 a row: eigenvalues to the last digits. */
  const double graded[4] = {1, 0.5e-8, 0.5e-8, 1e-16}, indefinite[4] = {1, 2, 2, 1}, mass[4] = {2, 0, 0, 4};
  double w[2], v[4];
  int32_t outcome = 7;
  CHECK_OK(quintet_svd_eigen_positive(graded, QUINTET_DOUBLE, 1, 2, 4, 2, 1, QUINTET_SVD_LOWER, NULL, w, v, &outcome));
  CHECK(outcome == QUINTET_SVD_CONVERGED);
  CHECK_NEAR(w[0] / 0.75e-16, 1, 1e-14); /* (1 - 1/4) 1e-16 up to 1e-16 of itself */
  CHECK_NEAR(w[1], 1, 1e-15);
  CHECK_OK(quintet_svd_eigen_positive(indefinite, QUINTET_DOUBLE, 1, 2, 4, 2, 1, QUINTET_SVD_LOWER, "emulated", w, NULL,
                                      &outcome));
  CHECK(outcome == QUINTET_SVD_NOT_DEFINITE && w[0] != w[0]);
  /* 1 + 2 t, with B = diag(2, 4): det(A - t B) = (1 - 2t)(1 - 4t) - 4 = 0. */
  CHECK_OK(quintet_svd_eigen_generalised(indefinite, QUINTET_DOUBLE, 1, 2, 4, 2, 1, mass, 4, 2, 1, QUINTET_SVD_UPPER,
                                         NULL, w, v, &outcome));
  CHECK(outcome == QUINTET_SVD_CONVERGED);
  CHECK_NEAR(w[0], (6 - sqrt(132)) / 16, 1e-15);
  CHECK_NEAR(w[1], (6 + sqrt(132)) / 16, 1e-15);
  CHECK_NEAR(2 * v[0] * v[0] + 4 * v[2] * v[2], 1, 1e-15);
  CHECK_NEAR(2 * v[0] * v[1] + 4 * v[2] * v[3], 0, 1e-15);
  CHECK_OK(quintet_svd_eigen_generalised(mass, QUINTET_DOUBLE, 1, 2, 4, 2, 1, indefinite, 4, 2, 1, QUINTET_SVD_UPPER,
                                         NULL, w, NULL, &outcome));
  CHECK(outcome == QUINTET_SVD_NOT_DEFINITE && w[1] != w[1]);
  CHECK_INVALID(quintet_svd_eigen_generalised(mass, QUINTET_DOUBLE, 1, 2, 4, 2, 1, NULL, 4, 2, 1, QUINTET_SVD_UPPER,
                                              NULL, w, NULL, &outcome),
                "b must not be null");
  CHECK_INVALID(quintet_svd_eigen_positive(graded, QUINTET_DOUBLE, 1, 2, 4, 2, 1, 4, NULL, w, v, &outcome), "triangle");
}

static void test_eigen_subsets(void) {
  const double two[8] = {2, 1, 1, 2, 5, 0, 0, 7};
  double w[4], part[2], v[4];
  int64_t first[2], number[2];
  int32_t outcome[2];
  CHECK_OK(
      quintet_svd_eigen_subset(two, QUINTET_DOUBLE, 2, 2, 4, 2, 1, QUINTET_SVD_LOWER, 1, 1, NULL, part, v, outcome));
  CHECK_NEAR(part[0], 3, 1e-15);
  CHECK_NEAR(part[1], 7, 1e-15);
  CHECK_NEAR(v[0], sqrt(0.5), 1e-15);
  CHECK_NEAR(v[1], sqrt(0.5), 1e-15);
  CHECK_NEAR(v[2], 0, 1e-15);
  CHECK_NEAR(v[3], 1, 1e-15);
  CHECK_OK(quintet_svd_eigen_subset(two, QUINTET_DOUBLE, 2, 2, 4, 2, 1, QUINTET_SVD_UPPER, 0, 0, NULL, w, NULL, NULL));
  CHECK_NEAR(w[0], 1, 1e-15);
  CHECK_NEAR(w[3], 7, 1e-15);
  CHECK_OK(quintet_svd_eigen_range(w, QUINTET_DOUBLE, 2, 2, 2, 6, first, number));
  CHECK(first[0] == 1 && number[0] == 1 && first[1] == 0 && number[1] == 1);
  CHECK_INVALID(
      quintet_svd_eigen_subset(two, QUINTET_DOUBLE, 2, 2, 4, 2, 1, QUINTET_SVD_LOWER, 1, 2, NULL, part, v, outcome),
      "first must be in 0 ... 0 with a count of 2");
  CHECK_INVALID(
      quintet_svd_eigen_subset(two, QUINTET_DOUBLE, 2, -2, 4, 2, 1, QUINTET_SVD_LOWER, 0, 0, NULL, part, v, outcome),
      "rows of a");
  CHECK_INVALID(quintet_svd_eigen_range(w, QUINTET_DOUBLE, 2, 2, 6, 2, first, number), "above must be < up_to");
  CHECK_INVALID(quintet_svd_eigen_range(w, QUINTET_HALF, 2, 2, 2, 6, first, number), "type");
  CHECK_INVALID(quintet_svd_eigen_range(NULL, QUINTET_DOUBLE, 2, 2, 2, 6, first, number), "w must not be null");
  CHECK_INVALID(quintet_svd_eigen_range(w, QUINTET_DOUBLE, 2, 2, 2, 6, NULL, number), "first must not be null");
}

/* Bounds hold for what was computed, grow with a fault, and are infinite where there is none. */
static void test_certificates(void) {
  quintet_svd* svd = decompose();
  double bound[batch], other[batch * rows * cols], w[2], v[4];
  const double two[4] = {2, 1, 1, 2};
  int i;
  CHECK_OK(quintet_svd_certify(svd, a, rows * cols, cols, 1, NULL, bound));
  for (i = 0; i < batch; ++i) CHECK(bound[i] > 1e-16 && bound[i] < 1e-13);
  memcpy(other, a, sizeof a);
  other[rows * cols] += 0.125;
  CHECK_OK(quintet_svd_certify(svd, other, rows * cols, cols, 1, "emulated", bound));
  CHECK(bound[0] < 1e-13 && bound[1] >= 0.125 && bound[1] < 0.126);
  CHECK_INVALID(quintet_svd_certify(svd, a, rows * cols, cols, 1, NULL, NULL), "bound must not be null");
  CHECK_INVALID(quintet_svd_certify(svd, NULL, rows * cols, cols, 1, NULL, bound), "a must not be null");
  CHECK_INVALID(quintet_svd_certify(NULL, a, rows * cols, cols, 1, NULL, bound), "svd must not be null");
  quintet_svd_free(svd);
  CHECK_OK(quintet_svd_eigen(two, QUINTET_DOUBLE, 1, 2, 4, 2, 1, QUINTET_SVD_LOWER, NULL, w, v, NULL));
  CHECK_OK(quintet_svd_certify_eigen(two, QUINTET_DOUBLE, 1, 2, 4, 2, 1, QUINTET_SVD_LOWER, w, v, NULL, bound));
  CHECK(fabs(w[0] - 1) <= bound[0] && fabs(w[1] - 3) <= bound[0] && bound[0] < 1e-13);
  w[0] = 4;
  CHECK_OK(quintet_svd_certify_eigen(two, QUINTET_DOUBLE, 1, 2, 4, 2, 1, QUINTET_SVD_LOWER, w, v, NULL, bound));
  CHECK(bound[0] > 1e300);
  CHECK_INVALID(quintet_svd_certify_eigen(two, QUINTET_DOUBLE, 1, 2, 4, 2, 1, 7, w, v, NULL, bound), "triangle");
}

static void test_eigen(void) {
  enum { size = 4 };
  double symmetric[2 * size * size], w[2 * size], alone[2 * size], v[2 * size * size], error = 0;
  float numbers[size * size], of_float[size];
  int32_t outcome[2];
  int b, i, j, k;
  for (b = 0; b < 2; ++b)
    for (i = 0; i < size; ++i)
      for (j = 0; j < size; ++j) symmetric[(b * size + i) * size + j] = a[b * 10 + i + j];
  CHECK_OK(quintet_svd_eigen(symmetric, QUINTET_DOUBLE, 2, size, size * size, size, 1, QUINTET_SVD_LOWER, "host", w, v,
                             outcome));
  CHECK(outcome[0] == QUINTET_SVD_CONVERGED && outcome[1] == QUINTET_SVD_CONVERGED);
  for (b = 0; b < 2; ++b)
    for (i = 0; i < size; ++i) {
      CHECK(i == 0 || w[b * size + i] >= w[b * size + i - 1]);
      for (j = 0; j < size; ++j) { /* A V = V diag(w) */
        double sum = 0;
        for (k = 0; k < size; ++k) sum += symmetric[(b * size + i) * size + k] * v[(b * size + k) * size + j];
        error = fmax(error, fabs(sum - v[(b * size + i) * size + j] * w[b * size + j]));
      }
    }
  CHECK_NEAR(error, 0, 1e-14);
  /* Values alone, of the upper triangle; what lies below it does not count. */
  symmetric[size] = NAN;
  CHECK_OK(quintet_svd_eigen(symmetric, QUINTET_DOUBLE, 2, size, size * size, size, 1, QUINTET_SVD_UPPER, NULL, alone,
                             NULL, NULL));
  for (i = 0; i < 2 * size; ++i) CHECK_NEAR(alone[i], w[i], 1e-14);
  CHECK_OK(quintet_svd_eigen(symmetric, QUINTET_DOUBLE, 2, size, size * size, size, 1, QUINTET_SVD_LOWER, "host", alone,
                             v, outcome));
  CHECK(outcome[0] == QUINTET_SVD_NOT_FINITE && outcome[1] == QUINTET_SVD_CONVERGED && alone[0] != alone[0]);
  for (i = 0; i < size * size; ++i) numbers[i] = (float)symmetric[size * size + i];
  CHECK_OK(
      quintet_svd_eigen(numbers, QUINTET_FLOAT, 1, size, 0, size, 1, QUINTET_SVD_LOWER, "host", of_float, NULL, NULL));
  for (i = 0; i < size; ++i) CHECK_NEAR(of_float[i], w[size + i], 1e-6);
  CHECK_OK(quintet_svd_eigen(NULL, QUINTET_DOUBLE, 0, 3, 0, 0, 0, QUINTET_SVD_LOWER, "host", NULL, NULL, NULL));
  CHECK_INVALID(quintet_svd_eigen(symmetric, QUINTET_DOUBLE, 1, size, 0, size, 1, 2, "host", w, v, NULL), "triangle");
  CHECK_INVALID(quintet_svd_eigen(symmetric, QUINTET_DOUBLE, 1, size, 0, size, 1, 0, "host", NULL, v, NULL),
                "w must not be null");
  CHECK_INVALID(quintet_svd_eigen(NULL, QUINTET_DOUBLE, 1, size, 0, size, 1, 0, "host", w, v, NULL),
                "a must not be null");
  CHECK_INVALID(quintet_svd_eigen(symmetric, QUINTET_DOUBLE, 1, -1, 0, size, 1, 0, "host", w, v, NULL), "rows of a");
}

int main(void) {
  make_matrices();
  test_decompose();
  test_errors();
  test_gradient();
  test_applications();
  test_ranks();
  test_certificates();
  test_definite();
  test_eigen_subsets();
  test_eigen();
  return check_result();
}
