// Geodesic distances of points of the Poincare ball.
//
//   d(x, y) = (2 / sqrt(c)) asinh(sqrt(t)),  t = c |x - y|^2 / ((1 - c |x|^2)(1 - c |y|^2))
//
// (Nickel and Kiela 2017: arcosh(1 + 2 t) / sqrt(c), the same number.) curvature = -c; 0 gives 2 |x - y|. See ball.hpp.
//
//   std::vector<float> out(q * n);
//   auto report = quintet::poincare::distances({queries, q, dim}, {points, n, dim}, {out.data(), q, n});
//
// You can pass every type that is a matrix, or values (core/any_view.hpp): distances(x, y, out). Memory of a device is
// used in place, and that device does the work: {queries_buffer, dim}, {out_buffer, n}.
//
// Points are float, double, half or bfloat16, all arguments of one type; 16-bit coordinates are widened to float, and
// results are float, or double for double. Other types of results throw InvalidArgument.
//
// Accuracy. |x - y|^2 is summed in difference form. 1 - c |x|^2 is taken once per point in double with a compensated
// sum of exact squares, so the relative error does not grow towards the boundary. Against exact arithmetic it is below
// (D / 4 + 6) u, u = 2^-24 or 2^-53; in practice below 5e-7 (float) and 1e-15 (double) for D <= 128.
// docs/design/numerics.md has measured figures.
//
// Equal points have distance exactly 0, and d(x, y) and d(y, x) have the same bits. The bits do not depend on the
// number of threads, nor on the device. distances() and pair_distances() agree to the bit. Differences may have any
// size: if float cannot hold their squares, they are summed again in double. In float, distances over 60 / sqrt(c)
// become infinite; only points with 1 - c |x|^2 < 2^-40 have such.
//
// point_report has the points that are not inside the ball. All functions throw InvalidArgument for a curvature out of
// range (checked_curvature()), for shapes that do not fit, D = 0, and more than 2^31 - 1025 rows. They also throw it
// for arguments on several devices or not on the named one. With `strict` they throw for the first point that is not
// inside, with its index and norm. OutOfMemory if the memory of the device does not suffice; DeviceError. `out` must
// not overlap the arguments.
#pragma once

#include <span>
#include <vector>

#include "quintet/core/any_view.hpp"
#include "quintet/device/buffer.hpp"
#include "quintet/device/device.hpp"
#include "quintet/poincare/ball.hpp"

namespace quintet::poincare {

/// Which expression is evaluated.
enum class formula {
  geodesic,  ///< the distance
  /// (2 / sqrt(c)) artanh(min(sqrt(t), 1 - 1e-7)): an expression that is sometimes quoted for this distance. It is not
  /// a metric: it exceeds the distance by 20 % at 1.1 and is the same constant for all pairs with t >= 1. Use it only
  /// to compare with results computed by it; see docs/design/numerics.md.
  clamped_artanh
};

/// Which distance, and the treatment of points that are not in the ball.
struct distance_options {
  double curvature = -1;                   ///< -c <= 0; 0 or of a magnitude in [1e-30, 1e30]
  formula expression = formula::geodesic;  ///< expression to evaluate
  bool strict = false;                     ///< throw for points that are not inside, instead of giving them NaN
};

/// Status of every row of both arguments. A row of `queries` that is not inside has NaN in its row of the result, one
/// of `points` in its column.
struct point_report {
  ///@{
  /// One status per row, Q and N.
  std::vector<point_status> queries, points;
  ///@}

  /// Whether every row of both is inside.
  bool all_inside() const { return first_invalid(queries) < 0 && first_invalid(points) < 0; }
};

/// out(i, j) = d(queries row i, points row j); queries [Q x D], points [N x D], out [Q x N], D >= 1, any row stride.
/// Both sets are packed into panels once. A team has a block of queries and goes over blocks of points. On a device it
/// stages the queries in its memory once: whole up to D = 128 in float and 64 in double, in slices beyond. On the host
/// it reads their panel in place. Memory: panels of (Q + N) D values, and on a device also the host arguments. Cost: Q
/// N (2 D + 35) operations.
point_report distances(any_matrix queries, any_matrix points, any_output_matrix out,
                       const distance_options& options = {}, const Device& device = Device::best());

/// out[i] = d(x row i, y row i); x and y [N x D], out N values. Cost: O(N D), one pass; memory 2 bytes per pair, and on
/// a device also the host arguments.
point_report pair_distances(any_matrix x, any_matrix y, any_output_vector out, const distance_options& options = {},
                            const Device& device = Device::best());

/// d(x, y) of one pair of D >= 1 coordinates each, on the host; NaN if one of them is not inside. Cost: O(D). For many
/// pairs take pair_distances(): the checks of one cost more than its distance.
template <storage_type Storage>
accumulator_t<Storage> distance(std::span<const Storage> x, std::span<const Storage> y,
                                const distance_options& options = {}) {
  accumulator_t<Storage> result = 0;
  pair_distances({x.data(), 1, std::int64_t(x.size())}, {y.data(), 1, std::int64_t(y.size())}, {&result, 1}, options,
                 Device::host());
  return result;
}

/// out[i] = d(0, x row i) = (2 / sqrt(c)) artanh(sqrt(c) |x|), from the compensated norm: within 1 ulp of float and 4
/// of double; x [N x D], out N values. options.expression must be formula::geodesic. Returns the status of every row.
/// Cost: O(N D), one pass; memory 1 byte per row, and on a device also the host arguments.
std::vector<point_status> origin_distances(any_matrix x, any_output_vector out, const distance_options& options = {},
                                           const Device& device = Device::best());

}  // namespace quintet::poincare
