// Operations of the Lorentz model on batches of rows, and maps to other models: row i of every argument makes row i of
// the result.
//
// Points and tangent vectors are their space parts, [N x n] with any row stride, float, double, half or bfloat16, all
// of one type. A point x has the time t = sqrt(1 / c + |x|^2), and a tangent vector v at x the time x.v / t.
// s = sqrt(c) t, z = sqrt(c) times a length or a distance. curvature = -c < 0. Results and scalars are float, or double
// for double; `out` may be an argument if the types are the same.
//
// Accuracy. Everything is computed in double. For radii and distances up to 3 / sqrt(c) the tests hold float results
// within 2e-6 of the largest coordinate and double ones within 1e-13; from_*() of a rounded model within 1e-5 and
// 5e-13. Further out coordinates themselves hold less: at radius r, a rounding of a tangent vector's direction is a
// vector of length eps cosh(r).
//
// Each function returns a status per row. It is not_finite where a coordinate of a point is NaN or infinite. It is
// outside where a point is not inside the ball or Klein's, or a height is not positive. Such rows of the result are
// NaN; so may be those with distances over 700 / sqrt(c), because their sinh leaves the range of double. Throws
// InvalidArgument for shapes and types that do not fit, more than 2^31 - 1025 rows, a curvature out of range, and with
// `strict` for the first row with a status. OutOfMemory, DeviceError. Cost: O(N n). Memory: 1 byte per row, and on a
// device copies of host arguments.
#pragma once

#include "quintet/poincare/operations.hpp"

namespace quintet::lorentz {

using poincare::ball_options;
using poincare::row_status;

/// exp_x(v) = cosh(z) x + sinh(z) / z v, z = sqrt(c) |v|. Towards the origin nothing large cancels.
row_status exp_map(any_matrix x, any_matrix v, any_output_matrix out, const ball_options& options = {},
                   const Device& device = Device::best());

/// log_x(y) = z / sinh(z) (y - cosh(z) x), z = sqrt(c) d(x, y): the tangent vector at x with exp_x(log_x(y)) = y.
row_status log_map(any_matrix x, any_matrix y, any_output_matrix out, const ball_options& options = {},
                   const Device& device = Device::best());

/// The point at t of the geodesic from x (t = 0) to y (t = 1), t any number; one value for all rows, or N.
row_status geodesic(any_matrix x, any_matrix y, any_vector t, any_output_matrix out, const ball_options& options = {},
                    const Device& device = Device::best());

/// The tangent vector v at x, moved along the geodesic to y: v + c <y, v> / (1 + cosh(z)) (x + y).
row_status parallel_transport(any_matrix x, any_matrix y, any_matrix v, any_output_matrix out,
                              const ball_options& options = {}, const Device& device = Device::best());

///@{
/// The signed distance of row i of x from a hyperplane, positive on the side to which its normal points:
///
///   d = asinh(cosh(A) sqrt(c) u.x - sinh(A) s) / sqrt(c),   A = sqrt(c) offset, u = normal / |normal|
///
/// The hyperplane is across the geodesic from the origin along the normal, at distance `offset`: the logit |normal| d
/// of a class is that of Lorentz multinomial regression (Bdeir, Schwethelm, Landwehr 2024). normals [N x n] of the type
/// of x; `offsets` has one value for all rows, or N, and `out` N. A normal of 0 is no hyperplane: d and its gradients
/// are 0. The status is not_finite where any of the three is.
///
/// Numbers that cancel are taken apart first: an error of sqrt(c) d is at most n / 2 + 12 roundings 2^-52 of
/// |sqrt(c) d| + (1 + |A|) (cosh(A) s + |sinh(A)| sqrt(c) |x|) / cosh(sqrt(c) d), which is what such roundings of x,
/// normal and offset do. Float results are rounded once more.
///
/// Rows of the gradients are the derivatives of d by x, normal and offset, which are finite everywhere:
///
///   (cosh(A) u - sinh(A) sqrt(c) x / s) / D,   cosh(A) (x - (u.x) u) / (|normal| D),
///   (sinh(A) sqrt(c) u.x - cosh(A) s) / D,     D = cosh(sqrt(c) d)
row_status hyperplane_distances(any_matrix x, any_matrix normals, any_vector offsets, any_output_vector out,
                                const ball_options& options = {}, const Device& device = Device::best());
row_status hyperplane_gradients(any_matrix x, any_matrix normals, any_vector offsets, any_output_matrix gradient_x,
                                any_output_matrix gradient_normals, any_output_vector gradient_offsets,
                                const ball_options& options = {}, const Device& device = Device::best());
///@}

///@{
/// To the ball c |p|^2 < 1 of Poincare, p = x / (1 + s), and to that of Klein, p = x / s. Results that would round onto
/// the sphere are rounded towards the origin.
row_status to_ball(any_matrix x, any_output_matrix out, const ball_options& options = {},
                   const Device& device = Device::best());
row_status to_klein(any_matrix x, any_output_matrix out, const ball_options& options = {},
                    const Device& device = Device::best());
///@}

///@{
/// From the ball of Poincare, x = 2 p / (1 - c |p|^2), and from that of Klein, x = p / sqrt(1 - c |p|^2).
row_status from_ball(any_matrix p, any_output_matrix out, const ball_options& options = {},
                     const Device& device = Device::best());
row_status from_klein(any_matrix p, any_output_matrix out, const ball_options& options = {},
                      const Device& device = Device::best());
///@}

/// To the half space, its height h > 0 last: h = 1 / (s - sqrt(c) x_n), y_k = sqrt(c) x_k h. Its metric is that of
/// curvature -1 divided by sqrt(c); the origin is (0, ..., 0, 1).
row_status to_half_space(any_matrix x, any_output_matrix out, const ball_options& options = {},
                         const Device& device = Device::best());

/// From the half space: sqrt(c) x_k = y_k / h, sqrt(c) x_n = (|y|^2 + h^2 - 1) / (2 h).
row_status from_half_space(any_matrix y, any_output_matrix out, const ball_options& options = {},
                           const Device& device = Device::best());

}  // namespace quintet::lorentz
