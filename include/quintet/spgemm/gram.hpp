// Products of a matrix with its transpose, whole or the upper half.
#pragma once

#include "quintet/spgemm/multiply.hpp"

namespace quintet::spgemm {

/// Which of the two symmetric products.
enum class gram_side {
  columns,  ///< transpose(X) * X: of every pair of X's columns
  rows,     ///< X * transpose(X): of every pair of X's rows
};
/// Which entries of it.
enum class gram_part {
  whole,  ///< all
  upper,  ///< columns >= the row: half of the multiplications and of the memory
};

// Compiled in the library.
namespace detail {
template <class Semiring, class Value, class Index>
csr<Value, Index> gram_product(const csr_view<Value, Index>& x, gram_side side, gram_part part, const options& settings,
                               const Device& device, report* stats);
}  // namespace detail

/// transpose(X) * X or X * transpose(X), with the bits of multiply(). The upper half takes half of the multiplications.
///
/// Time: that of transpose() and of multiply(). The upper half takes between 0.6 and 1.2 times as long as the whole:
/// rows of B are half as long. Memory: C and the transpose; for the upper half also 16 bytes and a column number per
/// entry of X, and for each thread 8 bytes per row of B. report::products counts what was multiplied. Throws as
/// multiply() does, InvalidArgument also for more rows, or for the upper half more entries, than Index counts.
template <class Semiring = plus_times, class Value, class Index>
  requires is_built_in<Semiring>
csr<Value, Index> gram(const csr_view<Value, Index>& x, gram_side side = gram_side::columns,
                       gram_part part = gram_part::whole, const options& settings = {},
                       const Device& device = Device::best(), report* stats = nullptr) {
  return detail::gram_product<Semiring>(x, side, part, settings, device, stats);
}

}  // namespace quintet::spgemm
