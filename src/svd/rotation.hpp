// The plane rotation that makes two columns orthogonal, and what it does to their squared norms.
#pragma once

#include <limits>

#include "device/inverse.hpp"
#include "svd/lane_math.hpp"

namespace quintet::svd {

/// x_p' = pp x_p + pq x_q, x_q' = qp x_p + qq x_q, in the lanes of `on`.
template <class Scalar>
struct rotation {
  mask_of<Scalar> on;        ///< lanes that rotate
  mask_of<Scalar> exchange;  ///< lanes whose results change places, so that p keeps the longer column
  Scalar pp, pq, qp, qq;
  Scalar sine, half_tangent;  ///< s and s / (1 + c), for the accurate form
  Scalar alpha, beta;         ///< the new squared norms
  Scalar cosine, tangent;     ///< |cos| between the columns and |t|, 0 where nothing rotates
  Scalar drift;               ///< c^2 + s^2 - 1 of the rounded c and s
};

/// What decides whether a pair rotates.
template <class Real>
struct thresholds {
  Real cosine;     ///< columns with |cos| at or below this are orthogonal
  Real no_column;  ///< squared norms at or below this are zero: their products would underflow
};

template <class Real>
constexpr Real no_column_threshold() {
  return std::numeric_limits<Real>::min() / std::numeric_limits<Real>::epsilon();
}

/// From the squared norms alpha, beta and the product gamma of the columns p and q. Branch-free; lanes outside `active`
/// do not rotate. The test is relative, with the product of roots: the root of the product would overflow earlier.
template <bool Exchange, class Real, class Scalar>
QUINTET_SVD_INLINE rotation<Scalar> make_rotation(const Scalar& alpha, const Scalar& beta, const Scalar& gamma,
                                                  const thresholds<Real>& limit, const mask_of<Scalar>& active) {
  const Scalar zero{}, one = same<Scalar>(Real(1));
  rotation<Scalar> r;
  const Scalar length = root(alpha) * root(beta), size = absolute(gamma);
  r.on = active & (size > limit.cosine * length) & (alpha > limit.no_column) & (beta > limit.no_column);
  const Scalar safe = choose(r.on, gamma, one);
  const Scalar zeta = (beta - alpha) / (safe + safe), slope = absolute(zeta);
  // Beyond 1 / sqrt(epsilon) the root is |zeta| to the last bit, and zeta^2 might overflow.
  constexpr Real steep = Real(1) / (sizeof(Real) == 4 ? Real(3.4526698e-4) : Real(1.4901161193847656e-8));
  const Scalar bounded = choose(slope > steep, same<Scalar>(steep), slope);
  const Scalar reach = choose(slope > steep, slope, root(one + bounded * bounded));
  const Scalar size_t_ = one / (slope + reach);
  const Scalar t = choose(zeta < zero, -size_t_, size_t_);
  const Scalar c = one / root(one + t * t), s = c * t;
  r.sine = s;
  r.half_tangent = s / (one + c);
  r.drift = (c * c - one) + s * s;
  const Scalar change = t * gamma;
  Scalar first = alpha - change;
  first = choose(first < zero, zero, first);
  const Scalar second = beta + change;
  if constexpr (Exchange) {
    r.exchange = alpha < beta;
    r.pp = choose(r.exchange, s, c);
    r.pq = choose(r.exchange, c, -s);
    r.qp = choose(r.exchange, c, s);
    r.qq = choose(r.exchange, -s, c);
    r.alpha = choose(r.exchange, second, first);
    r.beta = choose(r.exchange, first, second);
  } else {
    r.exchange = zero > one;
    r.pp = c;
    r.pq = -s;
    r.qp = s;
    r.qq = c;
    r.alpha = first;
    r.beta = second;
  }
  r.alpha = choose(r.on, r.alpha, alpha);
  r.beta = choose(r.on, r.beta, beta);
  r.cosine = choose(r.on, size / choose(r.on, length, one), zero);
  r.tangent = choose(r.on, size_t_, zero);
  return r;
}

/// A column as it is rotated without normalising: the column is scale times what is stored.
template <class Scalar>
struct column_state {
  Scalar norm;            ///< squared length of the column, kept up to date within a sweep
  Scalar scale, unscale;  ///< and 1 / scale
};

/// The rotation of two scaled columns, in terms of what is stored (Gentleman 1973): x' = x - a y, y' = y + b x, two
/// multiply-adds a row instead of four operations. What the cosine would have multiplied goes into the scales.
template <class Scalar>
struct shear {
  mask_of<Scalar> on;         ///< lanes that rotate; in others a = b = 0
  mask_of<Scalar> exchanged;  ///< lanes whose results change places, so that p keeps the longer column
  Scalar a, b;
  Scalar cosine, tangent;  ///< |cos| between the columns and |t|, 0 where nothing rotates
};

/// As make_rotation(), for stored columns whose product is `product`; takes the states of the columns along.
///
/// The tangent needs few digits: whatever it is, the rotation is one, and an angle off by a factor 1 + 2^-23 leaves a
/// cosine 2^-23 times what it was. The new scales need them all.
template <bool Exchange, class Real, class Scalar>
QUINTET_SVD_INLINE shear<Scalar> make_shear(column_state<Scalar>& p, column_state<Scalar>& q, const Scalar& product,
                                            const thresholds<Real>& limit, const mask_of<Scalar>& active) {
  const Scalar zero{}, one = same<Scalar>(Real(1));
  shear<Scalar> r;
  const Scalar gamma = product * (p.scale * q.scale), size = absolute(gamma);
  const Scalar cosine = size * (device::rough_inverse_root(p.norm) * device::rough_inverse_root(q.norm));
  r.on = active & (cosine > limit.cosine) & (p.norm > limit.no_column) & (q.norm > limit.no_column);
  // t = sign(d) g / (|d| + sqrt(d^2 + g^2)) with d = beta - alpha and g = 2 gamma, both over the larger norm: squares
  // stay in range, and where one vanishes the other does not. What does not depend on gamma is ready before it.
  const Scalar unit = device::near_inverse(larger(p.norm, q.norm));
  const Scalar d = (q.norm - p.norm) * unit, g = gamma * (unit + unit), square = d * d + g * g;
  const Scalar reach = square * device::near_inverse_root(square);
  const Scalar t = choose(r.on, choose(d < zero, -g, g) * device::near_inverse(absolute(d) + reach), zero);
  r.tangent = absolute(t);
  r.cosine = choose(r.on, cosine, zero);
  r.a = t * (q.scale * p.unscale);
  r.b = t * (p.scale * q.unscale);
  const Scalar stretch = one + t * t, inverse = device::inverse_root(stretch);
  const Scalar c = choose(r.on, inverse, one), secant = choose(r.on, stretch * inverse, one), change = t * gamma;
  r.exchanged = r.on & (p.norm < q.norm);
  const column_state<Scalar> first{larger(p.norm - change, zero), p.scale * c, p.unscale * secant};
  const column_state<Scalar> second{q.norm + change, q.scale * c, q.unscale * secant};
  if constexpr (Exchange) {
    p = {choose(r.exchanged, second.norm, first.norm), choose(r.exchanged, second.scale, first.scale),
         choose(r.exchanged, second.unscale, first.unscale)};
    q = {choose(r.exchanged, first.norm, second.norm), choose(r.exchanged, first.scale, second.scale),
         choose(r.exchanged, first.unscale, second.unscale)};
  } else {
    p = first;
    q = second;
  }
  return r;
}

/// Applies a shear to two numbers, or packs of rows.
template <bool Exchange, class Scalar, class Vector>
QUINTET_SVD_INLINE void apply_shear(const shear<Scalar>& r, Vector& x, Vector& y) {
  const Vector new_x = x - r.a * y, new_y = y + r.b * x;
  if constexpr (Exchange) {
    x = choose(r.exchanged, new_y, new_x);
    y = choose(r.exchanged, new_x, new_y);
  } else {
    x = new_x;
    y = new_y;
  }
}

}  // namespace quintet::svd
