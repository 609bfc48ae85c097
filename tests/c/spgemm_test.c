/* Sparse matrices: products, masks, blocks, plans, sums, transposes, dense products. */
#include "check.h"

enum { m = 30, k = 20, n = 25, max = 200 };

/* A matrix with its dense copy. */
struct matrix {
  int64_t row_pointers[m + 1];
  int32_t columns[max];
  double values[max];
  double dense[m][m];
  quintet_csr csr;
};
static struct matrix a, b, mask;

static void make_matrix(struct matrix* x, int rows, int cols, uint64_t seed) {
  int i, j, next = 0;
  memset(x, 0, sizeof *x);
  for (i = 0; i < rows; ++i) {
    for (j = 0; j < cols; ++j)
      if (next < max && next_uniform(&seed) < 0.15) {
        x->columns[next] = j;
        x->values[next] = 1 + (int)(8 * next_uniform(&seed));
        x->dense[i][j] = x->values[next++];
      }
    x->row_pointers[i + 1] = next;
  }
  x->csr.rows = rows;
  x->csr.cols = cols;
  x->csr.row_pointers = x->row_pointers;
  x->csr.columns = x->columns;
  x->csr.values = x->values;
  x->csr.index_type = QUINTET_INT32;
  x->csr.value_type = QUINTET_DOUBLE;
}

/* The product the slow way; `absent` where there is no product. */
static double product(int i, int j, quintet_semiring semiring, double absent) {
  double sum = semiring == QUINTET_MIN_PLUS ? INFINITY : 0;
  int l, found = 0;
  for (l = 0; l < k; ++l) {
    const double x = a.dense[i][l], y = b.dense[l][j];
    if (x == 0 || y == 0) continue;
    found = 1;
    sum = semiring == QUINTET_PLUS_TIMES ? sum + x * y : semiring == QUINTET_MIN_PLUS ? fmin(sum, x + y) : 1;
  }
  return found ? sum : absent;
}

/* Every entry of the csr is that of the dense product, and there are as many. */
static void check_product(const quintet_csr* c, int64_t first_row, quintet_semiring semiring) {
  const int64_t first = c->row_pointers[0];
  int64_t entries = 0, i, e;
  int j;
  CHECK(c->cols == n && c->index_type == QUINTET_INT32 && c->value_type == QUINTET_DOUBLE);
  for (i = 0; i < c->rows; ++i) {
    for (j = 0; j < n; ++j) entries += !isnan(product((int)(first_row + i), j, semiring, NAN));
    for (e = c->row_pointers[i] - first; e < c->row_pointers[i + 1] - first; ++e)
      CHECK(((const double*)c->values)[e] ==
            product((int)(first_row + i), ((const int32_t*)c->columns)[e], semiring, NAN));
  }
  CHECK(c->row_pointers[c->rows] - first == entries);
}

static void test_multiply(void) {
  static const char* const devices[] = {"host", "emulated"};
  quintet_spgemm_matrix* c = NULL;
  quintet_spgemm_options options;
  quintet_spgemm_report report;
  quintet_csr view;
  int semiring, device;
  CHECK_OK(quintet_spgemm_options_default(&options, sizeof options));
  CHECK(options.prediction_scale == 1 && options.arena_entries == -1);
  options.host_products = 0;
  memset(&report, 0, sizeof report);
  report.size = sizeof report;
  for (device = 0; device < 2; ++device)
    for (semiring = QUINTET_PLUS_TIMES; semiring <= QUINTET_OR_AND; ++semiring) {
      CHECK_OK(quintet_spgemm_multiply(&a.csr, &b.csr, semiring, &options, devices[device], &report, &c));
      CHECK_OK(quintet_spgemm_view(c, &view));
      CHECK(view.rows == m);
      check_product(&view, 0, semiring);
      CHECK(report.ran_on_host == !device);
      CHECK(report.products > 0 && report.upper_bound >= view.row_pointers[m] && report.seconds >= 0);
      quintet_spgemm_free(c);
    }
  quintet_spgemm_free(NULL);
}

static void test_masked_and_transposed(void) {
  quintet_spgemm_matrix *c = NULL, *turned = NULL, *same = NULL;
  quintet_csr view, other, c_view;
  int64_t i, e, entries = 0;
  int j;
  CHECK_OK(quintet_spgemm_multiply_masked(&a.csr, &b.csr, &mask.csr, QUINTET_PLUS_TIMES, NULL, NULL, &c));
  CHECK_OK(quintet_spgemm_view(c, &view));
  for (i = 0; i < m; ++i) {
    for (j = 0; j < n; ++j) entries += mask.dense[i][j] != 0 && !isnan(product((int)i, j, QUINTET_PLUS_TIMES, NAN));
    for (e = view.row_pointers[i]; e < view.row_pointers[i + 1]; ++e) {
      j = ((const int32_t*)view.columns)[e];
      CHECK(mask.dense[i][j] != 0);
      CHECK(((const double*)view.values)[e] == product((int)i, j, QUINTET_PLUS_TIMES, NAN));
    }
  }
  CHECK(view.row_pointers[m] == entries && entries > 0);
  quintet_spgemm_free(c);

  CHECK_OK(quintet_spgemm_transpose(&b.csr, &turned));
  CHECK_OK(quintet_spgemm_view(turned, &view));
  CHECK(view.rows == n && view.cols == k && view.row_pointers[n] == b.row_pointers[k]);
  for (i = 0; i < n; ++i)
    for (e = view.row_pointers[i]; e < view.row_pointers[i + 1]; ++e)
      CHECK(((const double*)view.values)[e] == b.dense[((const int32_t*)view.columns)[e]][i]);
  CHECK_OK(quintet_spgemm_multiply_transposed(&a.csr, &view, QUINTET_PLUS_TIMES, NULL, NULL, NULL, &same));
  CHECK_OK(quintet_spgemm_view(same, &other));
  check_product(&other, 0, QUINTET_PLUS_TIMES);
  quintet_spgemm_free(turned);
  CHECK_OK(quintet_spgemm_add(2, &other, -0.5, &other, &c));
  CHECK_OK(quintet_spgemm_view(c, &c_view));
  CHECK(c_view.row_pointers[m] == other.row_pointers[m]);
  for (e = 0; e < c_view.row_pointers[m]; ++e)
    CHECK(((const double*)c_view.values)[e] == 1.5 * ((const double*)other.values)[e]);
  quintet_spgemm_free(c);
  quintet_spgemm_free(same);
}

/* Entries of the row that rank before (value, column). */
static int rank_of(int row, double value, int column, quintet_semiring semiring) {
  int j, rank = 0;
  for (j = 0; j < n; ++j) {
    const double other = product(row, j, semiring, NAN);
    if (isnan(other) || j == column) continue;
    rank += other == value ? j < column : semiring == QUINTET_MIN_PLUS ? other < value : other > value;
  }
  return rank;
}

static void test_top(void) {
  quintet_spgemm_matrix* c = NULL;
  quintet_spgemm_report report;
  quintet_csr view;
  const double threshold = 9, no_number = NAN;
  int semiring, by_value, i, j, row;
  int64_t e;
  memset(&report, 0, sizeof report);
  report.size = sizeof report;
  for (semiring = QUINTET_PLUS_TIMES; semiring <= QUINTET_OR_AND; ++semiring)
    for (by_value = 0; by_value < 2; ++by_value)
      for (i = 0; i < 2; ++i) {
        const double* limit = i == 0 ? NULL : &threshold;
        int64_t entries = 0;
        CHECK_OK(quintet_spgemm_multiply_top(&a.csr, &b.csr, semiring, 2, limit, by_value, NULL, "host", &report, &c));
        CHECK_OK(quintet_spgemm_view(c, &view));
        for (row = 0; row < m; ++row) {
          int passing = 0;
          for (j = 0; j < n; ++j) {
            const double x = product(row, j, semiring, NAN);
            passing += !isnan(x) && (limit == NULL || (semiring == QUINTET_MIN_PLUS ? x <= 9 : x >= 9));
          }
          entries += passing < 2 ? passing : 2;
          CHECK(view.row_pointers[row + 1] == entries);
          for (e = view.row_pointers[row]; e < view.row_pointers[row + 1]; ++e) {
            const int32_t column = ((const int32_t*)view.columns)[e];
            const double x = ((const double*)view.values)[e];
            const int rank = rank_of(row, x, column, semiring);
            CHECK(x == product(row, column, semiring, NAN));
            CHECK(by_value ? rank == e - view.row_pointers[row] : rank < 2);
            CHECK(by_value || e == view.row_pointers[row] || ((const int32_t*)view.columns)[e - 1] < column);
          }
        }
        CHECK(report.upper_bound >= entries && report.ran_on_host == 1);
        quintet_spgemm_free(c);
      }
  CHECK_INVALID(quintet_spgemm_multiply_top(&a.csr, &b.csr, 0, 0, NULL, 0, NULL, NULL, NULL, &c), "count must be >= 1");
  CHECK_INVALID(quintet_spgemm_multiply_top(&a.csr, &b.csr, 0, 1, &no_number, 0, NULL, NULL, NULL, &c),
                "threshold must be a number");
  CHECK(c == NULL);
}

static void test_gram(void) {
  quintet_spgemm_matrix *c = NULL, *turned = NULL;
  quintet_csr view;
  int side, part, i, j, l;
  int64_t e;
  for (side = 0; side < 2; ++side)
    for (part = 0; part < 2; ++part) {
      const int size = side ? m : k, length = side ? k : m;
      int64_t entries = 0;
      CHECK_OK(quintet_spgemm_gram(&a.csr, side, part, QUINTET_PLUS_TIMES, NULL, "host", NULL, &c));
      CHECK_OK(quintet_spgemm_view(c, &view));
      CHECK(view.rows == size && view.cols == size);
      for (i = 0; i < size; ++i) {
        double sums[m] = {0};
        int exists[m] = {0};
        for (j = part ? i : 0; j < size; ++j)
          for (l = 0; l < length; ++l) {
            const double x = side ? a.dense[i][l] : a.dense[l][i], y = side ? a.dense[j][l] : a.dense[l][j];
            sums[j] += x * y;
            exists[j] |= x != 0 && y != 0;
          }
        for (j = 0; j < size; ++j) entries += exists[j];
        CHECK(view.row_pointers[i + 1] == entries);
        for (e = view.row_pointers[i]; e < view.row_pointers[i + 1]; ++e) {
          j = ((const int32_t*)view.columns)[e];
          CHECK(exists[j] && ((const double*)view.values)[e] == sums[j]);
        }
      }
      quintet_spgemm_free(c);
    }
  CHECK_INVALID(quintet_spgemm_gram(NULL, 0, 0, 0, NULL, NULL, NULL, &turned), "must not be null");
}

static void test_add_and_left_transposed(void) {
  quintet_spgemm_matrix *c = NULL, *turned = NULL, *expected = NULL;
  quintet_csr view, other;
  quintet_spgemm_report report;
  int i, j, l;
  int64_t e, entries = 0;
  memset(&report, 0, sizeof report);
  report.size = sizeof report;
  CHECK_OK(quintet_spgemm_multiply_add(2, &a.csr, &b.csr, -3, &mask.csr, NULL, "host", &report, &c));
  CHECK_OK(quintet_spgemm_view(c, &view));
  CHECK(view.rows == m && view.cols == n && report.ran_on_host == 1);
  for (i = 0; i < m; ++i) {
    double sums[n] = {0};
    int exists[n] = {0};
    for (j = 0; j < n; ++j) {
      for (l = 0; l < k; ++l) {
        sums[j] += 2 * a.dense[i][l] * b.dense[l][j];
        exists[j] |= a.dense[i][l] != 0 && b.dense[l][j] != 0;
      }
      sums[j] += -3 * mask.dense[i][j];
      entries += exists[j] | (mask.dense[i][j] != 0);
    }
    CHECK(view.row_pointers[i + 1] == entries);
    for (e = view.row_pointers[i]; e < view.row_pointers[i + 1]; ++e)
      CHECK(((const double*)view.values)[e] == sums[((const int32_t*)view.columns)[e]]);
  }
  quintet_spgemm_free(c);
  CHECK_OK(quintet_spgemm_transpose(&a.csr, &turned));
  CHECK_OK(quintet_spgemm_view(turned, &view));
  CHECK_OK(quintet_spgemm_multiply_left_transposed(&view, &b.csr, QUINTET_MIN_PLUS, NULL, "host", &report, &c));
  CHECK_OK(quintet_spgemm_multiply(&a.csr, &b.csr, QUINTET_MIN_PLUS, NULL, "host", NULL, &expected));
  CHECK_OK(quintet_spgemm_view(c, &view));
  CHECK_OK(quintet_spgemm_view(expected, &other));
  CHECK(view.rows == m && view.cols == n && view.row_pointers[m] == other.row_pointers[m]);
  for (e = 0; e < view.row_pointers[m]; ++e)
    CHECK(((const double*)view.values)[e] == ((const double*)other.values)[e] &&
          ((const int32_t*)view.columns)[e] == ((const int32_t*)other.columns)[e]);
  quintet_spgemm_free(c);
  quintet_spgemm_free(turned);
  quintet_spgemm_free(expected);
  CHECK_INVALID(quintet_spgemm_multiply_add(1, &a.csr, &b.csr, 1, &a.csr, NULL, NULL, NULL, &c),
                "c must have the size of the product");
  CHECK_INVALID(quintet_spgemm_multiply_add(1, &a.csr, &b.csr, 1, NULL, NULL, NULL, NULL, &c), "c must not be null");
  CHECK_INVALID(quintet_spgemm_multiply_left_transposed(&a.csr, &b.csr, 0, NULL, NULL, NULL, &c),
                "a.rows must be b.rows");
}

/* With form 0, 1 or 2: an element of a matrix with values x + i y, y = x of the mirrored column. */
static void element(const struct matrix* x, int form, int i, int j, double* real, double* imaginary) {
  *real = form == 0 ? x->dense[i][j] : x->dense[j][i];
  *imaginary = (form == 2 ? -0.5 : 0.5) * *real * (form == 0 ? j - i : i - j);
}

static void test_complex(void) {
  static double pairs_a[2 * max], pairs_b[2 * max];
  const struct matrix* sources[2] = {&a, &b};
  double* pairs[2] = {pairs_a, pairs_b};
  quintet_csr left = a.csr, right = b.csr, view;
  quintet_spgemm_matrix* c = NULL;
  quintet_spgemm_report report;
  int s, i, j, l, form;
  int64_t e;
  memset(&report, 0, sizeof report);
  report.size = sizeof report;
  for (s = 0; s < 2; ++s)
    for (i = 0; i < (s == 0 ? m : k); ++i)
      for (e = sources[s]->row_pointers[i]; e < sources[s]->row_pointers[i + 1]; ++e)
        element(sources[s], 0, i, sources[s]->columns[e], &pairs[s][2 * e], &pairs[s][2 * e + 1]);
  left.values = pairs_a;
  right.values = pairs_b;
  left.value_type = right.value_type = QUINTET_COMPLEX_DOUBLE;
  for (form = 0; form < 3; ++form) {
    /* Plain: a * b; else form(a) * a. */
    const int rows = form == 0 ? m : k, cols = form == 0 ? n : k, inner = form == 0 ? k : m;
    int64_t entries = 0;
    CHECK_OK(quintet_spgemm_multiply_complex(&left, form, form == 0 ? &right : &left, QUINTET_PLAIN, NULL, "host",
                                             &report, &c));
    CHECK_OK(quintet_spgemm_view(c, &view));
    CHECK(view.rows == rows && view.cols == cols && view.value_type == QUINTET_COMPLEX_DOUBLE);
    CHECK(report.products > 0 && report.ran_on_host == 1);
    for (i = 0; i < rows; ++i) {
      double real[m] = {0}, imaginary[m] = {0};
      int exists[m] = {0};
      for (j = 0; j < cols; ++j) {
        for (l = 0; l < inner; ++l) {
          double x, y, u, v;
          element(&a, form, i, l, &x, &y);
          element(form == 0 ? &b : &a, 0, l, j, &u, &v);
          real[j] += x * u - y * v; /* halves of small integers: exact in any order */
          imaginary[j] += x * v + y * u;
          exists[j] |= x != 0 && u != 0;
        }
        entries += exists[j];
      }
      CHECK(view.row_pointers[i + 1] == entries);
      for (e = view.row_pointers[i]; e < view.row_pointers[i + 1]; ++e) {
        j = ((const int32_t*)view.columns)[e];
        CHECK(((const double*)view.values)[2 * e] == real[j] &&
              ((const double*)view.values)[2 * e + 1] == imaginary[j]);
      }
    }
    quintet_spgemm_free(c);
  }
  c = NULL;
  CHECK_INVALID(quintet_spgemm_multiply_complex(&a.csr, 0, &right, 0, NULL, NULL, NULL, &c),
                "a.value_type must be QUINTET_COMPLEX_FLOAT (5) or QUINTET_COMPLEX_DOUBLE (6)");
  CHECK_INVALID(quintet_spgemm_multiply_complex(&left, 0, &b.csr, 0, NULL, NULL, NULL, &c), "b.value_type");
  CHECK_INVALID(quintet_spgemm_multiply_complex(&left, 3, &right, 0, NULL, NULL, NULL, &c), "form_a");
  CHECK_INVALID(quintet_spgemm_multiply_complex(&left, 0, &left, 0, NULL, NULL, NULL, &c), "a and b must fit");
  CHECK_INVALID(quintet_spgemm_multiply(&left, &right, 0, NULL, NULL, NULL, &c), "a.value_type must be QUINTET_FLOAT");
  CHECK(c == NULL);
}

struct taken {
  int64_t rows, calls, stop_after;
};

static int32_t take(int64_t first_row, int64_t first_col, int64_t last_col, const quintet_csr* block, void* user) {
  struct taken* taken = user;
  CHECK(first_row == taken->rows && first_col == 0 && last_col == n);
  check_product(block, first_row, QUINTET_PLUS_TIMES);
  taken->rows += block->rows;
  return ++taken->calls != taken->stop_after;
}

static void test_blocks(void) {
  struct taken taken = {0, 0, 0};
  quintet_spgemm_estimate estimate;
  memset(&estimate, 0, sizeof estimate);
  estimate.size = sizeof estimate;
  CHECK_OK(quintet_spgemm_estimate_product(&a.csr, &b.csr, &estimate));
  CHECK(estimate.products > 0 && estimate.predicted_nnz > 0 && estimate.minimum_budget > 0);
  CHECK_OK(quintet_spgemm_multiply_in_blocks(&a.csr, &b.csr, QUINTET_PLUS_TIMES, estimate.minimum_budget + 1000, NULL,
                                             "host", take, &taken));
  CHECK(taken.rows == m && taken.calls > 1);
  taken.rows = taken.calls = 0;
  taken.stop_after = 1;
  CHECK_FAILS(quintet_spgemm_multiply_in_blocks(&a.csr, &b.csr, QUINTET_PLUS_TIMES, estimate.minimum_budget + 1000,
                                                NULL, "host", take, &taken),
              QUINTET_CANCELLED, "cancelled by the caller");
  CHECK(taken.calls == 1);
  CHECK_INVALID(quintet_spgemm_multiply_in_blocks(&a.csr, &b.csr, QUINTET_PLUS_TIMES, 1, NULL, NULL, take, &taken),
                "budget");
  CHECK_INVALID(quintet_spgemm_multiply_in_blocks(&a.csr, &b.csr, QUINTET_PLUS_TIMES, 100000, NULL, NULL, NULL, &taken),
                "take must not be null");
  estimate.size = 1;
  CHECK_INVALID(quintet_spgemm_estimate_product(&a.csr, &b.csr, &estimate), "estimate->size");
}

static void test_plan(void) {
  quintet_spgemm_plan *plan = NULL, *other_plan = NULL;
  quintet_spgemm_matrix *c = NULL, *free_product = NULL;
  quintet_csr view;
  int64_t nnz = 0;
  int i;
  CHECK_OK(quintet_spgemm_plan_create(&a.csr, &b.csr, QUINTET_MIN_PLUS, NULL, NULL, &plan));
  CHECK_OK(quintet_spgemm_plan_nnz(plan, &nnz));
  CHECK_OK(quintet_spgemm_plan_execute(plan, &a.csr, &b.csr, &c));
  CHECK_OK(quintet_spgemm_view(c, &view));
  CHECK(view.row_pointers[m] == nnz);
  check_product(&view, 0, QUINTET_MIN_PLUS);
  /* Other values of the same structure. */
  for (i = 0; i < max; ++i) a.values[i] *= 2;
  for (i = 0; i < m * m; ++i) a.dense[i / m][i % m] *= 2;
  CHECK_OK(quintet_spgemm_plan_refill(plan, &a.csr, &b.csr, c));
  check_product(&view, 0, QUINTET_MIN_PLUS);

  CHECK_OK(quintet_spgemm_multiply(&a.csr, &b.csr, QUINTET_MIN_PLUS, NULL, NULL, NULL, &free_product));
  CHECK_INVALID(quintet_spgemm_plan_refill(plan, &a.csr, &b.csr, free_product), "quintet_spgemm_plan_execute()");
  CHECK_INVALID(quintet_spgemm_plan_refill(plan, &a.csr, &b.csr, NULL), "result must not be null");
  CHECK_OK(quintet_spgemm_plan_create(&a.csr, &b.csr, QUINTET_MIN_PLUS, NULL, NULL, &other_plan));
  CHECK_INVALID(quintet_spgemm_plan_refill(other_plan, &a.csr, &b.csr, c), "quintet_spgemm_plan_execute()");
  quintet_spgemm_free(c);
  CHECK_INVALID(quintet_spgemm_plan_execute(NULL, &a.csr, &b.csr, &c), "plan must not be null");
  CHECK(c == NULL);
  CHECK_OK(quintet_spgemm_plan_execute(plan, &a.csr, &b.csr, &c));
  quintet_spgemm_free(c);
  CHECK_INVALID(quintet_spgemm_plan_execute(plan, &b.csr, &b.csr, &c), "a");
  CHECK_INVALID(quintet_spgemm_plan_nnz(NULL, &nnz), "plan must not be null");
  CHECK_INVALID(quintet_spgemm_plan_nnz(plan, NULL), "nnz must not be null");
  quintet_spgemm_plan_free(other_plan);
  CHECK_INVALID(quintet_spgemm_plan_create(&a.csr, &b.csr, -1, NULL, NULL, &other_plan), "semiring must be");
  CHECK(other_plan == NULL);
  quintet_spgemm_free(free_product);
  quintet_spgemm_plan_free(plan);
  quintet_spgemm_plan_free(NULL);
}

static void test_dense(void) {
  double x[k * 3], y[m * 4];
  uint64_t state = 1;
  int i, j, l;
  for (i = 0; i < k * 3; ++i) x[i] = (int)(10 * next_uniform(&state));
  CHECK_OK(quintet_spgemm_multiply_dense(&a.csr, x, 3, 3, y, 4, NULL));
  for (i = 0; i < m; ++i)
    for (j = 0; j < 3; ++j) {
      double sum = 0;
      for (l = 0; l < k; ++l) sum += a.dense[i][l] * x[l * 3 + j];
      CHECK(y[i * 4 + j] == sum);
    }
  for (i = 0; i < m * 4; ++i) y[i] = (int)(10 * next_uniform(&state));
  CHECK_OK(quintet_spgemm_multiply_dense_transposed(&a.csr, y, 3, 4, x, 3, NULL));
  for (i = 0; i < k; ++i)
    for (j = 0; j < 3; ++j) {
      double sum = 0;
      for (l = 0; l < m; ++l) sum += a.dense[l][i] * y[l * 4 + j];
      CHECK(x[i * 3 + j] == sum);
    }
  CHECK_INVALID(quintet_spgemm_multiply_dense_transposed(&a.csr, y, 3, 2, x, 3, NULL), "stride of x");
  CHECK_INVALID(quintet_spgemm_multiply_dense(&a.csr, NULL, 3, 3, y, 4, NULL), "x must not be null");
  CHECK_INVALID(quintet_spgemm_multiply_dense(&a.csr, x, 3, 3, y, 2, NULL), "stride of y");
  CHECK_INVALID(quintet_spgemm_multiply_dense(&a.csr, x, -1, 3, y, 4, NULL), "-1");
}

static void test_sampled(void) {
  double x[m * 3], y[n * 4], values[max];
  uint64_t state = 2;
  int64_t e;
  int i, c;
  for (i = 0; i < m * 3; ++i) x[i] = (int)(10 * next_uniform(&state));
  for (i = 0; i < n * 4; ++i) y[i] = (int)(10 * next_uniform(&state));
  CHECK_OK(quintet_spgemm_multiply_sampled(&mask.csr, x, 3, y, 4, 3, values, NULL));
  for (i = 0; i < m; ++i)
    for (e = mask.row_pointers[i]; e < mask.row_pointers[i + 1]; ++e) {
      double sum = 0;
      for (c = 0; c < 3; ++c) sum += x[i * 3 + c] * y[mask.columns[e] * 4 + c];
      CHECK(values[e] == sum);
    }
  CHECK_INVALID(quintet_spgemm_multiply_sampled(&mask.csr, x, 2, y, 4, 3, values, NULL), "stride of x");
  CHECK_INVALID(quintet_spgemm_multiply_sampled(&mask.csr, x, 3, y, 4, 3, NULL, NULL), "values must not be null");
}

static void test_errors(void) {
  quintet_spgemm_matrix* c = (quintet_spgemm_matrix*)&a;
  quintet_spgemm_report report;
  quintet_spgemm_options options;
  struct matrix bad = a;
  bad.csr = a.csr;
  bad.csr.columns = bad.columns;
  bad.columns[3] = k;
  CHECK_INVALID(quintet_spgemm_multiply(&bad.csr, &b.csr, 0, NULL, NULL, NULL, &c),
                "a.columns must be in [0, 20) (entry 3 is 20)");
  CHECK(c == NULL);
  CHECK_INVALID(quintet_spgemm_transpose(&bad.csr, &c), "columns must be in [0, 20)");
  CHECK_INVALID(quintet_spgemm_multiply(&a.csr, &a.csr, 0, NULL, NULL, NULL, &c), "20");
  CHECK_INVALID(quintet_spgemm_multiply(&a.csr, &b.csr, 3, NULL, NULL, NULL, &c), "(semiring=3)");
  CHECK_INVALID(quintet_spgemm_multiply(NULL, &b.csr, 0, NULL, NULL, NULL, &c), "a must not be null");
  CHECK_INVALID(quintet_spgemm_multiply(&a.csr, NULL, 0, NULL, NULL, NULL, &c), "b must not be null");
  CHECK_INVALID(quintet_spgemm_multiply(&a.csr, &b.csr, 0, NULL, NULL, NULL, NULL), "handle must not be null");
  CHECK_INVALID(quintet_spgemm_multiply_masked(&a.csr, &b.csr, NULL, 0, NULL, NULL, &c), "mask must not be null");
  bad.csr = b.csr;
  bad.csr.value_type = QUINTET_FLOAT;
  CHECK_INVALID(quintet_spgemm_multiply(&a.csr, &bad.csr, 0, NULL, NULL, NULL, &c),
                "b.value_type must be that of the first operand: 2 (b.value_type=1)");
  bad.csr.value_type = QUINTET_DOUBLE;
  bad.csr.index_type = QUINTET_INT64;
  CHECK_INVALID(quintet_spgemm_add(1, &a.csr, 1, &bad.csr, &c), "b.index_type must be that of the first operand: 1");
  bad.csr.index_type = 5;
  CHECK_INVALID(quintet_spgemm_transpose(&bad.csr, &c), "matrix.index_type must be QUINTET_INT32 (1) or");
  bad.csr.index_type = QUINTET_INT32;
  bad.csr.rows = -1;
  CHECK_INVALID(quintet_spgemm_transpose(&bad.csr, &c), "matrix.rows must be in [0, 2^60) (matrix.rows=-1)");
  bad.csr.rows = k;
  bad.csr.row_pointers = NULL;
  CHECK_INVALID(quintet_spgemm_transpose(&bad.csr, &c), "row_pointers must not be null");
  CHECK_OK(quintet_spgemm_options_default(&options, sizeof options));
  options.prediction_scale = 0;
  CHECK_INVALID(quintet_spgemm_multiply(&a.csr, &b.csr, 0, &options, NULL, NULL, &c), "prediction_scale");
  report.size = 4;
  CHECK_INVALID(quintet_spgemm_multiply(&a.csr, &b.csr, 0, NULL, NULL, &report, &c), "report->size");
  CHECK_INVALID(quintet_spgemm_view(NULL, &bad.csr), "matrix must not be null");
  CHECK(c == NULL);
}

int main(void) {
  make_matrix(&a, m, k, 1);
  make_matrix(&b, k, n, 2);
  make_matrix(&mask, m, n, 3);
  test_multiply();
  test_masked_and_transposed();
  test_top();
  test_gram();
  test_add_and_left_transposed();
  test_complex();
  test_blocks();
  test_plan();
  test_dense();
  test_sampled();
  test_errors();
  return check_result();
}
