// Singular value decompositions of symmetric matrices by their eigenvalues: A = V diag(w) V^T = U diag(|w|) V^T, where
// u_j = v_j sign(w_j).
//
//   const auto d = quintet::svd::decompose_symmetric<double>(covariances);
//   const auto inverse = quintet::svd::pseudo_inverse(d);
//
// Faster than decompose(), with the accuracy of eigen(): small singular values are right to eps S_0 only.
#pragma once

#include "quintet/svd/decompose.hpp"
#include "quintet/svd/eigen.hpp"

namespace quintet::svd {

/// The decomposition of every matrix of `a` [B x n x n]; one triangle is read. S falls; values of equal size
/// follow in the order of their eigenvalues. The element of largest size of each column of V is positive (the first
/// among equals). No sweeps are counted. Options, errors, NaN, cost and memory as eigen(), plus n^2 numbers a matrix.
template <class T>
decomposition<T> decompose_symmetric(batch_view<const T> a, const eigen_options& options = {},
                                     const Device& device = Device::best());

/// The same of every batch of matrices and every matrix (quintet/core/arguments.hpp).
template <batch_argument A>
auto decompose_symmetric(const A& a, const eigen_options& options = {}, const Device& device = Device::best()) {
  using T = element_of<A>;
  return decompose_symmetric<T>(batch_view<const T>(batch_of(a)), options, device);
}

/// The same to the caller's memory. out.s is [B x k] for the k <= n largest values; u and v are [B x n x k], unused
/// without options.vectors. Outputs must not overlap each other or `a`. Returns the device that did it.
Device decompose_symmetric(any_batch a, const outputs& out, const eigen_options& options,
                           const Device& device = Device::best());

template <class T>
decomposition<T> decompose_symmetric(batch_view<const T> a, const eigen_options& options, const Device& device) {
  const std::int64_t n = a.rows(), columns = options.vectors ? n : 0;
  decomposition<T> result({a.batch(), n, a.cols(), n, columns, columns});
  result.ran_on = decompose_symmetric(any_batch(a), result.outputs(), options, device);
  return result;
}

}  // namespace quintet::svd
