// Weights of the gradients of all distances d_ij between the points x_i and y_j, where g_ij is the derivative of
// something by d_ij. The derivative by x_i is then, with h = sqrt(c) d / 2,
//
//   ball, a = 1 - c |.|^2            sum_j W_ij (x_i - y_j) + x_i / a_i sum_j V_ij,
//                                    W = 2 sqrt(c) g / (a_i a_j sinh h cosh h), V = 2 sqrt(c) g tanh h
//   hyperboloid, points e = (t, x)   what sum_j W_ij (e_i - e_j) says of x_i, W = sqrt(c) g / sinh 2 h
//
// and W = V = 0 where d = 0 (Nickel, Kiela 2017; of the hyperboloid Law et al. 2019). As products of matrices the sums
// of W cost least, but lose the digits that near points have in common. So pairs are counted where d > 0 and the
// squared chord
//
//   ball (sinh h)^2 a_i a_j / c = |x_i - y_j|^2,   hyperboloid 4 (sinh h)^2 / c
//
// is below near_part^2 (s_i + s_j), where s are squares of the points' distances from what they are summed about. With
// such pairs the caller has to take differences.
//
// W and V are within 16 + 4 h roundings of double, of the distances given.
#pragma once

#include <cstdint>

#include "quintet/core/any_view.hpp"
#include "quintet/device/device.hpp"

namespace quintet::poincare {

/// The model that distances are of.
enum class distance_model { ball, hyperboloid };

/// What weights are of.
struct weight_options {
  distance_model model = distance_model::ball;  ///< that of the distances
  double curvature = -1;                        ///< -c < 0
  double near_part = 0;                         ///< >= 0; 0: no pair is near
};

/// Numbers of points: gaps a (of the ball alone) and squares s, one for each row.
struct weight_points {
  vector_view<const double> gap;     ///< a
  vector_view<const double> square;  ///< s
};

/// weights(i, j) := W and shares(i, j) := V (of the ball; otherwise 0 x 0), matrices Q x N; distances and gradients
/// float or double, both of one type. Returns how many pairs are counted as near. Throws InvalidArgument for other
/// sizes, a curvature that is not in [-1e30, -1e-30], a near_part < 0. Cost: one pass.
std::int64_t gradient_weights(any_matrix distances, any_matrix gradients, const weight_points& x,
                              const weight_points& y, matrix_view<double> weights, matrix_view<double> shares,
                              const weight_options& options = {}, const Device& device = Device::best());

}  // namespace quintet::poincare
