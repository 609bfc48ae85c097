// The plane rotation that makes two columns orthogonal, and what it does to their squared norms.
#pragma once

#include <limits>

#include "device/inverse.hpp"
#include "svd/lane_math.hpp"

namespace quintet::svd {

/// x_p' = pp x_p + pq x_q, x_q' = qp x_p + qq x_q, in the lanes of `on`.
template <class Scalar>
struct rotation {
  mask_of<Scalar> on;         ///< lanes that rotate
  mask_of<Scalar> exchanged;  ///< lanes whose results change places, so that p keeps the longer column
  Scalar pp, pq, qp, qq;
  Scalar sine, half_tangent;  ///< s and s / (1 + c), for the accurate form
  Scalar alpha, beta;         ///< the new squared norms
  Scalar cosine, tangent;     ///< |cos| between the columns and |t|, 0 where nothing rotates
  Scalar norm_correction;     ///< c^2 + s^2 - 1 of the rounded c and s
};

/// What decides whether a pair rotates.
template <class Scalar>
struct thresholds {
  Scalar cosine;              ///< columns with |cos| at or below this are orthogonal
  real_of<Scalar> no_column;  ///< squared norms at or below this are zero: their products would underflow
  mask_of<Scalar> exchanges;  ///< lanes whose columns may change places: see may_exchange()
};

template <class Real>
constexpr Real no_column_threshold() {
  return std::numeric_limits<Real>::min() / std::numeric_limits<Real>::epsilon();
}

/// Lanes outside `active` never rotate, and those outside `exchanges` leave their columns where they are.
template <class Scalar>
QUINTET_SVD_INLINE thresholds<Scalar> thresholds_for(real_of<Scalar> tolerance, const mask_of<Scalar>& active,
                                                     const mask_of<Scalar>& exchanges) {
  using real = real_of<Scalar>;
  return {choose(active, same<Scalar>(tolerance), same<Scalar>(std::numeric_limits<real>::infinity())),
          no_column_threshold<real>(), exchanges};
}

/// What a rotation with tangent t and cosine c of its angle does, where it is on.
template <bool Exchange, class Scalar>
QUINTET_SVD_INLINE void complete_rotation(rotation<Scalar>& r, const Scalar& alpha, const Scalar& beta,
                                          const Scalar& gamma, const Scalar& t, const Scalar& c,
                                          const mask_of<Scalar>& exchanges) {
  const Scalar zero{}, one = same<Scalar>(real_of<Scalar>(1)), s = c * t, change = t * gamma;
  r.sine = s;
  r.norm_correction = device::fma(s, s, device::fused_multiply_add(c, c, -one));
  Scalar first = alpha - change;
  first = choose(first < zero, zero, first);
  const Scalar second = beta + change;
  if constexpr (Exchange) {
    r.exchanged = r.on & exchanges & (alpha < beta);
    r.pp = choose(r.exchanged, s, c);
    r.pq = choose(r.exchanged, c, -s);
    r.qp = choose(r.exchanged, c, s);
    r.qq = choose(r.exchanged, -s, c);
    r.alpha = choose(r.exchanged, second, first);
    r.beta = choose(r.exchanged, first, second);
  } else {
    r.exchanged = zero > one;
    r.pp = c;
    r.pq = -s;
    r.qp = s;
    r.qq = c;
    r.alpha = first;
    r.beta = second;
  }
  r.alpha = choose(r.on, r.alpha, alpha);
  r.beta = choose(r.on, r.beta, beta);
}

/// The rotation that makes two columns orthogonal (Rutishauser 1966; Golub and Van Loan, Matrix Computations, 8.5.2:
/// zeta is cot 2 theta), from the squared norms alpha, beta and the product gamma of the columns p and q. Branch-free.
/// The test is relative, with the product of roots: the root of the product would overflow earlier.
template <bool Exchange, class Scalar>
QUINTET_SVD_INLINE rotation<Scalar> make_rotation(const Scalar& alpha, const Scalar& beta, const Scalar& gamma,
                                                  const thresholds<Scalar>& limit) {
  using Real = real_of<Scalar>;
  const Scalar zero{}, one = same<Scalar>(Real(1));
  rotation<Scalar> r;
  const Scalar length = root(alpha) * root(beta), size = absolute(gamma);
  r.on = (size > limit.cosine * length) & (alpha > limit.no_column) & (beta > limit.no_column);
  const Scalar safe = choose(r.on, gamma, one);
  const Scalar zeta = (beta - alpha) / (safe + safe), slope = absolute(zeta);
  // Beyond 1 / sqrt(epsilon) the root is |zeta| to the last bit, and zeta^2 might overflow.
  constexpr Real steep = Real(1) / (sizeof(Real) == 4 ? Real(3.4526698e-4) : Real(1.4901161193847656e-8));
  const Scalar bounded = choose(slope > steep, same<Scalar>(steep), slope);
  const Scalar reach = choose(slope > steep, slope, root(device::fma(bounded, bounded, one)));
  const Scalar size_t_ = one / (slope + reach);
  const Scalar t = choose(zeta < zero, -size_t_, size_t_);
  const Scalar c = one / root(device::fma(t, t, one));
  r.half_tangent = c * t / (one + c);
  complete_rotation<Exchange>(r, alpha, beta, gamma, t, c, limit.exchanges);
  r.cosine = choose(r.on, size / choose(r.on, length, one), zero);
  r.tangent = choose(r.on, size_t_, zero);
  return r;
}

/// A column as it is rotated without normalising: the column is sqrt(column_scale) times what is stored.
template <class Scalar>
struct column_state {
  Scalar norm;  ///< squared length of the column, kept up to date within a sweep
  Scalar column_scale;
};

/// The rotation of two scaled columns, in terms of what is stored (Gentleman 1973): x' = x - a y, y' = y + b x, two
/// multiply-adds per row instead of four operations. What the cosine would have multiplied goes into the scales.
template <class Scalar>
struct fast_rotation {
  mask_of<Scalar> exchanged;  ///< lanes whose results change places, so that p keeps the longer column
  Scalar a, b;                ///< 0 where nothing rotates
  Scalar cosine, tangent;     ///< |cos| between the columns and |t|, 0 where nothing rotates
};

/// 1 / x and 1 / sqrt(x) to the digits that an angle needs: see angle_error.
template <class Scalar>
QUINTET_SVD_INLINE Scalar angle_inverse(const Scalar& x) {
  return is_single<Scalar> ? device::rough_inverse(x) : device::near_inverse(x);
}
template <class Scalar>
QUINTET_SVD_INLINE Scalar angle_inverse_root(const Scalar& x) {
  return is_single<Scalar> ? device::rough_inverse_root(x) : device::near_inverse_root(x);
}

/// By how much the tangent of a fast rotation may be off, relative to itself: a rotation leaves that part of the
/// cosine.
template <class Scalar>
constexpr auto angle_error() {
  using real = real_of<Scalar>;
  return !device::has_estimates<Scalar>() ? real(0) : is_single<Scalar> ? real(0x1p-11) : real(0x1p-24);
}

/// The angle between two columns that are turned onto each other's normal, from estimates.
template <class Scalar>
struct rough_angle {
  mask_of<Scalar> on;      ///< lanes that rotate
  Scalar tangent, cosine;  ///< of the rotation, with its sign; |cos| between the columns; 0 where nothing rotates
};

/// From squared lengths, 1 / the product of the lengths, and the cosine. With h = (beta - alpha) / (2 sqrt(alpha beta))
/// and r = 1 / sqrt(h^2 + cosine^2), t = sign(h) cosine r / (1 + |h| r).
template <class Scalar>
QUINTET_SVD_INLINE rough_angle<Scalar> estimate_angle(const Scalar& alpha, const Scalar& beta,
                                                      const Scalar& inverse_lengths, const Scalar& cosine,
                                                      const thresholds<Scalar>& limit) {
  using real = real_of<Scalar>;
  const Scalar zero{}, one = same<Scalar>(real(1)), size = absolute(cosine);
  const Scalar h = (beta - alpha) * (inverse_lengths * real(0.5));
  const mask_of<Scalar> on = (size > limit.cosine) & (alpha > limit.no_column) & (beta > limit.no_column);
  const Scalar inverse_reach = angle_inverse_root(device::fma(h, h, cosine * cosine));
  const Scalar t = choose(
      on, flip_sign(cosine * inverse_reach, h) * angle_inverse(device::fma(absolute(h), inverse_reach, one)), zero);
  return {on, t, choose(on, size, zero)};
}

/// As make_rotation(), where the angle needs few digits (see angle_error): its cosine has them all.
template <bool Exchange, class Scalar>
QUINTET_SVD_INLINE rotation<Scalar> make_near_rotation(const Scalar& alpha, const Scalar& beta, const Scalar& gamma,
                                                       const thresholds<Scalar>& limit) {
  const Scalar inverse_lengths = device::rough_inverse_root(alpha) * device::rough_inverse_root(beta);
  const auto angle = estimate_angle(alpha, beta, inverse_lengths, Scalar(gamma * inverse_lengths), limit);
  const Scalar square = device::fma(angle.tangent, angle.tangent, same<Scalar>(real_of<Scalar>(1)));
  rotation<Scalar> r;
  r.on = angle.on;
  complete_rotation<Exchange>(r, alpha, beta, gamma, angle.tangent, device::inverse_root(square), limit.exchanges);
  r.cosine = angle.cosine;
  r.tangent = absolute(angle.tangent);
  return r;
}

/// The one of all digits if `accurate`, or where a processor has no estimates. One result and no choice between two of
/// them, which a GPU would keep on a stack.
template <bool Exchange, class Scalar>
QUINTET_SVD_INLINE rotation<Scalar> make_rotation(const Scalar& alpha, const Scalar& beta, const Scalar& gamma,
                                                  const thresholds<Scalar>& limit, bool accurate) {
  if constexpr (device::has_estimates<Scalar>())
    if (!accurate) return make_near_rotation<Exchange>(alpha, beta, gamma, limit);
  return make_rotation<Exchange>(alpha, beta, gamma, limit);
}

/// As make_rotation(), for stored columns whose product is `product`; takes the states of the columns along.
///
/// With s the roots of the scales, w = s^2 and gamma = s_p s_q product. The tangent needs few digits: whatever it is, a
/// = t s_q / s_p and b = t s_p / s_q make a rotation. That they belong to one t is exact, for both come from t / (s_p
/// s_q), whose own error is one of the angle; the cosine of the angle is made from their product, to all digits.
template <bool Exchange, class Scalar>
QUINTET_SVD_INLINE fast_rotation<Scalar> make_fast_rotation(column_state<Scalar>& p, column_state<Scalar>& q,
                                                            const Scalar& product, const thresholds<Scalar>& limit) {
  using Real = real_of<Scalar>;
  const Scalar zero{}, one = same<Scalar>(Real(1));
  fast_rotation<Scalar> r;
  // What does not depend on the product is ready before it.
  const Scalar column_scales = p.column_scale * q.column_scale, inverse_scales = angle_inverse_root(column_scales);
  const Scalar inverse_lengths = device::rough_inverse_root(p.norm) * device::rough_inverse_root(q.norm);
  const Scalar cosine = product * (column_scales * inverse_scales * inverse_lengths);
  const auto angle = estimate_angle(p.norm, q.norm, inverse_lengths, cosine, limit);
  const Scalar& t = angle.tangent;
  const mask_of<Scalar>& on = angle.on;
  r.tangent = absolute(t);
  r.cosine = angle.cosine;
  const Scalar ratio = t * inverse_scales, change = ratio * (product * column_scales);
  r.a = ratio * q.column_scale;
  r.b = ratio * p.column_scale;
  // 1 / 1 is 1: scales stay where nothing rotates.
  const Scalar square_of_c = device::inverse(device::fma(r.a, r.b, one));
  const column_state<Scalar> first{larger(p.norm - change, zero), p.column_scale * square_of_c};
  const column_state<Scalar> second{q.norm + change, q.column_scale * square_of_c};
  if constexpr (Exchange) {
    r.exchanged = on & limit.exchanges & (p.norm < q.norm);
    p = {choose(r.exchanged, second.norm, first.norm), choose(r.exchanged, second.column_scale, first.column_scale)};
    q = {choose(r.exchanged, first.norm, second.norm), choose(r.exchanged, first.column_scale, second.column_scale)};
  } else {
    r.exchanged = zero > one;
    p = first;
    q = second;
  }
  return r;
}

/// Applies a fast rotation to two numbers, or packs of rows.
template <bool Exchange, class Scalar, class Vector>
QUINTET_SVD_INLINE void apply_fast_rotation_to(const fast_rotation<Scalar>& r, Vector& x, Vector& y) {
  const Vector new_x = device::fma(-r.a, y, x), new_y = device::fma(r.b, x, y);
  if constexpr (Exchange) {
    x = choose(r.exchanged, new_y, new_x);
    y = choose(r.exchanged, new_x, new_y);
  } else {
    x = new_x;
    y = new_y;
  }
}

}  // namespace quintet::svd
