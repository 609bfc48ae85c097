// Peers of the dense distance matrix, as people write them with the libraries at hand.
#pragma once

#include <cstdint>

namespace quintet::bench {

/// out[i][j] = max(core_i, core_j, sqrt(max(|x_i|^2 + |x_j|^2 - 2 <x_i, x_j>, 0))) by OpenBLAS sgemm on strips of rows,
/// one strip a thread, the epilogue done while the strip is in cache. The fastest arrangement of sgemm we know of.
void blas_mutual_reachability(const float* points, std::int64_t n, std::int64_t dim, const float* core, float* out,
                              int threads);

/// Squared distances by FAISS's exact pairwise routine.
void faiss_squared_distances(const float* points, std::int64_t n, std::int64_t dim, float* out, int threads);

}  // namespace quintet::bench
