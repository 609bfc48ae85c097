#include <quintet/c/quintet.h>
#include <stdio.h>

int main(void) {
  double points[25][2]; /* two lines of 12 points, and one far away */
  for (int i = 0; i < 25; ++i) {
    points[i][0] = i < 24 ? i % 12 : 1000;
    points[i][1] = i < 12 ? 0 : 100;
  }
  quintet_hdbscan_options options;
  quintet_hdbscan_options_default(&options, sizeof options);
  options.min_cluster_size = 5;

  quintet_hdbscan_clustering* found = NULL;
  if (quintet_hdbscan_cluster(points, QUINTET_DOUBLE, 25, 2, 2, &options, "auto", NULL, NULL, &found) != QUINTET_OK) {
    fprintf(stderr, "%s\n", quintet_last_error());
    return 1;
  }
  const int64_t* labels; /* belong to `found` */
  const double* persistence;
  int64_t n, clusters, noise = 0;
  quintet_hdbscan_labels(found, &labels, &n);
  quintet_hdbscan_persistence(found, &persistence, &clusters);
  for (int64_t i = 0; i < n; ++i) noise += labels[i] < 0;
  printf("%d clusters, %d of %d points is noise\n", (int)clusters, (int)noise, (int)n);
  quintet_hdbscan_free(found);
  return 0;
}
