/* Files of indexes; the folder for them is the argument. */
#include "check.h"

int main(int argc, char** argv) {
  char path[1000];
  const double points[5][2] = {{0, 0}, {1, 0}, {0, 2}, {3, 3}, {9, 9}}, query[2] = {0.9, 0.1};
  int64_t number = -1, n = 0;
  double distance = 0;
  FILE* file;
  quintet_index *index = NULL, *copy = NULL;
  snprintf(path, sizeof path, "%s/%s", argc > 1 ? argv[1] : ".", "five.index");
  CHECK_OK(quintet_index_create(points, QUINTET_DOUBLE, 5, 2, 2, NULL, NULL, &index));
  CHECK_OK(quintet_index_save(index, path));
  CHECK_OK(quintet_index_load(path, "host", &copy));
  CHECK_OK(quintet_index_facts(copy, &n, NULL, NULL, NULL));
  CHECK_OK(quintet_index_nearest(copy, query, QUINTET_DOUBLE, 1, 2, 2, 1, &number, &distance));
  CHECK(n == 5 && number == 1);
  CHECK_NEAR(distance, sqrt(0.02), 1e-15);
  quintet_index_free(copy);

  CHECK_FAILS(quintet_index_save(index, "/nowhere/five.index"), QUINTET_FILE_ERROR, "/nowhere/five.index");
  CHECK_FAILS(quintet_index_load("/nowhere/five.index", NULL, &copy), QUINTET_FILE_ERROR, "/nowhere/five.index");
  CHECK_INVALID(quintet_index_load(NULL, NULL, &copy), "path must not be null");
  CHECK_INVALID(quintet_index_save(NULL, path), "index must not be null");
  file = fopen(path, "r+b");
  CHECK(file != NULL && fseek(file, 110, SEEK_SET) == 0 && fputc(77, file) == 77);
  fclose(file);
  CHECK_FAILS(quintet_index_load(path, NULL, &copy), QUINTET_FILE_ERROR, "is damaged: the checksum of its numbers");
  CHECK(copy == NULL);
  quintet_index_free(index);
  return check_result();
}
