// Checks of arguments that the functions of the family share.
#pragma once

#include <limits>

#include "pairwise/stored_rows.hpp"
#include "quintet/core/any_view.hpp"
#include "quintet/core/error.hpp"

namespace quintet::poincare {

/// Small enough for the 32-bit indices inside tiles.
constexpr std::int64_t max_points = std::numeric_limits<std::int32_t>::max() - 1024;

/// N <= max_points, D >= 1.
inline void check_rows(const any_matrix& rows, const char* name) {
  require_argument(rows.rows <= max_points, text(name, ".rows"), rows.rows, text("<= ", max_points));
  if (rows.rows > 0) require_argument(rows.cols >= 1, text(name, ".cols"), rows.cols, ">= 1");
}

/// Throws InvalidArgument unless a matrix of rows x cols is [n x dim].
inline void require_shape(std::int64_t rows, std::int64_t cols, const char* name, std::int64_t n, std::int64_t dim) {
  if (rows != n || (n > 0 && cols != dim))
    throw InvalidArgument(text(name, " must be ", n, " x ", dim, " (", name, "=", rows, " x ", cols, ")"));
}
template <class Void>
void require_shape(const basic_any_matrix<Void>& matrix, const char* name, std::int64_t n, std::int64_t dim) {
  require_shape(matrix.rows, matrix.cols, name, n, dim);
}
template <class T>
void require_shape(const matrix_view<T>& matrix, const char* name, std::int64_t n, std::int64_t dim) {
  require_shape(matrix.rows(), matrix.cols(), name, n, dim);
}

/// Two sets of points of one dimension.
inline void check_sets(const any_matrix& x, const any_matrix& y) {
  check_rows(x, "x");
  check_rows(y, "y");
  if (x.rows > 0 && y.rows > 0)
    require_argument(x.cols == y.cols, "dimension of the second set", y.cols, text("that of the first, ", x.cols));
}

/// The range of a margin of project(): a point pulled to it is inside when it is rounded.
inline void check_margin(double margin, scalar_type type, const char* name) {
  const double min = 2 * (type == scalar_type::float64 ? std::numeric_limits<double>::epsilon()
                                                       : double(std::numeric_limits<float>::epsilon()));
  require_argument(margin >= min && margin < 1, name, margin, text("in [", min, ", 1)"));
}

using pairwise::stored;

}  // namespace quintet::poincare
