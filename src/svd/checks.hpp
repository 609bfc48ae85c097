// Checks of arguments that the functions of the family share.
#pragma once

#include "quintet/core/error.hpp"
#include "quintet/svd/decompose.hpp"

namespace quintet::svd {

/// Throws InvalidArgument unless `view` is [batch x rows x cols].
template <class T>
void require_shape(const batch_view<T>& view, std::int64_t batch, std::int64_t rows, std::int64_t cols,
                   const char* name) {
  if (view.batch() == batch && view.rows() == rows && view.cols() == cols) return;
  throw InvalidArgument(text(name, " must be [", batch, " x ", rows, " x ", cols, "] (", name, "=[", view.batch(),
                             " x ", view.rows(), " x ", view.cols(), "])"));
}

/// `f` with elements of T. Throws InvalidArgument for other elements.
template <class T>
factors_view<T> factors_of(const any_factors& f) {
  return {f.u.as<T>("u"), f.v.as<T>("v"), f.s.as<accumulator_t<T>>("s")};
}

}  // namespace quintet::svd
