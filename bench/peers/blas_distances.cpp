#include "peers/blas_distances.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>
#include <vector>

#ifdef QUINTET_HAVE_OPENBLAS
#include <cblas-openblas.h>
#endif
#ifdef QUINTET_HAVE_FAISS
#include <faiss/utils/distances.h>
#include <omp.h>
#endif

namespace quintet::bench {

#ifdef QUINTET_HAVE_OPENBLAS
void blas_mutual_reachability(const float* points, std::int64_t n, std::int64_t dim, const float* core, float* out,
                              int threads) {
  constexpr std::int64_t strip = 128;
  openblas_set_num_threads(1);
  std::vector<float> square(n);
  for (std::int64_t i = 0; i < n; ++i) square[i] = cblas_sdot(int(dim), points + i * dim, 1, points + i * dim, 1);
  std::atomic<std::int64_t> next{0};
  const auto work = [&] {
    for (std::int64_t first = strip * next++; first < n; first = strip * next++) {
      const std::int64_t rows = std::min(strip, n - first);
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, int(rows), int(n), int(dim), -2, points + first * dim,
                  int(dim), points, int(dim), 0, out + first * n, int(n));
      for (std::int64_t i = first; i < first + rows; ++i) {
        float* row = out + i * n;
        const float x = square[i], core_i = core[i];
        for (std::int64_t j = 0; j < n; ++j) {
          const float distance = std::sqrt(std::max(x + square[j] + row[j], 0.f));
          row[j] = std::max(std::max(core_i, core[j]), distance);
        }
        row[i] = 0;
      }
    }
  };
  std::vector<std::thread> team;
  for (int t = 0; t < threads; ++t) team.emplace_back(work);
  for (std::thread& t : team) t.join();
}
#endif

#ifdef QUINTET_HAVE_FAISS
void faiss_squared_distances(const float* points, std::int64_t n, std::int64_t dim, float* out, int threads) {
  omp_set_num_threads(threads);
#ifdef QUINTET_HAVE_OPENBLAS
  openblas_set_num_threads(threads);
#endif
  faiss::pairwise_L2sqr(dim, n, points, n, points, out);
}
#endif

}  // namespace quintet::bench
