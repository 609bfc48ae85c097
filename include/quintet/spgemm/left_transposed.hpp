// Products of a transpose with a matrix.
#pragma once

#include "quintet/spgemm/multiply.hpp"

namespace quintet::spgemm {

// Compiled in the library.
namespace detail {
template <class Semiring, class Value, class Index>
csr<Value, Index> left_transposed_product(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b,
                                          const options& settings, const Device& device, report* stats);
}  // namespace detail

/// C = transpose(A) * B: sums run over the rows of A and B in their order. A is k x m, B is k x n; with b = a this is
/// the whole of gram(). The bits are those of multiply() of the transpose, which is formed once, on the device of the
/// product. Time and memory: those of transpose() and multiply(). Throws as these do.
template <class Semiring = plus_times, class Value, class Index>
  requires is_built_in<Semiring>
csr<Value, Index> multiply_left_transposed(const csr_view<Value, Index>& a, const csr_view<Value, Index>& b,
                                           const options& settings = {}, const Device& device = Device::best(),
                                           report* stats = nullptr) {
  return detail::left_transposed_product<Semiring>(a, b, settings, device, stats);
}

}  // namespace quintet::spgemm
