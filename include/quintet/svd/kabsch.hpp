// Rigid motions of one set of points onto another: the orthogonal Procrustes problem with determinant 1.
//
//   const auto motion = quintet::svd::kabsch<double>(points, target);     // [B, N, D] each
//   // target_i is nearly motion.rotation points_i + motion.translation, with least squares
//
// For weights w_i of sum 1 and means p0 = sum w_i p_i, q0 = sum w_i q_i,
//   H = sum w_i (p_i - p0) (q_i - q0)^T = U S V^T,   R = V diag(1, ..., 1, det(V U^T)) U^T,   t = q0 - R p0
// minimise sum w_i |R p_i + t - q_i|^2 among all rotations (Kabsch 1976 and 1978; Umeyama 1991). Without the condition
// on the determinant R = V U^T (Schoenemann 1966). R is unique unless s_{D-1} + det(V U^T) s_D = 0.
//
// With a scale, c = (s_1 + ... + det(V U^T) s_D) / sum w_i |p_i - p0|^2 and t = q0 - c R p0 minimise
// sum w_i |c R p_i + t - q_i|^2 (Umeyama 1991); R stays. Points that are all equal, up to 32 eps of their size, have c
// = 1.
//
// Sums run over blocks of points in a fixed order: the same bits for any number of threads, and on every device up to
// the accuracy of decompose(). Errors: InvalidArgument for views of another shape, D not 2, 3 or 4 with proper
// rotations, weights that are negative, NaN or of sum zero; OutOfMemory, DeviceError. A set that holds NaN or infinity
// has a motion of NaN. Points of weight 0 are ignored, NaN included: weights of 0 and 1 are a mask. T is float or
// double.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "quintet/core/any_view.hpp"
#include "quintet/device/device.hpp"

namespace quintet::svd {

namespace detail {

/// T, or a sentence that refuses it.
template <class T>
struct checked_real {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>,
                "quintet: points of a motion must be float or double: convert them first");
  using type = T;
};

}  // namespace detail

/// Options of kabsch().
struct kabsch_options {
  bool reflections = false;  ///< orthogonal matrices of either determinant, and any D >= 1
  bool scale = false;        ///< a factor c as well: similarity transformations
};

/// Outputs of the second form of kabsch(), in memory of the host or of the device.
struct motion_outputs {
  any_output_batch rotation;      ///< [B, D, D]
  any_output_matrix translation;  ///< [B, D]
  any_output_vector rmsd;         ///< [B]
  any_output_vector scale;        ///< [B] with kabsch_options::scale, otherwise unused
};

/// Motions of a batch, dense and row-major.
template <class T>
struct rigid_motions {
  static_assert(sizeof(typename detail::checked_real<T>::type) > 0);
  std::int64_t batch = 0;      ///< B
  std::int64_t dimension = 0;  ///< D
  std::vector<T> rotation;     ///< [B, D, D]
  std::vector<T> translation;  ///< [B, D]
  std::vector<T> rmsd;         ///< [B], the root of the remaining weighted mean square
  std::vector<T> scale;        ///< [B] with kabsch_options::scale, otherwise empty
  Device ran_on;               ///< where it was computed

  /// R [B, D, D].
  batch_view<const T> rotation_view() const QUINTET_LIFETIMEBOUND {
    return {rotation.data(), batch, dimension, dimension};
  }
  /// t [B, D].
  matrix_view<const T> translation_view() const QUINTET_LIFETIMEBOUND { return {translation.data(), batch, dimension}; }
};

/// The motions that take `points` [B, N, D], N >= 1, to `target`, of the same shape. weights are [B, N], or an empty
/// view for equal ones. Cost: about (D + 6) D N multiply-adds for each of the B, and their decomposition. Memory: the
/// result, and 3 D^2 + 2 D numbers for each of the B and every 256 points.
template <class T>
rigid_motions<T> kabsch(batch_view<const T> points, batch_view<const T> target, matrix_view<const T> weights = {},
                        const kabsch_options& options = {}, const Device& device = Device::best());

/// The same of and to memory of the host or a device, any strides. Between arguments on one device only one number is
/// transferred, the check of the weights. Returns the device that did it.
Device kabsch(any_batch points, any_batch target, any_matrix weights, const motion_outputs& out,
              const kabsch_options& options, const Device& device = Device::best());

/// Derivatives by the points of both sets, [B, N, D] each.
template <class T>
struct motion_gradients {
  static_assert(sizeof(typename detail::checked_real<T>::type) > 0);
  ///@{
  /// Dense and row-major.
  std::vector<T> points, target;
  ///@}
};

/// The backward pass of kabsch() for a loss with the derivatives g_rotation [B, D, D], g_translation [B, D], g_rmsd [B]
/// and, with a scale, g_scale [B]. Each may be an empty view ({}), which means zero. R depends on the points by H,
/// through polar_gradient() of H (gradient.hpp), so equal singular values are no special case. R and c minimise, so
/// their derivatives do not enter that of rmsd; where rmsd = 0 that one is 0. Weights are constants. Cost: about twice
/// that of kabsch().
template <class T>
motion_gradients<T> kabsch_gradient(batch_view<const T> points, batch_view<const T> target,
                                    matrix_view<const T> weights, batch_view<const T> g_rotation,
                                    matrix_view<const T> g_translation, vector_view<const T> g_rmsd,
                                    const kabsch_options& options = {}, const Device& device = Device::best(),
                                    vector_view<const T> g_scale = {});

}  // namespace quintet::svd
