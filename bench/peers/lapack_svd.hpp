// Singular value decompositions of small matrices, one after another, by LAPACK (OpenBLAS) and Eigen.
#pragma once

#include <cstdint>

namespace quintet::bench {

enum class svd_peer { gesdd, gesvj, eigen_jacobi, eigen_bdc };

/// Decomposes `batch` column-major n x n matrices with U, S and V on one thread. The factors of the last matrix that
/// was decomposed go to u, s, v (V, not its transpose), column-major. Returns false when the peer reports a failure.
template <class Real>
bool peer_svd(svd_peer peer, const Real* a, std::int64_t batch, std::int64_t n, Real* u, Real* s, Real* v);

extern template bool peer_svd(svd_peer, const float*, std::int64_t, std::int64_t, float*, float*, float*);
extern template bool peer_svd(svd_peer, const double*, std::int64_t, std::int64_t, double*, double*, double*);

}  // namespace quintet::bench
