// Everything a launch needs to know about a batch: plain numbers and pointers, for the host and for kernels.
#pragma once

#include <cstdint>
#include <type_traits>

#include "quintet/core/any_view.hpp"

namespace quintet::svd {

/// Matrices of one of the storage types: element (b, i, j) lies at b * batch + i * row + j * column.
struct stored_batch {
  void* data;
  scalar_type type;
  std::int64_t batch, row, column;
};

/// Calls f(T*) with the type of the data; float kernels know the types up to 32 bits, double kernels all.
template <class Real, class Function>
inline void with_elements(scalar_type type, void* data, Function f) {
  if constexpr (std::is_same_v<Real, double>)
    if (type == scalar_type::float64) return f(static_cast<double*>(data));
  switch (type) {
    case scalar_type::float32:
      return f(static_cast<float*>(data));
    case scalar_type::float16:
      return f(static_cast<half*>(data));
    default:
      return f(static_cast<bfloat16*>(data));
  }
}

template <class T, class Real>
inline T to_storage(Real value) {
  if constexpr (std::is_same_v<T, half> || std::is_same_v<T, bfloat16>)
    return T(float(value));
  else
    return T(value);
}

/// Which matrix Jacobi works on.
enum class route : std::int32_t {
  direct,         ///< A
  triangle,       ///< R of A = Q R
  pivoted_lower,  ///< R^T of A P = Q R, rows of A sorted by their largest element
};

/// Values of status[]; the three last never leave the library.
enum status_code : std::int32_t {
  code_ok = 0,
  code_not_converged = 1,
  code_not_finite = 2,
  code_badly_scaled = 16,       ///< rows or columns of very different size: wants route::pivoted_lower
  code_out_of_range = 17,       ///< columns with squares outside the range of the compute type: wants double
  code_wants_reflections = 18,  ///< too far from orthonormal, or out of range, for QR by the Gram matrix
};

/// What a launch of the Jacobi kernel does. With large matrices, QR, sweeps and the product with Q are other launches
/// between these.
enum class phase : std::int32_t {
  all,
  load,    ///< the scaled matrix in the working memory
  start,   ///< X and V
  rotate,  ///< all sweeps, by the team of the matrix
  finish,  ///< singular values; vectors normalised, and completed where this is not done by all
  expand,  ///< the left vectors as far as Q has no part in them
  store,   ///< vectors
};

/// Offsets into the working memory of one group, counted in elements times the width of the map.
struct workspace_layout {
  std::int64_t a, h, x, v, left, start, division;  ///< division: 0 where there is none
  std::int64_t norm, column_scale, norm_correction, order, sigma, rank, sign, tau, start_w, start_y, pivots, row_rank,
      row_size, source, scaling;
  std::int64_t total;
};

/// rows >= cols: a wide batch comes with its strides and outputs exchanged.
template <class Real>
struct jacobi_job {
  stored_batch a, left, right, s;  ///< s: element (b, j) at b * batch + j * column
  std::int32_t *status, *sweeps;   ///< sweeps: null for eigenproblems
  const std::int64_t* index;       ///< the matrices to work on; null: all of them, in order
  std::int64_t first, count;       ///< places [first, count) in it
  svd::phase phase;
  std::int32_t rows, cols, left_cols, right_cols, values;
  std::int32_t first_value;  ///< of an eigenproblem, the place of the first one that is stored
  route preconditioner;
  std::int32_t max_sweeps;
  Real root_rows;
  bool vectors, accurate, canonical, sign_by_right;
  bool completes_by_all;          ///< what rank-deficient matrices lack is made by other launches
  bool starts_from_eigenvectors;  ///< matrices whose columns are of one size start from eigenvectors: see
                                  ///< eigenvectors.hpp
  bool reduces;                   ///< values alone, of matrices whose rows and columns are of one size, come
                                  ///< from a bidiagonal matrix: see bidiagonal.hpp
  bool is_triangle;               ///< A is R of a QR factorisation: the size of its rows says nothing
  bool is_symmetric;              ///< an eigenproblem: see eigen.cpp. No left vectors
  bool reads_upper;               ///< of a symmetric matrix, the upper triangle
  bool defer_badly_scaled, defer_out_of_range;  ///< leave such matrices alone and only report them
  Real* workspace;
  std::int64_t slot;  ///< numbers of working memory a tile
  std::int64_t groups, tiles;
  std::int32_t ld_a, ld_x, ld_v;
  workspace_layout at;
};

}  // namespace quintet::svd
