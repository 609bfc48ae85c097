// Geodesic distances of points of the Lorentz model (the hyperboloid) of hyperbolic space.
//
// curvature = -c < 0 means the sheet { (t, x) : |x|^2 - t^2 = -1 / c, t > 0 } in n + 1 dimensions. A point is given by
// its space part x, n numbers, or by n + 1 numbers, time first. Every finite space part is a point. geoopt's k is
// 1 / c, and its Lorentz points have this order.
//
//   sinh^2(sqrt(c) d / 2) = sinh^2(asinh(m) / 2) + c |sqrt(b/a) x - sqrt(a/b) y|^2 / 4,  a = |x|, b = |y|,
//   m = sqrt(c) ((x - y) . (x + y)) / (a s_y + b s_x),  s = sqrt(1 + c |.|^2)
//
// the law of haversines: no term is negative, and m is the sinh of the difference of the radii. A ball of float ends at
// radius 17 (for c = 1), this model at 88; see docs/poincare.md.
//
//   std::vector<float> out(q * n);
//   auto report = quintet::lorentz::distances({queries, q, dim}, {points, n, dim}, {out.data(), q, n});
//
// Points are float, double, half or bfloat16, all arguments of one type; results are float, or double for double. You
// can pass every type that is a matrix, or values, in the memory of the host or of a device (core/any_view.hpp).
//
// Accuracy. Everything is computed in double. A bound of the rounding error goes with every pair. Where it is too large
// (close points far out that differ mostly in radius, or squares out of range) the pair is computed again from products
// of coordinates in doubled precision. Results of float storage are within 1 ulp, those of double within 4 ulp for up
// to 64 coordinates, at any radius: tests/unit/poincare/lorentz_test.cpp, up to radius 300. Equal points have distance
// exactly 0, d(x, y) and d(y, x) have the same bits, and distances() and pair_distances() agree to the bit. The bits do
// not depend on the number of threads.
//
// A point has the status not_finite where a number is NaN or infinite, and outside where its time part is not that of
// its space part (coordinates::time_and_space). Such points have NaN in every result that involves them.
//
// Errors: InvalidArgument for a curvature that is not negative, or of a magnitude outside [1e-30, 1e30]. Also for
// shapes that do not fit, no space coordinate, more than 2^31 - 1025 rows, and a tolerance that is not positive. With
// `strict` for the first point with a status, by its index. OutOfMemory, DeviceError. `out` must not overlap the
// arguments.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "quintet/poincare/distances.hpp"

namespace quintet::lorentz {

using poincare::point_report;
using poincare::point_status;

/// What the numbers of a row are.
enum class coordinates {
  space,           ///< x
  time_and_space,  ///< t, x: t is compared with sqrt(1 / c + |x|^2)
  time_ignored     ///< t, x: t is not read, which projects the point onto the sheet along the time axis
};

/// Which sheet, and how points are given.
struct distance_options {
  double curvature = -1;                  ///< -c < 0, of a magnitude in [1e-30, 1e30]
  coordinates form = coordinates::space;  ///< of all arguments
  /// Largest |t - sqrt(1 / c + |x|^2)| / t of coordinates::time_and_space, > 0; by default 16 roundings of the storage
  /// type: 1.9e-6 for float, 3.6e-15 for double, 0.016 for half, 0.125 for bfloat16.
  std::optional<double> tolerance = std::nullopt;
  bool strict = false;  ///< throw for points with a status, instead of giving them NaN
};

/// out(i, j) = d(queries row i, points row j); queries [Q x D], points [N x D], out [Q x N], any row stride; D is n, or
/// n + 1 with time. Memory: 16 bytes a point, on the host also 8 n for up to 8192 of the points, and on a device the
/// host arguments. Cost: about 25 Q N n operations, 12 Q N n for results of float, and more for pairs that are computed
/// again.
point_report distances(any_matrix queries, any_matrix points, any_output_matrix out,
                       const distance_options& options = {}, const Device& device = Device::best());

/// out[i] = d(x row i, y row i); x and y [N x D], out N values. Cost: O(N D).
point_report pair_distances(any_matrix x, any_matrix y, any_output_vector out, const distance_options& options = {},
                            const Device& device = Device::best());

/// d(x, y) of one pair of D numbers each, on the host; NaN if one has a status.
template <storage_type Storage>
accumulator_t<Storage> distance(std::span<const Storage> x, std::span<const Storage> y,
                                const distance_options& options = {}) {
  accumulator_t<Storage> result = 0;
  pair_distances({x.data(), 1, std::int64_t(x.size())}, {y.data(), 1, std::int64_t(y.size())}, {&result, 1}, options,
                 Device::host());
  return result;
}

/// out[i] = asinh(sqrt(c) |x_i|) / sqrt(c), the distance of row i of x [N x D] from the point x = 0; within 1 ulp of
/// float and 3 of double. Cost: O(N D).
std::vector<point_status> origin_distances(any_matrix x, any_output_vector out, const distance_options& options = {},
                                           const Device& device = Device::best());

}  // namespace quintet::lorentz
