// Operations of the kappa-stereographic model (Bachmann, Becigneul, Ganea 2020) on batches of rows: row i of every
// argument makes row i of the result.
//
// curvature = k of any sign, as geoopt's Stereographic has it. k < 0 is the ball, by the functions of
// poincare/operations.hpp. k = 0 is flat space. k > 0 is the stereographic projection of a sphere of radius 1 / sqrt(k)
// from its pole; the point of the origin is opposite to it. Let lambda_x = 2 / (1 + k |x|^2), and tan_k(z) = tan(z
// sqrt(k)) / sqrt(k), z or tanh(z sqrt(-k)) / sqrt(-k) for the three signs. Then all formulas are the same, and go over
// into each other where k goes to 0. Distances are those of geometry::stereographic in product.hpp.
//
// Points and tangent vectors are [N x n] with any row stride, float, double, half or bfloat16, all of one type. Results
// and scalars are float, or double for double; `out` may be an argument if the types are the same.
//
// Accuracy. Everything is computed in double. For k > 0 the unit of a result r is (1 + k |r|^2) / sqrt(k), which is the
// radius of the sphere, measured along it; of log_map() it is (1 + k |x|^2) / sqrt(k). Double results are within 4e-15
// of it and float ones within 1e-7, for sqrt(k) |x| up to 100 and ways up to a right angle
// (tests/unit/poincare/stereographic_test.cpp). For k <= 0 see poincare/operations.hpp.
//
// Each function returns a status per row. It is not_finite where a coordinate of a point is NaN or infinite. It is
// outside for a point that is not in the ball, for sqrt(k) |x| > 1e70, and where the result would be the pole. Points
// opposite to each other have it in log_map() and geodesic(). Such rows of the result are NaN. Throws InvalidArgument
// for shapes and types that do not fit, more than 2^31 - 1025 rows, and a curvature that is neither 0 nor of a
// magnitude in [1e-30, 1e30]. With `strict` it does so for the first row with a status. OutOfMemory, DeviceError. Cost:
// O(N n). Memory: 1 byte per row, and on a device copies of host arguments. Same bits for any number of threads.
#pragma once

#include "quintet/poincare/operations.hpp"

namespace quintet::stereographic {

using poincare::row_status;

/// Which space, and the treatment of rows with a status.
struct operation_options {
  double curvature = 0;  ///< k: 0, or of a magnitude in [1e-30, 1e30]
  bool strict = false;   ///< throw for rows with a status, instead of giving them NaN
};

/// x (+) y = ((1 - 2 k x.y - k |y|^2) x + (1 + k |x|^2) y) / (1 - 2 k x.y + k^2 |x|^2 |y|^2).
row_status add(any_matrix x, any_matrix y, any_output_matrix out, const operation_options& options = {},
               const Device& device = Device::best());

/// r (x) x = tan_k(r arctan_k(|x|)) x / |x|. `r` has one value for all rows, or N.
row_status scalar_mul(any_vector r, any_matrix x, any_output_matrix out, const operation_options& options = {},
                      const Device& device = Device::best());

/// exp_x(v) = x (+) tan_k(lambda_x |v| / 2) v / |v|; v is any tangent vector at x.
row_status exp_map(any_matrix x, any_matrix v, any_output_matrix out, const operation_options& options = {},
                   const Device& device = Device::best());

/// log_x(y) = (2 / lambda_x) arctan_k(|w|) w / |w|, w = (-x) (+) y: the shortest v with exp_x(v) = y.
row_status log_map(any_matrix x, any_matrix y, any_output_matrix out, const operation_options& options = {},
                   const Device& device = Device::best());

/// The point at t of the shortest geodesic from x (t = 0) to y (t = 1), t any number; one value for all rows, or N.
row_status geodesic(any_matrix x, any_matrix y, any_vector t, any_output_matrix out,
                    const operation_options& options = {}, const Device& device = Device::best());

}  // namespace quintet::stereographic
