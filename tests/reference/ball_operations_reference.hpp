// Operations of the Poincare ball as they are defined (Ganea, Becigneul, Hofmann 2018; Ungar 2008), slow: sums and
// quotients in 113 bits, functions in long double. c > 0.
#pragma once

#include <cmath>
#include <vector>

#include "reference/poincare_reference.hpp"

namespace quintet::reference {

using ball_vector = std::vector<wide>;

template <class Real>
ball_vector widened(std::span<const Real> x) {
  return {x.begin(), x.end()};
}

inline wide dot(const ball_vector& x, const ball_vector& y) {
  wide sum = 0;
  for (std::size_t k = 0; k < x.size(); ++k) sum += x[k] * y[k];
  return sum;
}
inline ball_vector scaled(wide factor, ball_vector x) {
  for (wide& one : x) one *= factor;
  return x;
}
inline long double length(const ball_vector& x) { return std::sqrt((long double)dot(x, x)); }
inline wide gap(const ball_vector& x, wide c) { return 1 - c * dot(x, x); }

inline ball_vector mobius_add(const ball_vector& x, const ball_vector& y, wide c) {
  const wide xy = 1 + 2 * c * dot(x, y), yy = c * dot(y, y), xx = c * dot(x, x);
  ball_vector sum(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) sum[k] = ((xy + yy) * x[k] + (1 - xx) * y[k]) / (xy + xx * yy);
  return sum;
}

inline ball_vector mobius_scalar_mul(long double r, const ball_vector& x, long double c) {
  const long double size = std::sqrt(c) * length(x);
  return size > 0 ? scaled(std::tanh(r * std::atanh(size)) / size, x) : x;
}

inline ball_vector exp_map(const ball_vector& x, const ball_vector& v, long double c) {
  const long double size = std::sqrt(c) * length(v);
  if (size == 0) return x;
  return mobius_add(x, scaled(std::tanh(size / (long double)gap(x, c)) / size, v), c);
}

inline ball_vector log_map(const ball_vector& x, const ball_vector& y, long double c) {
  const ball_vector m = mobius_add(scaled(-1, x), y, c);
  const long double size = std::sqrt(c) * length(m);
  return size > 0 ? scaled(gap(x, c) * std::atanh(size) / size, m) : m;
}

inline ball_vector geodesic(const ball_vector& x, const ball_vector& y, long double t, long double c) {
  return mobius_add(x, mobius_scalar_mul(t, mobius_add(scaled(-1, x), y, c), c), c);
}

/// gyr[a, b] v = -(a (+) b) (+) (a (+) (b (+) v)), which is linear in v.
inline ball_vector parallel_transport(const ball_vector& x, const ball_vector& y, const ball_vector& v, long double c) {
  const wide size = std::sqrt(c) * length(v) * 2;
  if (size == 0) return v;
  const ball_vector back = scaled(-1, x), inside = scaled(1 / size, v);
  const ball_vector turned =
      mobius_add(scaled(-1, mobius_add(y, back, c)), mobius_add(y, mobius_add(back, inside, c), c), c);
  return scaled(size * gap(y, c) / gap(x, c), turned);
}

/// The Euclidean gradient of the distance by x.
inline ball_vector distance_gradient(const ball_vector& x, const ball_vector& y, wide c) {
  ball_vector difference(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) difference[k] = x[k] - y[k];
  const wide square = dot(difference, difference), ax = gap(x, c), ay = gap(y, c);
  if (square == 0) return difference;
  const wide factor = 2 / wide(std::sqrt((long double)(square * (ax * ay + c * square))));
  for (std::size_t k = 0; k < x.size(); ++k) difference[k] = factor * (difference[k] + c * square * x[k] / ax);
  return difference;
}

}  // namespace quintet::reference
