// Spaces of constant curvature as their papers define them, slow: sums and quotients in 113 bits, functions in long
// double. Expressions that cancel do so in 113 bits.
#pragma once

#include <span>

#include "quintet/poincare/product.hpp"
#include "reference/poincare_reference.hpp"

namespace quintet::reference {

/// The distance in one factor: angles by sine and cosine, squares of half sines, chords.
long double factor_distance(const product::factor& f, const ball_vector& x, const ball_vector& y);
/// The root of the sum of w d^2 over the factors; x and y have the numbers of all of them.
long double product_distance(std::span<const product::factor> space, const ball_vector& x, const ball_vector& y);

/// The stereographic model of curvature k of any sign (Bachmann, Becigneul, Ganea 2020). Vectors are not 0.
struct stereographic_reference {
  long double k;

  ball_vector add(const ball_vector& x, const ball_vector& y) const;
  ball_vector scalar_mul(long double r, const ball_vector& x) const;
  ball_vector exp_map(const ball_vector& x, const ball_vector& v) const;
  ball_vector log_map(const ball_vector& x, const ball_vector& y) const;
  ball_vector geodesic(const ball_vector& x, const ball_vector& y, long double t) const;
};

/// A point beside a hyperplane of the hyperboloid of curvature -c (Bdeir, Schwethelm, Landwehr 2024): across the
/// geodesic along z, at distance a.
struct sheet_plane_reference {
  long double distance;  ///< signed
  /// What relative changes of x, z and a by eps change sqrt(c) distance by is about eps of this.
  long double unit;
  ball_vector by_point, by_normal;  ///< derivatives
  long double by_offset;

  sheet_plane_reference(const ball_vector& x, const ball_vector& z, long double a, long double c);
};

}  // namespace quintet::reference
