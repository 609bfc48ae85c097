// Gradients in the Poincare ball, and one step of Riemannian stochastic gradient descent. Shapes, accuracy, status,
// errors and cost as in operations.hpp: arguments and results are [N x D], O(N D) time.
#pragma once

#include "quintet/poincare/operations.hpp"

namespace quintet::poincare {

/// Euclidean gradients of d(x, y): row i of gradient_x is d d(x_i, y_i) / d x_i, and the same for y.
///   2 / (|x - y| sqrt(a_x a_y (1 + t))) ((x - y) + c |x - y|^2 x / a_x),  a = 1 - c|.|^2, t of distances.hpp
/// Their length in the metric, |gradient| / lambda, is 1. Where x = y the distance has no gradient: the row is 0.
template <class Storage>
row_status distance_gradients(any_rows<const Storage> x, any_rows<const Storage> y,
                              any_rows<accumulator_t<Storage>> gradient_x, any_rows<accumulator_t<Storage>> gradient_y,
                              const ball_options& options = {}, const Device& device = Device::best());

/// gradient / lambda_x^2: the Riemannian gradient that belongs to a Euclidean one (Nickel and Kiela 2017).
template <class Storage>
row_status riemannian_gradient(any_rows<const Storage> x, any_rows<const Storage> gradient,
                               any_rows<accumulator_t<Storage>> out, const ball_options& options = {},
                               const Device& device = Device::best());

/// out = exp_x(-rate gradient / lambda_x^2), then pulled to sqrt(c) |out| <= 1 - epsilon as project() does, where
/// `moved` of the report counts the points for which that was needed. `gradient` is Euclidean. Throws InvalidArgument
/// also for a rate that is not finite, and for epsilon outside the range of project(). (Bonnabel 2013; Nickel and Kiela
/// 2017 take the first order of exp_x, a retraction.)
template <class Storage>
projection_report rsgd_step(any_rows<const Storage> x, any_rows<const Storage> gradient, double rate, double epsilon,
                            any_rows<accumulator_t<Storage>> out, const ball_options& options = {},
                            const Device& device = Device::best());

}  // namespace quintet::poincare
