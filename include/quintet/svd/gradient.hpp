// Backward pass of the batched singular value decomposition.
//
// With P = U^T gU - (U^T gU)^T, Q = V^T gV - (V^T gV)^T and, for i != j,
//   M_ij = 1/2 [ (P + Q)_ij / (s_j - s_i) + (P - Q)_ij / (s_j + s_i) ],   M_ii = gS_i,
//   gA = U M V^T + (I - U U^T) gU S^-1 V^T + U S^-1 gV^T (I - V V^T).
// This is the usual formula with 1 / (s_j^2 - s_i^2) split in two. Nothing is squared, so nothing overflows, and the
// only dangerous factor is separate.
//
// Equal values: if a loss does not depend on the choice of their vectors, P + Q = 0 there, and the quotient is 0 / 0.
// gU, gS and gV do not determine its value. It is 0 for U V^T, where policy `drop` is right. It is not 0 for U f(S) V^T
// with f' != 0, where every policy is wrong. The same holds for 1 / (s_j + s_i) and S^-1 at values of zero.
// count_degenerate() counts such matrices.
//
// Full vectors: the columns from k on are any basis of the rest of the space. Their derivatives count as those of a
// loss that depends on that space alone: with U_2 these columns, -U_2 gU_2^T U_1 is added to the first k of gU.
#pragma once

#include <cstdint>
#include <vector>

#include "quintet/svd/decompose.hpp"

namespace quintet::svd {

/// Treatment of 1 / x where x = s_j - s_i, s_j + s_i or s_i is close to zero.
enum class degeneracy {
  exact,    ///< 1 / x: infinite or NaN gradients for equal singular values
  drop,     ///< 0 where |x| <= tolerance * s_0, otherwise 1 / x
  broaden,  ///< x / (x^2 + (tolerance * s_0)^2)
};

/// Treatment of degenerate singular values in gradient().
struct gradient_options {
  degeneracy policy = degeneracy::drop;  ///< treatment of 1 / x for x close to zero
  /// Relative to the largest singular value, >= 0; 0: 10 max(m, n) eps of the type computed in.
  double tolerance = 0;
};

/// Number of matrices for which gradient() with these options replaces a quotient, because two singular values, or one
/// and zero if m != n, are within the tolerance. There it may be wrong for a loss that depends on U or V. Needs no
/// vectors. O(B k), on the host. Throws InvalidArgument for a negative or NaN tolerance.
std::int64_t count_degenerate(const any_factors& f, const gradient_options& options = {});

/// The gradient to `out` [B, m, n], any strides. If factors, derivatives and `out` are on a device, it does the work
/// and nothing is transferred. Returns the device that did it. The contract is that of the second form.
Device gradient(const any_factors& f, any_batch gu, any_matrix gs, any_batch gv, any_output_batch out,
                const gradient_options& options, const Device& device = Device::best());

/// gA [B, m, n], dense and row-major, of a loss with the derivatives gU, gS, gV by U, S, V. Each of the three may be an
/// empty view ({}), which means zero. gS alone needs no division and is always finite.
///
/// T is double, float, half or bfloat16; 16-bit types are computed in float and rounded once. A matrix with status
/// not_finite has a gradient of NaN. Throws InvalidArgument for views of another shape, a negative or NaN tolerance,
/// and for a decomposition without vectors or with only the top values; OutOfMemory, DeviceError. Cost: about 12 m n k
/// multiply-adds per matrix. Memory: the result, dense copies of the derivatives, and 3 k^2 + (m + n) k numbers for
/// each matrix in work (8 a host thread, 2048 on a device); |m - n| k more with full vectors. A device also has copies
/// of all arguments.
template <class T>
std::vector<T> gradient(const factors_view<T>& f, batch_view<const T> gu, matrix_view<const accumulator_t<T>> gs,
                        batch_view<const T> gv, const gradient_options& options = {},
                        const Device& device = Device::best()) {
  std::vector<T> result(f.s.rows() * f.u.rows() * f.v.rows());
  gradient(f, gu, gs, gv, any_output_batch(result.data(), f.s.rows(), f.u.rows(), f.v.rows()), options, device);
  return result;
}
/// The same of a decomposition.
template <class T>
std::vector<T> gradient(const decomposition<T>& d, batch_view<const T> gu, matrix_view<const accumulator_t<T>> gs,
                        batch_view<const T> gv, const gradient_options& options = {},
                        const Device& device = Device::best()) {
  return gradient<T>(d.view(), gu, gs, gv, options, device);
}

/// polar_gradient() below to `out` [B, m, n], any strides, as gradient().
Device polar_gradient(const any_factors& f, any_batch gw, any_batch gh, any_output_batch out,
                      const gradient_options& options, const Device& device = Device::best());

/// gA [B, m, n], dense and row-major, of a loss with the derivatives gW [B, m, n] and gH [B, n, n]. They are those by
/// the factors of the polar decomposition A = W H of polar() (applications.hpp); each may be an empty view ({}), which
/// means zero.
///
/// With M = U^T gW V, N = V^T (gH + gH^T) V and X_ij = (M_ij - M_ji + s_i N_ij) / (s_i + s_j),
///   gA = U X V^T + (I - U U^T) gW V S^-1 V^T + U (S^-1 U^T gW + V^T (gH + gH^T)) (I - V V^T).
/// Only sums of singular values divide, never differences. So equal singular values are no special case, and only a
/// singular A is one (options.policy). Factors with options::proper_rotations give the derivative of the nearest
/// rotation W, which is infinite where s_{n-1} = -s_n.
///
/// T, errors and cost as for gradient(); memory (2 m + 2 n) k + 3 k^2 numbers for each matrix in work.
template <class T>
std::vector<T> polar_gradient(const factors_view<T>& f, batch_view<const T> gw, batch_view<const T> gh,
                              const gradient_options& options = {}, const Device& device = Device::best()) {
  std::vector<T> result(f.s.rows() * f.u.rows() * f.v.rows());
  polar_gradient(f, gw, gh, any_output_batch(result.data(), f.s.rows(), f.u.rows(), f.v.rows()), options, device);
  return result;
}
/// The same of a decomposition.
template <class T>
std::vector<T> polar_gradient(const decomposition<T>& d, batch_view<const T> gw, batch_view<const T> gh,
                              const gradient_options& options = {}, const Device& device = Device::best()) {
  return polar_gradient<T>(d.view(), gw, gh, options, device);
}

}  // namespace quintet::svd
