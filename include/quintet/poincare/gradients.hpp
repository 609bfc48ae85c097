// Gradients in the Poincare ball, and one step of Riemannian stochastic gradient descent. Shapes, accuracy, status,
// errors and cost as in operations.hpp: arguments and results are [N x D], O(N D) time.
#pragma once

#include "quintet/poincare/operations.hpp"

namespace quintet::poincare {

/// Euclidean gradients of d(x, y): row i of gradient_x is d d(x_i, y_i) / d x_i, and the same for y.
///   2 / (|x - y| sqrt(a_x a_y (1 + t))) ((x - y) + c |x - y|^2 x / a_x),  a = 1 - c|.|^2, t of distances.hpp
/// Their length in the metric, |gradient| / lambda, is 1. Where x = y the distance has no gradient: the row is 0.
template <class Storage, class = only_storage<Storage>>
row_status distance_gradients(matrix_view<const Storage> x, matrix_view<const Storage> y,
                              matrix_view<accumulator_t<Storage>> gradient_x,
                              matrix_view<accumulator_t<Storage>> gradient_y, const ball_options& options = {},
                              const Device& device = Device::best());
/// \overload
template <matrix_argument X, matrix_argument Y, matrix_argument GradientX, matrix_argument GradientY>
row_status distance_gradients(const X& x, const Y& y, GradientX&& gradient_x, GradientY&& gradient_y,
                              const ball_options& options = {}, const Device& device = Device::best()) {
  return distance_gradients<element_of<X>>(matrix_of(x), matrix_of(y), matrix_of(gradient_x), matrix_of(gradient_y),
                                           options, device);
}

/// gradient / lambda_x^2: the Riemannian gradient that belongs to a Euclidean one (Nickel and Kiela 2017).
template <class Storage, class = only_storage<Storage>>
row_status riemannian_gradient(matrix_view<const Storage> x, matrix_view<const Storage> gradient,
                               matrix_view<accumulator_t<Storage>> out, const ball_options& options = {},
                               const Device& device = Device::best());
/// \overload
template <matrix_argument X, matrix_argument Gradient, matrix_argument Out>
row_status riemannian_gradient(const X& x, const Gradient& gradient, Out&& out, const ball_options& options = {},
                               const Device& device = Device::best()) {
  return riemannian_gradient<element_of<X>>(matrix_of(x), matrix_of(gradient), matrix_of(out), options, device);
}

/// out = exp_x(-rate gradient / lambda_x^2), then pulled to sqrt(c) |out| <= 1 - epsilon as project() does, where
/// `moved` of the report counts the points for which that was needed. `gradient` is Euclidean. Throws InvalidArgument
/// also for a rate that is not finite, and for epsilon outside the range of project(). (Bonnabel 2013; Nickel and Kiela
/// 2017 take the first order of exp_x, a retraction.)
template <class Storage, class = only_storage<Storage>>
projection_report rsgd_step(matrix_view<const Storage> x, matrix_view<const Storage> gradient, double rate,
                            double epsilon, matrix_view<accumulator_t<Storage>> out, const ball_options& options = {},
                            const Device& device = Device::best());
/// \overload
template <matrix_argument X, matrix_argument Gradient, matrix_argument Out>
projection_report rsgd_step(const X& x, const Gradient& gradient, double rate, double epsilon, Out&& out,
                            const ball_options& options = {}, const Device& device = Device::best()) {
  return rsgd_step<element_of<X>>(matrix_of(x), matrix_of(gradient), rate, epsilon, matrix_of(out), options, device);
}

}  // namespace quintet::poincare
