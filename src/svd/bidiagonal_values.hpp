// Singular values by way of a bidiagonal matrix: bidiagonal.hpp, then qd.hpp.
#pragma once

#include "svd/bidiagonal.hpp"
#include "svd/qd.hpp"

namespace quintet::svd {

/// Numbers of working memory of one matrix.
template <class Real>
std::int64_t reduction_size(std::int64_t n, std::int64_t ld) {
  return bidiagonal_memory<Real>::size(n, ld);
}

/// The singular values of B, in no order, by one thread of the team. False where one did not converge.
template <class Map>
QUINTET_SVD_INLINE bool find_values(const Map& map, const bidiagonal_memory<typename Map::real>& at, int n,
                                    typename Map::real* sigma) {
  if (!map.leads_team()) return true;
  double *q = at.squares, *e = q + n;
  for (int i = 0; i < n; ++i) {
    q[i] = double(at.diagonal[i]) * double(at.diagonal[i]);
    e[i] = i + 1 < n ? double(at.beside[i]) * double(at.beside[i]) : 0;
  }
  const bool converged = qd_iteration({q, e}, {e + n, e + 2 * n}, n).run();
  for (int i = 0; i < n; ++i) sigma[i] = typename Map::real(root(q[i]));
  return converged;
}

}  // namespace quintet::svd
