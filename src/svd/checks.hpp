// Checks of arguments that the functions of the family share.
#pragma once

#include "quintet/core/error.hpp"
#include "quintet/svd/decompose.hpp"
#include "quintet/svd/eigen.hpp"

namespace quintet::svd {

/// Throws InvalidArgument unless `view` is [batch x rows x cols].
template <class T>
void require_shape(const batch_view<T>& view, std::int64_t batch, std::int64_t rows, std::int64_t cols,
                   const char* name) {
  if (view.batch() == batch && view.rows() == rows && view.cols() == cols) return;
  throw InvalidArgument(text(name, " must be [", batch, " x ", rows, " x ", cols, "] (", name, "=[", view.batch(),
                             " x ", view.rows(), " x ", view.cols(), "])"));
}

/// As largest_rows of decompose.hpp: so many numbers have 2^62 bytes.
constexpr std::int64_t largest_eigen_size = 32768, largest_eigen_batch = std::int64_t(1) << 29;

/// Throws InvalidArgument for symmetric matrices and outputs that are not of one shape. Returns how many eigenvalues
/// are wanted.
template <class T>
std::int64_t check_eigen(const batch_view<const T>& a, const matrix_view<accumulator_t<T>>& w, const batch_view<T>& v,
                         const vector_view<std::int32_t>& status, const eigen_options& options) {
  const std::int64_t batch = a.batch(), n = a.rows();
  if (a.cols() != n) throw InvalidArgument(text("a must be square (a=[", batch, " x ", n, " x ", a.cols(), "])"));
  require_argument(n <= largest_eigen_size, "rows", n, text("<= ", largest_eigen_size));
  require_argument(batch <= largest_eigen_batch, "batch", batch, text("<= ", largest_eigen_batch));
  const std::int64_t values = detail::count_eigenvalues(n, options);
  if (options.vectors) require_shape(v, batch, n, values, "v");
  require_argument(w.rows() == batch, "w.rows", w.rows(), text("the batch, ", batch));
  require_argument(w.cols() == values, "w.cols", w.cols(),
                   values == n ? text("the size of the matrices, ", n) : text("the count of eigenvalues, ", values));
  require_argument(status.size() == batch, "status.size", status.size(), text("the batch, ", batch));
  return values;
}

/// `f` with elements of T. Throws InvalidArgument for other elements.
template <class T>
factors_view<T> factors_of(const any_factors& f) {
  return {f.u.as<T>("u"), f.v.as<T>("v"), f.s.as<accumulator_t<T>>("s")};
}

}  // namespace quintet::svd
