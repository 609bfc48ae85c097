// One step of Riemannian Adam (Becigneul and Ganea 2019) on the hyperboloid in Minkowski's space, where points and
// vectors of the ball are lifted to: sums in 113 bits, functions in long double.
#pragma once

#include "quintet/poincare/adam.hpp"
#include "reference/poincare_reference.hpp"

namespace quintet::reference {

/// Of (t, x): -t t' + x.x', and x.x' alone.
wide minkowski_product(const ball_vector& x, const ball_vector& y);
wide space_product(const ball_vector& x, const ball_vector& y);

/// Moments and a point (t, x) of the sheet |x|^2 - t^2 = -1 / c.
struct adam_on_minkowski {
  ball_vector x, first;
  long double second;

  /// Of a Euclidean gradient whose time has its sign turned.
  void take_step(const ball_vector& gradient, const poincare::adam_options& settings, long double c);
  /// What the last step was made of: its length sqrt(c) d, and the lengths of both parts of the first moment over that
  /// of their sum.
  long double length = 0, cancelled = 1;
};

/// A point of the ball and vectors at it, on the sheet; x[0] is not read.
struct lifted_point {
  ball_vector x;
  long double c;
  wide gap;  ///< 1 - c |x|^2

  lifted_point(ball_vector at, long double c);
  ball_vector point() const;
  ball_vector vector(const ball_vector& v) const;
  /// The Riemannian gradient of a Euclidean one in the ball, lifted.
  ball_vector gradient(const ball_vector& euclidean, long double weight_decay) const;
};
ball_vector into_ball(const ball_vector& p, long double c);
ball_vector vector_into_ball(const ball_vector& p, const ball_vector& v, long double c);

}  // namespace quintet::reference
