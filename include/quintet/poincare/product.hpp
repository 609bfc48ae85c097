// Products of spaces of constant curvature (Gu, Sala, Gunel, Re 2019): d^2 = sum of w_i d_i^2 over the factors.
//
// A row of a point has the numbers of the first factor, then those of the second, and so on:
//
//   euclidean      n numbers; d = |x - y|
//   sphere         n + 1 numbers, a direction: vectors of any length other than 0; curvature k > 0,
//                  d = 2 atan2(|u - v|, |u + v|) / sqrt(k), u and v the unit vectors
//   stereographic  n numbers of the projection of curvature k (geoopt's Stereographic; Bachmann, Becigneul, Ganea
//   2020):
//                  k < 0 is the ball of poincare/ball.hpp, k = 0 is 2 |x - y|, and for k > 0
//                  d = 2 / sqrt(k) atan2(sqrt(k) |x - y|, |x / |x| + k |x| y|)
//   lorentz        n numbers, the space part of poincare/lorentz.hpp; curvature k < 0
//
// The form for k > 0 has no sum that cancels near the antipode, and with k it goes to 2 |x - y|.
//
//   const std::vector<product::factor> space{{product::geometry::lorentz, 16, -1}, {product::geometry::sphere, 8, 1}};
//   product::distances({queries, q, 24}, {points, n, 24}, {out.data(), q, n}, space);
//
// Points are float, double, half or bfloat16, all of one type; results are float, or double for double. Everything is
// computed in double: results of float storage are within 1 ulp, those of double within 4 + m ulp for m factors of up
// to 64 numbers (tests/unit/poincare/product_test.cpp). Of a sphere that is ulp of the larger of distance and radius,
// because the directions are rounded. d(x, y) and d(y, x) have the same bits, and distances() and pair_distances()
// agree to the bit. The bits do not depend on the number of threads.
//
// A point has the status not_finite where a number is NaN or infinite, and outside where a part is no point of its
// factor: outside the ball, or the direction of 0. Such points have NaN in every result.
//
// Errors: InvalidArgument for no factor, and for a curvature of the wrong sign or of a magnitude outside [1e-30, 1e30]
// (stereographic also takes 0). Also for a weight that is not positive and finite, and dimensions that do not add up to
// the columns; with `strict` for the first point with a status. OutOfMemory, DeviceError. `out` must not overlap
// arguments.
#pragma once

#include <cstdint>
#include <span>

#include "quintet/pairwise/product_space.hpp"
#include "quintet/poincare/distances.hpp"

namespace quintet::product {

using poincare::point_report;
using poincare::point_status;

/// Options of distances in products.
struct product_options {
  bool strict = false;  ///< throw for points with a status, instead of giving them NaN
};

/// out(i, j) = d(queries row i, points row j); queries [Q x D], points [N x D], out [Q x N], any row stride, D the sum
/// of the dimensions. Memory: 16 bytes a point and factor, and on a device the host arguments. Cost: O(Q N D).
point_report distances(any_matrix queries, any_matrix points, any_output_matrix out, std::span<const factor> space,
                       const product_options& options = {}, const Device& device = Device::best());

/// out[i] = d(x row i, y row i); x and y [N x D], out N values. Cost: O(N D).
point_report pair_distances(any_matrix x, any_matrix y, any_output_vector out, std::span<const factor> space,
                            const product_options& options = {}, const Device& device = Device::best());

}  // namespace quintet::product
