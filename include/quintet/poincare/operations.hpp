// Operations of the Poincare ball on batches of rows: row i of every argument makes row i of the result.
//
// c = -curvature >= 0, lambda_x = 2 / (1 - c |x|^2), (+) is Moebius addition (Ganea, Becigneul, Hofmann 2018; Ungar
// 2008). All arguments are [N x D] with any row stride, D >= 1; Real is float or double; `out` may be an argument.
// curvature = 0 gives the Euclidean limit of every formula, unless a function says otherwise.
//
// Accuracy. Everything is computed in double, 1 - c |x|^2 with a compensated sum, and every difference of nearly equal
// numbers is rewritten: float results are within 1 ulp of their largest coordinate, double results within 1e-13 of
// it for norms up to 1 - 1e-6. Nothing is projected silently: a result that rounds onto the sphere stays there.
//
// Each function returns a status a row: the first argument that is not inside decides it, and its row of the result is
// NaN. Throws InvalidArgument for shapes that do not fit, a positive curvature, and with `strict` for the first row
// that is not inside, naming index and norm. Cost: two passes over the rows. Same bits for any number of threads.
#pragma once

#include <span>
#include <vector>

#include "quintet/core/view.hpp"
#include "quintet/device/device.hpp"
#include "quintet/poincare/ball.hpp"

namespace quintet::poincare {

struct ball_options {
  double curvature = -1;
  bool strict = false;
};

using row_status = std::vector<point_status>;

/// x (+) y = ((1 - c|x|^2)(x + y) + c |x + y|^2 x) / ((1 - c|x|^2)(1 - c|y|^2) + c |x + y|^2), the usual expression
/// written as a sum of positive terms.
template <class Real>
row_status mobius_add(matrix_view<const Real> x, matrix_view<const Real> y, matrix_view<Real> out,
                      const ball_options& options = {}, const Device& device = Device::best());

/// r (x) x = tanh(r artanh(sqrt(c) |x|)) x / (sqrt(c) |x|). `r` has one value for all rows, or N.
template <class Real>
row_status mobius_scalar_mul(std::span<const Real> r, matrix_view<const Real> x, matrix_view<Real> out,
                             const ball_options& options = {}, const Device& device = Device::best());

/// exp_x(v) = x (+) tanh(sqrt(c) lambda_x |v| / 2) v / (sqrt(c) |v|); v is any tangent vector at x.
template <class Real>
row_status exp_map(matrix_view<const Real> x, matrix_view<const Real> v, matrix_view<Real> out,
                   const ball_options& options = {}, const Device& device = Device::best());

/// log_x(y): the tangent vector at x with exp_x(log_x(y)) = y; its length in the metric is d(x, y).
template <class Real>
row_status log_map(matrix_view<const Real> x, matrix_view<const Real> y, matrix_view<Real> out,
                   const ball_options& options = {}, const Device& device = Device::best());

/// exp_0(v) = tanh(sqrt(c) |v|) v / (sqrt(c) |v|).
template <class Real>
row_status exp_map_origin(matrix_view<const Real> v, matrix_view<Real> out, const ball_options& options = {},
                          const Device& device = Device::best());

/// log_0(y) = artanh(sqrt(c) |y|) y / (sqrt(c) |y|).
template <class Real>
row_status log_map_origin(matrix_view<const Real> y, matrix_view<Real> out, const ball_options& options = {},
                          const Device& device = Device::best());

/// The point at t of the geodesic from x (t = 0) to y (t = 1): x (+) (t (x) ((-x) (+) y)), t any number; one value for
/// all rows, or N.
template <class Real>
row_status geodesic(matrix_view<const Real> x, matrix_view<const Real> y, std::span<const Real> t,
                    matrix_view<Real> out, const ball_options& options = {}, const Device& device = Device::best());

/// The tangent vector v at x, moved along the geodesic to y: (lambda_x / lambda_y) gyr[y, -x] v. Keeps lengths and
/// angles of the metric.
template <class Real>
row_status parallel_transport(matrix_view<const Real> x, matrix_view<const Real> y, matrix_view<const Real> v,
                              matrix_view<Real> out, const ball_options& options = {},
                              const Device& device = Device::best());

/// What project() did.
struct projection_report {
  row_status status;       ///< of the points before projection
  std::int64_t moved = 0;  ///< points that were pulled towards the origin
};

/// Points with sqrt(c) |x| > 1 - epsilon are scaled to sqrt(c) |x| = 1 - epsilon; the others are copied. Rows that are
/// not finite become NaN. epsilon has no default: it caps every distance from the origin at about
/// log(2 / epsilon) / sqrt(c), which is a decision. Allowed: [4 u, 1) with u the type's unit roundoff (2^-24, 2^-53).
template <class Real>
projection_report project(matrix_view<const Real> x, double epsilon, matrix_view<Real> out,
                          const ball_options& options = {}, const Device& device = Device::best());

/// out[i] = lambda of row i.
template <class Real>
row_status conformal_factor(matrix_view<const Real> x, std::span<Real> out, const ball_options& options = {},
                            const Device& device = Device::best());

/// Rows of `out` [N x (D + 1)]: (x_0, x_1, ...) on the hyperboloid -x_0^2 + x_1^2 + ... = -1 / c,
/// x_0 = (1 + c|x|^2) / (1 - c|x|^2) / sqrt(c), x_k = 2 x / (1 - c|x|^2). curvature must not be 0.
template <class Real>
row_status to_hyperboloid(matrix_view<const Real> x, matrix_view<Real> out, const ball_options& options = {},
                          const Device& device = Device::best());

/// The inverse: x = x_k / (1 + sqrt(c) x_0); `h` is [N x (D + 1)], `out` [N x D]. A row with x_0 <= 0 has status
/// outside. curvature must not be 0.
template <class Real>
row_status from_hyperboloid(matrix_view<const Real> h, matrix_view<Real> out, const ball_options& options = {},
                            const Device& device = Device::best());

}  // namespace quintet::poincare
