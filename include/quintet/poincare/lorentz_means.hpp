// Means of groups of points of the Lorentz model.
//
// Groups, weights, errors, memory and cost are those of poincare/means.hpp; points and means are space parts [N x n].
// They are taken in the ball, in double for every storage. At radius r its coordinates hold distances to about
// 2^-50 exp(sqrt(c) r) / sqrt(c), which is 1e-6 at radius 20. The ball of double ends at radius 36 / sqrt(c): a group
// with a point farther out has NaN.
#pragma once

#include "quintet/poincare/lorentz_operations.hpp"
#include "quintet/poincare/means.hpp"

namespace quintet::lorentz {

using poincare::frechet_options;
using poincare::mean_report;

/// The centroid (Law, Liao, Snell, Zemel 2019): the point of the sheet in the direction of sum w (t, x). It has the
/// smallest sum of w cosh(sqrt(c) d). That is poincare::gyromidpoint() of the points in the ball.
mean_report centroid(any_matrix points, vector_view<const std::int64_t> offsets, any_vector weights,
                     any_output_matrix out, const ball_options& options = {}, const Device& device = Device::best());

/// The Frechet (Karcher) mean: the point with the smallest sum of w d^2. That is poincare::frechet_mean() of the points
/// in the ball.
mean_report frechet_mean(any_matrix points, vector_view<const std::int64_t> offsets, any_vector weights,
                         any_output_matrix out, const frechet_options& options = {},
                         const Device& device = Device::best());

}  // namespace quintet::lorentz
