// Errors of a singular value decomposition as numbers, in units of the machine precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "quintet/svd/decompose.hpp"

namespace quintet::test {

/// The precision that a storage type is computed with.
template <class T>
constexpr double compute_epsilon = std::numeric_limits<accumulator_t<T>>::epsilon();

/// The distance of numbers of a storage type next to 1.
template <class T>
constexpr double storage_epsilon = std::is_same_v<T, half>       ? 1.0 / 1024
                                   : std::is_same_v<T, bfloat16> ? 1.0 / 128
                                                                 : compute_epsilon<T>;

/// max |M^T M - I| of matrix b; of every storage type.
template <class T>
double orthogonality(batch_view<const T> m, std::int64_t b);

/// |A - U S V^T|_F / |A|_F of matrix b; |U S V^T|_F when A = 0.
template <class T>
double residual(batch_view<const T> a, const svd::decomposition<T>& r, std::int64_t b);

/// Falling and not negative.
template <class T>
bool is_sorted(const svd::decomposition<T>& r, std::int64_t b) {
  for (std::int64_t j = 0; j < r.values; ++j)
    if (!(r.singular_value(b, j) >= 0) || (j > 0 && r.singular_value(b, j) > r.singular_value(b, j - 1))) return false;
  return true;
}

/// The bounds of include/quintet/svd/decompose.hpp, in units of epsilon.
struct svd_bounds {
  double residual, u, v, values;
};

/// Those of the table, for square matrices of order n.
inline svd_bounds square_bounds(std::int64_t n) {
  if (n <= 16) return {8, 8, 8, 5};
  if (n <= 32) return {10, 12, 12, 6};
  if (n <= 64) return {16, 16, 16, 8};
  if (n <= 128) return {25, 25, 25, 12};
  const double growth = n <= 256 ? 1 : std::sqrt(double(n) / 256);
  return {40 * growth, 40 * growth, 40 * growth, 20 * growth};
}

/// Whether QR comes first, for matrices whose rows and columns are of similar sizes.
inline bool has_qr(std::int64_t rows, std::int64_t cols, const svd::options& options) {
  const bool is_automatic = options.preconditioning == svd::preconditioning::automatic;
  if (!is_automatic && options.preconditioning != svd::preconditioning::none) return true;
  if (options.vectors == svd::vectors::full && rows != cols) return true;
  return is_automatic && 2 * std::max(rows, cols) >= 3 * std::min(rows, cols);
}

inline svd_bounds bounds_for(std::int64_t rows, std::int64_t cols, const svd::options& options) {
  svd_bounds b = square_bounds(std::min(rows, cols));
  const double length = double(std::max(rows, cols));
  double& of_long_side = rows > cols ? b.u : b.v;
  if (has_qr(rows, cols, options)) {
    const bool is_nearly_square = 2 * std::max(rows, cols) < 3 * std::min(rows, cols);
    if (is_nearly_square) b = {1.5 * b.residual, 1.5 * b.u, 1.5 * b.v, 1.5 * b.values};
    of_long_side *= (is_nearly_square ? 1 : 1.5) * std::sqrt(1 + length / 16384);
  } else if (rows != cols) {
    of_long_side = std::max(of_long_side, 2 + std::sqrt(length) / 2);
  }
  return b;
}

}  // namespace quintet::test
