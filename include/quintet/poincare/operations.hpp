// Operations of the Poincare ball on batches of rows: row i of every argument makes row i of the result.
//
// c = -curvature >= 0, lambda_x = 2 / (1 - c |x|^2), (+) is Moebius addition (Ganea, Becigneul, Hofmann 2018; Ungar
// 2008). All arguments are [N x D] with any row stride, D >= 1, in the memory of the host or of a
// device; matrices and values are taken as they come (core/arguments.hpp), with types deduced.
// curvature = 0 gives the Euclidean limit of every formula, unless a function says otherwise.
//
// Storage of points and tangent vectors is float, double, half or bfloat16. Results and scalars are
// accumulator_t<Storage>: float, or double for double; `out` may be an argument where the types are the same. Results
// are not rounded to 16 bits: near the boundary that would put points onto the sphere, 2^-9 (half 2^-12) away. Who
// wants it converts them, and may project() them first.
//
// Accuracy. Everything is computed in double, 1 - c |x|^2 with a compensated sum, and every difference of nearly equal
// numbers is rewritten: float results (16-bit storage has the same) are within 1 ulp of their largest coordinate,
// double results within 1e-13 of it for norms up to 1 - 1e-6. Nothing is projected silently: a result that rounds onto
// the sphere stays there.
//
// Each function returns a status per row: the first argument that is not inside decides it, and its row of the result
// is NaN. Throws InvalidArgument for shapes that do not fit, more than 2^31 - 1025 rows, a curvature out of range
// (checked_curvature()), arguments on several devices, and with `strict` for the first row that is not inside, naming
// index and norm (`out` is written by then); OutOfMemory, DeviceError. Cost: O(N D), two passes over the rows; memory:
// 1 byte per row, and on a device copies of host arguments. Same bits for any number of threads.
#pragma once

#include <vector>

#include "quintet/core/arguments.hpp"
#include "quintet/device/buffer.hpp"
#include "quintet/poincare/ball.hpp"

namespace quintet::poincare {

/// Which ball, and what becomes of points that are not in it.
struct ball_options {
  double curvature = -1;  ///< -c <= 0; 0 or of a magnitude in [1e-30, 1e30]
  bool strict = false;    ///< throw for rows that are not inside, instead of giving them NaN
};

/// Status of every row of a batch.
using row_status = std::vector<point_status>;

/// x (+) y = ((1 - c|x|^2)(x + y) + c |x + y|^2 x) / ((1 - c|x|^2)(1 - c|y|^2) + c |x + y|^2), the usual expression
/// written as a sum of positive terms.
template <class Storage, class = only_storage<Storage>>
row_status mobius_add(matrix_view<const Storage> x, matrix_view<const Storage> y,
                      matrix_view<accumulator_t<Storage>> out, const ball_options& options = {},
                      const Device& device = Device::best());
/// \overload
template <matrix_argument X, matrix_argument Y, matrix_argument Out>
row_status mobius_add(const X& x, const Y& y, Out&& out, const ball_options& options = {},
                      const Device& device = Device::best()) {
  return mobius_add<element_of<X>>(matrix_of(x), matrix_of(y), matrix_of(out), options, device);
}

/// r (x) x = tanh(r artanh(sqrt(c) |x|)) x / (sqrt(c) |x|). `r` has one value for all rows, or N: any numbers, NaN
/// makes NaN.
template <class Storage, class = only_storage<Storage>>
row_status mobius_scalar_mul(vector_view<const accumulator_t<Storage>> r, matrix_view<const Storage> x,
                             matrix_view<accumulator_t<Storage>> out, const ball_options& options = {},
                             const Device& device = Device::best());
/// \overload
template <vector_argument R, matrix_argument X, matrix_argument Out>
row_status mobius_scalar_mul(const R& r, const X& x, Out&& out, const ball_options& options = {},
                             const Device& device = Device::best()) {
  return mobius_scalar_mul<element_of<X>>(values_of(r), matrix_of(x), matrix_of(out), options, device);
}

/// exp_x(v) = x (+) tanh(sqrt(c) lambda_x |v| / 2) v / (sqrt(c) |v|); v is any tangent vector at x; NaN
/// and infinity in it are not looked for.
template <class Storage, class = only_storage<Storage>>
row_status exp_map(matrix_view<const Storage> x, matrix_view<const Storage> v, matrix_view<accumulator_t<Storage>> out,
                   const ball_options& options = {}, const Device& device = Device::best());
/// \overload
template <matrix_argument X, matrix_argument V, matrix_argument Out>
row_status exp_map(const X& x, const V& v, Out&& out, const ball_options& options = {},
                   const Device& device = Device::best()) {
  return exp_map<element_of<X>>(matrix_of(x), matrix_of(v), matrix_of(out), options, device);
}

/// log_x(y) = (2 / (sqrt(c) lambda_x)) artanh(sqrt(c) |w|) w / |w|, w = (-x) (+) y: the tangent vector at x with
/// exp_x(log_x(y)) = y; its length in the metric is d(x, y).
template <class Storage, class = only_storage<Storage>>
row_status log_map(matrix_view<const Storage> x, matrix_view<const Storage> y, matrix_view<accumulator_t<Storage>> out,
                   const ball_options& options = {}, const Device& device = Device::best());
/// \overload
template <matrix_argument X, matrix_argument Y, matrix_argument Out>
row_status log_map(const X& x, const Y& y, Out&& out, const ball_options& options = {},
                   const Device& device = Device::best()) {
  return log_map<element_of<X>>(matrix_of(x), matrix_of(y), matrix_of(out), options, device);
}

/// exp_0(v) = tanh(sqrt(c) |v|) v / (sqrt(c) |v|).
template <class Storage, class = only_storage<Storage>>
row_status exp_map_origin(matrix_view<const Storage> v, matrix_view<accumulator_t<Storage>> out,
                          const ball_options& options = {}, const Device& device = Device::best());
/// \overload
template <matrix_argument V, matrix_argument Out>
row_status exp_map_origin(const V& v, Out&& out, const ball_options& options = {},
                          const Device& device = Device::best()) {
  return exp_map_origin<element_of<V>>(matrix_of(v), matrix_of(out), options, device);
}

/// log_0(y) = artanh(sqrt(c) |y|) y / (sqrt(c) |y|).
template <class Storage, class = only_storage<Storage>>
row_status log_map_origin(matrix_view<const Storage> y, matrix_view<accumulator_t<Storage>> out,
                          const ball_options& options = {}, const Device& device = Device::best());
/// \overload
template <matrix_argument Y, matrix_argument Out>
row_status log_map_origin(const Y& y, Out&& out, const ball_options& options = {},
                          const Device& device = Device::best()) {
  return log_map_origin<element_of<Y>>(matrix_of(y), matrix_of(out), options, device);
}

/// The point at t of the geodesic from x (t = 0) to y (t = 1): x (+) (t (x) ((-x) (+) y)), t any number; one value for
/// all rows, or N.
template <class Storage, class = only_storage<Storage>>
row_status geodesic(matrix_view<const Storage> x, matrix_view<const Storage> y,
                    vector_view<const accumulator_t<Storage>> t, matrix_view<accumulator_t<Storage>> out,
                    const ball_options& options = {}, const Device& device = Device::best());
/// \overload
template <matrix_argument X, matrix_argument Y, vector_argument T, matrix_argument Out>
row_status geodesic(const X& x, const Y& y, const T& t, Out&& out, const ball_options& options = {},
                    const Device& device = Device::best()) {
  return geodesic<element_of<X>>(matrix_of(x), matrix_of(y), values_of(t), matrix_of(out), options, device);
}

/// The tangent vector v at x, moved along the geodesic to y: (lambda_x / lambda_y) gyr[y, -x] v. Keeps lengths and
/// angles of the metric.
template <class Storage, class = only_storage<Storage>>
row_status parallel_transport(matrix_view<const Storage> x, matrix_view<const Storage> y, matrix_view<const Storage> v,
                              matrix_view<accumulator_t<Storage>> out, const ball_options& options = {},
                              const Device& device = Device::best());
/// \overload
template <matrix_argument X, matrix_argument Y, matrix_argument V, matrix_argument Out>
row_status parallel_transport(const X& x, const Y& y, const V& v, Out&& out, const ball_options& options = {},
                              const Device& device = Device::best()) {
  return parallel_transport<element_of<X>>(matrix_of(x), matrix_of(y), matrix_of(v), matrix_of(out), options, device);
}

/// What project() did.
struct projection_report {
  row_status status;       ///< of the points before projection
  std::int64_t moved = 0;  ///< points that were pulled towards the origin
};

/// Points with sqrt(c) |x| > 1 - epsilon are scaled to sqrt(c) |x| = 1 - epsilon; the others are copied. Rows that are
/// not finite become NaN. epsilon has no default: it caps every distance from the origin at about
/// log(2 / epsilon) / sqrt(c), which is a decision. Allowed: [4 u, 1) with u the type's unit roundoff (2^-24, 2^-53);
/// throws InvalidArgument for others. Memory: one number per row besides.
template <class Storage, class = only_storage<Storage>>
projection_report project(matrix_view<const Storage> x, double epsilon, matrix_view<accumulator_t<Storage>> out,
                          const ball_options& options = {}, const Device& device = Device::best());
/// \overload
template <matrix_argument X, matrix_argument Out>
projection_report project(const X& x, double epsilon, Out&& out, const ball_options& options = {},
                          const Device& device = Device::best()) {
  return project<element_of<X>>(matrix_of(x), epsilon, matrix_of(out), options, device);
}

/// out[i] = lambda of row i, N values.
template <class Storage, class = only_storage<Storage>>
row_status conformal_factor(matrix_view<const Storage> x, vector_view<accumulator_t<Storage>> out,
                            const ball_options& options = {}, const Device& device = Device::best());
/// \overload
template <matrix_argument X, vector_argument Out>
row_status conformal_factor(const X& x, Out&& out, const ball_options& options = {},
                            const Device& device = Device::best()) {
  return conformal_factor<element_of<X>>(matrix_of(x), values_of(out), options, device);
}

/// Rows of `out` [N x (D + 1)]: (x_0, x_1, ...) on the hyperboloid -x_0^2 + x_1^2 + ... = -1 / c,
/// x_0 = (1 + c|x|^2) / (1 - c|x|^2) / sqrt(c), x_k = 2 x / (1 - c|x|^2). curvature must not be 0.
template <class Storage, class = only_storage<Storage>>
row_status to_hyperboloid(matrix_view<const Storage> x, matrix_view<accumulator_t<Storage>> out,
                          const ball_options& options = {}, const Device& device = Device::best());
/// \overload
template <matrix_argument X, matrix_argument Out>
row_status to_hyperboloid(const X& x, Out&& out, const ball_options& options = {},
                          const Device& device = Device::best()) {
  return to_hyperboloid<element_of<X>>(matrix_of(x), matrix_of(out), options, device);
}

/// The inverse: x = x_k / (1 + sqrt(c) x_0); `h` is [N x (D + 1)], `out` [N x D]. A row with x_0 <= 0 has status
/// outside. curvature must not be 0.
template <class Storage, class = only_storage<Storage>>
row_status from_hyperboloid(matrix_view<const Storage> h, matrix_view<accumulator_t<Storage>> out,
                            const ball_options& options = {}, const Device& device = Device::best());
/// \overload
template <matrix_argument H, matrix_argument Out>
row_status from_hyperboloid(const H& h, Out&& out, const ball_options& options = {},
                            const Device& device = Device::best()) {
  return from_hyperboloid<element_of<H>>(matrix_of(h), matrix_of(out), options, device);
}

}  // namespace quintet::poincare
