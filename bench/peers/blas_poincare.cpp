#include "peers/blas_poincare.hpp"

#include <algorithm>
#include <cmath>
#include <thread>
#include <vector>

#ifdef QUINTET_HAVE_OPENBLAS
#include <cblas-openblas.h>

namespace quintet::bench {

void blas_poincare(const float* queries, std::int64_t q, const float* points, std::int64_t n, std::int64_t dim,
                   float* out, int threads) {
  openblas_set_num_threads(1);
  const auto squares = [dim](const float* rows, std::int64_t count) {
    std::vector<float> square(count);
    for (std::int64_t i = 0; i < count; ++i) square[i] = cblas_sdot(int(dim), rows + i * dim, 1, rows + i * dim, 1);
    return square;
  };
  const std::vector<float> x = squares(queries, q), y = squares(points, n);
  const auto work = [&](std::int64_t first, std::int64_t end) {
    if (first == end) return;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, int(end - first), int(n), int(dim), -2, queries + first * dim,
                int(dim), points, int(dim), 0, out + first * n, int(n));
    for (std::int64_t i = first; i < end; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        const float square = std::max(x[i] + y[j] + out[i * n + j], 0.f);
        out[i * n + j] = 2 * std::asinh(std::sqrt(square / ((1 - x[i]) * (1 - y[j]))));
      }
  };
  std::vector<std::thread> team;
  for (int t = 0; t < threads; ++t) team.emplace_back(work, q * t / threads, q * (t + 1) / threads);
  for (std::thread& t : team) t.join();
}

}  // namespace quintet::bench
#endif
