// The plane rotation that makes two columns orthogonal, and what it does to their squared norms.
#pragma once

#include <limits>

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

}  // namespace quintet::svd
