// Gradients in the Poincare ball, and one step of Riemannian stochastic gradient descent. Shapes, accuracy, status,
// errors and cost as in operations.hpp: arguments and results are [N x D], O(N D) time.
#pragma once

#include "quintet/poincare/operations.hpp"

namespace quintet::poincare {

/// Euclidean gradients of d(x, y): row i of gradient_x is d d(x_i, y_i) / d x_i, and the same for y.
///   2 / (|x - y| sqrt(a_x a_y (1 + t))) ((x - y) + c |x - y|^2 x / a_x),  a = 1 - c|.|^2, t of distances.hpp
/// Their length in the metric, |gradient| / lambda, is 1. Where x = y the distance has no gradient: the row is 0.
row_status distance_gradients(any_matrix x, any_matrix y, any_output_matrix gradient_x, any_output_matrix gradient_y,
                              const ball_options& options = {}, const Device& device = Device::best());

/// gradient / lambda_x^2: the Riemannian gradient that belongs to a Euclidean one (Nickel and Kiela 2017).
row_status riemannian_gradient(any_matrix x, any_matrix gradient, any_output_matrix out,
                               const ball_options& options = {}, const Device& device = Device::best());

/// out = exp_x(-rate gradient / lambda_x^2), then pulled to sqrt(c) |out| <= 1 - epsilon as project() does; `moved` of
/// the report counts the pulled points. `gradient` is Euclidean. Throws InvalidArgument also for a rate that is not
/// finite, and for epsilon outside the range of project(). (Bonnabel 2013; Nickel and Kiela 2017 take the first order
/// of exp_x, a retraction.)
projection_report rsgd_step(any_matrix x, any_matrix gradient, double rate, double epsilon, any_output_matrix out,
                            const ball_options& options = {}, const Device& device = Device::best());

}  // namespace quintet::poincare
