#include "reference/adam_reference.hpp"

#include <cmath>
#include <utility>

namespace quintet::reference {

namespace {

ball_vector sum_of(wide a, const ball_vector& x, wide b, const ball_vector& y) {
  ball_vector sum(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) sum[k] = a * x[k] + b * y[k];
  return sum;
}
ball_vector times(wide a, ball_vector x) {
  for (wide& one : x) one *= a;
  return x;
}
long double size_of(const ball_vector& v) { return std::sqrt((long double)minkowski_product(v, v)); }

}  // namespace

wide minkowski_product(const ball_vector& x, const ball_vector& y) { return space_product(x, y) - x[0] * y[0]; }

wide space_product(const ball_vector& x, const ball_vector& y) {
  wide sum = 0;
  for (std::size_t k = 1; k < x.size(); ++k) sum += x[k] * y[k];
  return sum;
}

void adam_on_minkowski::take_step(const ball_vector& gradient, const poincare::adam_options& s, long double c) {
  const ball_vector r = sum_of(1, gradient, wide(c) * minkowski_product(x, gradient), x);
  const long double parts = s.beta1 * size_of(first) + (1 - (long double)s.beta1) * size_of(r);
  first = sum_of(s.beta1, first, 1 - wide(s.beta1), r);
  second = s.beta2 * second + (1 - (long double)s.beta2) * (long double)minkowski_product(r, r);
  const long double unit1 = 1 - std::pow((long double)s.beta1, (long double)s.step);
  const long double unit2 = 1 - std::pow((long double)s.beta2, (long double)s.step);
  const long double by = -s.rate / unit1 / (std::sqrt(second / unit2) + s.epsilon), size = size_of(first);
  length = std::sqrt(c) * std::fabs(by) * size;
  if (length == 0) return;
  cancelled = parts / size;
  const ball_vector unit = times(wide(by / std::fabs(by) / size), first), from = x;
  x = sum_of(std::cosh(length), from, std::sinh(length) / std::sqrt(c), unit);
  first = times(size * (by < 0 ? -1 : 1), sum_of(std::sinh(length) * std::sqrt(c), from, std::cosh(length), unit));
}

lifted_point::lifted_point(ball_vector at, long double c)
    : x(std::move(at)), c(c), gap(1 - wide(c) * space_product(x, x)) {}

ball_vector lifted_point::point() const {
  ball_vector p = times(2 / gap, x);
  p[0] = (2 - gap) / gap / std::sqrt(c);
  return p;
}

ball_vector lifted_point::vector(const ball_vector& v) const {
  const wide along = 4 * wide(c) * space_product(x, v) / gap / gap;
  ball_vector p = sum_of(2 / gap, v, along, x);
  p[0] = along / std::sqrt(c);
  return p;
}

ball_vector lifted_point::gradient(const ball_vector& euclidean, long double weight_decay) const {
  return vector(times(gap * gap / 4, sum_of(1, euclidean, weight_decay, x)));
}

ball_vector into_ball(const ball_vector& p, long double c) { return times(1 / (1 + wide(std::sqrt(c)) * p[0]), p); }

ball_vector vector_into_ball(const ball_vector& p, const ball_vector& v, long double c) {
  const wide below = 1 + wide(std::sqrt(c)) * p[0];
  return sum_of(1 / below, v, -wide(std::sqrt(c)) * v[0] / below / below, p);
}

}  // namespace quintet::reference
