// Checks of arguments that the functions of the family share.
#pragma once

#include <limits>

#include "pairwise/stored_rows.hpp"
#include "quintet/core/error.hpp"
#include "quintet/core/view.hpp"

namespace quintet::poincare {

/// Small enough for the 32-bit indices inside tiles.
constexpr std::int64_t max_points = std::numeric_limits<std::int32_t>::max() - 1024;

/// N <= max_points, D >= 1.
template <class T>
void check_rows(matrix_view<const T> rows, const char* name) {
  require_argument(rows.rows() <= max_points, text(name, ".rows"), rows.rows(), text("<= ", max_points));
  if (rows.rows() > 0) require_argument(rows.cols() >= 1, text(name, ".cols"), rows.cols(), ">= 1");
}

/// Throws InvalidArgument unless `rows` is [n x dim].
template <class Real>
void require_shape(matrix_view<Real> rows, const char* name, std::int64_t n, std::int64_t dim) {
  if (rows.rows() != n || (n > 0 && rows.cols() != dim))
    throw InvalidArgument(
        text(name, " must be ", n, " x ", dim, " (", name, "=", rows.rows(), " x ", rows.cols(), ")"));
}

/// Two sets of points of one dimension.
template <class T>
void check_sets(matrix_view<const T> x, matrix_view<const T> y) {
  check_rows(x, "x");
  check_rows(y, "y");
  if (x.rows() > 0 && y.rows() > 0)
    require_argument(x.cols() == y.cols(), "dimension of the second set", y.cols(),
                     text("that of the first, ", x.cols()));
}

using pairwise::stored;

}  // namespace quintet::poincare
