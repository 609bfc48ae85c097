// Angles between unit vectors x and y of packs, without a loss of digits at either end.
//
// A reduced distance r stands for the angle: r = |x - y|^2 up to 2, which is a right angle, and r = 4 / |x + y|^2 above
// it. Both grow with the angle and meet at 2, since |x - y|^2 + |x + y|^2 = 4. Near the antipodes |x - y|^2 is flat:
// two angles above pi - 3e-8 have the same one in double; r tells them apart.
//
// With q = r, or q = 4 / r above 2, the angle a of the chord sqrt(q) is
//   q <= 1   2 asin(sqrt(q) / 2)
//   q > 1    pi / 2 - asin(1 - q / 2), whose difference is exact
// and the result is a, or pi - a. asin(y) = y + y z P(z) with z = y^2 <= 1/4; P interpolates in Chebyshev points:
// degree 5 (float, relative error 2^-29) or 12 (double, 2^-57).
//
// Error (measured against long double in tests/unit/pairwise/arc_test.cpp): at most 1.5 ulp where r is exact. NaN gives
// NaN.
#pragma once

#include "device/log1p.hpp"

namespace quintet::device {

namespace detail {

/// pi / 2 in two words.
template <class Real>
constexpr Real half_pi = Real(sizeof(Real) == 4 ? 1.57079637050628662109375 : 1.5707963267948965580);
template <class Real>
constexpr Real half_pi_rest = Real(sizeof(Real) == 4 ? -4.37113900018624283e-8 : 6.1232339957367658860e-17);

/// (asin(y) / y - 1) / z for z = y^2 <= 1/4.
template <class Real, int W>
inline pack<Real, W> asin_polynomial(const pack<Real, W>& z) {
  typedef pack<Real, W> value;
  if constexpr (sizeof(Real) == 4) {
    value p = fma(z, Real(0.0336908472), Real(0.01714923836));
    p = fma(p, z, Real(0.03110066274));
    p = fma(p, z, Real(0.04459940153));
    p = fma(p, z, Real(0.07500094543));
    return fma(p, z, Real(0.1666666634));
  } else {
    value p = fma(z, Real(0.028757851367421564708), Real(-0.014851887071247203224));
    p = fma(p, z, Real(0.017400879442694022443));
    p = fma(p, z, Real(0.0054575067186403583004));
    p = fma(p, z, Real(0.010322814350185779287));
    p = fma(p, z, Real(0.011479177415184905896));
    p = fma(p, z, Real(0.013971212973552933304));
    p = fma(p, z, Real(0.017352392720869972942));
    p = fma(p, z, Real(0.022372172942149887875));
    p = fma(p, z, Real(0.030381944138531247287));
    p = fma(p, z, Real(0.044642857146355429783));
    p = fma(p, z, Real(0.074999999999984329332));
    return fma(p, z, Real(0.16666666666666667827));
  }
}

/// sin(x) for 0 <= x <= pi / 4, by Taylor's polynomial: degree 11 (float) or 19 (double).
template <class Real>
inline Real sine_to_eighth_turn(Real x) {
  const Real z = x * x;
  Real p = sizeof(Real) == 4 ? Real(0) : Real(-8.2206352466243297170e-18);
  if constexpr (sizeof(Real) == 8) {
    p = fma(p, z, Real(2.8114572543455207632e-15));
    p = fma(p, z, Real(-7.6471637318198164759e-13));
    p = fma(p, z, Real(1.6059043836821614599e-10));
  }
  p = fma(p, z, Real(-2.5052108385441718775e-8));
  p = fma(p, z, Real(2.7557319223985890653e-6));
  p = fma(p, z, Real(-1.9841269841269841270e-4));
  p = fma(p, z, Real(8.3333333333333333333e-3));
  p = fma(p, z, Real(-0.16666666666666666667));
  return fma(x * z, p, x);
}

}  // namespace detail

/// The angle, in [0, pi], of a reduced distance.
template <class Real, int W>
inline pack<Real, W> arc(const pack<Real, W>& reduced) {
  typedef pack<Real, W> value;
  constexpr Real quarter = detail::half_pi<Real>, quarter_rest = detail::half_pi_rest<Real>;
  const value inverse = broadcast_pack<value>(Real(4)) / reduced;
  const value q = reduced <= Real(2) ? reduced : inverse;
  const value chord = root<Real, W>(q), gap = fma(q, Real(-0.5), broadcast_pack<value>(Real(1)));
  const value base = q <= Real(1) ? chord : -gap;
  const value square = q <= Real(1) ? q * Real(0.25) : gap * gap;
  const value bent = fma(value(base * square), detail::asin_polynomial<Real, W>(square), base);
  const value angle = q <= Real(1) ? bent : quarter + (bent + quarter_rest);
  return reduced > Real(2) ? 2 * quarter - (angle - 2 * quarter_rest) : angle;
}

/// The reduced distance of an angle >= 0, up to rounding; the largest number from pi on.
template <class Real>
inline Real reduced_arc(Real angle) {
  constexpr Real quarter = detail::half_pi<Real>, quarter_rest = detail::half_pi_rest<Real>;
  if (angle <= quarter) {
    const Real sine = detail::sine_to_eighth_turn<Real>(angle / 2);
    return 4 * (sine * sine);
  }
  const Real rest = (2 * quarter - angle) + 2 * quarter_rest;
  const Real sine = detail::sine_to_eighth_turn<Real>(rest > 0 ? rest / 2 : Real(0));
  const Real square = sine * sine;
  const Real reduced = angle >= 2 * quarter || square == 0 ? std::numeric_limits<Real>::max() : 1 / square;
  return angle == angle ? reduced : angle;
}

}  // namespace quintet::device
