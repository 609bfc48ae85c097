// Riemannian Adam (Becigneul and Ganea 2019) in the ball and in the Lorentz model: gradient, both moments, the new
// points and the moments there, of all rows in one pass.
//
//   r = the Riemannian gradient that belongs to gradient + weight_decay x
//   first = beta1 first + (1 - beta1) r,   second = beta2 second + (1 - beta2) |r|_x^2
//   out = exp_x(-rate first' / (sqrt(second') + epsilon)),   ' divides by 1 - beta^step
//   first = first, moved along that geodesic to out
//
// x and gradient are [N x D], float, double, half or bfloat16, of one type; `gradient` is Euclidean. `first` [N x D],
// `second` [N] and `out` are float, or double for double. They begin as 0 and belong to the points. `out` may be x.
//
// Accuracy: everything is computed in double. Results are rounded once, and so are the moments of every step.
//
// A row of x that is no point has a status and NaN in `out` and both moments. Errors, memory and cost are those of
// operations.hpp; also InvalidArgument for settings out of range. Same bits for any number of threads.
#pragma once

#include "quintet/poincare/lorentz.hpp"
#include "quintet/poincare/operations.hpp"

namespace quintet::poincare {

/// Settings of one step.
struct adam_options {
  double rate = 1e-3;       ///< finite
  double beta1 = 0.9;       ///< of the first moment, in [0, 1)
  double beta2 = 0.999;     ///< of the second moment, in [0, 1)
  double epsilon = 1e-8;    ///< > 0
  double weight_decay = 0;  ///< finite
  std::int64_t step = 1;    ///< of these rows, from 1
};

/// In the ball. Points are then pulled to sqrt(c) |out| <= 1 - margin, a margin of project(); `moved` of the report
/// counts them.
projection_report adam_step(any_matrix x, any_matrix gradient, double margin, any_output_matrix first,
                            any_output_vector second, any_output_matrix out, const adam_options& settings = {},
                            const ball_options& options = {}, const Device& device = Device::best());

}  // namespace quintet::poincare

namespace quintet::lorentz {

using poincare::adam_options;

/// On the hyperboloid. With coordinates::space all rows are space parts. With time_ignored those of x, gradient and
/// out begin with a time, which is written to `out`; `first` has space parts.
poincare::row_status adam_step(any_matrix x, any_matrix gradient, any_output_matrix first, any_output_vector second,
                               any_output_matrix out, const adam_options& settings = {},
                               const distance_options& options = {}, const Device& device = Device::best());

}  // namespace quintet::lorentz
