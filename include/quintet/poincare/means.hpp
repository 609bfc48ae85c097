// Means of groups of points of the Poincare ball.
//
// Groups lie one after another in `points` [N x D]: group b is rows offsets[b] to offsets[b + 1] - 1, with B + 1
// offsets from 0 to N that do not decrease. `weights` is empty (all 1) or has N values, finite and >= 0. Row b of `out`
// [B x D] is the mean of group b. A group without a point of positive weight, or with such a point that is not inside,
// has NaN. Everything is computed in double. curvature = 0 gives the arithmetic mean.
//
// Errors: InvalidArgument for other offsets, weights or shapes (it names the first wrong element), for options out of
// range, and with `strict` for the first point that is not inside; OutOfMemory, DeviceError. Memory: 24 D + 160 bytes
// per group, 1 byte per point, and on a device also the host arguments. One group is the work of one thread: many
// groups keep a device busy, a single one does not. Polls come between slices of a group's rows (core/poll.hpp). Same
// bits for any number of threads.
#pragma once

#include "quintet/poincare/operations.hpp"

namespace quintet::poincare {

/// Status of the points and of the groups.
struct mean_report {
  row_status points;                     ///< N
  std::vector<std::int32_t> iterations;  ///< B; frechet_mean only
  std::vector<std::uint8_t> converged;   ///< B: 1 if the mean was found
};

/// The gyromidpoint (Einstein midpoint, normalised Lorentz centroid): (1/2) (x) sum w lambda x / sum w (lambda - 1).
/// (Ungar 2008.) Taken in the frame of the result, where nothing cancels: two passes, up to eight near the boundary.
/// Cost: O(N D).
mean_report gyromidpoint(any_matrix points, vector_view<const std::int64_t> offsets, any_vector weights,
                         any_output_matrix out, const ball_options& options = {},
                         const Device& device = Device::best());

/// Which ball, and when the iteration of frechet_mean() ends.
struct frechet_options {
  double curvature = -1;  ///< -c <= 0; 0 or of a magnitude in [1e-30, 1e30]
  bool strict = false;    ///< throw for points that are not inside, instead of giving their groups NaN
  /// Done when the gradient's length in the metric, times sqrt(c), is at most (tolerance + r) (1 + L), where r is the
  /// length of a rounding of the mean's coordinates; > 0. The default is a few roundings of double.
  double tolerance = 1e-15;
  std::int64_t max_iterations =
      500;  ///< 0 ... 2^31 - 1; afterwards `converged` is 0, and the mean so far is the result
};

/// The Frechet (Karcher) mean: the point with the smallest sum of squared distances. It starts at the gyromidpoint and
/// iterates m <- exp_m(s mean log_m(x_i)). The second derivatives of the objective are between 1 and L, the mean of
/// sqrt(c) d_i coth(sqrt(c) d_i) (Karcher 1977). The step s is that of Barzilai and Borwein 1988, between 1 / L and 1;
/// where the gradient does not get shorter it is 2 / (1 + L), which always comes nearer. Two points take 3 iterations
/// near the origin, spread groups 5 to 20. Cost: O(N D) an iteration.
mean_report frechet_mean(any_matrix points, vector_view<const std::int64_t> offsets, any_vector weights,
                         any_output_matrix out, const frechet_options& options = {},
                         const Device& device = Device::best());

}  // namespace quintet::poincare
