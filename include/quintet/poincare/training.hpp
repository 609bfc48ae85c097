// Training of embeddings in the Poincare ball and in the Lorentz model: the loss of negative sampling with its
// gradient, in one pass.
#pragma once

#include "quintet/poincare/lorentz.hpp"
#include "quintet/poincare/operations.hpp"

namespace quintet::poincare {

/// The loss of negative sampling (Nickel and Kiela 2017) of rows u, v_1, ..., v_K of `links` [B x (1 + K)], numbers of
/// `points` [N x D]: v_1 is linked with u, the others are drawn.
///
///   losses[b] = d(u, v_1) + log sum_j exp(-d(u, v_j))
///
/// gradient [N x D] is that of the mean of the losses by the points, Euclidean as in gradients.hpp. Both are float, or
/// double for double points, and are computed in double. Points at distance 0 pull each other in no direction. A row
/// with a point that is not inside has NaN, and so have the gradients of its points. Returns the status of the points.
/// Same bits for any number of threads.
///
/// Throws InvalidArgument for other shapes, K < 1 and numbers outside [0, N); with `strict` for the first point that is
/// not inside. OutOfMemory, DeviceError. Time O(B K D + N D); memory 8 (3 B K + B D + N D) bytes and 16 bytes a number
/// of `links`.
row_status negative_sampling(any_matrix points, matrix_view<const std::int64_t> links, any_output_vector losses,
                             any_output_matrix gradient, const ball_options& options = {},
                             const Device& device = Device::best());

}  // namespace quintet::poincare

namespace quintet::lorentz {

/// The same in the Lorentz model. Points are as `options` say; the gradient has their shape, is that by space parts,
/// and 0 by times. With s = sqrt(1 + c |.|^2) the gradient of a distance is sqrt(c) / sinh(sqrt(c) d) (x s_y / s_x -
/// y). Distances are within 2^-40 of themselves. All results of finite points are finite: pairs less than 1e-300 or
/// more than 700 / sqrt(c) apart, and points with norms or times out of the range of double, pull in no direction. A
/// row with a point that has a status has NaN. Throws as lorentz.hpp says, and for links as above. Memory: 16 bytes a
/// point more.
poincare::row_status negative_sampling(any_matrix points, matrix_view<const std::int64_t> links,
                                       any_output_vector losses, any_output_matrix gradient,
                                       const distance_options& options = {}, const Device& device = Device::best());

}  // namespace quintet::lorentz
