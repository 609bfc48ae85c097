// The Poincare distance matrix as people write it with a matrix product.
#pragma once

#include <cstdint>

namespace quintet::bench {

/// out[i][j] = 2 asinh(sqrt(max(|x|^2 + |y|^2 - 2 <x, y>, 0) / ((1 - |x|^2)(1 - |y|^2)))), curvature -1, by OpenBLAS
/// sgemm and the C library's asinhf, rows shared among threads.
void blas_poincare(const float* queries, std::int64_t q, const float* points, std::int64_t n, std::int64_t dim,
                   float* out, int threads);

}  // namespace quintet::bench
