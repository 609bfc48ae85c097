// Operations of the Poincare ball as they are defined (Ganea, Becigneul, Hofmann 2018; Ungar 2008), slow: sums and
// quotients in 113 bits, functions in long double. c > 0.
#pragma once

#include "reference/poincare_reference.hpp"

namespace quintet::reference {

ball_vector mobius_add(const ball_vector& x, const ball_vector& y, wide c);
ball_vector mobius_scalar_mul(long double r, const ball_vector& x, long double c);
ball_vector exp_map(const ball_vector& x, const ball_vector& v, long double c);
ball_vector log_map(const ball_vector& x, const ball_vector& y, long double c);
ball_vector geodesic(const ball_vector& x, const ball_vector& y, long double t, long double c);
/// gyr[a, b] v = -(a (+) b) (+) (a (+) (b (+) v)), which is linear in v.
ball_vector parallel_transport(const ball_vector& x, const ball_vector& y, const ball_vector& v, long double c);
/// The Euclidean gradient of the distance by x.
ball_vector distance_gradient(const ball_vector& x, const ball_vector& y, wide c);

}  // namespace quintet::reference
