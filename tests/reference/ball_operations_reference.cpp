#include "reference/ball_operations_reference.hpp"

#include <cmath>

#include "reference/wide_vector.hpp"

namespace quintet::reference {

namespace {

long double length(const wide_vector& x) { return std::sqrt((long double)x.squaredNorm()); }
wide gap(const wide_vector& x, wide c) { return 1 - c * x.squaredNorm(); }

wide_vector add(const wide_vector& x, const wide_vector& y, wide c) {
  const wide xy = 1 + 2 * c * x.dot(y), yy = c * y.squaredNorm(), xx = c * x.squaredNorm();
  return ((xy + yy) * x + (1 - xx) * y) / (xy + xx * yy);
}

wide_vector multiply(long double r, const wide_vector& x, long double c) {
  const long double size = std::sqrt(c) * length(x);
  return size > 0 ? wide_vector(wide(std::tanh(r * std::atanh(size)) / size) * x) : x;
}

}  // namespace

ball_vector mobius_add(const ball_vector& x, const ball_vector& y, wide c) {
  return plain(add(mapped(x), mapped(y), c));
}

ball_vector mobius_scalar_mul(long double r, const ball_vector& x, long double c) {
  return plain(multiply(r, mapped(x), c));
}

ball_vector exp_map(const ball_vector& x, const ball_vector& v, long double c) {
  const long double size = std::sqrt(c) * length(mapped(v));
  if (size == 0) return x;
  const wide factor = std::tanh(size / (long double)gap(mapped(x), c)) / size;
  return plain(add(mapped(x), factor * mapped(v), c));
}

ball_vector log_map(const ball_vector& x, const ball_vector& y, long double c) {
  const wide_vector m = add(-mapped(x), mapped(y), c);
  const long double size = std::sqrt(c) * length(m);
  return plain(size > 0 ? wide_vector(gap(mapped(x), c) * wide(std::atanh(size) / size) * m) : m);
}

ball_vector geodesic(const ball_vector& x, const ball_vector& y, long double t, long double c) {
  return plain(add(mapped(x), multiply(t, add(-mapped(x), mapped(y), c), c), c));
}

ball_vector parallel_transport(const ball_vector& x, const ball_vector& y, const ball_vector& v, long double c) {
  const wide size = wide(std::sqrt(c) * length(mapped(v)) * 2);
  if (size == 0) return v;
  const wide_vector back = -mapped(x), inside = mapped(v) / size;
  const wide_vector turned = add(-add(mapped(y), back, c), add(mapped(y), add(back, inside, c), c), c);
  return plain(size * gap(mapped(y), c) / gap(mapped(x), c) * turned);
}

ball_vector distance_gradient(const ball_vector& x, const ball_vector& y, wide c) {
  const wide_vector difference = mapped(x) - mapped(y);
  const wide square = difference.squaredNorm(), ax = gap(mapped(x), c), ay = gap(mapped(y), c);
  if (square == 0) return plain(difference);
  const wide factor = 2 / wide(std::sqrt((long double)(square * (ax * ay + c * square))));
  return plain(factor * (difference + c * square / ax * mapped(x)));
}

}  // namespace quintet::reference
