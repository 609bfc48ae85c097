// Certificates: rigorous bounds of the errors of singular values and eigenvalues, computed after the fact from the
// matrix and what was made of it. They hold whatever the decomposition did.
//
//   const auto d = quintet::svd::decompose<double>(a);
//   const auto bound = quintet::svd::certify(a, d);      // |S_j - exact| <= bound[b] for every j
//
// Let R = A - U diag(S) V^T, alpha = |U^T U - I|_F and beta = |V^T V - I|_F. Value j of U diag(S) V^T lies within
// sqrt((1 -+ alpha) (1 -+ beta)) times S_j (Ostrowski 1959). Weyl's inequality (1912) adds |R|_F:
//
//   |S_j - exact| <= |R|_F + S_0 max(sqrt((1 + alpha) (1 + beta)) - 1, 1 - sqrt((1 - alpha) (1 - beta)))
//
// The three norms are computed in double. The bound contains what that rounds and what underflows: a term that passes c
// operations of a sum is wrong by at most gamma_c = c u / (1 - c u) (Higham 2002, 3.1). No rounding mode is set.
//
// The exact values are those of the stored matrix, the bound is of the stored S. For float and 16-bit matrices it is
// close to what the vectors are worth. For double, gamma_c k S_0 with c about 2 sqrt(n) + 4 dominates: 8e-13 S_0 at
// n = 128, where S is right to 1e-15 S_0.
#pragma once

#include <cstdint>
#include <vector>

#include "quintet/svd/decompose.hpp"
#include "quintet/svd/eigen.hpp"

namespace quintet::svd {

///@{
/// A bound of max_j |S_j - exact| for every matrix of `a` [B, m, n], [B], by factors with all min(m, n) values; of U
/// and V the first min(m, n) columns count. With proper rotations it is of |S_j|. Infinity where a bound does not
/// exist: alpha or beta >= 1, values that are not in order, numbers that are not finite. The second form writes to the
/// caller's memory and returns the device that did it.
///
/// Cost: about 2 m n k multiply-adds in double for each matrix of k = min(m, n), as a product of matrices has them.
/// Memory: 2 (m n + m k + n k) numbers for each matrix in work at the same time. Throws InvalidArgument for other
/// shapes, OutOfMemory, DeviceError.
std::vector<double> certify(any_batch a, const any_factors& f, const Device& device = Device::best());
Device certify(any_batch a, const any_factors& f, vector_view<double> bound, const Device& device);
///@}

///@{
/// The same of eigenvalues: a bound of max_j |w_j - exact| for symmetric matrices, by the triangle that eigen() has
/// read.
Device certify_eigen(any_batch a, svd::triangle triangle, any_matrix w, any_batch v, vector_view<double> bound,
                     const Device& device = Device::best());
template <class T>
std::vector<double> certify(batch_view<const T> a, const eigen_decomposition<T>& d,
                            svd::triangle triangle = svd::triangle::lower, const Device& device = Device::best()) {
  std::vector<double> bound(d.batch);
  certify_eigen(a, triangle, d.w_view(), d.v_view(), bound, device);
  return bound;
}
///@}

}  // namespace quintet::svd
