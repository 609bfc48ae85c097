// Operations of the Poincare ball on batches of rows: row i of every argument makes row i of the result.
//
// c = -curvature >= 0, lambda_x = 2 / (1 - c |x|^2), (+) is Moebius addition (Ganea, Becigneul, Hofmann 2018; Ungar
// 2008). All arguments are [N x D] with any row stride, D >= 1, in the memory of the host or of a device: every type
// that is a matrix, or values (core/any_view.hpp). curvature = 0 gives the Euclidean limit of every formula, unless a
// function says otherwise.
//
// Points and tangent vectors are float, double, half or bfloat16, all of one type. Results and scalars are float, or
// double for double; `out` may be an argument if the types are the same. Results are not rounded to 16 bits, because
// near the boundary that would put points onto the sphere, 2^-9 (half 2^-12) away. You can convert them, and project()
// them first.
//
// Accuracy. Everything is computed in double, 1 - c |x|^2 with a compensated sum, and every difference of nearly equal
// numbers is rewritten. Float results (16-bit storage has the same) are within 1 ulp of their largest coordinate.
// Double results are within 1e-13 of it for norms up to 1 - 1e-6. No function projects silently. If rounding puts a
// result onto the sphere or outside, it is rounded towards the origin, so every result is inside, within 1.5 eps of its
// largest coordinate.
//
// Each function returns a status per row: the first argument that is not inside decides it, and its row of the result
// is NaN. Throws InvalidArgument for shapes and types that do not fit, more than 2^31 - 1025 rows, a curvature out of
// range (checked_curvature()), and arguments on several devices. With `strict` it throws for the first row that is not
// inside, with index and norm; `out` is written by then. OutOfMemory, DeviceError. Cost: O(N D), two passes over the
// rows. Memory: 1 byte per row, and on a device copies of host arguments. Same bits for any number of threads.
#pragma once

#include <vector>

#include "quintet/core/any_view.hpp"
#include "quintet/device/buffer.hpp"
#include "quintet/poincare/ball.hpp"

namespace quintet::poincare {

/// Which ball, and the treatment of points that are not in it.
struct ball_options {
  double curvature = -1;  ///< -c <= 0; 0 or of a magnitude in [1e-30, 1e30]
  bool strict = false;    ///< throw for rows that are not inside, instead of giving them NaN
};

/// Status of every row of a batch.
using row_status = std::vector<point_status>;

/// x (+) y = ((1 - c|x|^2)(x + y) + c |x + y|^2 x) / ((1 - c|x|^2)(1 - c|y|^2) + c |x + y|^2), the usual expression
/// written as a sum of positive terms.
row_status mobius_add(any_matrix x, any_matrix y, any_output_matrix out, const ball_options& options = {},
                      const Device& device = Device::best());

/// r (x) x = tanh(r artanh(sqrt(c) |x|)) x / (sqrt(c) |x|). `r` has one value for all rows, or N: any numbers, NaN
/// makes NaN.
row_status mobius_scalar_mul(any_vector r, any_matrix x, any_output_matrix out, const ball_options& options = {},
                             const Device& device = Device::best());

/// exp_x(v) = x (+) tanh(sqrt(c) lambda_x |v| / 2) v / (sqrt(c) |v|); v is any tangent vector at x, without a check for
/// NaN and infinity.
row_status exp_map(any_matrix x, any_matrix v, any_output_matrix out, const ball_options& options = {},
                   const Device& device = Device::best());

/// log_x(y) = (2 / (sqrt(c) lambda_x)) artanh(sqrt(c) |w|) w / |w|, w = (-x) (+) y: the tangent vector at x with
/// exp_x(log_x(y)) = y; its length in the metric is d(x, y).
row_status log_map(any_matrix x, any_matrix y, any_output_matrix out, const ball_options& options = {},
                   const Device& device = Device::best());

/// exp_0(v) = tanh(sqrt(c) |v|) v / (sqrt(c) |v|).
row_status exp_map_origin(any_matrix v, any_output_matrix out, const ball_options& options = {},
                          const Device& device = Device::best());

/// log_0(y) = artanh(sqrt(c) |y|) y / (sqrt(c) |y|).
row_status log_map_origin(any_matrix y, any_output_matrix out, const ball_options& options = {},
                          const Device& device = Device::best());

/// The point at t of the geodesic from x (t = 0) to y (t = 1): x (+) (t (x) ((-x) (+) y)), t any number; one value for
/// all rows, or N.
row_status geodesic(any_matrix x, any_matrix y, any_vector t, any_output_matrix out, const ball_options& options = {},
                    const Device& device = Device::best());

/// The tangent vector v at x, moved along the geodesic to y: (lambda_x / lambda_y) gyr[y, -x] v. Keeps lengths and
/// angles of the metric.
row_status parallel_transport(any_matrix x, any_matrix y, any_matrix v, any_output_matrix out,
                              const ball_options& options = {}, const Device& device = Device::best());

/// Report of project().
struct projection_report {
  row_status status;       ///< of the points before projection
  std::int64_t moved = 0;  ///< points that were pulled towards the origin
};

/// Points with sqrt(c) |x| > 1 - epsilon are scaled to sqrt(c) |x| = 1 - epsilon; the others are copied. Rows that are
/// not finite become NaN. epsilon has no default: it caps every distance from the origin at about log(2 / epsilon) /
/// sqrt(c), which is a decision. Allowed: [4 u, 1) with u the type's unit roundoff (2^-24, 2^-53); throws
/// InvalidArgument for others. Memory: one number more per row.
projection_report project(any_matrix x, double epsilon, any_output_matrix out, const ball_options& options = {},
                          const Device& device = Device::best());

/// out[i] = lambda of row i, N values.
row_status conformal_factor(any_matrix x, any_output_vector out, const ball_options& options = {},
                            const Device& device = Device::best());

/// Rows of `out` [N x (D + 1)]: (x_0, x_1, ...) on the hyperboloid -x_0^2 + x_1^2 + ... = -1 / c,
/// x_0 = (1 + c|x|^2) / (1 - c|x|^2) / sqrt(c), x_k = 2 x / (1 - c|x|^2). curvature must not be 0.
row_status to_hyperboloid(any_matrix x, any_output_matrix out, const ball_options& options = {},
                          const Device& device = Device::best());

/// The inverse: x = x_k / (1 + sqrt(c) x_0); `h` is [N x (D + 1)], `out` [N x D]. A row with x_0 <= 0 has status
/// outside. curvature must not be 0.
row_status from_hyperboloid(any_matrix h, any_output_matrix out, const ball_options& options = {},
                            const Device& device = Device::best());

}  // namespace quintet::poincare
