/* Assertions of the C tests: they print what failed and go on; check_result() is the program's exit status. */
#ifndef QUINTET_TESTS_C_CHECK_H
#define QUINTET_TESTS_C_CHECK_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quintet/c/quintet.h"

static int checks_made = 0, checks_failed = 0;

static void check_that(int holds, const char* what, const char* file, int line) {
  ++checks_made;
  if (holds) return;
  ++checks_failed;
  fprintf(stderr, "%s:%d: %s does not hold (last error: %s)\n", file, line, what, quintet_last_error());
}

/* The status, and words that the message must have. */
static inline void check_fails(quintet_status status, quintet_status wanted, const char* words, const char* what,
                               const char* file, int line) {
  const int good = status == wanted && strstr(quintet_last_error(), words) != NULL;
  if (!good)
    fprintf(stderr, "status %d (%s), wanted %d with \"%s\"\n", status, quintet_status_name(status), wanted, words);
  check_that(good, what, file, line);
}

static inline void check_near(double a, double b, double tolerance, const char* what, const char* file, int line) {
  const int good = fabs(a - b) <= tolerance;
  if (!good) fprintf(stderr, "%.17g and %.17g differ by more than %g\n", a, b, tolerance);
  check_that(good, what, file, line);
}

static int check_result(void) {
  printf("%d checks, %d failed\n", checks_made, checks_failed);
  return checks_made > 0 && checks_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#define CHECK(condition) check_that((condition) != 0, #condition, __FILE__, __LINE__)
#define CHECK_OK(call) check_that((call) == QUINTET_OK, #call, __FILE__, __LINE__)
#define CHECK_INVALID(call, words) check_fails((call), QUINTET_INVALID_ARGUMENT, (words), #call, __FILE__, __LINE__)
#define CHECK_FAILS(call, status, words) check_fails((call), (status), (words), #call, __FILE__, __LINE__)
#define CHECK_NEAR(a, b, tolerance) check_near((a), (b), (tolerance), #a " ~ " #b, __FILE__, __LINE__)

/* Numbers in [0, 1) that are the same on every machine. */
static inline double next_uniform(uint64_t* state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (double)(*state >> 11) / 9007199254740992.0;
}

#endif
